package embedded_test

import (
	"testing"

	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/alloc/solver/solvertest"
)

func TestConformance(t *testing.T) {
	solvertest.Run(t, func(*testing.T) solver.Solver { return embedded.New(nil) }, nil)
}
