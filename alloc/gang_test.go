// This file plays gangs among small applications: that they start, how soon, and what is kept free for them, [Program §8].

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
)

// stream is a cluster of 4 servers of 8 GPUs with jobs of 1, of which the two oldest end each hour and two come.
type stream struct {
	p    *alloc.Problem
	born int
}

func newStream() *stream {
	p := teams()
	p.Queues, p.Options = nil, alloc.Options{}
	return &stream{p: p}
}

func (s *stream) small() {
	s.born++
	submit(s.p, "", fmt.Sprint("small", s.born), 1, 1)
}

// hour lets two of the small ones end, and two come.
func (s *stream) hour() {
	ended := 0
	s.p.Applications = slices.DeleteFunc(slices.Clone(s.p.Applications), func(app alloc.Application) bool {
		ends := strings.HasPrefix(app.ID, "small") && s.p.Previous.Containers(app.ID) > 0 && ended < 2
		if ends {
			ended++
		}
		return ends
	})
	for range 2 {
		s.small()
	}
}

// decideBy takes a decision by a Decider, checks it and carries it out.
func decideBy(t *testing.T, by *alloc.Decider, p *alloc.Problem) *alloc.Decision {
	t.Helper()
	d, err := by.Reallocate(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := alloc.Verify(p, d); err != nil {
		t.Fatal(err)
	}
	if _, err := alloc.Explain(p, d); err != nil {
		t.Fatal(err)
	}
	if server := exceeds(p, d.Allocation); server != "" {
		t.Fatalf("server %s is overfilled", server)
	}
	p.Previous = d.Allocation
	return d
}

// A gang beside which small ones come and go starts, with default options and though nobody knows when anything ends; without a
// reservation, or by submission alone, it never does.
func TestGangAmongSmallOnes(t *testing.T) {
	none := int64(0)
	for _, c := range []struct {
		gpus    int64
		options alloc.Options
		hour    int // of its start, -1: never
	}{
		{4, alloc.Options{}, 4}, {8, alloc.Options{}, 8}, {16, alloc.Options{}, 16}, {32, alloc.Options{}, 24},
		{4, alloc.Options{Reservations: &none}, -1}, {4, alloc.Options{Order: alloc.BySubmission}, -1},
	} {
		s := newStream()
		s.p.Options = c.options
		for range 32 {
			s.small()
		}
		by := new(alloc.Decider)
		decideBy(t, by, s.p)
		submit(s.p, "", "gang", c.gpus, c.gpus)
		hour := -1
		for h := 1; h <= 60 && hour < 0; h++ {
			s.hour()
			d := decideBy(t, by, s.p)
			if d.Allocation.Containers("gang") == c.gpus {
				hour = h
			}
			if len(d.Reservations) > 1 {
				t.Fatalf("%+v", d.Reservations)
			}
		}
		t.Logf("%d GPUs, %+v: starts in hour %d", c.gpus, c.options, hour)
		if hour != c.hour {
			t.Errorf("%d GPUs: starts in hour %d, want %d", c.gpus, hour, c.hour)
		}
	}
}

var reservationSequences = flag.Int("reservations", 60, "random sequences of events that TestReservationSequences plays")

// crowd is a cluster of two servers of 4 GPUs to which more comes than it can take, of which one ends with each event.
type crowd struct {
	r       *rand.Rand
	p       *alloc.Problem
	by      alloc.Decider
	born    int
	depth   int            // levels of queues, at least 1
	arrived map[string]int // by application: the event at which it came
	began   map[string]int // the event at which it was let in
	before  map[string]int // how many come before it by the rules
	longest int            // the most completions during a run
	ends    bool           // some say when they end
	used    float64        // the largest part of its bound that a wait has had
}

func newCrowd(seed uint64) *crowd {
	c := &crowd{r: rand.New(rand.NewPCG(seed, 3)), depth: 1, ends: seed%2 == 1, arrived: map[string]int{}, began: map[string]int{}, before: map[string]int{}}
	c.p = &alloc.Problem{Kinds: apportion.Kinds{"gpu"}, Theta1: .1, Previous: alloc.Allocation{}}
	for j := range 2 {
		c.p.Servers = append(c.p.Servers, apportion.Server{ID: fmt.Sprint("s", j), Capacity: apportion.Resources{4}})
	}
	if kind := c.r.IntN(3); kind > 0 {
		c.p.Queues = []drf.Queue{{ID: "x", Weight: 1}, {ID: "y", Weight: 1}}
		if kind == 2 {
			c.depth = 2
			c.p.Queues = append(c.p.Queues, drf.Queue{ID: "x1", Parent: "x", Weight: 1}, drf.Queue{ID: "x2", Parent: "x", Weight: 1})
		}
	}
	return c
}

// leaf draws a queue without queues below it.
func (c *crowd) leaf() string {
	switch len(c.p.Queues) {
	case 0:
		return ""
	case 2:
		return []string{"x", "y"}[c.r.IntN(2)]
	}
	return []string{"x1", "x2", "y"}[c.r.IntN(3)]
}

// come adds an application of 1 to 4 containers, now and then of all 8.
func (c *crowd) come(event int) {
	c.born++
	n := []int64{1, 1, 1, 2, 2, 4, 8}[c.r.IntN(7)]
	id := fmt.Sprint("j", c.born)
	queue := c.leaf()
	for _, app := range c.p.Applications {
		if app.Queue == queue && c.p.Previous.Containers(app.ID) == 0 {
			c.before[id]++
		}
	}
	submit(c.p, queue, id, n, n)
	// In half of the crowds half of all say by when they end, in events from their start, and most end before.
	if c.ends && c.r.IntN(2) == 0 {
		ends := float64(8 + c.r.IntN(16))
		c.p.Applications[len(c.p.Applications)-1].Ends = &ends
	}
	c.arrived[id] = event
}

// end lets one of those that run end: one whose time is over, the oldest, or any.
func (c *crowd) end(event int) {
	late := -1
	for i := range c.p.Applications {
		app := &c.p.Applications[i]
		if app.Ends == nil || c.p.Previous.Containers(app.ID) == 0 {
			continue
		}
		left := max(0, *app.Ends-1)
		if app.Ends = &left; left < 1 {
			late = i
		}
	}
	var running []int
	for i, app := range c.p.Applications {
		if c.p.Previous.Containers(app.ID) > 0 {
			running = append(running, i)
		}
	}
	if len(running) == 0 {
		return
	}
	slices.SortStableFunc(running, func(a, b int) int { return c.began[c.p.Applications[a].ID] - c.began[c.p.Applications[b].ID] })
	i := running[0]
	if late >= 0 {
		i = late
	} else if c.r.IntN(3) == 0 {
		i = running[c.r.IntN(len(running))]
	}
	c.longest = max(c.longest, event-c.began[c.p.Applications[i].ID])
	c.p.Applications = slices.Delete(slices.Clone(c.p.Applications), i, i+1)
}

// isDue reports whether an application was let past what its patience allows.
func isDue(app *alloc.Application, passed float64) bool {
	return passed >= 2*min(.5, float64(app.Min)/8)
}

// settle notes what was let in, and those that are due elsewhere before an application is.
func (c *crowd) settle(event int, d *alloc.Decision) {
	passed := map[string]float64{}
	for _, w := range d.Waiting {
		passed[w.ID] = w.Passed
	}
	for i := range c.p.Applications {
		app := &c.p.Applications[i]
		if _, known := c.began[app.ID]; !known && d.Allocation.Containers(app.ID) > 0 {
			c.began[app.ID] = event
		}
		if app.Passed == 0 || isDue(app, app.Passed) || !isDue(app, passed[app.ID]) {
			continue
		}
		for v := range c.p.Applications {
			if other := &c.p.Applications[v]; other.Queue != app.Queue && isDue(other, passed[other.ID]) && d.Allocation.Containers(other.ID) == 0 {
				c.before[app.ID]++
			}
		}
	}
}

// measure says which part of its bound each wait has had that is over: d (1 + ceil(patience G/s)) (1 + a) L.
func (c *crowd) measure(sizes map[string]int64) {
	for id, began := range c.began {
		// Nobody asks for less than 1.
		bound := float64(c.depth) * (1 + math.Ceil(2*float64(sizes[id]))) * float64(1+c.before[id]) * float64(max(1, c.longest))
		c.used = max(c.used, float64(began-c.arrived[id])/bound)
	}
}

// In random crowds of gangs every one is let in within its bound, the reserved room is free of all that is not waited for and has not
// ended by then, it is for one at most, and it is there no later than it was said to be. With nothing new the decisions come to rest.
func TestReservationSequences(t *testing.T) {
	count, events := *reservationSequences, 80
	if testing.Short() {
		count = min(count, 10)
	}
	used, kept := 0.0, 0
	for seed := range uint64(count) {
		c := newCrowd(seed)
		sizes := map[string]int64{}
		var last *alloc.Decision
		for event := range events {
			c.end(event)
			for range 1 + c.r.IntN(2) {
				if len(c.p.Applications) < 20 {
					c.come(event)
				}
			}
			for _, app := range c.p.Applications {
				sizes[app.ID] = app.Min
			}
			d := decideBy(t, &c.by, c.p)
			c.settle(event, d)
			checkReserved(t, c.p, last, d)
			kept += len(d.Reservations)
			last = d
		}
		c.measure(sizes)
		used = max(used, c.used)
		for quiet := 0; ; quiet++ {
			before := c.p.Previous
			if decideBy(t, &c.by, c.p); cmp.Equal(before, c.p.Previous) {
				break
			}
			if quiet > len(c.p.Applications) {
				t.Fatalf("%d: it does not come to rest", seed)
			}
		}
	}
	t.Logf("%.3f of the bound is the longest wait; a reservation stands after %d of %d decisions", used, kept, count*events)
	if used > 1 || used == 0 || kept == 0 {
		t.Errorf("%g of the bound, %d reservations", used, kept)
	}
}

// checkReserved checks what is reserved after a decision against the allocation, and against what the one before had reserved.
func checkReserved(t *testing.T, p *alloc.Problem, last, d *alloc.Decision) {
	t.Helper()
	if len(d.Reservations) > 1 {
		t.Fatalf("%+v", d.Reservations)
	}
	for _, v := range d.Reservations {
		for server, n := range v.Servers {
			used := n
			for _, app := range p.Applications {
				if !slices.Contains(v.For, app.ID) && !(app.Ends != nil && v.At != nil && *app.Ends <= *v.At) {
					used += d.Allocation[app.ID][server]
				}
			}
			if used > 4 {
				t.Fatalf("%+v: %d of 4 GPUs of %s are used beside it", v, used-n, server)
			}
		}
		if last == nil || len(last.Reservations) != 1 || last.Reservations[0].ID != v.ID {
			continue
		}
		// What ends by a time that is known may have come meanwhile.
		if was := last.Reservations[0]; v.At == nil && len(v.For) > len(was.For) || was.At != nil && (v.At == nil || *v.At > *was.At) {
			t.Fatalf("%+v is later, or waits for more, than %+v", v, was)
		}
	}
}

// What is reserved for an application that has its containers is a false claim.
func TestReservationOfWhatRuns(t *testing.T) {
	p := teams()
	submit(p, "a", "gang", 8, 8)
	p.Applications[0].Passed = 5
	d, err := alloc.Reallocate(t.Context(), p, nil)
	if err != nil || d.Allocation.Containers("gang") != 8 || len(d.Reservations) > 0 {
		t.Fatalf("%+v, %v", d, err)
	}
	d.Reservations = []alloc.Reservation{{ID: "gang", Servers: map[string]int64{"s3": 8}}}
	if _, err := alloc.Verify(p, d); !errors.Is(err, alloc.ErrMismatch) || !strings.Contains(err.Error(), "is not due") {
		t.Errorf("%v", err)
	}
}

// What has ended in time may use reserved room, and is not gathered there when it has grown elsewhere: P2 keeps that room from all.
func TestGathersBesideAReservation(t *testing.T) {
	p := cluster(2, 4)
	p.Theta1, p.Theta2 = 0, .5
	soon, late := 2., 8.
	job(p, "gang", 4, 6, 1).Passed = 2
	job(p, "large", 3, 3, 1).Ends = &soon
	job(p, "long", 2, 2, 1).Ends = &late
	job(p, "grows", 1, 3, 1).Ends = &soon
	p.Previous = alloc.Allocation{"large": {"s1": 3}, "long": {"s0": 2}, "grows": {"s0": 1}}
	if d := follow(t, p); d.Allocation.Containers("grows") != 2 || len(d.Reservations) != 1 {
		t.Errorf("%v beside %+v", d.Allocation, d.Reservations)
	}
}
