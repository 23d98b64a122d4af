// This file tells what users ran into with schedulers that keep everything where not all can be had, and holds
// the default rule to the better end.

package alloc_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/exact"
)

// cluster is some servers of one size, with the recommended options and thresholds.
func cluster(servers int, capacity ...int64) *alloc.Problem {
	p := &alloc.Problem{Kinds: apportion.Kinds{"cpu", "gpu", "memory"}[:len(capacity)], Theta1: .1, Theta2: .1}
	for j := range servers {
		p.Servers = append(p.Servers, apportion.Server{ID: fmt.Sprint("s", j), Capacity: apportion.Resources(capacity).Clone()})
	}
	return p
}

// job adds an application of weight 1.
func job(p *alloc.Problem, id string, least, most int64, demand ...int64) *alloc.Application {
	p.Applications = append(p.Applications, alloc.Application{ID: id, Weight: 1, Form: alloc.Form{Demand: demand, Min: least, Max: most}})
	return &p.Applications[len(p.Applications)-1]
}

// follow takes a decision and carries it out.
func follow(t *testing.T, p *alloc.Problem) *alloc.Decision {
	t.Helper()
	d := reallocate(t, p)
	if _, err := alloc.Verify(p, d); err != nil {
		t.Fatal(err)
	}
	if server := exceeds(p, d.Allocation); server != "" || d.Status != alloc.Decided {
		t.Fatalf("%s, server %q is overfilled", d.Status, server)
	}
	p.Previous = d.Allocation
	return d
}

// without returns the reason of an application that waits or is suspended.
func without(t *testing.T, list []alloc.Waiting, id string) apportion.Reason {
	t.Helper()
	for _, w := range list {
		if w.ID == id {
			return w.Reason
		}
	}
	t.Fatalf("%s is not among %+v", id, list)
	return apportion.Reason{}
}

func TestTwoWantTheOnlyGPU(t *testing.T) {
	p := cluster(2, 8, 0)
	p.Servers[0].Capacity[1] = 1
	job(p, "first", 1, 1, 1, 1)
	job(p, "second", 1, 1, 1, 1)
	d := follow(t, p)
	if d.Allocation.Containers("first") != 1 || len(d.Waiting) != 1 {
		t.Fatalf("%v", d.Allocation)
	}
	if r := without(t, d.Waiting, "second"); r.Kind != "gpu" || r.Need != 1 || r.Have != 0 {
		t.Errorf("%+v, want short of 1 gpu of which none is free", r)
	}
}

func TestOneBlocksNobody(t *testing.T) {
	p := cluster(2, 4, 1)
	job(p, "big", 3, 3, 1, 1) // there are two GPUs
	job(p, "training", 2, 2, 1, 1)
	job(p, "more", 1, 1, 1, 1)
	job(p, "cpu", 1, 2, 2, 0)
	d := follow(t, p)
	if d.Allocation.Containers("training") != 2 || d.Allocation.Containers("cpu") == 0 {
		t.Errorf("%v, want training and cpu", d.Allocation)
	}
	if r := without(t, d.Waiting, "big"); r.Need != 3 || r.Have != 2 || !strings.Contains(r.Text, "3 containers, and 2 fit") {
		t.Errorf("big waits because of %+v", r)
	}
	if r := without(t, d.Waiting, "more"); r.Kind != "gpu" || r.Have != 0 {
		t.Errorf("more waits because of %+v", r)
	}
}

// What is said about whom to ask is true: the budget, and the one who could give.
func TestReasonNamesWhoCouldGive(t *testing.T) {
	p := cluster(1, 8, 4)
	job(p, "holder", 1, 4, 1, 1)
	p.Previous = alloc.Allocation{"holder": {"s0": 4}}
	p.Theta2, p.Options.NoCeil16 = 0, true
	job(p, "late", 2, 2, 1, 1)
	if r := without(t, reallocate(t, p).Waiting, "late"); r.Constraint != solver.Adjust || r.Need != 1 || r.Have != 0 || !strings.Contains(r.Text, `"holder" could make room at a cost of 1`) {
		t.Errorf("%+v", r)
	}
	p.Theta2 = 1
	if d := follow(t, p); d.Allocation.Containers("holder") != 2 || d.Allocation.Containers("late") != 2 {
		t.Errorf("%v, want two each", d.Allocation)
	}
}

func TestServerOfTwentyFails(t *testing.T) {
	p := cluster(20, 4)
	for i := range 20 {
		job(p, fmt.Sprint("a", i), 3, 4, 1) // each needs a server nearly for itself
	}
	first := follow(t, p)
	if len(first.Allocation) != 20 {
		t.Fatalf("%v", first.Allocation)
	}
	gone := p.Servers[7].ID
	p.Servers = append(p.Servers[:7:7], p.Servers[8:]...)
	d := follow(t, p)
	// Nineteen servers of 4 hold 76: twenty at 3 need 60, but a container of 3 only fits beside one of 1.
	for id, places := range first.Allocation {
		if places[gone] > 0 && d.Allocation.Containers(id) == 0 {
			if r := without(t, d.Suspended, id); r.Constraint != solver.Adjust || r.Blockers[1].Kind != "cpu" {
				t.Errorf("%s is suspended because of %+v", id, r)
			}
		}
	}
	if len(d.Allocation)+len(d.Suspended) != 20 || d.Metrics.Forced == 0 {
		t.Errorf("%d run, %d suspended, %d forced", len(d.Allocation), len(d.Suspended), d.Metrics.Forced)
	}
}

func TestCordonedServerIsLeft(t *testing.T) {
	p := cluster(4, 4)
	p.Options.NoCeil15 = true
	for i := range 4 {
		job(p, fmt.Sprint("a", i), 1, 3, 1)
	}
	follow(t, p)
	p.Servers[2].Cordoned = true
	on := func() (n int64) {
		for _, places := range p.Previous {
			n += places["s2"]
		}
		return n
	}
	for decisions := 0; on() > 0; decisions++ {
		before := on()
		d := follow(t, p)
		if on() >= before || len(d.Draining) != 1 || d.Metrics.AdjustCost > d.Metrics.AdjustBudget || decisions > 4 {
			t.Fatalf("%d containers on the cordoned server after %d; %+v", on(), before, d.Draining)
		}
	}
	// Nothing comes back, and what is free there is no part of the cluster.
	job(p, "late", 1, 4, 1)
	if d := follow(t, p); on() > 0 || d.Metrics.Utilization[0] != 1 {
		t.Errorf("%d on the cordoned server, utilization %v", on(), d.Metrics.Utilization)
	}
}

func TestTwiceAsManyServers(t *testing.T) {
	p := cluster(4, 8)
	p.Options.NoCeil15 = true
	for i := range 10 {
		job(p, fmt.Sprint("a", i), 1, 8, 1)
	}
	for range 3 {
		follow(t, p)
	}
	more := cluster(8, 8)
	p.Servers = more.Servers
	loss := 10.0
	for range 11 {
		d := follow(t, p)
		if d.Metrics.FairnessLoss > loss+solver.LossTolerance {
			t.Fatalf("the loss rises from %g to %g", loss, d.Metrics.FairnessLoss)
		}
		loss = d.Metrics.FairnessLoss
		if d.LeastLoss != nil && (d.LeastLoss.Bound > d.LeastLoss.Loss || d.Metrics.LeastLoss != d.LeastLoss.Loss) {
			t.Errorf("%+v", d.LeastLoss)
		}
	}
	if d := follow(t, p); d.LeastLoss != nil || d.Metrics.FairnessLoss > d.Metrics.LossBudget {
		t.Errorf("loss %g of %g in the end", d.Metrics.FairnessLoss, d.Metrics.LossBudget)
	}
}

func TestPreemption(t *testing.T) {
	p := cluster(1, 8, 2)
	low := job(p, "low", 1, 1, 1, 1)
	low.Preemptible = true
	fixed := job(p, "fixed", 1, 1, 1, 1)
	fixed.Priority = -1
	follow(t, p)
	urgent := job(p, "urgent", 1, 1, 1, 1)
	urgent.Priority = 1
	p.Applications[1].Priority = -1
	if d := reallocate(t, p); d.Allocation.Containers("urgent") > 0 || len(d.Suspended) > 0 {
		t.Fatalf("without leave: %v", d.Allocation)
	}
	p.Options.Preempt = true
	d := follow(t, p)
	if d.Allocation.Containers("urgent") != 1 || d.Allocation.Containers("fixed") != 1 || d.Metrics.Preempted != 1 || d.Metrics.AdjustCost != 0 {
		t.Errorf("%v, %+v", d.Allocation, d.Metrics)
	}
	if r := without(t, d.Suspended, "low"); !cmp.Equal(r.Applications, []string{"urgent"}) {
		t.Errorf("%+v", r)
	}
	// Once is enough: nobody is suspended for it again, and it does not come back.
	if d := follow(t, p); len(d.Suspended) > 0 || d.Metrics.Adjusted > 0 {
		t.Errorf("again: %+v", d.Metrics)
	}
}

// Whoever may be suspended is moved to a server that is free instead, at no cost, and goes on.
func TestPreemptedGoesElsewhere(t *testing.T) {
	p := cluster(2, 8)
	p.Theta2, p.Options.Preempt = 0, true
	p.Servers[0].Labels = map[string]string{"t": "x"}
	job(p, "low", 1, 1, 8).Preemptible = true
	p.Previous = alloc.Allocation{"low": {"s0": 1}}
	high := job(p, "high", 1, 1, 8)
	high.Priority, high.Requires = 5, []apportion.Requirement{{Key: "t", Op: apportion.In, Values: []string{"x"}}}
	d := reallocate(t, p)
	if d.Allocation["high"]["s0"] != 1 || d.Allocation["low"]["s1"] != 1 || !cmp.Equal(d.Yielding, []string{"low"}) || d.Metrics.AdjustCost != 0 || d.Metrics.Preempted != 0 {
		t.Errorf("%v, yielding %v, suspended %+v, %+v", d.Allocation, d.Yielding, d.Suspended, d.Metrics)
	}
	// Nobody else may be said to have yielded: that would be an adjustment free of charge.
	for _, id := range []string{"high", "nobody"} {
		d.Yielding = []string{id}
		if _, err := alloc.Verify(p, d); !errors.Is(err, alloc.ErrMismatch) || !strings.Contains(err.Error(), "nobody to yield to") {
			t.Errorf("%s is said to yield: %v", id, err)
		}
	}
	// In a mixed cluster nobody is suspended who has room elsewhere: the least that j12 may have is 4 containers.
	p = known{name: "preempted_though_room"}.problem(t)
	d = reallocate(t, p)
	if left := without(t, d.Suspended, "j12"); !cmp.Equal(left.Applications, []string{"j15"}) || roomFor(using(p, d.Shares), d.Allocation, "j12") >= 4 {
		t.Errorf("yielding %v, suspended %+v", d.Yielding, d.Suspended)
	}
}

// roomFor returns how many containers of one application have room beside an allocation, on any server.
func roomFor(p *alloc.Problem, a alloc.Allocation, id string) (room int64) {
	at := slices.IndexFunc(p.Applications, func(app alloc.Application) bool { return app.ID == id })
	for _, server := range p.Servers {
		left := server.Capacity.Clone()
		for _, app := range p.Applications {
			if n := a[app.ID][server.ID]; n > 0 {
				_ = exact.AddTimesTo(left, left, -n, app.Demand)
			}
		}
		room += p.Applications[at].Demand.CountIn(left)
	}
	return room
}

// Gangs that fill a cluster to the last unit are taken in together, as the paper's rule takes them.
func TestAllAreAskedTogether(t *testing.T) {
	p := known{name: "planted_default_waits_50x60"}.problem(t)
	if d := reallocate(t, p); len(d.Waiting) > 0 {
		t.Errorf("%d of %d wait, the first because %s", len(d.Waiting), len(p.Applications), d.Waiting[0].Reason.Text)
	}
}

// Whoever is on fewer servers than it would need is told that, in an empty cluster and beside others.
func TestReasonNamesMaxServers(t *testing.T) {
	p := cluster(3, 3)
	wide := job(p, "wide", 4, 4, 1)
	wide.MaxServers = 1
	r := without(t, reallocate(t, p).Waiting, "wide")
	if r.Constraint != solver.Minimum || r.Need != 4 || r.Have != 3 || !strings.Contains(r.Text, "It may be on at most 1 (max_servers), where 3 fit") {
		t.Errorf("%+v", r)
	}
	p = cluster(2, 4)
	p.Theta2, p.Options.NoCeil15 = 0, true
	job(p, "there", 2, 2, 1).PerServer = 1
	p.Previous = alloc.Allocation{"there": {"s0": 1, "s1": 1}}
	idle := job(p, "idle", 0, 4, 1)
	idle.MaxServers, idle.Step = 1, 4
	r = without(t, reallocate(t, p).Waiting, "idle")
	if r.Constraint != solver.Capacity || r.Need != 4 || r.Have != 3 {
		t.Errorf("%+v", r)
	}
}

func TestPinsAndCosts(t *testing.T) {
	p := cluster(1, 8)
	p.Theta2, p.Options.NoCeil15 = .5, true
	pinned := job(p, "pinned", 1, 8, 1)
	pinned.Pinned = true
	job(p, "dear", 1, 8, 1).AdjustCost = new(int64)
	job(p, "free", 1, 8, 1).AdjustCost = new(int64)
	*p.Applications[1].AdjustCost = 10
	p.Previous = alloc.Allocation{"pinned": {"s0": 5}, "dear": {"s0": 2}, "free": {"s0": 1}}
	// Of the costs 1 + 10 + 0 one half is a budget of 6: the dear one may not change.
	job(p, "late", 1, 1, 1)
	d := follow(t, p)
	if d.Metrics.AdjustBudget != 6 || d.Allocation.Containers("pinned") != 5 || d.Allocation.Containers("dear") != 2 || len(d.Waiting) != 1 {
		t.Errorf("%v, budget %d, waiting %+v", d.Allocation, d.Metrics.AdjustBudget, d.Waiting)
	}
	p.Applications[2].Min, p.Applications[3].Min = 0, 1
	if d = follow(t, p); d.Allocation.Containers("late") != 1 || d.Allocation.Containers("free") != 0 {
		t.Errorf("%v: the free one is content with nothing", d.Allocation)
	}
}

func TestPlacesAndNumbers(t *testing.T) {
	p := cluster(3, 8, 2)
	p.Servers[2].Labels = map[string]string{"gpu": "a100"}
	a100 := job(p, "a100", 1, 4, 1, 1)
	a100.Requires = []apportion.Requirement{{Key: "gpu", Op: apportion.In, Values: []string{"a100", "h100"}}}
	job(p, "spread", 2, 3, 1, 0).PerServer = 1
	job(p, "fours", 1, 9, 1, 0).Step = 4
	job(p, "powers", 1, 9, 1, 0).Counts = []int64{1, 2, 4, 8}
	elsewhere := job(p, "elsewhere", 1, 2, 1, 1)
	elsewhere.Requires = []apportion.Requirement{{Key: "gpu", Op: apportion.NotExists}}
	job(p, "together", 2, 2, 1, 0).MaxServers = 1
	p.Theta1 = 1
	d := follow(t, p)
	for _, app := range p.Applications {
		if d.Allocation.Containers(app.ID) == 0 {
			t.Errorf("%s has nothing", app.ID)
		}
	}
	if on := d.Allocation["a100"]; len(on) != 1 || on["s2"] != 2 {
		t.Errorf("a100 is on %v", on)
	}
	for server, n := range d.Allocation["spread"] {
		if n > 1 {
			t.Errorf("%d of spread on %s", n, server)
		}
	}
	if n := d.Allocation.Containers("fours"); n != 4 && n != 8 {
		t.Errorf("%d of fours", n)
	}
	if n := d.Allocation.Containers("powers"); n != 1 && n != 2 && n != 4 && n != 8 {
		t.Errorf("%d of powers", n)
	}
	if d.Allocation["elsewhere"]["s2"] > 0 || len(d.Allocation["together"]) != 1 {
		t.Errorf("elsewhere on %v, together on %v", d.Allocation["elsewhere"], d.Allocation["together"])
	}
	// The label goes, and with it what needs it.
	p.Servers[2].Labels = nil
	d = follow(t, p)
	if r := without(t, d.Suspended, "a100"); !strings.Contains(r.Text, "0 fit") {
		t.Errorf("%+v", r)
	}
}

func TestNothingAtAll(t *testing.T) {
	p := &alloc.Problem{Kinds: apportion.Kinds{"cpu"}, Theta1: .1, Theta2: .1}
	if d := follow(t, p); len(d.Allocation) > 0 || d.Gap != 0 || d.Proven != solver.ByOrder {
		t.Errorf("%+v", d)
	}
	job(p, "a", 1, 1, 1)
	p.Previous = alloc.Allocation{"a": {"gone": 1}}
	if d := follow(t, p); len(d.Suspended) != 1 || d.Metrics.Forced != 1 {
		t.Errorf("%+v", d)
	}
	p.Applications, p.Servers = nil, cluster(1, 4).Servers
	if d := follow(t, p); len(d.Allocation) > 0 {
		t.Errorf("%+v", d)
	}
}

// Jobs of 1 to 16 GPUs come and go on servers of 8: hardly any is on more servers than it needs. Where the
// cluster is full and nobody may be moved, some have to take what is left here and there.
func TestFewServers(t *testing.T) {
	for _, c := range []struct {
		name   string
		leaves func(r *rand.Rand, running int) bool
		most   float64 // part of the placements
	}{
		{"half full", func(r *rand.Rand, running int) bool { return running > 0 && r.IntN(5) < 2 }, .05},
		{"full", func(r *rand.Rand, running int) bool { return running > 6 && r.IntN(2) == 0 }, .2},
	} {
		t.Run(c.name, func(t *testing.T) {
			placements, wide, utilization := comeAndGo(t, c.leaves)
			t.Logf("%d of %d placements on more servers than needed, GPU utilization %.3f", wide, placements, utilization)
			if float64(wide) > c.most*float64(placements) {
				t.Errorf("%d of %d placements are on more servers than needed", wide, placements)
			}
		})
	}
}

// comeAndGo plays 200 events on 16 servers of 8 GPUs: an arrival, or a completion if leaves says so.
func comeAndGo(t *testing.T, leaves func(r *rand.Rand, running int) bool) (placements, wide int, utilization float64) {
	r := rand.New(rand.NewPCG(7, 7))
	p := cluster(16, 64, 8)
	p.Theta1, p.Theta2 = 1, .1
	for event := range 200 {
		if n := len(p.Applications); leaves(r, n) {
			at := r.IntN(n)
			p.Applications = append(p.Applications[:at:at], p.Applications[at+1:]...)
		} else {
			n := []int64{1, 2, 3, 4, 6, 8, 12, 16}[r.IntN(8)]
			job(p, fmt.Sprint("a", event), n, n, 4, 1)
		}
		before := p.Previous
		d := follow(t, p)
		utilization += d.Metrics.Utilization[1] / 200
		for id, on := range d.Allocation {
			if cmp.Equal(before[id], on) {
				continue
			}
			placements++
			if need := int((d.Allocation.Containers(id) + 7) / 8); len(on) > need {
				wide++
			}
		}
	}
	return placements, wide, utilization
}

// Where the budget of loss cannot be held, that is proven: the bound on the least loss is above it.
func TestLeastLossIsProven(t *testing.T) {
	p := tiny(nil, "LR", "MF")
	p.Options.Paper, p.Options.NoCeil15, p.Theta1, p.Theta2 = false, true, 0, 1
	d := follow(t, p)
	if d.LeastLoss == nil || d.LeastLoss.Loss > 1./6+1e-9 || d.LeastLoss.Bound < d.LeastLoss.Loss-1e-9 || d.Metrics.LossBudget != d.LeastLoss.Loss {
		t.Errorf("%+v, want a least loss of 1/6, proven", d.LeastLoss)
	}
	d.LeastLoss.Bound += .01
	if _, err := alloc.Verify(p, d); !errors.Is(err, alloc.ErrMismatch) {
		t.Errorf("a bound above the loss: %v", err)
	}
}

// Lists of requirements that differ are different, whatever characters their values have.
func TestRequirementsOfAnyText(t *testing.T) {
	p := cluster(2, 4)
	p.Servers[0].Labels = map[string]string{"zone": "b\x00c"}
	p.Servers[1].Labels = map[string]string{"zone": "b"}
	job(p, "one", 1, 1, 1).Requires = []apportion.Requirement{{Key: "zone", Op: apportion.In, Values: []string{"b\x00c"}}}
	job(p, "two", 1, 1, 1).Requires = []apportion.Requirement{{Key: "zone", Op: apportion.In, Values: []string{"b", "c"}}}
	if d := follow(t, p); d.Allocation["one"]["s0"] != 1 || d.Allocation["two"]["s1"] != 1 {
		t.Errorf("%v, want one on s0 and two on s1", d.Allocation)
	}
}
