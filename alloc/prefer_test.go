// This file tests what domains beyond the fewest cost what prefers few, [Program §13].

package alloc_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/oracle/domainoracle"
	"github.com/apportion/apportion/internal/rapidtest"
)

// Two racks of 16 with 8 free in each: one container more is not worth a rack more, and three are.
func TestPreferPaysForDomains(t *testing.T) {
	for most, want := range map[int64]int64{8: 8, 9: 8, 10: 10, 16: 16} {
		p := racked(2, 2)
		ask(p, "old", 16, 16, func(a *alloc.Application) { a.Pinned = true })
		p.Previous["old"] = map[string]int64{"s0": 8, "s2": 8}
		ask(p, "new", 1, most, prefer("rack"))
		p.Compact = []string{"gpu"}
		d := verified(t, p)
		racks := perRack(p, d.Allocation["new"], "rack")
		if n := d.Allocation.Containers("new"); n != want || len(racks) != 1+int(min(1, n-8)) {
			t.Errorf("%d at most: %d in %v", most, n, racks)
		}
		// What a rack more costs is in the objective, and the bound is above it.
		lost := float64(len(racks)-1) * max(.13*float64(want), 1) / 32
		if net := float64(16+want)/32 - lost; math.Abs(d.Objective-net) > 1e-9 || d.Objective > d.Bound {
			t.Errorf("%d at most: objective %g, want %g, bound %g", most, d.Objective, net, d.Bound)
		}
		e := must.Have(alloc.Explain(p, d))(t)
		switch s := e.Applications[1]; {
		case most == 9 && (s.Constraint != alloc.Servers || s.Text != "there is room, but in a rack more, which costs 0.03656, and 1 more would bring 0.03125"):
			t.Errorf("%+v", s)
		case want > 8 && s.Spread != fmt.Sprintf("in one zone and two racks, which is more than it needs: %.4g lost", lost):
			t.Errorf("%+v", s)
		}
		// A call with nothing new changes nothing, and without a price the number is what there is room for.
		if p.Previous = d.Allocation; reallocate(t, p).Metrics.Adjusted > 0 {
			t.Error("a quiet call adjusts")
		}
		delete(p.Previous, "new")
		p.Applications[1].SpreadCost = new(float64)
		if d := verified(t, p); d.Allocation.Containers("new") != most {
			t.Errorf("without a price %v", d.Allocation)
		}
	}
}

// What runs in two racks comes together where that saves more than its restart, and stays where a restart costs more.
func TestPreferMovesWhatRuns(t *testing.T) {
	for price, want := range map[float64]int{.5: 1, 2: 2} {
		p := racked(1, 1, 2)
		ask(p, "a", 8, 8, prefer("rack"))
		p.Previous["a"], p.Compact, p.Options.RestartCost = map[string]int64{"s0": 4, "s1": 4}, []string{"gpu"}, &price
		dear := 1.
		p.Applications[0].SpreadCost = &dear
		p.Applications[0].PerServer = 4
		d := verified(t, p)
		if racks := perRack(p, d.Allocation["a"], "rack"); len(racks) != want {
			t.Errorf("at a price of %g: %v", price, racks)
		}
	}
}

// A job whose growth would cost more in domains than it brings stays where it runs, though the same number has room in the first rack.
func TestPreferStays(t *testing.T) {
	dear := 1.
	p := racked(2, 2)
	ask(p, "old", 16, 16, func(a *alloc.Application) { a.Pinned = true })
	ask(p, "a", 8, 16, prefer("rack"))
	p.Previous = alloc.Allocation{"old": {"s1": 8, "s3": 8}, "a": {"s2": 8}}
	p.Compact, p.Theta2, p.Applications[1].SpreadCost = []string{"gpu"}, 1, &dear
	d := verified(t, p)
	must.Equal(t, cmp.Diff(p.Previous, d.Allocation), "")
}

// hall is what a job finds in racks of servers of one GPU, and where it runs.
type hall struct {
	paths       [][]string       // by rack: zone and rack
	empty, free []int64          // by rack: servers, and servers that no other job has
	sum         int64            // of free
	ran         map[string]int64 // by server: its containers
	was         map[string]int64 // by zone, and by zone and rack: 1 where it has any
}

// drawHall draws racks that others have a part of.
func drawHall(t *rapid.T) (*alloc.Problem, *hall) {
	p := &alloc.Problem{Kinds: apportion.Kinds{"gpu"}, Topology: []string{"zone", "rack"}, Theta1: 1, Theta2: 1, Previous: alloc.Allocation{}}
	h := &hall{ran: map[string]int64{}, was: map[string]int64{}}
	runs := rapid.Bool().Draw(t, "runs")
	for r := range rapid.IntRange(2, 5).Draw(t, "racks") {
		path := []string{fmt.Sprint("z", rapid.IntRange(0, 1).Draw(t, "zone")), fmt.Sprint("r", r)}
		room := rapid.Int64Range(1, 5).Draw(t, "room")
		held := rapid.Int64Range(0, room).Draw(t, "held")
		h.paths, h.empty, h.free = append(h.paths, path), append(h.empty, room), append(h.free, room-held)
		h.sum += room - held
		for at := range room {
			id := fmt.Sprint("s", r, "-", at)
			p.Servers = append(p.Servers, apportion.Server{ID: id, Capacity: apportion.Resources{1}, Labels: map[string]string{"zone": path[0], "rack": path[1]}})
			if at >= held && runs && rapid.Bool().Draw(t, "own") {
				h.ran[id] = 1
				h.was[path[0]], h.was[path[0]+" "+path[1]] = 1, 1
			}
			if at < held {
				ask(p, "on "+id, 1, 1, func(a *alloc.Application) { a.Pinned = true })
				p.Previous["on "+id] = map[string]int64{id: 1}
			}
		}
	}
	return p, h
}

// One job that prefers few domains has the number that is worth most less what these and a restart cost, by the rooms that the others
// leave, or stays as it is: as all numbers tried one after the other, up to the one that is best without domains.
func TestPropPreferNumber(t *testing.T) {
	fewer, paid, stayed := 0, 0, 0
	rapidtest.Until(t, "no number below the most, nothing paid, or fewer than two jobs that stay though they could grow", func() bool { return fewer > 0 && paid > 0 && stayed >= 2 }, func(t *rapid.T) {
		p, h := drawHall(t)
		level := rapid.IntRange(0, 1).Draw(t, "level")
		cost := rapid.SampledFrom([]float64{.01, .13, .4, 1}).Draw(t, "cost")
		has := int64(len(h.ran))
		most := max(1, has) + rapid.SampledFrom([]int64{0, 1, 2, 5, 11}).Draw(t, "more")
		ask(p, "a", 1, most, func(a *alloc.Application) { a.Prefer, a.SpreadCost = p.Topology[level], &cost })
		if has > 0 {
			p.Previous["a"] = h.ran
		}
		d := verified(t, p)
		restart := float64(has) / 8
		most = min(most, h.sum)
		if float64(most)-restart <= float64(has) {
			most = has // P2 leaves it as it is
		}
		best, at, stay := 0., int64(0), 0.
		for n := int64(1); n <= most; n++ {
			question := domainoracle.Question{Paths: h.paths, Room: h.free, N: n, Within: domainoracle.None, SliceWithin: domainoracle.None, Slice: 1}
			used := domainoracle.Best(&question)
			question.Room = h.empty
			fewest := domainoracle.Best(&question)
			if used == nil {
				continue
			}
			less := func(used []int) float64 {
				extra := 0
				for l := range level + 1 {
					extra += max(0, used[l]-fewest[l])
				}
				return float64(n) - float64(extra)*max(1, cost*float64(n))
			}
			if n == has {
				is := make([]int, 2)
				for path := range h.was {
					is[strings.Count(path, " ")]++
				}
				stay = less(is)
			}
			if worth := less(used) - restart; worth > best+1e-7 {
				best, at = worth, n
			}
		}
		if has > 0 && stay >= best-1e-7 {
			best, at = stay, has
			if most > has {
				stayed++
			}
		}
		others := float64(len(p.Applications) - 1)
		if got := d.Objective*float64(len(p.Servers)) - others; math.Abs(got-best) > 1e-6 {
			t.Fatalf("%d containers are worth %g, %d %g\n%v, %v free, %s at %g", d.Allocation.Containers("a"), got, at, best, h.paths, h.free, strings.Join(p.Topology[:level+1], " "), cost)
		}
		if d.Metrics.ExtraDomains[p.Topology[level]] > 0 {
			paid++
		}
		if at < most {
			fewer++
		}
	})
}
