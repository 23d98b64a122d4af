package solver_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/alloc/solver/solvertest"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/oracle/p2oracle"
	"github.com/apportion/apportion/internal/rapidtest"
)

// twoWays is one application with two options of two containers each on one server, beside another one.
func twoWays() *solver.Instance {
	way := solver.App{Demand: apportion.Resources{1}, Max: 2, Share: .5, Delta: .25, Worth: []float64{1, 2}, Idle: -1}
	inst := &solver.Instance{Capacity: []apportion.Resources{{4}}, Total: apportion.Resources{4}, LossBudget: 1,
		Apps:    []solver.App{way, way, {Demand: apportion.Resources{1}, Max: 1, Value: .25, Delta: .25}},
		Choices: []solver.Choice{{Apps: []int{0, 1}}}}
	inst.Apps[1].Delta, inst.Apps[1].Worth = .5, []float64{3, 4}
	return inst
}

// What having nothing is worth, and the loss of it, count once for an application, and not at all where an option is used.
func TestChoiceCountsOnce(t *testing.T) {
	inst := twoWays()
	two := []apportion.Placement{{Count: 2}}
	for _, c := range []struct {
		counts          solver.Counts
		objective, loss float64
		violated        bool
	}{
		{solver.Counts{nil, nil, nil}, -1, .5, false},
		{solver.Counts{two, nil, nil}, 2, 0, false},
		{solver.Counts{nil, two, nil}, 4, .5, false},
		{solver.Counts{two, two, nil}, 7, 0, true},
	} {
		// The loss of two options at once is of no interest.
		if got := inst.Objective(c.counts); got != c.objective || !c.violated && inst.FairnessLoss(c.counts) != c.loss {
			t.Errorf("%v: objective %g, loss %g; want %g and %g", c.counts, got, inst.FairnessLoss(c.counts), c.objective, c.loss)
		}
		if err := inst.Check(c.counts); errors.Is(err, solver.ErrViolated) != c.violated {
			t.Errorf("%v: %v", c.counts, err)
		}
	}
	inst.Choices[0].Required = true
	if err := inst.Check(make(solver.Counts, 3)); !errors.Is(err, solver.ErrViolated) {
		t.Errorf("nothing of a required choice: %v", err)
	}
	// The price of loss charges the same loss.
	inst.LossPrice = 2
	if got := inst.Objective(solver.Counts{nil, two, nil}); got != 4-2*.5 {
		t.Errorf("objective %g at a price of loss", got)
	}
}

// What is no matter of prices is bounded as if every option were an application, less what that adds.
func TestBoundsOfApart(t *testing.T) {
	adds := 0
	rapidtest.Until(t, "having nothing was worth nothing in all", func() bool { return adds > 0 }, func(t *rapid.T) {
		inst := solvertest.Choices(rapid.Uint64Range(0, 5000).Draw(t, "instance"))
		apart, added := inst.Apart()
		if math.Abs(added) > 1e-6 {
			adds++
		}
		m := genCopies(t, inst)
		want, err := solver.CopyBound(apart, m)
		got, errToo := solver.CopyBound(inst, m)
		if err != nil || errToo != nil || !near(got, want-added) || !near(inst.Cap(), apart.Cap()-added) {
			t.Errorf("%.12g, %v; apart %.12g, %v, with %g added; caps %g and %g", got, errToo, want, err, added, inst.Cap(), apart.Cap())
		}
	})
}

// without returns inst with option use of its only choice as an application by itself; -1: with none of them.
func without(inst *solver.Instance, use int) *solver.Instance {
	one := *inst
	one.Apps, one.Choices = nil, nil
	for i := range inst.Apps {
		app := inst.Apps[i]
		switch {
		case i == use:
			app.Elective, app.Min = false, max(1, app.Min)
			one.Apps = append(one.Apps, app)
		case !slices.Contains(inst.Choices[0].Apps, i):
			one.Apps = append(one.Apps, app)
		}
	}
	return &one
}

// Where nobody runs the bound of a choice is the largest of those with each of its options alone.
func TestDualBoundOfChoiceIsBest(t *testing.T) {
	finite := 0
	rapidtest.Until(t, "no finite bound was compared", func() bool { return finite > 0 }, func(t *rapid.T) {
		inst := solvertest.Choices(rapid.Uint64Range(0, 5000).Draw(t, "instance"))
		for i := range inst.Apps {
			app := &inst.Apps[i]
			app.Running, app.Displaced, app.Pinned, app.Previous = false, false, false, nil
		}
		m := genMultipliers(t, inst)
		choice := inst.Choices[0]
		most := math.Inf(-1)
		for _, i := range choice.Apps {
			bound := must.Have(solver.DualBound(without(inst, i), m))(t)
			most = math.Max(most, bound)
		}
		if !choice.Required {
			first := &inst.Apps[choice.Apps[0]]
			bound := must.Have(solver.DualBound(without(inst, -1), m))(t)
			most = math.Max(most, bound+first.Idle-(m.Loss+inst.LossPrice)*first.Share)
		}
		got, err := solver.DualBound(inst, m)
		if err != nil || !near(got, most) {
			t.Errorf("%.12g, %v; the best option has %.12g", got, err, most)
		}
		if !math.IsInf(most, 0) {
			finite++
		}
	})
}

// Whatever the prices are, no solution with options exceeds a bound.
func TestBoundsHoldWithChoices(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inst := solvertest.Choices(rapid.Uint64Range(0, 5000).Draw(t, "instance"))
		best, _ := p2oracle.Best(inst)
		if best == nil {
			return
		}
		optimum := inst.Objective(best)
		dual, err := solver.DualBound(inst, genMultipliers(t, inst))
		if err != nil || dual < optimum-solver.ObjectiveTolerance {
			t.Errorf("DualBound %.12g, %v; the optimum is %.12g", dual, err, optimum)
		}
		copies, err := solver.CopyBound(inst, genCopies(t, inst))
		if err != nil || copies < optimum-solver.ObjectiveTolerance {
			t.Errorf("CopyBound %.12g, %v; the optimum is %.12g", copies, err, optimum)
		}
		if inst.Cap() < optimum-solver.ObjectiveTolerance {
			t.Errorf("cap %.12g, the optimum is %.12g", inst.Cap(), optimum)
		}
	})
}
