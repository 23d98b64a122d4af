package embedded

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/solver"
)

// decorate gives a wild instance what [Program] has beside the paper's: anything, valid or not.
func decorate(t *rapid.T, inst *solver.Instance) {
	count := func(name string) int64 {
		return rapid.SampledFrom([]int64{-1, 0, 0, 1, 2, 3, 1 << 40, math.MaxInt64}).Draw(t, name)
	}
	worth := func(name string) float64 {
		return rapid.SampledFrom([]float64{0, 0, 0, 0.5, 3, -2, 1e-300, 1e9, 1e9, 1e300}).Draw(t, name)
	}
	sometimes := func(name string) bool { return rapid.IntRange(0, 3).Draw(t, name) == 0 }
	inst.LossPrice = math.Abs(worth("price on loss"))
	if sometimes("classes") {
		for range inst.Capacity {
			inst.Class = append(inst.Class, rapid.IntRange(0, 2).Draw(t, "class"))
		}
	}
	for i := range inst.Apps {
		app := &inst.Apps[i]
		app.Elective, app.Pinned = sometimes("elective"), app.Running && !app.Displaced && sometimes("pinned")
		app.Cost, app.Stay = max(0, count("cost")), math.Max(0, worth("stay"))
		app.PerServer, app.MaxServers, app.Step = max(0, count("per server")), max(0, count("servers")), max(0, count("step"))
		if sometimes("open") {
			app.Classes = []int{rapid.IntRange(0, 2).Draw(t, "open class")}
		}
		// Few numbers, so that each has a worth.
		if app.Max < 1<<40 && app.Max-app.Min < 10 && sometimes("worths") {
			app.Idle = worth("idle")
			for n := max(1, app.Min); n <= app.Max; n++ {
				if app.Allows(n) {
					app.Worth = append(app.Worth, worth("worth"))
				}
			}
		}
		if sometimes("losses") {
			app.Losses = []solver.LossPoint{{N: 0, Loss: math.Max(0, worth("loss of none"))}, {N: 1 + max(0, count("more"))%9, Loss: math.Max(0, worth("loss of some"))}}
		}
	}
	for range rapid.IntRange(0, 2).Draw(t, "groups") {
		group := solver.Group{Ceiling: inst.Total.Clone()}
		for k := range group.Ceiling {
			group.Ceiling[k] = rapid.SampledFrom([]int64{0, 1, 5, group.Ceiling[k] / 2, solver.NoLimit}).Draw(t, "ceiling")
		}
		for i := range inst.Apps {
			if sometimes("below it") {
				group.Apps = append(group.Apps, i)
			}
		}
		inst.Groups = append(inst.Groups, group)
	}
	if n := len(inst.Apps); n > 1 && sometimes("options") {
		inst.Choices = append(inst.Choices, solver.Choice{Apps: []int{0, 1}, Required: sometimes("required")})
	}
}

// Nothing of [Program] makes Solve panic either, whatever its options are, and whatever another decision has left.
func TestSolveNeverPanicsOnTheGeneral(t *testing.T) {
	answered := 0
	rapid.Check(t, func(t *rapid.T) {
		inst := wild(t)
		decorate(t, inst)
		opts := &Options{
			Effort: rapid.SampledFrom([]Effort{math.MinInt64, -1, 0, 1, 2, 200, Thorough, Prove}).Draw(t, "effort"),
			Gap:    rapid.SampledFrom([]float64{math.NaN(), math.Inf(-1), -1, 0, 0.5, 1, 1.5, math.Inf(1)}).Draw(t, "gap"),
			Seed:   rapid.SampledFrom([]uint64{0, 1, math.MaxUint64}).Draw(t, "seed"),
		}
		if rapid.Bool().Draw(t, "warm") {
			opts.Warm = lie(t, inst)
		}
		if rapid.Bool().Draw(t, "no loss") {
			inst.LossBudget = 0
		}
		looks := rapid.SampledFrom([]int{0, 1, 5, 60, 300, 2000}).Draw(t, "looks")
		sol, err := New(opts).Solve(instancetest.NewFuse(looks), inst)
		if err != nil {
			return
		}
		answered++
		mustHold(t, inst, sol)
	})
	t.Logf("%d answered", answered)
}

// An application that states its losses may have any number of containers: neither memory nor work follow that. Here it loses
// nothing with half of the cluster, so that a loss of a quarter lets it have up to 5/8 of it.
func TestLossesOfManyNumbers(t *testing.T) {
	for name, c := range map[string]struct{ size, most, step int64 }{
		"few":         {16, 16, 1},
		"many":        {1 << 40, 1 << 40, 1},
		"any":         {1 << 40, math.MaxInt64, 1},
		"in steps":    {1 << 40, math.MaxInt64, 1 << 30},
		"all numbers": {math.MaxInt64 - 1, math.MaxInt64, 1},
	} {
		size := float64(c.size)
		inst := instancetest.Finish(&solver.Instance{Capacity: []apportion.Resources{{c.size - c.size/4}, {c.size / 4}}, LossBudget: .25, Apps: []solver.App{{
			Demand: apportion.Resources{1}, Max: c.most, Step: c.step, Value: 1 / size, Delta: 1 / size, Share: .5,
			Losses: []solver.LossPoint{{Loss: 1}, {N: c.size / 2}, {N: c.size, Loss: 1}},
		}}})
		sol, err := New(nil).Solve(t.Context(), inst)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if math.Abs(sol.Bound-.625) > 1e-6 {
			t.Errorf("%s: %v, bound %g, want 5/8", name, sol.Status, sol.Bound)
		}
		if again, err := sol.Certified(inst); err != nil || math.Abs(again-.625) > 1e-6 {
			t.Errorf("%s: certified %g, %v, want 5/8", name, again, err)
		}
	}
}

// An application that is too dear to change may have any number of containers, too, where others have worths: the list of
// ways on joined servers ends with the first that cannot be had.
func TestTooDearForManyNumbers(t *testing.T) {
	inst := instancetest.Finish(&solver.Instance{Capacity: []apportion.Resources{{1 << 40}}, AdjustBudget: 2, Apps: []solver.App{
		{Demand: apportion.Resources{1}, Max: math.MaxInt64, Running: true, Cost: 5, Previous: []apportion.Placement{{Server: 0, Count: 3}}},
		{Demand: apportion.Resources{1}, Max: 2, Worth: []float64{1, 3}},
	}})
	sol, err := New(nil).Solve(t.Context(), inst)
	if err != nil {
		t.Fatal(err)
	}
	if sol.Status != solver.Optimal || math.Abs(sol.Objective-3) > 1e-9 || solver.Containers(sol.Counts[0]) != 3 {
		t.Errorf("%v, %g with %v, want 3", sol.Status, sol.Objective, sol.Counts)
	}
}

// lie returns what no decision has left: multipliers out of range, and everybody freed.
func lie(t *rapid.T, inst *solver.Instance) *Warm {
	number := func(name string) float64 {
		return rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 0, 1e300}).Draw(t, name)
	}
	sol := &solver.Solution{Status: solver.Feasible, Counts: make(solver.Counts, len(inst.Apps))}
	sol.Copies = &solver.CopyPrices{Loss: number("loss")}
	for i := range inst.Apps {
		if rapid.Bool().Draw(t, "as it is") {
			sol.Counts[i] = inst.Apps[i].Previous
		}
		sol.Copies.Container = append(sol.Copies.Container, number("container"))
		var room []float64
		for range inst.Apps[i].Previous {
			room = append(room, number("room"))
		}
		sol.Copies.Room = append(sol.Copies.Room, room)
	}
	return WarmFrom(inst, sol)
}

// Wherever a search is interrupted its answer is a solution or none, and its bound is no less than what can be had.
func TestInterruptedAnywhere(t *testing.T) {
	worthy := alloctest.GPUs(1, 5, 6, true)
	alloctest.AddWorths(1, worthy)
	looksAtMost := 60
	if testing.Short() {
		looksAtMost = 12
	}
	for name, inst := range map[string]*solver.Instance{
		"fresh":        alloctest.Table2(1, 5, 8, false),
		"previous":     alloctest.Table2(2, 6, 8, true),
		"mixed":        alloctest.Mixed(3, 6, 9, true),
		"worths":       worthy,
		"options":      alloctest.Accelerators(0, 4, 4, true),
		"many options": alloctest.Accelerators(1, 6, 8, false),
		"ceilings":     below(alloctest.Table2(3, 6, 8, true), 0.5),
		"both":         below(alloctest.Accelerators(2, 4, 4, true), 0.6),
	} {
		opts := &Options{Effort: 5}
		whole, err := New(opts).Solve(context.Background(), inst)
		if err != nil {
			t.Fatal(err)
		}
		fuse := instancetest.NewFuse(math.MaxInt32)
		if _, err := New(opts).Solve(fuse, inst); err != nil {
			t.Fatal(err)
		}
		all := math.MaxInt32 - fuse.Left
		for at := range min(looksAtMost, all) {
			// The first looks one by one, the others spread over all there are.
			looks := at
			if at > 5 {
				looks = at * all / looksAtMost
			}
			sol, err := New(opts).Solve(instancetest.NewFuse(looks), inst)
			if err != nil {
				t.Fatal(err)
			}
			if sol.Status.HasSolution() {
				if err := inst.Check(sol.Counts); err != nil {
					t.Errorf("%s, %d of %d looks: %v", name, looks, all, err)
				}
			}
			if whole.Status.HasSolution() && (sol.Status == solver.Infeasible || sol.Bound < whole.Objective-2*solver.ObjectiveTolerance) {
				t.Errorf("%s, %d of %d looks: %v, bound %g; %g can be had", name, looks, all, sol.Status, sol.Bound, whole.Objective)
			}
			if !sol.Interrupted && sol.Status != whole.Status {
				t.Errorf("%s, %d of %d looks: %v without a word of the interruption, else %v", name, looks, all, sol.Status, whole.Status)
			}
		}
	}
}
