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
	for _, c := range checks(full) {
		t.Run(c.name, func(t *testing.T) {
			if err := c.within(full, newSolver(t)); err != nil {
				t.Error(err)
			}
		})
	}
}

// checks returns the suite as far as the options ask for it.
// The checks of a family are sub-tests by its name, so that -run reaches each of them.
func checks(opts Options) []check {
	// Small instances come first: a solver that fails there need not be looked at on large ones.
	all := []check{{"known answers", known}, {"random against enumeration", enumerated}}
	// A solver that knows the paper's program only would be right to answer another question.
	if !opts.Plain {
		all = append(all, check{"known answers of the whole program", knownWhole}, check{"general against enumeration", general})
	}
	all = append(all, check{"no instance", refused},
		check{"cancelled before the start", cancelledBefore}, check{"cancelled in the middle", cancelledInside})
	for _, f := range families() {
		all = append(all, check{"referee/" + f.Name, f.refereed}, check{"deterministic/" + f.Name, f.deterministic})
	}
	return all
}
