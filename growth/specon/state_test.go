// This file tests that a manager can be saved and restored at any time, and that enumerations are text.

package specon_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/growth/specon"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/placement"
)

func anything(reflect.Type) bool { return true }

// throughJSON returns a value that was written and read, and refuses one that came back another.
func throughJSON[T any](t interface{ Fatalf(string, ...any) }, want T) (got T) {
	text, err := json.Marshal(want)
	if err == nil {
		err = json.Unmarshal(text, &got)
	}
	if diff := cmp.Diff(want, got, exported); err != nil || diff != "" {
		t.Fatalf("%T: %v (-written +read)\n%s", want, err, diff)
	}
	return got
}

// story is what happens in a random cluster: batches of events, each with a tick behind it.
type story struct {
	options *specon.ManagerOptions
	batches [][]specon.Event
	times   []time.Duration
}

// stories draws events on three workers and four jobs; most of them can happen.
var stories = rapid.Custom(func(t *rapid.T) story {
	s := story{options: &specon.ManagerOptions{
		OneAtATime: rapid.Bool().Draw(t, "one at a time"),
		Options:    specon.Options{AtEntry: rapid.Bool().Draw(t, "at entry"), Separate: rapid.Bool().Draw(t, "separate")},
		Place:      rapid.SampledFrom([]placement.Rule{placement.FirstFit, placement.BestFit, placement.FewestFirst}).Draw(t, "place"),
	}}
	now := time.Duration(0)
	for range rapid.IntRange(1, 15).Draw(t, "ticks") {
		now += time.Duration(rapid.IntRange(0, 15).Draw(t, "seconds")) * second
		batch := rapid.SliceOfN(events(now), 0, 12).Draw(t, "events")
		s.batches, s.times = append(s.batches, batch), append(s.times, now)
	}
	return s
})

func events(now time.Duration) *rapid.Generator[specon.Event] {
	return rapid.Custom(func(t *rapid.T) specon.Event {
		kinds := []specon.EventKind{specon.Arrival, specon.Arrival, specon.Arrival, specon.Reading, specon.Reading, specon.Reading, specon.Reading,
			specon.Runs, specon.Pauses, specon.Exit, specon.WorkerUp, specon.WorkerUp, specon.WorkerDown}
		return specon.Event{
			Kind:     rapid.SampledFrom(kinds).Draw(t, "kind"),
			Job:      rapid.SampledFrom(ids[:4]).Draw(t, "job"),
			Worker:   rapid.SampledFrom([]string{"", "w1", "w2", "w3"}).Draw(t, "worker"),
			Capacity: apportion.Resources{rapid.Int64Range(0, 4).Draw(t, "capacity")},
			Demand:   apportion.Resources{rapid.Int64Range(0, 2).Draw(t, "demand")},
			At:       now - time.Duration(rapid.IntRange(-3, 3).Draw(t, "ago"))*second,
			Value:    wild.Draw(t, "value"),
			Usage:    usage.Draw(t, "usage"),
			Current:  usage.Draw(t, "current"),
		}
	})
}

// TestPropManagerRestores saves the manager in the middle of its story and goes on with both: they
// decide alike, and every decision survives JSON. On the way it checks what must always hold.
func TestPropManagerRestores(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := stories.Draw(t, "story")
		m := must.Have(specon.NewManager(oneKind, s.options))(t)
		save := rapid.IntRange(0, len(s.batches)).Draw(t, "save before")
		var twin *specon.Manager
		for i, batch := range s.batches {
			for _, e := range batch {
				if twin == nil && i == save {
					twin = must.Have(specon.Restore(oneKind, s.options, throughJSON(t, m.State())))(t)
				}
				err := m.Step(e)
				if twin != nil && (err == nil) != (twin.Step(e) == nil) {
					t.Fatalf("%v: %v, but not for the twin", e, err)
				}
			}
			before := m.State()
			d := must.Have(m.Tick(s.times[i]))(t)
			checkDecision(t, s.options, before, m.State(), throughJSON(t, d))
			if twin == nil {
				continue
			}
			if other, err := twin.Tick(s.times[i]); err != nil || !cmp.Equal(d, other, exported) {
				t.Fatalf("%v (-original +restored)\n%s", err, cmp.Diff(d, other, exported))
			}
		}
	})
}

// checkDecision checks that nobody is moved again, that moves find room, and that all jobs are counted.
func checkDecision(t *rapid.T, options *specon.ManagerOptions, before, after specon.State, d specon.Decision) {
	free := map[string]int64{}
	for _, w := range before.Workers {
		free[w.ID] = w.Capacity[0]
	}
	jobs := map[string]specon.Job{}
	for _, j := range before.Jobs {
		jobs[j.ID] = j
		free[j.Worker] -= j.Demand[0]
	}
	for _, a := range d.Assignments {
		if free[a.Worker] -= jobs[a.Job].Demand[0]; jobs[a.Job].Worker != "" || free[a.Worker] < 0 && jobs[a.Job].Demand[0] > 0 {
			t.Fatalf("%v is assigned from %q with %d free", a, jobs[a.Job].Worker, free[a.Worker])
		}
	}
	for _, m := range d.Moves {
		job := jobs[m.Job]
		free[m.From] += job.Demand[0]
		if free[m.To] -= job.Demand[0]; free[m.To] < 0 && job.Demand[0] > 0 || m.From == m.To {
			t.Fatalf("%v with %d free afterwards", m, free[m.To])
		}
		if job.Rebalanced || job.Decided && m.Why != specon.Rebalancing {
			t.Fatalf("%v, who was moved before: %+v", m, job)
		}
	}
	if options.OneAtATime && len(d.Moves) > 1 || options.OneAtATime && len(d.OnTheirWay) > 0 && len(d.Moves) > 0 {
		t.Fatalf("%v at a time beside %v", d.Moves, d.OnTheirWay)
	}
	counted, placed := int64(0), int64(0)
	for _, w := range d.Workers {
		counted += w.Progressing + w.Watching + w.Converged
	}
	for _, j := range after.Jobs {
		if j.Worker != "" {
			placed++
		}
	}
	if counted != placed || len(after.Jobs)-int(placed) != len(d.Waiting) {
		t.Fatalf("%d counted, %d placed of %d, %d wait", counted, placed, len(after.Jobs), len(d.Waiting))
	}
}

// A state that no manager can have had is refused.
func TestRestoreRefuses(t *testing.T) {
	c := newCluster(t, inTurn, "left", "right")
	for _, job := range []string{"a", "b", "c", "d"} {
		c.arrive(job, "left", fading)
	}
	for len(c.manager.State().Plan) == 0 && c.now < time.Hour {
		c.tick()
	}
	must.Have(specon.Restore(oneKind, inTurn, c.manager.State()))(t)
	for name, test := range map[string]struct {
		change func(*specon.State)
		want   error
	}{
		"worker twice":        {func(s *specon.State) { s.Workers[1] = s.Workers[0] }, apportion.ErrDuplicate},
		"job twice":           {func(s *specon.State) { s.Jobs[1].ID = "a" }, apportion.ErrDuplicate},
		"nowhere":             {func(s *specon.State) { s.Jobs[1].Worker = "x" }, apportion.ErrUnknown},
		"runs without one":    {func(s *specon.State) { s.Jobs[1].Worker, s.Jobs[1].Running = "", true }, apportion.ErrConflict},
		"no category":         {func(s *specon.State) { s.Jobs[1].Category = 9 }, apportion.ErrUnknown},
		"decided in future":   {func(s *specon.State) { s.Jobs[1].Since = s.Now + 1 }, apportion.ErrRange},
		"plan for nobody":     {func(s *specon.State) { s.Plan[0].Job = "x" }, apportion.ErrUnknown},
		"check before now":    {func(s *specon.State) { s.Next = s.Now - 1 }, apportion.ErrRange},
		"negative capacities": {func(s *specon.State) { s.Workers[1].Capacity[0] = -1 }, apportion.ErrNegative},
	} {
		state := c.manager.State()
		test.change(&state)
		must.Fail(specon.Restore(oneKind, inTurn, state))(t, test.want, name)
	}
	must.Fail(specon.Restore(specon.ManagerConfig{}, nil, specon.State{}))(t, must.ErrAny, "settings are not checked")
}

// An exit between the newest tick and the saving is reported by the restored manager.
func TestRestoreReportsExits(t *testing.T) {
	c := newCluster(t, inTurn, "left")
	c.arrive("a", "left", steady)
	c.tick()
	c.exit("a")
	m := must.Have(specon.Restore(oneKind, inTurn, throughJSON(t, c.manager.State())))(t)
	d, err := m.Tick(c.now)
	want := []growth.Change{{Job: "a", From: growth.Progressing, Cause: growth.Left}}
	if err != nil || !cmp.Equal(d.Changes, want) {
		t.Errorf("%v, %v; want %v", d.Changes, err, want)
	}
}

// A state is a copy.
func TestStateIsACopy(t *testing.T) {
	c := newCluster(t, inTurn, "left")
	c.crowd("left")
	c.ticks(3)
	want := throughJSON(t, c.manager.State())
	s := c.manager.State()
	s.Workers[0].Capacity[0], s.Jobs[0].Demand[0], s.Jobs[0].Worker = 99, 99, "x"
	s.Jobs[0].Readings.Offer(c.now, 1, []float64{1})
	must.Equal(t, cmp.Diff(want, c.manager.State(), exported), "")
}
