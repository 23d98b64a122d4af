package mip_test

import (
	"flag"
	"testing"

	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/milp/bb"
	"github.com/apportion/apportion/alloc/mip"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/alloc/solver/solvertest"
)

// general is how many instances of the whole program each back-end is compared with enumeration on; 0: as many
// as the suite asks for.
var general = flag.Int("general", 0, "how many general instances TestConformance looks at; 0: the suite's number")

func TestConformance(t *testing.T) {
	for name, backend := range map[string]milp.Solver{"losses": bb.Solver{}, "whole losses": integersOnly{}} {
		for _, form := range mip.Forms() {
			t.Run(name+"/"+string(form), func(t *testing.T) {
				opts := &mip.Options{Name: "bb", Search: milp.Options{NodeLimit: 20_000}, Preference: solver.ByMoved}
				solvertest.Run(t, func(*testing.T) solver.Solver { return mip.New(backend, form, opts) },
					&solvertest.Options{General: *general, Sizes: []solvertest.Size{{Servers: 2, Apps: 4}}, Relaxed: form == mip.Class, Tolerance: 1e-6})
			})
		}
	}
}
