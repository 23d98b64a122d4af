// This file implements Run: the suite as sub-tests of the caller's test.

package solvertest

import (
	"testing"

	"github.com/apportion/apportion/alloc/solver"
)

// Run runs every check against the solver, each on one made by newSolver; nil options mean the
// defaults.
//
// A fresh solver for every check keeps what one left behind (caches, a broken library) out of the
// next. The checks run one after another, because those of cancellation measure time.
func Run(t *testing.T, newSolver func(t *testing.T) solver.Solver, opts *Options) {
	t.Helper()
	full := opts.complete()
	for _, c := range checks() {
		t.Run(c.name, func(t *testing.T) {
			if err := c.within(full, newSolver(t)); err != nil {
				t.Error(err)
			}
		})
	}
}

// checks returns the whole suite.
// The checks of a family are sub-tests by its name, so that -run reaches each of them.
func checks() []check {
	// Small instances come first: a solver that fails there need not be looked at on large ones.
	// Those of the paper's program come before those of the whole one, whose faults they may share.
	all := []check{
		{"known answers", known},
		{"random against enumeration", enumerated},
		{"known answers of the whole program", knownWhole},
		{"general against enumeration", general},
		{"known worths", knownWorths},
		{"worths against enumeration", worths},
		{"losses against enumeration", losses},
		{"spread against enumeration", spreads},
		{"known options", knownChoices},
		{"options against enumeration", choices},
		{"no instance", refused},
		{"cancelled before the start", cancelledBefore},
		{"cancelled in the middle", cancelledInside},
	}
	for _, f := range families() {
		all = append(all, check{"referee/" + f.Name, f.refereed}, check{"deterministic/" + f.Name, f.deterministic})
	}
	return all
}
