// This file tests what options bring at prices, against the referee's bound, and slopes against the bound elsewhere.

package lagrange

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/alloc/solver/solvertest"
)

// optionDual returns the evaluation of an instance with options by server, and what its options count more than once; nil
// where minima alone cannot be placed.
func optionDual(inst *solver.Instance, coarse bool) (d *Dual, added float64) {
	apart, added := inst.Apart()
	p := problem.New(apart)
	if p.Impossible() {
		return nil, 0
	}
	d = NewDual(p, coarse)
	if len(inst.Choices) > 0 {
		d.WithOptions(inst.Choices)
	}
	return d, added
}

// somePrices draws multipliers up to most, some of them 0.
func somePrices(random *rand.Rand, dim int, most float64) []float64 {
	x := make([]float64, dim)
	for c := range x {
		if random.IntN(4) > 0 {
			x[c] = random.Float64() * most
		}
	}
	return x
}

// evenCosts lets every adjustment cost 1: of unequal costs the referee takes a part of the last one, and a Dual counts heads.
// Nobody is pinned, which a node would have to say, and the budget pays for all that must move.
func evenCosts(inst *solver.Instance) {
	for i := range inst.Apps {
		inst.Apps[i].Cost, inst.Apps[i].Pinned = 1, false
		if inst.Apps[i].Running && !inst.MayStay(i) {
			inst.AdjustBudget = int64(len(inst.Apps))
		}
	}
}

// intervals reports whether an application without worths and losses of its own may not have all numbers between its bounds:
// a Dual takes it for one that may.
func intervals(p *problem.Problem) bool {
	for i := range p.Apps {
		app := &p.Inst.Apps[i]
		for n := p.Apps[i].Min; app.Worth == nil && app.Losses == nil && n <= p.Apps[i].Max; n++ {
			if !app.Allows(n) {
				return true
			}
		}
	}
	return false
}

// At any prices an evaluation agrees with the referee, which knows no types, classes or heads, on options of one application
// as on worths and losses of any shape; it is never below the referee's.
func TestDualAgreesOnGeneral(t *testing.T) {
	seeds := uint64(1200)
	if testing.Short() {
		seeds = 300
	}
	for name, draw := range map[string]func(uint64) *solver.Instance{"choices": solvertest.Choices, "loss": solvertest.Loss, "worth": solvertest.Worth} {
		compared := 0
		for seed := range seeds {
			inst := draw(seed)
			evenCosts(inst)
			inst.Groups = nil
			d, added := optionDual(inst, false)
			if d == nil {
				continue
			}
			x := somePrices(rand.New(rand.NewPCG(seed, 11)), d.Dim(), 1)
			got := d.Evaluate(x) - added
			want, err := solver.DualBound(inst, d.Multipliers(x))
			exact := !intervals(d.Problem)
			if err != nil || got < want-1e-9 || exact && got != want && math.Abs(got-want) > 1e-9 {
				t.Errorf("%s %d: %.12g, solver.DualBound %.12g, %v", name, seed, got, want, err)
			}
			if exact {
				compared++
			}
		}
		if compared < int(seeds)/8 {
			t.Errorf("%s: only %d of %d were compared", name, compared, seeds)
		}
	}
}

// The bound is convex in the prices, and the slope that an evaluation leaves supports it from below everywhere else.
func TestSlopesSupport(t *testing.T) {
	for name, draw := range map[string]func(uint64) *solver.Instance{
		"choices": solvertest.Choices, "loss": solvertest.Loss, "worth": solvertest.Worth, "small": solvertest.Small,
		"below ceilings": func(seed uint64) *solver.Instance { return solvertest.Grouped(solvertest.Loss(seed), seed) },
	} {
		for seed := range uint64(150) {
			inst := draw(seed)
			d, _ := optionDual(inst, seed%2 == 0)
			if d == nil {
				continue
			}
			random := rand.New(rand.NewPCG(seed, 13))
			x := somePrices(random, d.Dim(), 0.5)
			at := d.Evaluate(x)
			slope := append([]float64(nil), d.gradient()...)
			if math.IsInf(at, -1) {
				continue
			}
			for range 5 {
				y := somePrices(random, d.Dim(), 0.5)
				tangent := at
				for c := range y {
					tangent += slope[c] * (y[c] - x[c])
				}
				if got := d.Evaluate(y); got < tangent-1e-9 {
					t.Errorf("%s %d: %.12g at %v, the tangent from %v says %.12g", name, seed, got, y, x, tangent)
				}
			}
		}
	}
}

// threeWays is a job with three options on one server of two kinds, a container each of 1, 2 and 2 units, the second of which
// runs with one, beside another that has no options.
func threeWays(required bool) *solver.Instance {
	inst := &solver.Instance{Capacity: []apportion.Resources{{8, 8}}, LossBudget: 9, AdjustBudget: 9, Choices: []solver.Choice{{Apps: []int{0, 1, 2}, Required: required}}}
	for _, demand := range []apportion.Resources{{1, 0}, {2, 0}, {0, 2}} {
		inst.Apps = append(inst.Apps, solver.App{Demand: demand, Min: 1, Max: 2, Elective: true, Share: 0.5})
	}
	inst.Apps[1].Running, inst.Apps[1].Cost, inst.Apps[1].Previous = true, 1, []apportion.Placement{{Server: 0, Count: 1}}
	inst.Apps = append(inst.Apps, solver.App{Demand: apportion.Resources{1, 1}, Max: 1})
	return instancetest.Finish(inst)
}

// The option that runs stands for its application, or the first; the prices say what each option gains, and how many
// containers are best.
func TestOptionsOfOne(t *testing.T) {
	inst := threeWays(false)
	d, _ := optionDual(inst, true)
	if head := d.Head(0); head != 1 {
		t.Errorf("the head is %d, want the one that runs", head)
	}
	if others := d.othersOf(1); len(others) != 2 || others[0] != 0 || others[1] != 2 || d.othersOf(3) != nil {
		t.Errorf("others of the head %v, of one without options %v", others, d.othersOf(3))
	}
	// Without prices every option has both of its containers: 1/8, 2/8 and 2/8 each.
	x := make([]float64, d.Dim())
	d.Evaluate(x)
	for i, want := range []float64{2. / 8, 4. / 8, 4. / 8} {
		if got := d.Gain(x, int32(i)); math.Abs(got-want) > 1e-12 {
			t.Errorf("option %d gains %g, want %g", i, got, want)
		}
	}
	if d.Free[1] != 0.5 || d.Keep[1] != 0.25 || d.count[0] != 0 || d.count[2] != 0 || d.count[1] != 2 {
		t.Errorf("free %g, kept %g, counts %v", d.Free[1], d.Keep[1], d.count[:3])
	}
	// At a price of 1/4 a unit of the first kind only the third option pays, whose containers cost nothing.
	x[0] = 0.25
	d.Evaluate(x)
	if d.Gain(x, 0) != -1./8 || d.count[2] != 2 || d.count[1] != 0 || math.Abs(d.Free[1]-0.5) > 1e-12 {
		t.Errorf("the first gains %g, counts %v, free %g", d.Gain(x, 0), d.count[:3], d.Free[1])
	}
	// At a price on both none pays: it has nothing then, or where it must run the option that loses least.
	x[1] = 0.25
	d.Evaluate(x)
	if d.Free[1] != 0 || d.count[0]+d.count[1]+d.count[2] != 0 {
		t.Errorf("free %g, counts %v", d.Free[1], d.count[:3])
	}
	d, _ = optionDual(threeWays(true), true)
	d.Evaluate(x)
	if d.Free[1] != -1./8 || d.count[0] != 1 {
		t.Errorf("it must run: free %g, counts %v", d.Free[1], d.count[:3])
	}
	// Of three that do not run the first is the head.
	inst.Apps[1].Running, inst.Apps[1].Previous = false, nil
	if d, _ = optionDual(inst, true); d.Head(0) != 0 {
		t.Errorf("the head is %d, want the first", d.Head(0))
	}
}

// An option of which no server holds one container can have none; minima are left as they are.
func TestOptionWithoutRoom(t *testing.T) {
	inst := threeWays(true)
	inst.Apps[2].Demand = apportion.Resources{0, 9}
	d, _ := optionDual(inst, true)
	x := make([]float64, d.Dim())
	d.Evaluate(x)
	if gain := d.Gain(x, 2); !math.IsInf(gain, -1) || d.count[2] != 0 || d.count[1] != 2 {
		t.Errorf("a container of nine units in eight gains %g, counts %v", gain, d.count[:3])
	}
	for i := range d.Problem.Apps {
		if d.Problem.Apps[i].Min != 0 {
			t.Errorf("the minimum of %d is %d now", i, d.Problem.Apps[i].Min)
		}
	}
}
