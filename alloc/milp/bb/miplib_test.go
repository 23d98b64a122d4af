package bb_test

import (
	"testing"

	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/milp/bb"
	"github.com/apportion/apportion/alloc/milp/milptest"
)

// Reference: [Bixby98], the catalogue's optimal values.
func TestMIPLIB(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds")
	}
	milptest.RunMIPLIB(t, func(*testing.T) milp.Solver { return bb.Solver{} })
}

// instance returns one of the models.
func instance(t testing.TB, name string) *milp.Model {
	t.Helper()
	for _, i := range milptest.MIPLIB() {
		if i.Name == name {
			return i.Model
		}
	}
	t.Fatalf("no instance %s", name)
	return nil
}
