// This file chooses among those of one leaf that may be let in one for another, so that they use the most, [Program §9].

package alloc

import (
	"context"
	"math"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/alloc/solver"
)

// choose puts those first in leaf q that together use most of what is left: of the first in the order, and those behind it of the same
// priority, as long as none of them is due. Each is asked all the same, and has room unless another leaf takes it.
func (t *turn) choose(ctx context.Context, q int) {
	if !t.r.problem.Options.Choose || t.chosen[q] || len(t.waiting[q]) < 2 {
		return
	}
	t.chosen[q] = true
	list := t.alike(q)
	if len(list) < 2 {
		return
	}
	inst, apps := t.choice(list)
	s, err := solve(ctx, inst, embedded.New(&embedded.Options{Effort: embedded.Default, Gap: chooseGap}))
	if err != nil || !s.Status.HasSolution() {
		return
	}
	in := make(map[int]bool)
	for a, e := range apps {
		in[t.r.of[e]] = in[t.r.of[e]] || len(s.Counts[a]) > 0
	}
	slices.SortStableFunc(list, func(x, y int) int {
		switch {
		case in[t.r.of[x]] == in[t.r.of[y]]:
			return 0
		case in[t.r.of[x]]:
			return -1
		}
		return 1
	})
	t.passed[q] = 0
}

// chooseGap is the part of what is used that a better choice may still bring when the search for one ends.
const chooseGap = 0.002

// alike is the part of a leaf's list of which any may come first: a slice of the list itself.
func (t *turn) alike(q int) []int {
	list := t.waiting[q]
	first := slices.IndexFunc(list, func(i int) bool { _, due := t.r.overdue(i); return !due })
	if first < 0 {
		return nil
	}
	last := first
	for last < len(list) && t.r.problem.Applications[list[last]].Priority == t.r.problem.Applications[list[first]].Priority {
		last++
	}
	return list[first:last]
}

// choice is a program of what these applications can use of what is left, each with its fewest containers or with none. apps are its
// entries.
func (t *turn) choice(list []int) (inst *solver.Instance, apps []int) {
	for _, i := range list {
		apps = append(apps, t.r.fitting(i)...)
	}
	slices.Sort(apps)
	inst = &solver.Instance{Total: t.r.total, Class: t.r.open.classes(), LossBudget: math.MaxInt32, Capacity: make([]apportion.Resources, len(t.left))}
	for j := range t.left {
		inst.Capacity[j] = atLeastNothing(t.left[j])
	}
	for _, v := range t.reserved {
		for _, p := range v.servers {
			inst.Capacity[p.Server] = atLeastNothing(less(inst.Capacity[p.Server], t.r.keeps(v, p.Server, t.counts)))
		}
	}
	at := make(map[int]int)
	for a, e := range apps {
		app := t.r.app(e)
		n := max(1, app.AtLeast(1))
		inst.Apps = append(inst.Apps, solver.App{Demand: app.Demand, Min: n, Max: n, Elective: true, PerServer: app.PerServer,
			MaxServers: app.MaxServers, Classes: app.Classes, Value: t.r.value(app.Demand), Delta: app.Delta})
		c, known := at[t.r.of[e]]
		if !known {
			c = len(inst.Choices)
			at[t.r.of[e]], inst.Choices = c, append(inst.Choices, solver.Choice{})
		}
		inst.Choices[c].Apps = append(inst.Choices[c].Apps, a)
	}
	inst.Groups = t.r.groups(apps)
	for c := range inst.Groups {
		inst.Groups[c].Ceiling = atLeastNothing(t.below[c])
	}
	return inst, apps
}

// atLeastNothing returns a copy without anything below 0.
func atLeastNothing(q apportion.Resources) apportion.Resources {
	q = q.Clone()
	for k := range q {
		q[k] = max(0, q[k])
	}
	return q
}
