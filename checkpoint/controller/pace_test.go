// This file tests when a decision is due, and how long a controller waits before it asks for the same again.

package controller

import (
	"errors"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/must"
)

func TestPatience(t *testing.T) {
	p := patience{first: time.Second}
	one, other := map[string][]string{"a": {"n1"}}, map[string][]string{"a": {"n2"}}
	for i, c := range []struct {
		targets map[string][]string
		want    time.Duration
	}{
		{one, time.Second}, {one, 2 * time.Second}, {map[string][]string{"a": {"n1"}}, 4 * time.Second}, {nil, 4 * time.Second},
		{one, 8 * time.Second}, {one, 16 * time.Second}, {one, maxPause}, {one, maxPause}, {other, time.Second}, {one, time.Second},
	} {
		must.Equal(t, p.after(c.targets), c.want, i, "after", c.targets)
	}
}

// A decision is due when something else is asked of it, at once, and when what jobs have is another, after the pause. Targets
// that come back after something else was asked repeat nothing: their pause is the first one again.
func TestPace(t *testing.T) {
	p := pace{again: patience{first: time.Second}}
	at := time.Unix(1000, 0)
	move := map[string][]string{"a": {"n1"}}
	for i, c := range []struct {
		asked, has string
		after      time.Duration // since the step before
		due        bool
		targets    map[string][]string
		err        error
		pause      time.Duration
	}{
		{"one", "none", 0, true, nil, nil, 0},
		{"one", "none", time.Hour, false, nil, nil, 0},                           // nothing has changed, however late it is
		{"one", "a", 0, true, move, nil, time.Second},                            // jobs have something else
		{"one", "a", time.Second - 1, false, nil, nil, 0},                        // the move was denied: a moment too early
		{"one", "a", 1, true, move, nil, 2 * time.Second},                        // at the very moment, and the same targets again
		{"one", "b", 2*time.Second - 1, false, nil, nil, 0},                      // a moment too early
		{"one", "b", 1, true, move, nil, 4 * time.Second},                        // at the very moment
		{"one", "c", 4 * time.Second, true, nil, nil, 4 * time.Second},           // no targets leave the pause as it is
		{"one", "c", time.Hour, false, nil, nil, 0},                              // and nothing to do is done
		{"two", "c", 0, true, move, nil, time.Second},                            // something else is asked: at once, and anew
		{"two", "d", time.Second, true, move, errors.New("no"), 2 * time.Second}, // after a fault nothing counts as decided
		{"two", "d", 0, true, move, nil, time.Second},                            // so that the same is decided once more
		{"two", "d", time.Second, true, nil, nil, time.Second},
	} {
		at = at.Add(c.after)
		now := shape{c.asked, c.has}
		must.Equal(t, p.isDue(now, at), c.due, "step", i, "due")
		if !c.due {
			continue
		}
		p.decided(now, c.targets, c.err, at)
		must.Equal(t, p.due.Sub(at), c.pause, "step", i, "a pause of")
	}
}

// Two problems have one shape if a decision on one is one on the other. What is asked and what jobs have are told apart, since
// only the first is decided at once.
func TestShape(t *testing.T) {
	problem := func(change func(*alloc.Problem)) shape {
		p := &alloc.Problem{Kinds: apportion.Kinds{"gpu"}, Servers: []apportion.Server{{ID: "n1", Capacity: apportion.Resources{4}}},
			Applications: []alloc.Application{{ID: "a", Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1}, Min: 1, Max: 4}}},
			Queues:       []drf.Queue{{ID: "q", Weight: 1}}, Previous: alloc.Allocation{"a": {"n1": 2}}}
		change(p)
		return shapeOf(p)
	}
	same := problem(func(*alloc.Problem) {})
	must.Equal(t, problem(func(*alloc.Problem) {}), same)
	for name, change := range map[string]func(*alloc.Problem){
		"capacity": func(p *alloc.Problem) { p.Servers[0].Capacity[0]++ },
		"cordon":   func(p *alloc.Problem) { p.Servers[0].Cordoned = true },
		"label":    func(p *alloc.Problem) { p.Servers[0].Labels = map[string]string{"rack": "r1"} },
		"most":     func(p *alloc.Problem) { p.Applications[0].Max = 3 },
		"pinned":   func(p *alloc.Problem) { p.Applications[0].Pinned = true },
		"queue":    func(p *alloc.Problem) { p.Queues[0].Weight = 2 },
		"gone":     func(p *alloc.Problem) { p.Applications = nil },
	} {
		if other := problem(change); other.asked == same.asked || other.has != same.has {
			t.Errorf("%s: %+v, before %+v", name, other, same)
		}
	}
	if other := problem(func(p *alloc.Problem) { p.Previous["a"]["n1"] = 3 }); other.asked != same.asked || other.has == same.has {
		t.Errorf("%+v, before %+v", other, same)
	}
}
