package lagrange

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/alloc/solver/solvertest"
	"github.com/apportion/apportion/internal/oracle/p2oracle"
)

// At any prices the evaluation by server agrees with solver.DualBound. By shape it is no better a bound: equal
// servers count as one, whatever stays on each.
func TestDualAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inst := instancetest.Tiny(draws(t))
		p := problem.New(inst)
		if p.Impossible() {
			t.Skip("no prices needed")
		}
		for _, coarse := range []bool{true, false} {
			d := NewDual(p, coarse)
			x := make([]float64, d.Dim())
			for c := range x {
				x[c] = rapid.Float64Range(0, 2).Draw(t, "price")
			}
			got := d.Evaluate(x)
			want, err := solver.DualBound(inst, d.Multipliers(x))
			if err != nil || got < want-1e-9 || !coarse && got > want+1e-9 {
				t.Fatalf("coarse %v: %.12g, solver.DualBound %.12g, %v", coarse, got, want, err)
			}
		}
	})
}

// So it does below ceilings, which charge wherever a container is.
func TestDualAgreesBelowCeilings(t *testing.T) {
	binding := 0
	for seed := range uint64(1500) {
		inst := solvertest.Grouped(solvertest.Small(seed), seed)
		for g := range inst.Groups {
			for k, limit := range inst.Groups[g].Ceiling {
				if limit == solver.NoLimit {
					continue
				}
				// What one application alone must not exceed is known of its maximum, and not to solver.DualBound.
				limit = 0
				for _, i := range inst.Groups[g].Apps {
					limit = max(limit, inst.Apps[i].Max*inst.Apps[i].Demand[k])
				}
				inst.Groups[g].Ceiling[k] = limit
			}
		}
		p := problem.New(inst)
		if p.Impossible() || len(p.Ceilings) == 0 {
			continue
		}
		binding++
		random := rand.New(rand.NewPCG(seed, 3))
		coarse, d := NewDual(p, true), NewDual(p, false)
		from, x := make([]float64, coarse.Dim()), make([]float64, d.Dim())
		for c := range from {
			from[c] = random.Float64()
		}
		d.Refine(x, coarse, from)
		if !slices.Equal(d.CeilingPrices(x), coarse.CeilingPrices(from)) {
			t.Errorf("%d: prices %v of ceilings, finer %v", seed, coarse.CeilingPrices(from), d.CeilingPrices(x))
		}
		got := d.Evaluate(x)
		want, err := solver.DualBound(inst, d.Multipliers(x))
		if err != nil || math.Abs(got-want) > 1e-9 && got != want {
			t.Errorf("%d: %.12g, solver.DualBound %.12g, %v", seed, got, want, err)
		}
	}
	if binding < 50 {
		t.Errorf("only %d of the instances have ceilings that matter", binding)
	}
}

// The descent finds what a ceiling is worth: 3 of 8 containers may be had, and none of the two kinds of price on the
// server is needed for that.
func TestDescentPricesCeilings(t *testing.T) {
	inst := instancetest.Crowd(4, 8, 2, 1, 1./8)
	inst.Groups = []solver.Group{{Apps: []int{0, 1, 2, 3, 4}, Ceiling: apportion.Resources{3}}}
	for i := range inst.Apps {
		inst.Apps[i].Elective = true
	}
	desc := NewPriceDescent(NewDual(problem.New(inst), true))
	desc.Run(t.Context(), 100, 0, 0)
	// 6 of 8 containers, and each lost share of the others is within the budget.
	if want := 6. / 8; math.Abs(desc.Bound-want) > 1e-6 {
		t.Errorf("bound %g, want %g", desc.Bound, want)
	}
}

// So it does where numbers have worths of any shape, and staying has one.
func TestDualAgreesOnWorths(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inst := instancetest.Tiny(draws(t))
		instancetest.AddWorths(draws(t), inst)
		p := problem.New(inst)
		if p.Impossible() {
			t.Skip("no prices needed")
		}
		d := NewDual(p, false)
		x := make([]float64, d.Dim())
		for c := range x {
			x[c] = rapid.Float64Range(0, 2).Draw(t, "price")
		}
		got := d.Evaluate(x)
		want, err := solver.DualBound(inst, d.Multipliers(x))
		if err != nil || math.Abs(got-want) > 1e-9 && got != want {
			t.Fatalf("%.12g, solver.DualBound %.12g, %v", got, want, err)
		}
	})
}

// The subgradient's parts are those of the maximizer: priced out, they give the bound again.
func TestDualSubgradient(t *testing.T) {
	p := problem.New(alloctest.Mixed(5, 10, 12, true))
	d := NewDual(p, false)
	desc := NewPriceDescent(d)
	desc.Run(context.Background(), 50, 2, 2)
	x := desc.Best
	x[d.Dim()-1] = 0.2
	bound := d.Evaluate(x)
	var slope float64
	for c, g := range d.gradient() {
		slope += x[c] * g
	}
	// What is left of the bound is the value of the chosen containers, which prices do not change.
	value := bound - slope
	var want float64
	taken := make(map[int32]bool)
	for s, sc := range d.All {
		taken[sc.App] = int64(s) < p.Budget && sc.Gain > 0
	}
	for i := range p.Apps {
		n := d.count[i]
		if p.Apps[i].Pinnable && !taken[int32(i)] {
			n = p.Apps[i].Held
		}
		want += p.Types[p.Apps[i].Type].Value * float64(n)
	}
	if math.Abs(value-want) > 1e-9 {
		t.Errorf("value %g, the chosen containers are worth %g", value, want)
	}
}

// The descent comes down to the optimum of a problem without a gap: one server that is full.
func TestDescentConverges(t *testing.T) {
	inst := instancetest.Worked(instancetest.LR(0.75))
	d := NewPriceDescent(NewDual(problem.New(inst), true))
	start := d.Bound
	d.Run(context.Background(), 400, 0.9*1.125, 1.125)
	if d.Bound > 1.125*1.01 || d.Bound < 1.125-1e-9 || start <= d.Bound {
		t.Errorf("from %g down to %g, the optimum is 1.125", start, d.Bound)
	}
}

// Classes: servers without residents that hold as much of each type are one, one with residents is alone, coarse
// ones go by what they hold only; together they are all servers.
func TestDualClasses(t *testing.T) {
	inst := alloctest.Table2(1, 8, 3, true)
	for i := range inst.Apps {
		inst.Apps[i].Running, inst.Apps[i].Previous = false, nil
	}
	inst.Apps[0].Cost = 1
	inst.Apps[0].Running = true
	inst.Apps[0].Previous = []apportion.Placement{{Server: 3, Count: 1}}
	inst.Apps[1].Demand = apportion.Resources{4, 1, 32}
	p := problem.New(instancetest.Finish(inst))
	for coarse, want := range map[bool]int{true: 2, false: 3} {
		d := NewDual(p, coarse)
		var servers int64
		for _, size := range d.Size {
			servers += size
		}
		if len(d.Size) != want || servers != 8 {
			t.Errorf("coarse %v: classes %v, want %d of 8 servers", coarse, d.Size, want)
		}
		if alone := d.Size[d.ClassOf[3]] == 1; alone == coarse {
			t.Errorf("coarse %v: the server with a resident is alone: %v", coarse, alone)
		}
	}
}

// Steps come in the order of profit, hold what the classes hold, and end where nothing is gained.
func TestDualSteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := problem.New(alloctest.Mixed(rapid.Uint64Range(0, 100).Draw(t, "seed"), 10, 8, false))
		d := NewDual(p, true)
		x := make([]float64, d.Dim())
		for gk := range d.Have {
			x[gk] = rapid.Float64Range(0, 0.01).Draw(t, "price")
		}
		x[d.Dim()-1] = rapid.Float64Range(0, 1).Draw(t, "lambda")
		d.Evaluate(x)
		for typ := range p.Types {
			var end int64
			var filled float64
			for s, st := range d.steps[typ] {
				if s > 0 && st.profit > d.steps[typ][s-1].profit {
					t.Fatalf("type %d: profit rises at step %d", typ, s)
				}
				holds := d.Size[st.class] * p.Fits[int(d.shape[st.class])*len(p.Types)+typ]
				if n := st.end - end; n < 1 || n > holds {
					t.Fatalf("type %d: step %d has %d, the class holds %d", typ, s, n, holds)
				}
				filled += float64(st.end-end) * st.profit
				end = st.end
				if math.Abs(filled-st.filled) > 1e-9 || math.Abs(fill(d.steps[typ], end)-filled) > 1e-9 {
					t.Fatalf("type %d: filled %g, want %g", typ, st.filled, filled)
				}
			}
		}
	})
}

// Where all are kept by choice the bound is that of a budget that leaves no choice.
func TestDualBoundOfKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inst := instancetest.Tiny(draws(t))
		inst.AdjustBudget = 1
		p := problem.New(inst)
		if p.Pinnable < int64(len(p.Apps)) {
			t.Skip("not all may be kept")
		}
		d := NewDual(p, false)
		choices := make([]problem.Choice, len(p.Apps))
		d.Decide(choices)
		for i := range choices {
			choices[i] = problem.Kept
		}
		d.Decide(choices)
		x := make([]float64, d.Dim())
		for c := range x {
			x[c] = rapid.Float64Range(0, 1).Draw(t, "price")
		}
		got := d.Evaluate(x)
		inst.AdjustBudget = 0
		want, err := solver.DualBound(inst, d.Multipliers(x))
		if err != nil || math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
			t.Fatalf("bound %.12g, want %.12g, %v", got, want, err)
		}
	})
}

// A dual that has decided about other nodes before is the same as a new one, and another look at the same prices counts
// whom it chooses once more.
func TestDecideAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, x := drawDual(t)
		p := d.Problem
		for range rapid.IntRange(2, 8).Draw(t, "nodes") {
			choices := make([]problem.Choice, len(p.Apps))
			for i := range choices {
				if p.Apps[i].Pinnable {
					choices[i] = rapid.SampledFrom([]problem.Choice{problem.Open, problem.Kept, problem.Freed}).Draw(t, "choice")
				}
			}
			fresh := NewDual(p, true)
			if len(fresh.Size) != len(d.Size) {
				fresh = NewDual(p, false)
			}
			d.Decide(choices)
			d.Forget()
			if fresh.Decide(choices); !slices.Equal(d.residual, fresh.residual) {
				t.Fatalf("choices %v leave %v, of a new dual %v", choices, d.residual, fresh.residual)
			}
			for range 2 {
				got, want := d.Evaluate(x), fresh.evaluate(x)
				if got != want || !slices.Equal(d.slope, fresh.slope) || !slices.Equal(d.Chosen, fresh.Chosen) {
					t.Fatalf("choices %v: %g with slope %v, a new dual has %g with %v", choices, got, d.slope, want, fresh.slope)
				}
			}
			if d.Rounds != 2 || !slices.Equal(d.Often, fresh.Often) {
				t.Fatalf("chosen %v times in %d rounds, want %v in 2", d.Often, d.Rounds, fresh.Often)
			}
		}
	})
}

// With choices made, the prices by server bound every solution that agrees with them.
func TestDualBoundOfNode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inst := instancetest.Tiny(draws(t))
		p := problem.New(inst)
		best, _ := p2oracle.Best(inst)
		if best == nil || p.Impossible() {
			t.Skip("no solution")
		}
		choices := make([]problem.Choice, len(p.Apps))
		for i := range choices {
			if p.Apps[i].Pinnable && rapid.Bool().Draw(t, "decided") {
				choices[i] = problem.Kept
				if inst.Apps[i].Adjusted(best[i]) {
					choices[i] = problem.Freed
				}
			}
		}
		d := NewDual(p, false)
		d.Decide(choices)
		x := make([]float64, d.Dim())
		for c := range x {
			x[c] = rapid.Float64Range(0, 1).Draw(t, "price")
		}
		if bound := d.Evaluate(x); bound < inst.Objective(best)-solver.ObjectiveTolerance {
			t.Fatalf("choices %v: bound %.12g below %.12g", choices, bound, inst.Objective(best))
		}
	})
}
