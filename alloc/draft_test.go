// This file tests drafts by themselves: where containers go, who makes room, and that the books are right.

package alloc

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// gpuProblem is one on servers with so many GPUs each.
func gpuProblem(gpus ...int64) *Problem {
	p := &Problem{Kinds: apportion.Kinds{"gpu"}, Theta1: 1, Theta2: 1, Previous: Allocation{}}
	for j, n := range gpus {
		p.Servers = append(p.Servers, apportion.Server{ID: fmt.Sprintf("s%d", j), Capacity: apportion.Resources{n}})
	}
	return p
}

// add adds an application whose containers take a number of GPUs, and what it runs now, by server.
func (p *Problem) add(gpus, least, most int64, running ...int64) *Application {
	id := fmt.Sprintf("a%d", len(p.Applications))
	p.Applications = append(p.Applications, Application{ID: id, Weight: 1, Form: Form{Demand: apportion.Resources{gpus}, Min: least, Max: most}})
	for j, n := range running {
		if n > 0 {
			if p.Previous[id] == nil {
				p.Previous[id] = map[string]int64{}
			}
			p.Previous[id][p.Servers[j].ID] = n
		}
	}
	return &p.Applications[len(p.Applications)-1]
}

// Containers go to as few servers as best fit finds, of equals to the one that is fullest then.
func TestDraftPlace(t *testing.T) {
	for name, test := range map[string]struct {
		servers []int64
		change  func(*Application)
		want    []apportion.Placement // nil: there is no room
	}{
		"one server holds all, the tighter one": {[]int64{8, 3, 5}, nil, []apportion.Placement{{Server: 1, Count: 3}}},
		"fewer servers before a tight fit":      {[]int64{4, 1}, nil, []apportion.Placement{{Server: 0, Count: 3}}},
		"the most on one, the rest tight":       {[]int64{1, 2, 1}, nil, []apportion.Placement{{Server: 0, Count: 1}, {Server: 1, Count: 2}}},
		"of equals the first":                   {[]int64{3, 3}, nil, []apportion.Placement{{Server: 0, Count: 3}}},
		"of equals the tighter, in turn":        {[]int64{5, 4, 6}, nil, []apportion.Placement{{Server: 1, Count: 3}}},
		"as many as a server may have":          {[]int64{8, 8}, func(a *Application) { a.PerServer = 2 }, []apportion.Placement{{Server: 0, Count: 2}, {Server: 1, Count: 1}}},
		"no more servers than it may be on":     {[]int64{2, 2}, func(a *Application) { a.MaxServers = 1 }, nil},
		"no room":                               {[]int64{1, 1}, nil, nil},
	} {
		p := gpuProblem(test.servers...)
		app := p.add(1, 3, 3)
		if test.change != nil {
			test.change(app)
		}
		d := newDraft(resolve(p))
		if done := d.place(0, 3); done != (test.want != nil) {
			t.Errorf("%s: placed %t", name, done)
		}
		if diff := cmp.Diff(test.want, d.counts[0]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// One gives way if that is enough, the cheapest first; else several do, down to their fewest.
func TestDraftMakeRoom(t *testing.T) {
	p := gpuProblem(4, 4)
	p.Theta2 = 1
	p.add(1, 1, 4, 4, 0) // may give three on s0
	p.add(1, 1, 4, 0, 4) // may give three on s1
	cheap := p.add(1, 2, 2)
	d := newDraft(resolve(p))
	if !d.admit(2) {
		t.Fatalf("%s is not admitted", cheap.ID)
	}
	if n := solver.Containers(d.counts[0]) + solver.Containers(d.counts[1]); n != 5 || d.spent != 1 {
		t.Errorf("the two that ran have %d containers, %d of the budget is spent; one of them gives three", n, d.spent)
	}
	// Six at a time need both: each goes down to one.
	p.Applications = p.Applications[:2]
	p.add(1, 6, 6)
	d = newDraft(resolve(p))
	if !d.admit(2) || d.spent != 2 || solver.Containers(d.counts[0]) != 1 || solver.Containers(d.counts[1]) != 1 {
		t.Errorf("six beside two that go down to one: %v, spent %d", d.counts, d.spent)
	}
	// With a budget for one there is no way, and nothing has changed.
	p.Theta2 = .5
	r := resolve(p)
	d = newDraft(r)
	if d.admit(2) || d.spent != 0 || d.in[2] {
		t.Errorf("six, with one who may be adjusted: %v, spent %d of %d", d.counts, d.spent, d.budget)
	}
	if diff := cmp.Diff(newDraft(r).counts, d.counts); diff != "" {
		t.Errorf("a refused one has changed something (-before +after):\n%s", diff)
	}
}

// What could be freed is an upper bound: the last one within the budget counts in part.
func TestDraftFreeable(t *testing.T) {
	p := gpuProblem(20)
	p.Theta2 = .5
	p.Options.NoCeil16 = true
	p.add(1, 1, 10, 10).AdjustCost = new(int64)
	*p.Applications[0].AdjustCost = 2
	p.add(1, 1, 6, 6)
	p.add(1, 2, 3, 3)
	d := newDraft(resolve(p))
	// By GPUs for the cost: five of a1 for 1, nine of a0 for 2, one of a2 for 1.
	for budget, want := range []struct {
		amount int64
		from   []int
	}{{0, nil}, {5, []int{1}}, {10, []int{1}}, {14, []int{1, 0}}, {15, []int{1, 0, 2}}} {
		d.budget = int64(budget)
		amount, from, _ := d.freeable(0, 0)
		if amount != want.amount || !cmp.Equal(from, want.from) {
			t.Errorf("budget %d frees %d from %v, want %d from %v", budget, amount, from, want.amount, want.from)
		}
	}
}

// A solution of somebody else's is taken over whole: who has changed goes down to its fewest, and the books begin anew.
func TestDraftAdopt(t *testing.T) {
	p := gpuProblem(4, 4)
	p.add(1, 1, 4, 4, 0)
	p.add(1, 1, 4, 0, 4)
	p.add(1, 2, 2)
	d := newDraft(resolve(p))
	if !d.admit(2) || d.spent != 1 {
		t.Fatalf("%v, spent %d", d.counts, d.spent)
	}
	d.adopt([]int{0, 1, 2}, d.r.instance([]int{0, 1, 2}), solver.Counts{{{Server: 0, Count: 4}}, {{Server: 1, Count: 2}}, {{Server: 1, Count: 2}}})
	want := solver.Counts{{{Server: 0, Count: 4}}, {{Server: 1, Count: 1}}, {{Server: 1, Count: 2}}}
	if diff := cmp.Diff(want, d.counts); diff != "" || d.spent != 1 || d.moved[0] || !d.moved[1] {
		t.Errorf("spent %d, moved %v (-want +got):\n%s", d.spent, d.moved, diff)
	}
	if diff := cmp.Diff([]apportion.Resources{{0}, {1}}, d.left); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
}

// genDrafted draws a problem on few GPUs in which some run.
func genDrafted(t *rapid.T) *Problem {
	var servers []int64
	for range rapid.IntRange(1, 4).Draw(t, "servers") {
		servers = append(servers, rapid.Int64Range(1, 6).Draw(t, "gpus"))
	}
	p := gpuProblem(servers...)
	p.Theta2 = rapid.SampledFrom([]float64{0, .3, .6, 1}).Draw(t, "theta2")
	left := append([]int64(nil), servers...)
	for range rapid.IntRange(1, 6).Draw(t, "applications") {
		gpus, least := rapid.Int64Range(1, 3).Draw(t, "demand"), rapid.Int64Range(0, 3).Draw(t, "least")
		most := max(1, least) + rapid.Int64Range(0, 3).Draw(t, "more")
		running, total := make([]int64, len(servers)), int64(0)
		for j := range running {
			running[j] = min(left[j]/gpus, most-total, rapid.Int64Range(0, 3).Draw(t, "runs"))
			left[j] -= running[j] * gpus
			total += running[j]
		}
		if total < least {
			for j := range running {
				left[j] += running[j] * gpus
				running[j] = 0
			}
		}
		p.add(gpus, least, most, running...)
	}
	return p
}

// Whoever asks in whatever order: nothing is over-committed, what is left and what is spent is what the counts say, who is in
// has a number that it may have, and who is refused has changed nothing.
func TestPropDraft(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := genDrafted(t)
		r := resolve(p)
		d := newDraft(r)
		for range rapid.IntRange(1, 8).Draw(t, "requests") {
			i := rapid.IntRange(0, len(p.Applications)-1).Draw(t, "who")
			before, spent := fmt.Sprint(d.counts, d.left, d.in), d.spent
			if d.in[i] {
				continue
			}
			if !d.admit(i) {
				if after := fmt.Sprint(d.counts, d.left, d.in); after != before || d.spent != spent {
					t.Fatalf("a refused one has changed\n%s spent %d\nto\n%s spent %d", before, spent, after, d.spent)
				}
			}
			checkDraft(t, d)
		}
	})
}

// checkDraft compares the books of a draft with its counts.
func checkDraft(t *rapid.T, d *draft) {
	var spent int64
	for j, capacity := range d.r.capacity {
		used := int64(0)
		for i := range d.counts {
			for _, placed := range d.counts[i] {
				if placed.Server == j {
					used += placed.Count * d.r.problem.Applications[i].Demand[0]
				}
			}
		}
		if d.left[j][0] != capacity[0]-used || used > capacity[0] {
			t.Fatalf("server %d has %d, %d are used, %d are left", j, capacity[0], used, d.left[j][0])
		}
	}
	for i := range d.counts {
		app := d.r.app(i)
		if n := solver.Containers(d.counts[i]); d.in[i] && !app.Allows(n) {
			t.Fatalf("application %d is in with %d containers", i, n)
		}
		if d.r.running(i) && app.Adjusted(d.counts[i]) && !d.r.forced[i] {
			spent += app.Cost
		}
	}
	// Going down and coming to the same again is an adjustment in the books, and none in the counts.
	if spent > d.spent || d.spent > d.budget {
		t.Fatalf("%d adjusted, %d spent of %d", spent, d.spent, d.budget)
	}
}

// fewer keeps containers where there are most of them.
func TestFewer(t *testing.T) {
	placed := []apportion.Placement{{Server: 0, Count: 1}, {Server: 1, Count: 4}, {Server: 2, Count: 2}}
	for n, want := range map[int64][]apportion.Placement{
		0: nil, 3: {{Server: 1, Count: 3}}, 5: {{Server: 1, Count: 4}, {Server: 2, Count: 1}}, 7: placed, math.MaxInt64: placed,
	} {
		if diff := cmp.Diff(want, fewer(placed, n)); diff != "" {
			t.Errorf("%d containers (-want +got):\n%s", n, diff)
		}
	}
}

// Whoever makes room does so with another of its options, and what it could give counts as that.
func TestDraftOptionsMakeRoom(t *testing.T) {
	p := gpuProblem(8)
	one := func(id string, gpus int64) Option {
		return Option{ID: id, Form: Form{Demand: apportion.Resources{gpus}, Min: 1, Max: 1}}
	}
	p.Applications = []Application{{ID: "a0", Weight: 1, Options: []Option{one("large", 8), one("small", 4)}}}
	p.Previous["a0"] = map[string]int64{"s0": 1}
	p.add(4, 1, 1)
	d := newDraft(resolve(p))
	if amount, from, _ := d.freeable(2, 0); amount != 4 || !cmp.Equal(from, []int{0}) {
		t.Errorf("%d can be freed from %v, want 4 from 0", amount, from)
	}
	if !d.admit(2) || len(d.counts[0]) > 0 || len(d.counts[1]) == 0 || d.spent != 1 || d.cost(1) != 0 {
		t.Errorf("%v, spent %d", d.counts, d.spent)
	}
	// The budget for that is not there.
	p.Theta2 = 0
	if d = newDraft(resolve(p)); d.admit(2) || len(d.counts[0]) == 0 || d.spent != 0 {
		t.Errorf("without a budget: %v, spent %d", d.counts, d.spent)
	}
}
