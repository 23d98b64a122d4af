package mip_test

import (
	"testing"

	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/milp/bb"
	"github.com/apportion/apportion/alloc/mip"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/alloc/solver/solvertest"
)

func TestConformance(t *testing.T) {
	for name, backend := range map[string]milp.Solver{"losses": bb.Solver{}, "whole losses": integersOnly{}} {
		for _, form := range mip.Forms() {
			t.Run(name+"/"+string(form), func(t *testing.T) {
				opts := &mip.Options{Name: "bb", Search: milp.Options{NodeLimit: 20_000}, Preference: solver.ByAdjusted}
				solvertest.Run(t, func(*testing.T) solver.Solver { return mip.New(backend, form, opts) },
					&solvertest.Options{Sizes: []solvertest.Size{{Servers: 2, Apps: 4}}, Relaxed: form == mip.Class, Tolerance: 1e-6})
			})
		}
	}
}
