// This file tests that containers are put on few servers without anybody having more, less or another place in vain.

package alloc

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// solved returns the attempt of all applications, answered by counts.
func solved(p *Problem, counts solver.Counts) (*resolved, *attempt) {
	r := resolve(p)
	apps := make([]int, len(p.Applications))
	for i := range apps {
		apps[i] = i
	}
	a := &attempt{apps: apps, instance: r.instance(apps)}
	objective := a.instance.Objective(counts)
	a.solution = &solver.Solution{Status: solver.Optimal, Counts: counts, Objective: objective, Bound: objective, Proven: solver.ByOrder}
	return r, a
}

// at returns placements of so many containers by server.
func at(n ...int64) (counts []apportion.Placement) {
	for j, count := range n {
		if count > 0 {
			counts = append(counts, apportion.Placement{Server: j, Count: count})
		}
	}
	return counts
}

// Newcomers, and those that change, are gathered; whoever stays does not move, and the proof says what still holds.
func TestConsolidate(t *testing.T) {
	for name, c := range map[string]struct {
		draw   func() *Problem
		counts solver.Counts
		want   solver.Counts
		proven solver.Rank
	}{
		"a newcomer on two servers": {func() *Problem {
			p := gpuProblem(4, 4)
			p.add(1, 1, 4)
			return p
		}, solver.Counts{at(2, 2)}, solver.Counts{at(4)}, solver.ByMoved},
		"one that is on one server": {func() *Problem {
			p := gpuProblem(4, 4)
			p.add(1, 1, 4)
			return p
		}, solver.Counts{at(0, 3)}, solver.Counts{at(0, 3)}, solver.ByOrder},
		"two that cross": {func() *Problem {
			p := gpuProblem(4, 4)
			p.add(1, 1, 4)
			p.add(1, 1, 4)
			return p
		}, solver.Counts{at(2, 2), at(2, 2)}, solver.Counts{at(4), at(0, 4)}, solver.ByMoved},
		"one that stays is in the way": {func() *Problem {
			p := gpuProblem(4, 4)
			p.add(1, 1, 4, 1, 1)
			p.add(1, 1, 6)
			return p
		}, solver.Counts{at(1, 1), at(3, 3)}, solver.Counts{at(1, 1), at(3, 3)}, solver.ByOrder},
		"one that changes, and moves fewer then": {func() *Problem {
			p := gpuProblem(4, 5)
			p.add(1, 1, 4, 3, 0)
			p.add(1, 1, 2, 0, 0)
			return p
		}, solver.Counts{at(2, 2), at(0, 2)}, solver.Counts{at(4), at(0, 2)}, solver.ByAdjusted},
	} {
		r, a := solved(c.draw(), c.counts)
		before := a.solution
		r.consolidate(a)
		if diff := cmp.Diff(c.want, a.solution.Counts); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if a.solution.Proven != c.proven || before.Proven != solver.ByOrder {
			t.Errorf("%s: proven %v, want %v; the old answer says %v", name, a.solution.Proven, c.proven, before.Proven)
		}
	}
}

// Whoever is placed just where it was stays, which may be worth more than what was found: the objective and a bound that
// is still one say so.
func TestConsolidateMayStay(t *testing.T) {
	p := gpuProblem(4, 4)
	app := p.add(1, 1, 4, 4, 0)
	stay := 10.
	app.StayWorth = &stay
	r, a := solved(p, solver.Counts{at(2, 2)})
	before := a.solution.Bound
	r.consolidate(a)
	if !cmp.Equal(a.solution.Counts, solver.Counts{at(4)}) || a.solution.Objective != 10 {
		t.Fatalf("%v is worth %g", a.solution.Counts, a.solution.Objective)
	}
	if a.solution.Bound != 10 || before >= 10 {
		t.Errorf("the bound is %g, and was %g", a.solution.Bound, before)
	}
}

// Whatever comes in, what goes out is as good: the same numbers, within every constraint, on no more servers, and nobody
// who stayed has moved.
func TestPropConsolidate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := genDrafted(t)
		d := newDraft(resolve(p))
		for _, i := range rapid.Permutation(indices(len(p.Applications))).Draw(t, "order") {
			if !d.in[i] {
				d.admit(i)
			}
		}
		apps := d.taken()
		a := &attempt{apps: apps, instance: d.r.instance(apps)}
		counts := scattered(t, d, apps)
		a.instance.LossBudget = float64(2 * len(apps))
		if len(apps) == 0 || a.instance.Check(counts) != nil {
			return
		}
		objective := a.instance.Objective(counts)
		a.solution = &solver.Solution{Status: solver.Feasible, Counts: counts, Objective: objective, Bound: objective}
		d.r.consolidate(a)
		after := a.solution.Counts
		if err := a.instance.Check(after); err != nil {
			t.Fatalf("%v became %v: %v", counts, after, err)
		}
		all := indices(len(apps))
		if servers(after, all) > servers(counts, all) {
			t.Fatalf("%v became %v, on more servers", counts, after)
		}
		for i := range apps {
			app := &a.instance.Apps[i]
			if solver.Containers(after[i]) != solver.Containers(counts[i]) || app.Running && !app.Adjusted(counts[i]) && app.Adjusted(after[i]) {
				t.Fatalf("application %d had %v and has %v", i, counts[i], after[i])
			}
		}
	})
}

// indices returns 0, 1, ... n-1.
func indices(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// scattered returns what apps have in a draft, with single containers moved to other servers where there is room.
func scattered(t *rapid.T, d *draft, apps []int) solver.Counts {
	for range rapid.IntRange(0, 6).Draw(t, "moves") {
		i := rapid.SampledFrom(append(slices.Clone(apps), 0)).Draw(t, "who")
		j := rapid.IntRange(0, len(d.left)-1).Draw(t, "where")
		was := d.remove(i)
		by := make([]int64, len(d.left))
		for _, p := range was {
			by[p.Server] = p.Count
		}
		if len(was) > 0 {
			by[was[0].Server]--
			by[j]++
		}
		if moved := at(by...); d.fits(i, moved) {
			d.put(i, moved)
		} else {
			d.put(i, was)
		}
	}
	return gather(apps, d.counts)
}
