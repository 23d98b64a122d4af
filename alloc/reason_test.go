package alloc_test

import (
	"math"
	"testing"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/solver"
)

// An attempt without a solution says whether there is none, and newcomers wait for that.
func TestNoSolution(t *testing.T) {
	for want, s := range map[string]*solver.Solution{
		"P2 has no solution": {Status: solver.Infeasible, Bound: math.Inf(-1)},
		"no solution of P2 was found before the search was interrupted":                              {Interrupted: true},
		"no solution of P2 was found within the effort allowed, and none was shown to be impossible": {},
	} {
		p := tiny(alloc.Allocation{"LR": {"s0": 2}}, "LR", "MF", "NN")
		d, err := recorded(t, t.Context(), p, fake{s, nil})
		if err != nil || d.Status != alloc.Kept || d.Reason.Text != want || len(d.Waiting) != 2 {
			t.Errorf("%+v, %v; want %s", d, err, want)
		}
		for _, w := range d.Waiting {
			if w.Reason.Text != want || w.LeftOut {
				t.Errorf("%+v, want %s", w, want)
			}
		}
	}
}

// What can never be served has a reason of its own beside the one of P2.
func TestUnservableHasItsOwnReason(t *testing.T) {
	p := tiny(nil, "NN", "LR", "MF")
	p.Servers[0].Capacity[1] = 0 // NN, the first in the list, needs a GPU
	d, err := recorded(t, t.Context(), p, fake{&solver.Solution{Status: solver.Infeasible, Bound: math.Inf(-1)}, nil})
	if err != nil {
		t.Fatal(err)
	}
	if first := d.Waiting[0]; first.ID != "NN" || first.Reason.Kind != "gpu" || first.Reason.Text == d.Reason.Text {
		t.Errorf("%+v, want NN waiting for a GPU that there is none of", first)
	}
}
