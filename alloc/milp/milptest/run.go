// This file implements Run: the suite as sub-tests of the caller's test.

package milptest

import (
	"testing"

	"github.com/apportion/apportion/alloc/milp"
)

// Run runs every check against the back-end, each on one made by newSolver. A check that takes longer than two minutes fails,
// and names the back-end.
func Run(t *testing.T, newSolver func(t *testing.T) milp.Solver) {
	t.Helper()
	// Every check has a back-end of its own: what one leaves behind cannot help or hurt the next.
	models := modelsPerFamily
	if testing.Short() {
		models = modelsInShort
	}
	for _, c := range checks(models) {
		t.Run(c.name, func(t *testing.T) {
			solver := newSolver(t)
			// A skip is printed with its reason, so that a claim that is dropped by accident shows
			// in the log.
			if missing := c.needs &^ milp.Capabilities(solver); missing != 0 {
				t.Skipf("the back-end does not claim: %s", missing)
			}
			if err := c.within(deadline, solver); err != nil {
				t.Error(err)
			}
		})
	}
}

// checks returns the whole suite.
// The order is that of the sub-tests: from what is simplest to what takes longest.
func checks(models int) []check {
	var all []check
	for _, c := range cases() {
		all = append(all, c.check())
	}
	all = append(all, limitChecks()...)
	all = append(all, optionChecks()...)
	all = append(all, knownChecks()...)
	return append(all, randomChecks(models)...)
}
