// This file plays the queues of two teams: that each gets what it is guaranteed, whatever the other one holds, [Program §7].

package alloc_test

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/oracle/queueoracle"
)

// teams is a cluster of 4 servers of 8 GPUs, of which queues a and b have 16 guaranteed each.
func teams() *alloc.Problem {
	p := &alloc.Problem{Kinds: apportion.Kinds{"gpu"}, Theta1: .1, Theta2: .1, Previous: alloc.Allocation{}, Options: alloc.Options{Preempt: true}}
	for j := range 4 {
		p.Servers = append(p.Servers, apportion.Server{ID: fmt.Sprint("s", j), Capacity: apportion.Resources{8}})
	}
	for _, id := range []string{"a", "b"} {
		p.Queues = append(p.Queues, drf.Queue{ID: id, Weight: 1, Guarantee: apportion.Resources{16}})
	}
	return p
}

// submit adds an application of from least to most containers of one GPU.
func submit(p *alloc.Problem, queue, id string, least, most int64) {
	p.Applications = append(p.Applications, alloc.Application{ID: id, Queue: queue, Weight: 1, Preemptible: true,
		Form: alloc.Form{Demand: apportion.Resources{1}, Min: least, Max: most}})
}

// has returns how many GPUs the applications of a queue have.
func has(p *alloc.Problem, a alloc.Allocation, queue string) (n int64) {
	for _, app := range p.Applications {
		if app.Queue == queue {
			n += a.Containers(app.ID)
		}
	}
	return n
}

// finish takes the oldest application that runs out of the problem.
func finish(p *alloc.Problem) {
	for i, app := range p.Applications {
		if p.Previous.Containers(app.ID) > 0 {
			p.Applications = append(append([]alloc.Application(nil), p.Applications[:i]...), p.Applications[i+1:]...)
			return
		}
	}
}

// Queue a submits 20 gangs of 8, b 3 an hour later; the oldest ends each hour. By submission b has its first GPU once all of a
// have run. With guarantees its gangs run two hours after they came at the latest, also where nothing may be suspended.
func TestGangsWithinAGuarantee(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*alloc.Options)
		first  int // hour in which b has something
	}{
		{"as recommended", func(*alloc.Options) {}, 1},
		{"without suspending", func(o *alloc.Options) { o.Preempt = false }, 2},
		{"by submission", func(o *alloc.Options) { o.Order = alloc.BySubmission }, 18},
	} {
		p := teams()
		c.change(&p.Options)
		for n := range 20 {
			submit(p, "a", fmt.Sprint("a", n), 8, 8)
		}
		first := -1
		for hour := 0; hour < 24 && first < 0; hour++ {
			if hour == 1 {
				for n := range 3 {
					submit(p, "b", fmt.Sprint("b", n), 8, 8)
				}
			}
			if hour > 1 {
				finish(p)
			}
			if d := follow(t, p); has(p, d.Allocation, "b") > 0 {
				first = hour
			}
		}
		if first != c.first {
			t.Errorf("%s: b has its first container in hour %d, want %d", c.name, first, c.first)
		}
	}
}

// Elastic applications of a hold all; one of b, which is guaranteed half, has that after three decisions at the latest, though by
// (16) one may be adjusted in each.
func TestElasticWithinAGuarantee(t *testing.T) {
	for _, preempt := range []bool{false, true} {
		p := teams()
		p.Options.Preempt = preempt
		for n := range 8 {
			submit(p, "a", fmt.Sprint("a", n), 1, 32)
		}
		follow(t, p)
		submit(p, "b", "b", 1, 32)
		var got []int64
		for range 4 {
			d := follow(t, p)
			got = append(got, has(p, d.Allocation, "b"))
			if d.Metrics.Preempted > 0 {
				t.Errorf("%v are suspended, where shrinking is enough", d.Suspended)
			}
			if d.Metrics.AdjustCost > d.Metrics.AdjustBudget {
				t.Errorf("%+v", d.Metrics)
			}
		}
		if got[2] < 16 || got[3] != got[2] {
			t.Errorf("suspending %v: b has %v of its 16", preempt, got)
		}
	}
}

// What is taken is what is beyond a guarantee, and no more of it than is needed.
func TestTakenIsBeyondAGuarantee(t *testing.T) {
	p := teams()
	for n := range 8 {
		submit(p, "a", fmt.Sprint("a", n), 4, 4)
	}
	follow(t, p)
	for n := range 6 {
		submit(p, "b", fmt.Sprint("b", n), 4, 4)
	}
	d := follow(t, p)
	if got := []int64{has(p, d.Allocation, "a"), has(p, d.Allocation, "b")}; !cmp.Equal(got, []int64{16, 16}) {
		t.Errorf("a and b have %v", got)
	}
	if d.Metrics.Preempted != 4 || d.Metrics.AdjustCost != 0 {
		t.Errorf("%+v", d.Metrics)
	}
	before := d.Allocation
	for range 3 {
		if d = follow(t, p); !cmp.Equal(d.Allocation, before) {
			t.Errorf("it does not come to rest: %v", d.Allocation)
		}
	}
}

var (
	guaranteeSequences = flag.Int("guarantees", 72, "random sequences of events that TestGuaranteeSequences plays")
	guaranteeEvents    = flag.Int("events", 40, "events of each of them")
	guaranteeFirst     = flag.Uint64("first", 0, "the first of them")
)

// mixes are so many kinds of sequences: 3 depths of trees, 2 parts that are guaranteed, 4 loads, gangs up to 2 parts of the cluster, and 3 parts
// of applications of which it is known when they end.
const mixes = 3 * 2 * 4 * 2 * 3

// division is a cluster of two servers of 4 GPUs that is divided between queues, to which things happen.
type division struct {
	r      *rand.Rand
	p      *alloc.Problem
	born   int
	leaves []string
	sizes  []int64
	load   float64        // what comes, in parts of the cluster
	ends   int            // of two that come, so many say when they end
	faults bool           // servers fail
	left   map[string]int // by application: for how many events it still runs
}

// meanLength is for how many events an application runs in the mean.
const meanLength = 6

func newDivision(seed uint64) *division {
	v := &division{r: rand.New(rand.NewPCG(seed, 7)), left: map[string]int{}}
	mix := int(seed % mixes)
	draw := func(of int) int {
		defer func() { mix /= of }()
		return mix % of
	}
	levels, part := draw(3), int64(3+2*draw(2))
	v.load = .8 + .1*float64(draw(4))
	v.sizes = [][]int64{{1, 1, 2, 3, 4}, {1, 1, 2, 4, 8}}[draw(2)]
	v.ends = draw(3)
	kinds := 1 + v.r.IntN(2)
	v.faults = v.r.IntN(2) == 0
	v.p = &alloc.Problem{Kinds: apportion.Kinds{"gpu", "cpu"}[:kinds], Theta1: []float64{0, .1, 1}[v.r.IntN(3)], Theta2: []float64{0, .1, .5}[v.r.IntN(3)],
		Options: alloc.Options{Preempt: v.r.IntN(4) > 0, ReclaimLevel: v.r.IntN(2) == 0}}
	for j := range 2 {
		v.p.Servers = append(v.p.Servers, apportion.Server{ID: fmt.Sprint("s", j), Capacity: apportion.Resources{4, 8}[:kinds]})
	}
	v.leaves = []string{""}
	if levels > 0 {
		v.divide(levels, apportion.Resources{8, 16}[:kinds], part)
	}
	return v
}

// divide adds two queues that are guaranteed all, or three fifths, of the cluster together, one that is guaranteed nothing, and on a second level
// two below the second, of which one has a half of its guarantee.
func (v *division) divide(levels int, all apportion.Resources, part int64) {
	a, b := make(apportion.Resources, len(all)), make(apportion.Resources, len(all))
	for k := range all {
		all := all[k] * part / 5
		a[k] = v.r.Int64N(all + 1)
		b[k] = all - a[k]
	}
	v.p.Queues = []drf.Queue{{ID: "a", Weight: 1, Guarantee: a}, {ID: "b", Weight: 1 + v.r.Float64(), Guarantee: b}, {ID: "c", Weight: 1}}
	v.leaves = []string{"a", "b", "c"}
	if v.r.IntN(2) == 0 {
		v.p.Queues[0].Ceiling = append(drf.Ceiling(nil), a...)
		v.p.Queues[0].Ceiling[0] += 2
	}
	if levels == 2 {
		half := b.Clone()
		for k := range half {
			half[k] /= 2
		}
		v.p.Queues = append(v.p.Queues, drf.Queue{ID: "b1", Parent: "b", Weight: 1, Guarantee: half}, drf.Queue{ID: "b2", Parent: "b", Weight: 2})
		v.leaves = []string{"a", "b1", "b2", "c"}
	}
}

// happen lets an event pass: what runs has one less to go, and ends with the last; something may come, and a server fail or come back.
func (v *division) happen() {
	v.p.Applications = slices.DeleteFunc(slices.Clone(v.p.Applications), func(app alloc.Application) bool {
		if v.p.Previous.Containers(app.ID) > 0 {
			v.left[app.ID]--
		}
		return v.left[app.ID] <= 0
	})
	mean := 0.0
	for _, n := range v.sizes {
		mean += float64(n) / float64(len(v.sizes))
	}
	for often := v.load * 8 / (mean * meanLength); often > 0; often-- {
		if v.r.Float64() < often && len(v.p.Applications) < 9 {
			v.come()
		}
	}
	for i := range v.p.Applications {
		if app := &v.p.Applications[i]; app.Ends != nil {
			ends := float64(v.left[app.ID])
			app.Ends = &ends
		}
	}
	if v.faults && v.r.IntN(10) == 0 {
		server := &v.p.Servers[v.r.IntN(2)]
		server.Capacity = server.Capacity.Clone()
		server.Capacity[0] = 4 - server.Capacity[0]
	}
}

// come adds an application.
func (v *division) come() {
	v.born++
	least := v.sizes[v.r.IntN(len(v.sizes))]
	app := alloc.Application{ID: fmt.Sprint("j", v.born), Weight: 1, Queue: v.leaves[v.r.IntN(len(v.leaves))], Priority: v.r.Int64N(2),
		Preemptible: v.r.IntN(5) > 0, Form: alloc.Form{Demand: apportion.Resources{1, 1 + v.r.Int64N(2)}[:len(v.p.Kinds)], Min: least, Max: least + v.r.Int64N(3)*v.r.Int64N(3)}}
	v.left[app.ID] = 1 + v.r.IntN(2*meanLength-1)
	if v.r.IntN(2) < v.ends {
		app.Ends = new(float64)
	}
	v.p.Applications = append(v.p.Applications, app)
}

// world is the twin of the division as it is now.
func (v *division) world() *queueoracle.World {
	w := &queueoracle.World{Preempt: v.p.Options.Preempt, ByLevel: v.p.Options.ReclaimLevel}
	position := map[string]int{"": -1}
	for q, queue := range v.p.Queues {
		position[queue.ID] = q
		w.Queues = append(w.Queues, queueoracle.Queue{Parent: position[queue.Parent], Weight: queue.Weight, Guarantee: queue.Guarantee, Ceiling: queue.Ceiling})
	}
	for _, server := range v.p.Servers {
		w.Servers = append(w.Servers, server.Capacity)
	}
	for _, app := range v.p.Applications {
		twin := queueoracle.App{Queue: position[app.Queue], Demand: app.Demand, Least: app.Min, Priority: app.Priority, Preemptible: app.Preemptible}
		if v.p.Previous.Containers(app.ID) > 0 {
			for _, server := range v.p.Servers {
				twin.Places = append(twin.Places, v.p.Previous[app.ID][server.ID])
			}
		}
		w.Apps = append(w.Apps, twin)
	}
	return w
}

// starved lists what waits within its guarantee though there is room for it, or a set that may be taken, and no reservation that it may
// not break.
func (v *division) starved(reserved []alloc.Reservation) (ids []string) {
	w := v.world()
	if w.Servers[0][0]+w.Servers[1][0] < 8 {
		return nil // guarantees are scaled then, and the twin has what is stated
	}
	for i, app := range v.p.Applications {
		if w.Apps[i].Places != nil || app.Queue == "" || !w.Within(i) || slices.ContainsFunc(reserved, func(of alloc.Reservation) bool {
			return !w.MayBreak(i, slices.IndexFunc(v.p.Applications, func(app alloc.Application) bool { return app.ID == of.ID }))
		}) {
			continue
		}
		if _, _, ok := w.Fewest(i); ok {
			ids = append(ids, app.ID)
		}
	}
	return ids
}

// passed lists what has grown beyond a guarantee, from what it had before, though something waits within its own for which no servers are kept.
func (v *division) passed(before alloc.Allocation, reserved []alloc.Reservation) (ids []string) {
	w := v.world()
	if w.Servers[0][0]+w.Servers[1][0] < 8 {
		return nil
	}
	for _, of := range reserved {
		w.Holders = append(w.Holders, slices.IndexFunc(v.p.Applications, func(app alloc.Application) bool { return app.ID == of.ID }))
	}
	for i, app := range v.p.Applications {
		kept := slices.ContainsFunc(reserved, func(of alloc.Reservation) bool { return of.ID == app.ID && of.Servers != nil })
		for o, other := range v.p.Applications {
			if !kept && v.p.Previous.Containers(other.ID) > max(other.Min, before.Containers(other.ID)) && w.Empty(i) && w.Restrains(i, o) {
				ids = append(ids, other.ID)
			}
		}
	}
	return ids
}

// Whatever happens to a divided cluster, decisions come to rest and stay there, nothing waits within its guarantee for two decisions
// that could have it, and nothing grows beyond a guarantee meanwhile.
func TestGuaranteeSequences(t *testing.T) {
	count, quiet := *guaranteeSequences, 0
	if testing.Short() {
		count = min(count, 18)
	}
	if *guaranteeEvents >= 200 {
		quiet = 60
	}
	starved, again, decisions, restrained := 0, 0, 0, 0
	for seed := *guaranteeFirst; seed < *guaranteeFirst+uint64(count); seed++ {
		v := newDivision(seed)
		var before []string
		decide := func() *alloc.Decision {
			before := v.p.Previous
			d := follow(t, v.p)
			if ids := v.passed(before, d.Reservations); ids != nil {
				t.Errorf("%d: %v grow beyond their guarantees, and others wait within", seed, ids)
			}
			if slices.ContainsFunc(d.Shares, func(s alloc.Share) bool { return s.Most > 0 }) {
				restrained++
			}
			// Half of the callers hand on what a decision says of patience.
			if seed/mixes%2 == 0 {
				d.HandOn(v.p)
			}
			decisions++
			return d
		}
		for event := range *guaranteeEvents {
			v.happen()
			// What was let in last may have made a set possible, which the next decision uses unless it is gone by then.
			could := v.starved(nil)
			now := v.starved(decide().Reservations)
			if now != nil {
				starved++
			}
			for _, id := range now {
				if slices.Contains(before, id) && slices.Contains(could, id) {
					again++
					t.Errorf("%d: after event %d %s waits within its guarantee for the second time", seed, event, id)
				}
			}
			before = now
		}
		v.rest(t, seed, max(quiet, len(v.p.Applications)+2), decide)
	}
	t.Logf("after %d of %d decisions something waited within its guarantee that could have had it, %d times after the next too; growth was held back in %d",
		starved, decisions, again, restrained)
	if restrained == 0 {
		t.Error("growth was never held back")
	}
}

// rest takes decisions with nothing new: after as many as there are applications nothing changes, and nothing that could have it waits within
// its guarantee.
func (v *division) rest(t *testing.T, seed uint64, quiet int, decide func() *alloc.Decision) {
	for n := range quiet {
		before := v.p.Previous
		d := decide()
		if n <= len(v.p.Applications) {
			continue
		}
		if !cmp.Equal(before, v.p.Previous) {
			t.Errorf("%d: something changes in quiet decision %d", seed, n)
		}
		if ids := v.starved(d.Reservations); ids != nil && n == quiet-1 {
			t.Errorf("%d: %v wait within their guarantees", seed, ids)
		}
	}
}

// A decision says how every queue fares, and no more may be claimed for one than it is guaranteed.
func TestQueuesOfADecision(t *testing.T) {
	p := teams()
	for n := range 6 {
		submit(p, "a", fmt.Sprint("a", n), 8, 8)
	}
	follow(t, p)
	submit(p, "b", "b0", 8, 8)
	d := reallocate(t, p)
	want := []alloc.QueueUse{
		{ID: "a", Used: apportion.Resources{24}, Guarantee: apportion.Resources{16}, Level: .75, Waiting: 3},
		{ID: "b", Used: apportion.Resources{8}, Guarantee: apportion.Resources{16}, Level: .25},
	}
	if diff := cmp.Diff(want, d.Queues); diff != "" {
		t.Error(diff)
	}
	if r := without(t, d.Suspended, "a3"); !cmp.Equal(r.Applications, []string{"b0"}) {
		t.Errorf("%+v", r)
	}
	for name, change := range map[string]func(*alloc.Decision){
		"Queues.Used contradicts":    func(d *alloc.Decision) { d.Queues[1].Used = apportion.Resources{9} },
		"Queues.Level contradicts":   func(d *alloc.Decision) { d.Queues[0].Level = 1 },
		"Queues.Waiting contradicts": func(d *alloc.Decision) { d.Queues[0].Waiting = 0 },
		"more than is guaranteed": func(d *alloc.Decision) {
			for i := range d.Shares[:3] {
				d.Shares[i].Guaranteed = 8
			}
		},
		"is not what it has": func(d *alloc.Decision) { d.Shares[0].Guaranteed = 9 },
	} {
		d := reallocate(t, p)
		change(d)
		if _, err := alloc.Verify(p, d); !errors.Is(err, alloc.ErrMismatch) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	} // A record of before queues were told of is no worse for that, and the proof says what it could not check.
	d.Queues = nil
	if proof, err := alloc.Verify(p, d); err != nil || !slices.Contains(proof.Unchecked, "Queues") {
		t.Errorf("without queues: %v, unchecked are %v", err, proof.Unchecked)
	}
}

// What a queue has used is a part of a cluster, and the order is one that exists.
func TestOrderIsValidated(t *testing.T) {
	for _, c := range []struct {
		change func(*alloc.Problem)
		want   error
		field  string
	}{
		{func(p *alloc.Problem) { p.Queues[1].Usage = -1 }, apportion.ErrNegative, `queue "b": Usage`},
		{func(p *alloc.Problem) { p.Queues[1].Usage = math.NaN() }, apportion.ErrNotFinite, `queue "b": Usage`},
		{func(p *alloc.Problem) { p.Options.Order = "random" }, apportion.ErrUnknown, "Options.Order"},
	} {
		p := teams()
		c.change(p)
		if err := p.Validate(); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.field) {
			t.Errorf("%v, want %v of %s", err, c.want, c.field)
		}
	}
}

// Neither a newcomer of another queue nor a better answer takes from a queue what it is guaranteed, whatever may be adjusted.
func TestGuaranteeIsKept(t *testing.T) {
	p := teams()
	p.Theta1, p.Theta2 = 1, 1
	p.Queues = p.Queues[:1]
	submit(p, "a", "a", 1, 32)
	p.Previous = alloc.Allocation{"a": {"s0": 8, "s1": 8}}
	submit(p, "", "large", 24, 24)
	if d := reallocate(t, p); d.Allocation.Containers("large") > 0 || d.Allocation.Containers("a") < 16 {
		t.Errorf("a newcomer: %v", d.Allocation)
	}
	p.Applications[1] = alloc.Application{ID: "dear", Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1}, Min: 1, Max: 32}}
	for n := range 32 {
		p.Applications[1].Worth = append(p.Applications[1].Worth, float64(n+1))
	}
	d := follow(t, p)
	if d.Allocation.Containers("a") != 16 || d.Allocation.Containers("dear") != 16 || d.Shares[0].Guaranteed != 16 {
		t.Errorf("a better answer: %v, %+v", d.Allocation, d.Shares)
	}
	p.Options.Order = alloc.BySubmission
	if d := reallocate(t, p); d.Allocation.Containers("dear") != 31 {
		t.Errorf("by submission: %v", d.Allocation)
	}
}

// Queue a has all 32 GPUs and 16 guaranteed. One of b, which is guaranteed nothing, has what a has beyond that, within (16): a goes
// down by so much and no further, although it could go down to one.
func TestShrinksDownToAGuarantee(t *testing.T) {
	for _, least := range []int64{8, 16} {
		p := teams()
		p.Theta1, p.Theta2, p.Options.Preempt = 1, 1, false
		p.Queues[1].Guarantee = nil
		submit(p, "a", "a0", 1, 32)
		p.Previous = alloc.Allocation{"a0": {"s0": 8, "s1": 8, "s2": 8, "s3": 8}}
		submit(p, "b", "b0", least, least)
		d, err := alloc.Reallocate(t.Context(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		if has(p, d.Allocation, "b") != least || has(p, d.Allocation, "a") != 32-least {
			t.Errorf("a gang of %d: %v, %+v", least, d.Allocation, d.Waiting)
		}
	}
	p := teams()
	p.Queues[1].Guarantee, p.Theta2, p.Options.Preempt = nil, 1, false
	submit(p, "a", "a0", 1, 32)
	p.Previous = alloc.Allocation{"a0": {"s0": 8, "s1": 8, "s2": 8, "s3": 8}}
	submit(p, "b", "b0", 17, 17)
	if d, err := alloc.Reallocate(t.Context(), p, nil); err != nil || has(p, d.Allocation, "a") != 32 || len(d.Waiting) != 1 {
		t.Errorf("more than is beyond the guarantee: %+v, %v", d, err)
	}
}
