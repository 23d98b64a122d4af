// This file tests decisions with domains: what must be within one, slices, the fewest, refusals with numbers, and bad input, [Program §13].

package alloc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/internal/oracle/domainoracle"
	"github.com/apportion/apportion/internal/rapidtest"
)

// racked is a cluster of servers of 8 GPUs: racks[r] servers in rack r, two racks a zone.
func racked(racks ...int) *alloc.Problem {
	p := &alloc.Problem{Kinds: apportion.Kinds{"gpu"}, Topology: []string{"zone", "rack"}, Theta1: 1, Theta2: 1, Previous: alloc.Allocation{}}
	for r, servers := range racks {
		for range servers {
			labels := map[string]string{"zone": fmt.Sprint("z", r/2), "rack": fmt.Sprint("r", r)}
			p.Servers = append(p.Servers, apportion.Server{ID: fmt.Sprint("s", len(p.Servers)), Capacity: apportion.Resources{8}, Labels: labels})
		}
	}
	return p
}

// ask adds a job of so many containers of 1 GPU, which change changes.
func ask(p *alloc.Problem, id string, least, most int64, change func(a *alloc.Application)) {
	p.Applications = append(p.Applications, alloc.Application{ID: id, Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1}, Min: least, Max: most}})
	if change != nil {
		change(&p.Applications[len(p.Applications)-1])
	}
}

func within(level string) func(a *alloc.Application) {
	return func(a *alloc.Application) { a.Within = level }
}

func prefer(level string) func(a *alloc.Application) {
	return func(a *alloc.Application) { a.Prefer = level }
}

func inSlices(n int64, level string) func(a *alloc.Application) {
	return func(a *alloc.Application) { a.Slices = &alloc.Slices{Containers: n, Within: level} }
}

// verified decides, and checks the decision and what is in which domain.
func verified(t interface {
	Helper()
	Fatalf(string, ...any)
}, p *alloc.Problem) *alloc.Decision {
	t.Helper()
	d, err := alloc.Reallocate(context.Background(), p, nil)
	if err != nil {
		t.Fatalf("%v", err)
	}
	if _, err := alloc.Verify(p, d); err != nil {
		text, _ := json.Marshal(p)
		t.Fatalf("%v\n%s", err, text)
	}
	// What is beyond the fewest is no matter of the domains that were chosen.
	if m, err := alloc.Measure(p, d.Allocation, d.Shares...); err != nil || m.ExtraServers != d.Metrics.ExtraServers || !maps.Equal(m.ExtraDomains, d.Metrics.ExtraDomains) {
		t.Fatalf("%v, measured %+v, decided %+v", err, m, d.Metrics)
	}
	for i := range p.Applications {
		app := &p.Applications[i]
		if racks := perRack(p, d.Allocation[app.ID], app.Within); app.Within != "" && len(racks) > 1 {
			t.Fatalf("%s is within %v", app.ID, racks)
		}
		if s := app.Slices; s != nil {
			for rack, n := range perRack(p, d.Allocation[app.ID], s.Within) {
				if n%s.Containers != 0 {
					t.Fatalf("%s has %d containers in %s", app.ID, n, rack)
				}
			}
		}
	}
	return d
}

// perRack counts the containers in each domain of a level; the racks of these clusters have names of their own.
func perRack(p *alloc.Problem, places map[string]int64, level string) map[string]int64 {
	in := make(map[string]int64)
	for _, s := range p.Servers {
		if n := places[s.ID]; n > 0 {
			in[s.Labels[level]] += n
		}
	}
	return in
}

func TestWithin(t *testing.T) {
	// The first rack has 16 GPUs, 8 of them in use, the second 8.
	p := racked(2, 1)
	p.Theta2 = 0
	ask(p, "old", 8, 8, nil)
	p.Previous["old"] = map[string]int64{"s0": 8}
	ask(p, "a", 9, 9, within("rack"))
	ask(p, "b", 8, 8, within("rack"))
	d := verified(t, p)
	if len(d.Waiting) != 1 || d.Waiting[0].ID != "a" || d.Allocation.Containers("b") != 8 {
		t.Fatalf("%v waits, b has %d", d.Waiting, d.Allocation.Containers("b"))
	}
	reason := d.Waiting[0].Reason
	if want := "within rack: 9 needed, the largest rack holds 8 now and 16 empty"; !strings.HasPrefix(reason.Text, want) || reason.Need != 9 || reason.Have != 8 || reason.Constraint != alloc.Domain {
		t.Errorf("%q (%g of %g, %s), want %q", reason.Text, reason.Have, reason.Need, reason.Constraint, want)
	}
	// What no rack holds when it is empty is told that.
	p.Applications[1].Min, p.Applications[1].Max = 17, 17
	if got := verified(t, p).Waiting[0].Reason.Text; got != "within rack: 17 needed, the largest rack holds 16 empty" {
		t.Errorf("%q", got)
	}
	// Within the zone both racks serve.
	p.Applications[1].Min, p.Applications[1].Max, p.Applications[1].Within = 9, 9, "zone"
	p.Applications = p.Applications[:2]
	if d := verified(t, p); d.Allocation.Containers("a") != 9 || d.Shares[1].Domain != "z0" {
		t.Errorf("%v in %q", d.Allocation, d.Shares[1].Domain)
	}
}

// What runs grows in its domain, and is moved to another one as a whole where it has to move.
func TestWithinGrowsInside(t *testing.T) {
	p := racked(1, 2)
	ask(p, "a", 2, 20, within("rack"))
	p.Previous["a"] = map[string]int64{"s0": 4}
	if d := verified(t, p); d.Allocation.Containers("a") != 8 || d.Allocation["a"]["s0"] != 8 {
		t.Errorf("%v", d.Allocation)
	}
	// A drain and a loss move all of it.
	p.Servers[0].Cordoned = true
	if d := verified(t, p); d.Allocation.Containers("a") < 4 || d.Allocation["a"]["s0"] != 0 {
		t.Errorf("drained: %v", d.Allocation)
	}
	p.Servers = p.Servers[1:]
	if d := verified(t, p); d.Allocation.Containers("a") != 16 || !d.Shares[0].Forced {
		t.Errorf("lost: %v", d.Allocation)
	}
}

// A torn one cannot stay: it is moved, or suspended, and counts against no budget.
func TestTornIsForced(t *testing.T) {
	p := racked(1, 1)
	ask(p, "a", 4, 4, within("rack"))
	p.Previous["a"], p.Theta2 = map[string]int64{"s0": 2, "s1": 2}, 0
	if d := verified(t, p); d.Allocation.Containers("a") != 4 || d.Metrics.Forced != 1 {
		t.Errorf("%v, %d forced", d.Allocation, d.Metrics.Forced)
	}
}

// 48 as 3 x 16 on racks of 18 of which 16 are usable.
func TestSlices(t *testing.T) {
	p := racked(2, 2, 2, 2)
	for r := range 4 {
		p.Servers[2*r].Capacity = apportion.Resources{10} // 18 a rack
	}
	ask(p, "a", 48, 48, inSlices(16, "rack"))
	d := verified(t, p)
	if got := perRack(p, d.Allocation["a"], "rack"); len(got) != 3 || d.Allocation.Containers("a") != 48 {
		t.Errorf("%v", got)
	}
	// A fifth and sixth slice have no rack.
	p.Applications[0].Min, p.Applications[0].Max = 80, 80
	if got, want := verified(t, p).Waiting[0].Reason.Text, "in slices of 16 within rack each: 80 needed, all together hold 64 empty"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	// It is elastic by slices, and stays as it is from then on.
	p.Applications[0].Min, p.Applications[0].Max = 16, 80
	if d = verified(t, p); d.Allocation.Containers("a") != 64 {
		t.Errorf("%v", d.Allocation)
	}
	p.Previous = d.Allocation
	ask(p, "b", 1, 100, nil)
	if d = verified(t, p); d.Allocation.Containers("a") != 64 || d.Allocation.Containers("b") != 8 {
		t.Errorf("%v", d.Allocation)
	}
}

// Slices have the room of others in as many domains as it takes: what has the highest priority waits only where nobody that may be
// suspended leaves the slices domains, by the twin of the choice.
func TestSlicesBySuspension(t *testing.T) {
	taken, waits, several := 0, 0, 0
	met := func() bool { return taken > 0 && waits > 0 && several > 0 }
	rapidtest.Until(t, "none let in, none that waits, or one rack each time", met, func(t *rapid.T) {
		p := racked(rapid.SliceOfN(rapid.IntRange(1, 2), 2, 4).Draw(t, "racks")...)
		p.Options.Preempt = true
		q := domainoracle.Question{Within: domainoracle.None, SliceWithin: 1, Slice: rapid.Int64Range(3, 8).Draw(t, "slice")}
		for j, server := range p.Servers {
			q.Paths, q.Room = append(q.Paths, []string{server.Labels["zone"], server.Labels["rack"], server.ID}), append(q.Room, 8)
			for left := int64(8); left > 0; {
				n, id := rapid.Int64Range(1, left).Draw(t, "containers"), fmt.Sprint("old", len(p.Applications))
				leaves := rapid.IntRange(0, 3).Draw(t, "leaves") > 0
				if left -= n; rapid.IntRange(0, 4).Draw(t, "free") == 0 {
					continue
				}
				ask(p, id, n, n, func(a *alloc.Application) { a.Preemptible, a.Pinned = leaves, !leaves })
				if p.Previous[id] = map[string]int64{server.ID: n}; !leaves {
					q.Room[j] -= n
				}
			}
		}
		q.N = q.Slice * rapid.Int64Range(1, 4).Draw(t, "slices")
		ask(p, "a", q.N, q.N, func(a *alloc.Application) { inSlices(q.Slice, "rack")(a); a.Priority = 1 })
		d := verified(t, p)
		racks := perRack(p, d.Allocation["a"], "rack")
		if got, want := len(racks) > 0, domainoracle.Best(&q) != nil; got != want {
			t.Fatalf("%d in slices of %d, rooms %v: let in %t, want %t", q.N, q.Slice, q.Room, got, want)
		}
		if waits++; len(racks) > 0 {
			taken, waits = taken+1, waits-1
		}
		if len(racks) > 1 && d.Metrics.Preempted > 1 {
			several++
		}
	})
}

// The fewest zones, then the fewest racks, where best fit and the largest racks do not find them.
func TestPrefer(t *testing.T) {
	p := racked(3, 1, 2, 2)
	for r, held := range []int64{8, 0, 0, 0} {
		if held > 0 {
			id := fmt.Sprint("old", r)
			ask(p, id, held, held, nil)
			p.Previous[id] = map[string]int64{"s0": held}
		}
	}
	// Zone 0 has 16 and 8 free, zone 1 has 16 and 16.
	ask(p, "a", 32, 32, prefer("rack"))
	d := verified(t, p)
	if got := perRack(p, d.Allocation["a"], "rack"); got["r2"] != 16 || got["r3"] != 16 {
		t.Errorf("%v", got)
	}
	if m := d.Metrics.ExtraDomains; len(m) != 2 || m["zone"] != 0 || m["rack"] != 0 {
		t.Errorf("extra domains %v", m)
	}
	e, err := alloc.Explain(p, d)
	if err != nil || !strings.Contains(e.Domains, `the domains of "a" are the fewest that the others leave room for`) {
		t.Errorf("%v, %v", e, err)
	}
	// With 24 more it needs both zones: all of them but one rack.
	p.Applications[len(p.Applications)-1].Min, p.Applications[len(p.Applications)-1].Max = 48, 48
	d = verified(t, p)
	if got := perRack(p, d.Allocation["a"], "rack"); len(got) != 3 {
		t.Errorf("%v", got)
	}
	// Elastic ones are gathered once they have their numbers.
	p.Applications = p.Applications[:1]
	for _, id := range []string{"a", "b", "c"} {
		ask(p, id, 1, 16, prefer("rack"))
	}
	d = verified(t, p)
	for _, id := range []string{"a", "b", "c"} {
		if got := perRack(p, d.Allocation[id], "rack"); len(got) != 1 {
			t.Errorf("%s is in %v", id, got)
		}
	}
	if e, err := alloc.Explain(p, d); err != nil || d.Metrics.ExtraDomains["rack"] != 0 {
		t.Errorf("%v, %v, %v", d.Metrics.ExtraDomains, e, err)
	}
}

// Room is made in one domain, by shrinking and by priority.
func TestWithinMakesRoom(t *testing.T) {
	p := racked(1, 1)
	ask(p, "x", 2, 8, nil)
	ask(p, "y", 6, 8, nil)
	p.Previous["x"], p.Previous["y"] = map[string]int64{"s0": 8}, map[string]int64{"s1": 8}
	ask(p, "a", 6, 6, within("rack"))
	if d := verified(t, p); d.Allocation["a"]["s0"] != 6 {
		t.Errorf("%v", d.Allocation)
	}
	p.Options.Preempt, p.Applications[2].Priority = true, 1
	for i := range 2 {
		p.Applications[i].Min, p.Applications[i].Preemptible = 8, true
	}
	d := verified(t, p)
	if d.Allocation.Containers("a") != 6 || len(d.Suspended) != 1 {
		t.Errorf("%v, %v suspended", d.Allocation, d.Suspended)
	}
}

// What is due in a rack has room kept in one.
func TestWithinIsReserved(t *testing.T) {
	p := racked(1, 1)
	for j := range 2 {
		for n := range 2 {
			id := fmt.Sprint("x", j, n)
			ask(p, id, 4, 4, nil)
			p.Previous[id] = map[string]int64{fmt.Sprint("s", j): 4}
		}
	}
	ask(p, "a", 8, 8, within("rack"))
	p.Applications[4].Passed = 1000
	d := verified(t, p)
	if len(d.Reservations) != 1 || len(d.Reservations[0].Servers) != 1 {
		t.Fatalf("%v", d.Reservations)
	}
	// One job of the other server ends, and one of 4 comes: it is let in there and not where room is kept.
	kept := "s0"
	if d.Reservations[0].Servers["s0"] == 0 {
		kept = "s1"
	}
	p.Applications[4].Passed, p.Reservations = d.Waiting[0].Passed, d.Reservations
	p.Applications = slices.DeleteFunc(p.Applications, func(a alloc.Application) bool {
		return p.Previous["x00"][kept] > 0 && a.ID == "x00" || p.Previous["x00"][kept] == 0 && a.ID == "x10"
	})
	ask(p, "small", 4, 4, nil)
	if d = verified(t, p); d.Allocation.Containers("small") != 0 || len(d.Reservations) != 1 {
		t.Errorf("%v", d.Allocation)
	}
}

func TestBadDomains(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(p *alloc.Problem)
		want  error
		text  string
	}{
		"unknown within": {func(p *alloc.Problem) { p.Applications[0].Within = "row" }, apportion.ErrUnknown, `application "a": Within is unknown: "row"`},
		"unknown prefer": {func(p *alloc.Problem) { p.Applications[0].Prefer = "row" }, apportion.ErrUnknown, `Prefer is unknown: "row"`},
		"unknown slices": {func(p *alloc.Problem) { inSlices(8, "row")(&p.Applications[0]) }, apportion.ErrUnknown, `Slices.Within is unknown: "row"`},
		"no slices":      {func(p *alloc.Problem) { inSlices(0, "rack")(&p.Applications[0]) }, apportion.ErrRange, "Slices.Containers"},
		"negative":       {func(p *alloc.Problem) { inSlices(-1, "rack")(&p.Applications[0]) }, apportion.ErrNegative, "Slices.Containers"},
		"slices nowhere": {func(p *alloc.Problem) { inSlices(8, "")(&p.Applications[0]) }, apportion.ErrEmpty, "Slices.Within"},
		"do not divide":  {func(p *alloc.Problem) { inSlices(20, "rack")(&p.Applications[0]) }, apportion.ErrConflict, "20 divides no number of containers in [48, 48]"},
		"not the steps":  {func(p *alloc.Problem) { inSlices(16, "rack")(&p.Applications[0]); p.Applications[0].Step = 8 }, apportion.ErrConflict, "16 does not divide steps of 8"},
		"not the list": {func(p *alloc.Problem) {
			inSlices(16, "rack")(&p.Applications[0])
			p.Applications[0].Min, p.Applications[0].Counts = 8, []int64{8, 48}
		}, apportion.ErrConflict, "16 does not divide 8 containers"},
		"the paper":      {func(p *alloc.Problem) { p.Applications[0].Within, p.Options.Paper = "rack", true }, apportion.ErrConflict, "Within"},
		"empty level":    {func(p *alloc.Problem) { p.Topology[1] = "" }, apportion.ErrEmpty, "Topology[1]"},
		"repeated level": {func(p *alloc.Problem) { p.Topology[1] = "zone" }, apportion.ErrDuplicate, "Topology[1]"},
		"many levels": {func(p *alloc.Problem) {
			for n := range 20 {
				p.Topology = append(p.Topology, fmt.Sprint("l", n))
			}
		}, apportion.ErrRange, "Topology[16]"},
	} {
		p := racked(4, 4)
		ask(p, "a", 48, 48, nil)
		c.spoil(p)
		if err := p.Validate(); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v, want %v with %q", name, err, c.want, c.text)
		}
	}
}

// A level that no server has, and a server without a label, are told and close servers, but spoil no decision.
func TestMissingLabels(t *testing.T) {
	p := racked(1, 1)
	delete(p.Servers[1].Labels, "rack")
	ask(p, "a", 8, 8, within("rack"))
	ask(p, "b", 8, 8, prefer("rack"))
	ask(p, "c", 8, 8, nil)
	d := verified(t, p)
	if d.Allocation["a"]["s0"] != 8 || d.Allocation["c"]["s1"] != 8 {
		t.Errorf("%v", d.Allocation)
	}
	e, err := alloc.Explain(p, d)
	if err != nil || !slices.Contains(e.Warnings, `servers without the label rack are in no domain of that level, and closed to what asks for one: "s1"`) {
		t.Errorf("%v, %v", e.Warnings, err)
	}
	delete(p.Servers[0].Labels, "rack")
	d = verified(t, p)
	if got := d.Waiting[0].Reason.Text; got != "within rack: 8 needed, and no server has the label rack" {
		t.Errorf("%q", got)
	}
	// Equal labels below two zones are two racks.
	p = racked(1, 0, 1)
	p.Servers[1].Labels["rack"] = "r0"
	ask(p, "a", 9, 9, within("rack"))
	d = verified(t, p)
	e, err = alloc.Explain(p, d)
	if err != nil || len(d.Waiting) != 1 || !slices.Contains(e.Warnings, `labels of rack that occur below several wider ones are different domains: "r0"`) {
		t.Errorf("%v, %v, %v", d.Waiting, e.Warnings, err)
	}
}

// The referee refuses an answer that tears what must be within one domain, and slices that are not whole.
func TestVerifyDomains(t *testing.T) {
	for _, change := range []func(a *alloc.Application){within("rack"), inSlices(8, "rack")} {
		p := racked(1, 1)
		ask(p, "a", 8, 8, nil)
		ask(p, "b", 4, 4, nil)
		p.Previous["a"] = map[string]int64{"s0": 4, "s1": 4}
		d := verified(t, p)
		if d.Metrics.Adjusted != 0 {
			t.Fatalf("%v", d.Allocation)
		}
		change(&p.Applications[0])
		if _, err := alloc.Verify(p, d); !errors.Is(err, alloc.ErrMismatch) || !strings.Contains(err.Error(), "rack") {
			t.Errorf("%v", err)
		}
	}
}

// What P2 leaves without containers was held to a domain all the same, and the decision says to which: else its bound could not be checked.
func TestHeldWithNothing(t *testing.T) {
	p := racked(1, 1, 1, 2)
	p.Servers[0].Cordoned, p.Theta1, p.Theta2 = true, .2, .1
	ask(p, "a", 12, 16, prefer("rack"))
	ask(p, "b", 0, 1, within("rack"))
	ask(p, "c", 7, 12, within("zone"))
	ask(p, "d", 8, 9, nil)
	ask(p, "e", 11, 18, func(a *alloc.Application) { a.Within, a.Prefer = "zone", "rack" })
	for i := range p.Applications {
		p.Applications[i].Priority = 1
	}
	p.Applications[3].Priority = 0
	p.Previous = alloc.Allocation{"a": {"s1": 8, "s2": 6}, "b": {"s2": 1}}
	d := verified(t, p)
	if share := d.Shares[1]; share.Containers != 0 || share.Domain != "z1/r2" {
		t.Errorf("%d containers in %q", share.Containers, share.Domain)
	}
}

// Whatever comes and goes, decisions keep to domains and are verified, and what waits alone has no domain with room for it.
func TestPropDomains(t *testing.T) {
	kept, waited := 0, 0
	rapidtest.Until(t, "nothing in one domain, or nothing that waits", func() bool { return kept > 0 && waited > 0 }, func(t *rapid.T) {
		p := racked(rapid.SliceOfN(rapid.IntRange(1, 3), 2, 5).Draw(t, "racks")...)
		p.Theta1, p.Theta2 = .2, rapid.SampledFrom([]float64{.1, .3, 1}).Draw(t, "theta2")
		p.Options.Preempt = rapid.Bool().Draw(t, "preempt")
		if rapid.Bool().Draw(t, "compact") {
			p.Compact = []string{"gpu"}
		}
		for step := range 8 {
			least := rapid.Int64Range(0, 12).Draw(t, "least")
			ask(p, fmt.Sprint("a", step), least, max(1, least+rapid.Int64Range(0, 8).Draw(t, "more")), func(a *alloc.Application) {
				a.Priority, a.Preemptible = rapid.Int64Range(0, 1).Draw(t, "priority"), rapid.Bool().Draw(t, "preemptible")
				level := rapid.SampledFrom([]string{"zone", "rack"}).Draw(t, "level")
				switch rapid.IntRange(0, 4).Draw(t, "asks") {
				case 0:
					a.Within = level
				case 1:
					a.Prefer = level
				case 2:
					a.Min, a.Max = 4*((a.Min+3)/4), 4*((a.Max+3)/4)
					a.Slices = &alloc.Slices{Containers: 4, Within: level}
				case 3:
					a.Within, a.Prefer = "zone", "rack"
				}
			})
			if len(p.Applications) > 2 && rapid.Bool().Draw(t, "ends") {
				p.Applications = slices.Delete(p.Applications, 0, 1)
			}
			p.Servers[rapid.IntRange(0, len(p.Servers)-1).Draw(t, "server")].Cordoned = rapid.IntRange(0, 3).Draw(t, "cordoned") == 0
			d := verified(t, p)
			if _, err := alloc.Explain(p, d); err != nil {
				t.Fatal(err)
			}
			for i := range p.Applications {
				if p.Applications[i].Within != "" && d.Allocation.Containers(p.Applications[i].ID) > 0 {
					kept++
				}
			}
			waited += len(d.Waiting)
			p.Previous, p.Reservations, p.Settled = d.Allocation, d.Reservations, d.Settled
			for _, w := range d.Waiting {
				for i := range p.Applications {
					if p.Applications[i].ID == w.ID {
						p.Applications[i].Passed = w.Passed
					}
				}
			}
		}
	})
}
