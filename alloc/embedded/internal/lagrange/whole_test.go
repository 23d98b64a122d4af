package lagrange

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/alloc/solver/solvertest"
	"github.com/apportion/apportion/internal/oracle/p2oracle"
)

// At any prices the bound with kept ceilings is above the optimum, at most that with priced ones, and often below it.
func TestWholeAgainstTwin(t *testing.T) {
	seeds, compared, below := uint64(600), 0, 0
	if testing.Short() {
		seeds = 150
	}
	for name, draw := range map[string]func(uint64) *solver.Instance{"small": solvertest.Small, "general": solvertest.General, "worth": solvertest.Worth} {
		for seed := range seeds {
			inst := solvertest.Grouped(draw(seed), seed)
			p := problem.New(inst)
			if len(inst.Choices) > 0 || p.Impossible() || len(p.Ceilings) == 0 {
				continue
			}
			best, _ := p2oracle.Best(inst)
			random := rand.New(rand.NewPCG(seed, 5))
			for _, coarse := range []bool{true, false} {
				d := NewDual(p, coarse)
				x := make([]float64, d.Dim())
				for c := range x {
					x[c] = random.Float64() / 4
				}
				// Good prices show what a bound leaves out: it is below the optimum then.
				if seed%2 == 0 {
					desc := NewPriceDescent(d)
					desc.Run(t.Context(), 50, 0, 0)
					copy(x, desc.Best)
				}
				priced := d.Evaluate(x)
				whole, counts := d.Whole(x, 1000)
				compared++
				if whole > priced+1e-9 {
					t.Errorf("%s %d, coarse %v: %.12g is above %.12g with prices", name, seed, coarse, whole, priced)
				}
				if whole < priced-1e-9 {
					below++
				}
				if best != nil && whole < inst.Objective(best)-1e-9 {
					t.Errorf("%s %d, coarse %v: %.12g is below the optimum %.12g", name, seed, coarse, whole, inst.Objective(best))
				}
				if !math.IsInf(whole, -1) {
					checkKept(t, p, counts)
				}
			}
		}
	}
	if below < compared/10 {
		t.Errorf("of %d bounds only %d are below those with prices", compared, below)
	}
}

// checkKept reports a number that an application cannot have, and a group alone in the instance that is above its ceiling.
func checkKept(t *testing.T, p *problem.Problem, counts []int64) {
	left := p.Limits()
	for i, n := range counts {
		a := &p.Apps[i]
		if n < 0 {
			if n = a.Held; !a.Pinnable {
				t.Errorf("%d stays, and cannot", i)
			}
		} else if n < a.Min || n > a.Max {
			t.Errorf("%d has %d containers, of %d to %d", i, n, a.Min, a.Max)
		}
		for _, use := range p.Types[a.Type].Uses {
			left[use.Ceiling] -= n * use.Units
		}
	}
	for _, limit := range left {
		if limit < 0 && len(p.Inst.Groups) == 1 && fits(p) {
			t.Errorf("counts %v exceed the ceiling by %d", counts, -limit)
		}
	}
}

// fits reports whether the minima, and whoever may stay, are below the ceilings: then there is something to choose.
func fits(p *problem.Problem) bool {
	left := p.Limits()
	for i := range p.Apps {
		for _, use := range p.Types[p.Apps[i].Type].Uses {
			left[use.Ceiling] -= max(p.Apps[i].Min, p.Apps[i].Held) * use.Units
		}
	}
	return !slices.ContainsFunc(left, func(n int64) bool { return n < 0 })
}

// packed returns three applications of 3, 3 and 2 units a container below a ceiling of 7 of 16 units.
func packed() *solver.Instance {
	inst := instancetest.Crowd(4, 4, 3, 1, 0)
	for i := range inst.Apps {
		inst.Apps[i].Elective, inst.Apps[i].Max = true, 1
	}
	inst.Apps = inst.Apps[:3]
	inst.Apps[0].Demand, inst.Apps[1].Demand, inst.Apps[2].Demand = apportion.Resources{3}, apportion.Resources{3}, apportion.Resources{2}
	inst.Groups = []solver.Group{{Apps: []int{0, 1, 2}, Ceiling: apportion.Resources{7}}}
	return instancetest.Finish(inst)
}

// Below 7 units at most 6 are used by containers of 3, 3 and 2: prices alone say 7. Without looks it is those.
func TestWholeContainers(t *testing.T) {
	p := problem.New(packed())
	if len(p.Ceilings) != 1 {
		t.Fatalf("%d ceilings", len(p.Ceilings))
	}
	d := NewDual(p, true)
	desc := NewPriceDescent(d)
	desc.Run(t.Context(), 200, 0, 0)
	unit := 1 / float64(p.Total[0])
	if math.Abs(desc.Bound-7*unit) > 1e-6 {
		t.Errorf("prices prove %g, want %g", desc.Bound, 7*unit)
	}
	whole, counts := d.Whole(desc.Best, 100)
	if math.Abs(whole-6*unit) > 1e-6 || !slices.Equal(counts, []int64{1, 1, 0}) {
		t.Errorf("bound %g with %v, want %g", whole, counts, 6*unit)
	}
	if loose, _ := d.Whole(desc.Best, 1); math.Abs(loose-desc.Bound) > 1e-9 {
		t.Errorf("without looks %g, and %g with prices", loose, desc.Bound)
	}
}

// One of three may be adjusted, from 1 container to 3: the budget times its price is part of the bound, which then is exact
// without any price on room.
func TestWholeBudget(t *testing.T) {
	inst := instancetest.Crowd(4, 3, 4, 1, 0)
	for i := range inst.Apps {
		app := &inst.Apps[i]
		app.Max, app.Running, app.Cost, app.Previous = 3, true, 1, []apportion.Placement{{Server: i, Count: 1}}
	}
	inst.AdjustBudget = 1
	inst.Groups = []solver.Group{{Apps: []int{0, 1, 2}, Ceiling: apportion.Resources{8}}}
	p := problem.New(instancetest.Finish(inst))
	d := NewDual(p, true)
	whole, _ := d.Whole(make([]float64, d.Dim()), 1000)
	if unit := 1 / float64(p.Total[0]); math.Abs(whole-5*unit) > 1e-9 {
		t.Errorf("the bound is %g containers, want 1 + 1 + 3", whole/unit)
	}
}
