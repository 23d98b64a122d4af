package solvertest

import (
	"context"
	"errors"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// Known cases are asked in their order until one is answered wrongly, and that one is named.
func TestKnows(t *testing.T) {
	infeasible := &solver.Solution{Status: solver.Infeasible, Bound: none}
	for _, c := range []struct {
		name  string
		by    solver.Solver
		asked int
		want  string
	}{
		{"right", &twin{}, len(wholeCases), ""},
		{"an error", &answers{err: errors.New("broken")}, 1, wholeCases[0].name + ": broken"},
		{"always infeasible", &answers{solution: infeasible}, 1, wholeCases[0].name + ": infeasible where there is a solution"},
	} {
		p := &probe{Solver: c.by, opts: (*Options)(nil).complete(), ctx: context.Background()}
		if err := knownWhole(p); !says(err, c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		asked := 0
		switch by := c.by.(type) {
		case *twin:
			asked = len(by.asked)
		case *answers:
			asked = by.asked
		}
		if asked != c.asked {
			t.Errorf("%s: asked %d times, want %d", c.name, asked, c.asked)
		}
	}
}

// An answer that enumeration does not confirm is a fault of the suite, whatever the solver says.
func TestKnowsNothingWrong(t *testing.T) {
	same := func(*solver.Instance) {}
	for name, c := range map[string]knownCase{
		"another optimum":          {"", same, 2.4},
		"no solution":              {"", same, none},
		"a solution that is none":  {"", func(i *solver.Instance) { i.AdjustBudget = 0 }, 2.375},
		"nothing, and no solution": {"", func(i *solver.Instance) { i.AdjustBudget = 0 }, 0},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s is believed", name)
				}
			}()
			p := &probe{Solver: &twin{}, opts: (*Options)(nil).complete(), ctx: context.Background()}
			_ = p.knows([]knownCase{c})
		}()
	}
}

// Equal servers have the least of each kind, and the total is their sum.
func TestEqualize(t *testing.T) {
	inst := &solver.Instance{Capacity: []apportion.Resources{{3, 0, 7}, {5, 2, 6}, {4, 9, 6}}, Total: apportion.Resources{12, 11, 19}}
	equalize(inst)
	for j, capacity := range inst.Capacity {
		if !capacity.Equal(apportion.Resources{3, 0, 6}) {
			t.Errorf("server %d has %v", j, capacity)
		}
	}
	if !inst.Total.Equal(apportion.Resources{9, 0, 18}) {
		t.Errorf("%v in all", inst.Total)
	}
}
