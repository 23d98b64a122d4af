// This file compares what steps aside for a reservation with a twin that tries everything, [Program §8], point 7.

package alloc

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/rapidtest"
)

// What steps aside for a reservation is waited for, elastic, and says not when it ends; a rule of the queues allows it; it costs no more than the
// budget. Nothing is taken where all together could not make the room, and nothing is left that could be taken.
func TestPropHasten(t *testing.T) {
	var steps [2]int
	rapidtest.Until(t, "too little has stepped aside", func() bool { return steps[0] >= 10 && steps[1] > 0 }, func(t *rapid.T) {
		// Few draws come to a step of another leaf, so that there are many.
		for range 20 {
			own, other := checkHasten(t)
			steps[0], steps[1] = steps[0]+own, steps[1]+other
		}
	})
}

// checkHasten returns how many of the own leaf have stepped aside, and of others.
func checkHasten(t *rapid.T) (steps, others int) {
	p := genTeams(t, rapid.IntRange(1, 2).Draw(t, "servers"))
	for i := range p.Applications {
		if rapid.IntRange(0, 3).Draw(t, "ends") == 0 {
			p.Applications[i].Ends = new(float64)
		}
		p.Applications[i].Pinned = p.Previous[p.Applications[i].ID] != nil && rapid.IntRange(0, 5).Draw(t, "pinned") == 0
	}
	p.Theta2 = rapid.SampledFrom([]float64{0, .3, 1}).Draw(t, "theta2")
	i := len(p.Applications) - 1
	a := &admission{draft: newDraft(resolve(p)), preempted: map[int]apportion.Reason{}}
	v := a.soonest(i, nil)
	if v == nil {
		return 0, 0
	}
	a.reserved = []*reserved{v}
	w, before := worldOf(p), slices.Clone(a.counts)
	var give []int
	for o := range p.Applications {
		if app := &p.Applications[o]; w.Apps[o].Places != nil && app.Ends == nil && !app.Pinned {
			give = append(give, o)
		}
	}
	could, spent := w.CouldHasten(i, give), int64(0)
	a.hasten()
	for o := range before {
		if w.Apps[o].Places != nil {
			w.Apps[o].Places = make([]int64, len(p.Servers))
		}
		for _, placed := range a.counts[o] {
			w.Apps[o].Places[placed.Server] = placed.Count
		}
	}
	for o := range before {
		lost := solver.Containers(before[o]) - solver.Containers(a.counts[o])
		if lost == 0 {
			continue
		}
		own := p.Applications[o].Queue == p.Applications[i].Queue
		if steps++; !own {
			others++
		}
		if lost < 0 || !slices.Contains(v.waits, o) || p.Applications[o].Ends != nil || p.Applications[o].Pinned || !could ||
			!own && !w.MayHasten(i, o) {
			t.Fatalf("%d has lost %d for %d", o, lost, i)
		}
		if !w.Entitled(i, o) {
			spent++
		}
	}
	if spent > a.budget {
		t.Fatalf("%d are adjusted, of %d", spent, a.budget)
	}
	return steps - others, others
}
