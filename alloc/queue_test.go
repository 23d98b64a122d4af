// This file tests decisions over a tree of queues: shares, ceilings, and what is said about them.

package alloc_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/problemtest"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/drf"
)

// genQueues gives a problem a tree of up to four queues, to whose ends its applications belong.
func genQueues(t *rapid.T, p *alloc.Problem) {
	inner := make(map[string]bool)
	for q := range rapid.IntRange(1, 4).Draw(t, "queues") {
		queue := drf.Queue{ID: fmt.Sprint("q", q), Weight: rapid.SampledFrom([]float64{1, 2, .5}).Draw(t, "queue weight")}
		if up := rapid.IntRange(-1, q-1).Draw(t, "parent"); up >= 0 {
			queue.Parent = p.Queues[up].ID
			inner[queue.Parent] = true
		}
		if rapid.Bool().Draw(t, "guaranteed") {
			queue.Guarantee = genVector(t, "guarantee", len(p.Kinds), 8)
		}
		if rapid.Bool().Draw(t, "limited") {
			limit := rapid.OneOf(rapid.Int64Range(0, 12), rapid.Just(int64(drf.NoLimit)))
			queue.Ceiling = rapid.SliceOfN(limit, len(p.Kinds), len(p.Kinds)).Draw(t, "ceiling")
			for k := range queue.Guarantee {
				queue.Guarantee[k] = min(queue.Guarantee[k], queue.Ceiling[k])
			}
		}
		p.Queues = append(p.Queues, queue)
	}
	ends := []string{""}
	for _, queue := range p.Queues {
		if !inner[queue.ID] {
			ends = append(ends, queue.ID)
		}
	}
	for i := range p.Applications {
		p.Applications[i].Queue = rapid.SampledFrom(ends).Draw(t, "queue")
	}
}

// overCeilings lists the ceilings that an allocation exceeds, counted with the names alone.
func overCeilings(p *alloc.Problem, a alloc.Allocation) []string {
	parent := make(map[string]string)
	for _, queue := range p.Queues {
		parent[queue.ID] = queue.Parent
	}
	var over []string
	for _, queue := range p.Queues {
		for k, limit := range queue.Ceiling {
			used := int64(0)
			for _, app := range p.Applications {
				for id := app.Queue; id != ""; id = parent[id] {
					if id == queue.ID {
						used += a.Containers(app.ID) * app.Demand[k]
					}
				}
			}
			if used > limit {
				over = append(over, fmt.Sprintf("%s uses %d of %d %s", queue.ID, used, limit, p.Kinds[k]))
			}
		}
	}
	return over
}

// A decision below ceilings exists, holds them all, and can be checked by anyone.
func TestPropCeilingsHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := genProblem(t)
		p.Options.Paper = false
		genQueues(t, p)
		d, err := recorded(t, context.Background(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		if over := overCeilings(using(p, d.Shares), d.Allocation); over != nil {
			t.Fatalf("%v", over)
		}
		if _, err := alloc.Verify(p, d); err != nil {
			t.Fatal(err)
		}
		if _, err := alloc.Explain(p, d); err != nil {
			t.Fatal(err)
		}
		if d.Metrics.ForcedByCeiling > d.Metrics.Forced {
			t.Fatalf("%+v", d.Metrics)
		}
	})
}

// One queue for all, without limits, changes nothing.
func TestPropOneQueueForAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := genProblem(t)
		want, err := recorded(t, context.Background(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		p.Queues = []drf.Queue{{ID: "all", Weight: 3}}
		for i := range p.Applications {
			p.Applications[i].Queue = "all"
		}
		got, err := recorded(t, context.Background(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want.Shares {
			if a, b := want.Shares[i].Theoretical, got.Shares[i].Theoretical; a-b > 1e-9 || b-a > 1e-9 {
				t.Fatalf("%+v becomes %+v", want.Shares[i], got.Shares[i])
			}
		}
	})
}

// lab is a cluster of one kind, whose queues have these ceilings; every application wants up to 8 containers of one GPU.
func lab(gpus int64, queues []drf.Queue, apps ...string) *alloc.Problem {
	p := &alloc.Problem{Kinds: apportion.Kinds{"gpu"}, Queues: queues, Theta1: .5, Theta2: .5, Previous: alloc.Allocation{}}
	for j := range gpus / 4 {
		p.Servers = append(p.Servers, apportion.Server{ID: fmt.Sprint("s", j), Capacity: apportion.Resources{4}})
	}
	for _, name := range apps {
		queue, id, _ := strings.Cut(name, "/")
		p.Applications = append(p.Applications, alloc.Application{ID: id, Queue: queue, Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1}, Min: 1, Max: 8}})
	}
	return p
}

func queue(id, parent string, ceiling ...int64) drf.Queue {
	return drf.Queue{ID: id, Parent: parent, Weight: 1, Ceiling: ceiling}
}

// Two queues of one weight have the same, however many applications they have.
func TestSharesFromTheTree(t *testing.T) {
	d := decide(t, lab(12, []drf.Queue{queue("x", ""), queue("y", "")}, "x/a", "y/b", "y/c", "y/d"))
	var got []float64
	for _, share := range d.Shares {
		got = append(got, share.Theoretical*12)
	}
	if !cmp.Equal(got, []float64{6, 2, 2, 2}, cmp.Comparer(func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 })) {
		t.Errorf("shares of 12 GPUs: %v", got)
	}
}

// A newcomer waits for the ceiling of its queue, is told so, and blocks nobody; the others are told why they have no
// more. Queue y, which has nothing yet, comes before the second of x.
func TestNewcomerWaitsForCeiling(t *testing.T) {
	p := lab(16, []drf.Queue{queue("org", "", 5), queue("x", "org"), queue("y", "org"), queue("z", "")}, "x/a", "x/b", "y/c", "z/d")
	for i := range p.Applications[:3] {
		p.Applications[i].Min = 2
	}
	d := decide(t, p)
	if len(d.Waiting) != 1 || d.Waiting[0].ID != "b" {
		t.Fatalf("waiting %+v", d.Waiting)
	}
	r := d.Waiting[0].Reason
	if r.Constraint != solver.Ceiling || r.Kind != "gpu" || r.Need != 2 || r.Have != 0 || !strings.HasPrefix(r.Text, `queue "org" may have 5 gpu together, of which 0 are left, and it needs 2`) {
		t.Errorf("%+v", r)
	}
	if n := d.Allocation.Containers("a") + d.Allocation.Containers("c"); n != 5 || d.Allocation.Containers("d") != 8 {
		t.Errorf("%v", d.Allocation)
	}
	e, err := alloc.Explain(p, d)
	if err != nil {
		t.Fatal(err)
	}
	if r := e.Applications[0].Reason; r.Constraint != solver.Ceiling || r.Need != 1 || r.Have != 0 {
		t.Errorf("a has no more because of %+v", r)
	}
}

// A queue that may have nothing: its applications are told at once.
func TestCeilingOfNothing(t *testing.T) {
	p := lab(8, []drf.Queue{queue("x", "", 0)}, "x/a", "/b")
	d := decide(t, p)
	if len(d.Waiting) != 1 || d.Waiting[0].Reason.Constraint != solver.Ceiling || d.Allocation.Containers("b") != 8 {
		t.Errorf("%+v %v", d.Waiting, d.Allocation)
	}
}

// A ceiling that is lowered below what is used forces the cheapest that suffice, apart from the budget.
func TestCeilingIsLowered(t *testing.T) {
	p := lab(16, []drf.Queue{queue("x", "", 9), queue("y", "")}, "x/a", "x/b", "x/c", "y/d")
	cost := func(n int64) *int64 { return &n }
	p.Theta2 = 0
	p.Applications[0].AdjustCost, p.Applications[1].AdjustCost, p.Applications[2].AdjustCost = cost(3), cost(1), cost(2)
	p.Previous = alloc.Allocation{"a": {"s0": 4}, "b": {"s1": 4}, "c": {"s2": 4}, "d": {"s3": 4}}
	d := decide(t, p)
	if d.Metrics.Forced != 1 || d.Metrics.ForcedByCeiling != 1 || d.Metrics.AdjustCost != 0 || !d.Shares[1].Forced {
		t.Errorf("%+v %+v", d.Metrics, d.Shares)
	}
	if d.Allocation.Containers("b") != 1 || d.Allocation.Containers("a") != 4 || d.Allocation.Containers("d") != 4 {
		t.Errorf("%v", d.Allocation)
	}
	// What runs now holds the ceilings: nobody is forced any more, and nothing changes.
	p.Previous = d.Allocation
	again := decide(t, p)
	if again.Metrics.Forced != 0 || !cmp.Equal(again.Allocation, d.Allocation) {
		t.Errorf("%+v %v", again.Metrics, again.Allocation)
	}
	// The smallest ceiling of all suspends whoever finds no room, and says why.
	p.Queues[0].Ceiling = drf.Ceiling{1}
	last := decide(t, p)
	if len(last.Suspended) != 2 || last.Suspended[0].Reason.Constraint != solver.Ceiling {
		t.Errorf("%+v", last.Suspended)
	}
}

func TestValidateQueues(t *testing.T) {
	one := func(change func(*drf.Queue)) func(*alloc.Problem) {
		return func(p *alloc.Problem) {
			p.Queues = []drf.Queue{{ID: "x", Weight: 1}}
			change(&p.Queues[0])
		}
	}
	refuse(t, []bad{
		{"a queue without a name", one(func(q *drf.Queue) { q.ID = "" }), "queue 0", "ID", apportion.ErrEmpty},
		{"a weight of nothing", one(func(q *drf.Queue) { q.Weight = 0 }), `queue "x"`, "Weight", apportion.ErrRange},
		{"a parent that is not there", one(func(q *drf.Queue) { q.Parent = "z" }), `queue "x"`, "Parent", apportion.ErrUnknown},
		{"a parent of itself", one(func(q *drf.Queue) { q.Parent = "x" }), `queue "x"`, "Parent", apportion.ErrConflict},
		{"a short ceiling", one(func(q *drf.Queue) { q.Ceiling = drf.Ceiling{1} }), `queue "x"`, "Ceiling", apportion.ErrLength},
		{"a queue that is not there", func(p *alloc.Problem) { p.Applications[0].Queue = "z" }, `application "LR"`, "Queue", apportion.ErrUnknown},
		{"an inner queue", func(p *alloc.Problem) {
			p.Queues = []drf.Queue{{ID: "x", Weight: 1}, {ID: "y", Parent: "x", Weight: 1}}
			p.Applications[0].Queue = "x"
		}, `application "LR"`, "Queue", apportion.ErrConflict},
	})
}

// thirtyQueues puts the applications of a problem below 30 queues in a tree, some with ceilings.
func thirtyQueues(p *alloc.Problem) {
	total := make(apportion.Resources, len(p.Kinds))
	for _, server := range p.Servers {
		for k, c := range server.Capacity {
			total[k] += c
		}
	}
	for q := range 30 {
		queue := drf.Queue{ID: fmt.Sprint("q", q), Weight: 1 + float64(q%3)}
		if q >= 5 {
			queue.Parent = fmt.Sprint("q", q%5)
		}
		if q < 5 {
			queue.Ceiling = make(drf.Ceiling, len(total))
			for k, c := range total {
				queue.Ceiling[k] = c / 5
			}
			queue.Guarantee = make(apportion.Resources, len(total))
			for k, c := range total {
				queue.Guarantee[k] = c / 10
			}
		}
		p.Queues = append(p.Queues, queue)
	}
	for i := range p.Applications {
		p.Applications[i].Queue = fmt.Sprint("q", 5+i%25)
	}
}

// What a tree of 30 queues costs a decision.
func BenchmarkReallocateQueues(b *testing.B) {
	for _, family := range alloctest.Families() {
		for _, queues := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/servers=100/apps=100/queues=%v", family.Name, queues), func(b *testing.B) {
				p := problemtest.Draw(family, 1, 100, 100, true)
				if queues {
					thirtyQueues(p)
				}
				for b.Loop() {
					if _, err := alloc.Reallocate(context.Background(), p, nil); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// A queue cannot be guaranteed more than it may have, of any kind.
func TestGuaranteeAboveCeiling(t *testing.T) {
	p := &alloc.Problem{Kinds: apportion.Kinds{"cpu", "gpu"}, Servers: []apportion.Server{{ID: "s", Capacity: apportion.Resources{8, 8}}}, Queues: []drf.Queue{
		{ID: "a", Weight: 1, Guarantee: apportion.Resources{4, 4}, Ceiling: drf.Ceiling{4, drf.NoLimit}},
		{ID: "b", Weight: 1, Guarantee: apportion.Resources{1, 3}, Ceiling: drf.Ceiling{1, 2}},
	}}
	var faults apportion.Faults
	if err := p.Validate(); !errors.As(err, &faults) || len(faults) != 1 || !errors.Is(err, apportion.ErrConflict) ||
		faults[0].Item.ID != "b" || faults[0].Field != "Guarantee" {
		t.Errorf("the faults are %v", err)
	}
}
