package ortools_test

import (
	"testing"

	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/milp/milptest"
)

// Reference: [Bixby98], the catalogue's optimal values. Every engine solves what it can state.
func TestMIPLIB(t *testing.T) {
	if testing.Short() {
		t.Skip("some ten seconds")
	}
	for _, e := range engines(t) {
		t.Run(e.name, func(t *testing.T) {
			milptest.RunMIPLIB(t, func(*testing.T) milp.Solver { return e.solver })
		})
	}
}
