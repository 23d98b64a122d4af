// This file is the register of solvers that -solver chooses from.

// Package backend names the solvers that the examples choose from.
package backend

import (
	"errors"
	"slices"
	"strings"

	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/milp/bb"
	"github.com/apportion/apportion/alloc/milp/ortools"
	"github.com/apportion/apportion/alloc/mip"
	"github.com/apportion/apportion/alloc/solver"
)

// The names of the solvers.
const (
	Embedded       = "embedded"
	BranchAndBound = "bb"
	CPSAT          = "cp-sat"
	HiGHS          = "highs"
	SCIP           = "scip"
)

// Backend is one solver. Exactly one of Own and General is set.
type Backend struct {
	// Name is what -solver takes, About what it is, in half a sentence.
	Name, About string
	// Own decides P2 and nothing else.
	Own solver.Solver
	// General solves any program that it can state; it decides P2 by way of mip.New.
	General milp.Solver
}

// All returns every solver, the default of P2 first. Those of OR-Tools are in the list whether or not
// the library is there: each call says what is missing.
func All() []Backend {
	return []Backend{
		{Name: Embedded, About: "made for P2, pure Go", Own: embedded.New(nil)},
		{Name: BranchAndBound, About: "branch and bound, pure Go, for small programs", General: bb.Solver{}},
		{Name: CPSAT, About: "CP-SAT of OR-Tools, for programs whose variables have bounds", General: ortools.CPSAT{}},
		{Name: HiGHS, About: "HiGHS of OR-Tools", General: ortools.HiGHS{}},
		{Name: SCIP, About: "SCIP of OR-Tools", General: ortools.SCIP{}},
	}
}

// Names lists the names of the solvers, in their order.
func Names(from []Backend) string {
	names := make([]string, len(from))
	for i, b := range from {
		names[i] = b.Name
	}
	return strings.Join(names, ", ")
}

// Find returns the solver of that name; the error is "must be one of" those that there are.
func Find(from []Backend, name string) (Backend, error) {
	at := slices.IndexFunc(from, func(b Backend) bool { return b.Name == name })
	if at < 0 {
		return Backend{}, errors.New("must be one of " + Names(from))
	}
	return from[at], nil
}

// P2 returns the solver as one of P2. A general one takes the disjunctive form, the tightest of the
// exact ones, with opts; nil: the defaults. Its certificates carry the name of b.
func (b Backend) P2(opts *mip.Options) solver.Solver {
	// A solver of P2 has its own settings and takes none of mip's.
	if b.Own != nil {
		return b.Own
	}
	// The name goes into the certificate, from which a replay finds the solver again.
	named := mip.Options{Name: b.Name}
	if opts != nil {
		named.Search, named.Preference = opts.Search, opts.Preference
	}
	return mip.New(b.General, mip.Disjunctive, &named)
}
