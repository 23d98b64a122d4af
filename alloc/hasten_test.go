package alloc_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
)

// elasticOnes are jobs of which each has one of 10 servers of 8 GPUs, and could do with one, and a gang of 32 that is due. One of
// them may be adjusted in a decision.
func elasticOnes() *alloc.Problem {
	p := cluster(10, 8)
	p.Theta1, p.Theta2, p.Previous = 1, .1, alloc.Allocation{}
	for n := range 10 {
		id := fmt.Sprint("e", n)
		job(p, id, 1, 8, 1)
		p.Previous[id] = map[string]int64{fmt.Sprint("s", n): 8}
	}
	job(p, "gang", 32, 32, 1).Passed = 10
	return p
}

// Room for a gang is made over several decisions, one application in each as (16) has it, and what is made stays free of all others. The
// gang starts, which by no single decision could have been.
func TestReservationShrinks(t *testing.T) {
	p := elasticOnes()
	var by alloc.Decider
	started := -1
	for decision := 0; decision < 12 && started < 0; decision++ {
		d := decideBy(t, &by, p)
		if d.Metrics.AdjustCost > 1 {
			t.Fatalf("%+v", d.Metrics)
		}
		if d.Allocation.Containers("gang") == 32 {
			started = decision
		}
	}
	if started < 4 || started > 6 {
		t.Errorf("it starts in decision %d, want one after each of five jobs has made room", started)
	}
}

// Nothing is taken from what ends at a time that is known, is pinned, or of another queue that has no more for its weight.
func TestReservationLeaves(t *testing.T) {
	for name, change := range map[string]func(p *alloc.Problem, app *alloc.Application){
		"ends are known": func(_ *alloc.Problem, app *alloc.Application) { app.Ends = new(float64); *app.Ends = 100 },
		"pinned":         func(_ *alloc.Problem, app *alloc.Application) { app.Pinned = true },
		"another queue": func(p *alloc.Problem, app *alloc.Application) {
			p.Queues, app.Queue = teams().Queues[:1], "a"
			p.Queues[0].Guarantee = apportion.Resources{80}
		},
		"too little": func(p *alloc.Problem, app *alloc.Application) {
			app.Min, p.Applications[10].Min, p.Applications[10].Max = 6, 64, 64
		},
		"no budget": func(p *alloc.Problem, _ *alloc.Application) { p.Theta2 = 0 },
	} {
		p := elasticOnes()
		for i := range 10 {
			change(p, &p.Applications[i])
		}
		before := p.Previous
		var by alloc.Decider
		if d := decideBy(t, &by, p); !cmp.Equal(d.Allocation, before) || len(d.Reservations) != 1 {
			t.Errorf("%s: %v, reserved %+v", name, d.Allocation, d.Reservations)
		}
	}
}

// One that stays within its guarantee is put on what is reserved for one that would not, and the latter is told.
func TestBrokenReservationIsTold(t *testing.T) {
	p := teams()
	p.Queues[0].Guarantee = apportion.Resources{0}
	submit(p, "a", "gang", 32, 32)
	p.Applications[0].Passed = 10
	for n := range 3 {
		submit(p, "a", fmt.Sprint("a", n), 8, 8)
		p.Previous[fmt.Sprint("a", n)] = map[string]int64{fmt.Sprint("s", n): 8}
		p.Applications[n+1].Preemptible = false
	}
	submit(p, "b", "b0", 4, 4)
	answer := follow(t, p)
	if answer.Allocation.Containers("b0") != 4 {
		t.Fatalf("%+v", answer.Waiting)
	}
	if r := without(t, answer.Waiting, "gang"); !strings.Contains(r.Text, `hat was reserved for it was open to "b0", which stays within its guarantee`) {
		t.Errorf("%+v", r)
	}
}
