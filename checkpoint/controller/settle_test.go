// This file tests that jobs are not moved more often than it is worth.

package controller

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint"
)

// What a move costs is measured from the stop of one run to the next, and moves are counted for an hour.
func TestPauses(t *testing.T) {
	var text strings.Builder
	s := newStarts(nil, slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == slog.LevelKey {
			return slog.Attr{}
		}
		return a
	}})))
	at := time.Unix(0, 0)
	take := func(after time.Duration, phase checkpoint.Phase, attempt, stopped int64, why string) {
		at = at.Add(after)
		s.take(checkpoint.Record{Jobs: []checkpoint.Job{{Name: "a", Phase: phase, Attempt: attempt, Stopped: stopped, Target: []string{"n1", "n1", "n2"},
			Reason: apportion.Reason{Constraint: why, Text: why}}}}, at)
	}
	take(0, checkpoint.Confirming, 1, 0, "")
	take(time.Second, checkpoint.Running, 1, 0, "")
	take(time.Minute, checkpoint.Saving, 1, 0, "")
	take(time.Minute, checkpoint.Running, 1, 0, "")
	take(time.Minute, checkpoint.Saving, 1, 0, "")
	take(time.Second, checkpoint.Stopping, 1, 0, "")
	take(2*time.Second, checkpoint.Confirming, 5, 1, "")
	take(3*time.Second, checkpoint.Running, 5, 1, "")
	a := s.jobs["a"]
	if a.pause != 5*time.Second || len(a.moves) != 1 || !a.since.Equal(at.Add(-3*time.Second)) {
		t.Errorf("%+v", a)
	}
	take(time.Minute, checkpoint.Confirming, 9, 5, "exited")
	take(time.Second, checkpoint.Running, 9, 5, "")
	if len(a.moves) != 1 || a.pause != 5*time.Second {
		t.Errorf("a death is no move: %+v", a)
	}
	take(movesAge, checkpoint.Stopping, 9, 5, "")
	take(0, checkpoint.Confirming, 12, 9, "")
	if len(a.moves) != 1 {
		t.Errorf("a move counts for longer than an hour: %v", a.moves)
	}
	s.take(checkpoint.Record{Lost: []string{"n2"}, Gone: []string{"a"}}, at)
	if len(s.jobs) != 0 {
		t.Errorf("what is gone is remembered: %v", s.jobs)
	}
	want := `msg="job starts" job=a attempt=1 on="n1:2 n2:1" step=0 cause=submitted why=""
msg="job runs" job=a attempt=1 paused=0s
msg="job stops" job=a attempt=1 saved=0 why=""
msg="job starts" job=a attempt=5 on="n1:2 n2:1" step=0 cause=moved why=""
msg="job runs" job=a attempt=5 paused=5s
msg="job starts" job=a attempt=9 on="n1:2 n2:1" step=0 cause=exited why=exited
msg="job runs" job=a attempt=9 paused=5s
msg="job stops" job=a attempt=9 saved=0 why=""
msg="job starts" job=a attempt=12 on="n1:2 n2:1" step=0 cause=moved why=""
msg="server is lost" server=n2
`
	if diff := cmp.Diff(want, text.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Jobs rest after a start, when they were moved often, and when all were; nobody rests on a server that is to be left.
func TestRested(t *testing.T) {
	now := time.Unix(10000, 0)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	const m = time.Minute
	s := newStarts(nil, slog.New(slog.DiscardHandler))
	s.jobs = map[string]*runs{
		"new":    {since: ago(m)},
		"old":    {since: ago(5 * m), pause: 30 * time.Second},
		"often":  {since: ago(10 * m), moves: []time.Time{ago(50 * m), ago(40 * m)}, pause: 10 * m},
		"leaves": {since: ago(m)},
		"idle":   {since: ago(m)},
	}
	p := &alloc.Problem{Servers: []apportion.Server{{ID: "n1"}, {ID: "n2", Cordoned: true}}, Previous: alloc.Allocation{"leaves": {"n1": 1, "n2": 1}, "strange": {"n1": 1}}}
	for _, id := range []string{"new", "old", "often", "leaves", "idle", "strange"} {
		p.Applications = append(p.Applications, alloc.Application{ID: id})
		if id != "idle" && id != "leaves" && id != "strange" {
			p.Previous[id] = map[string]int64{"n1": 1}
		}
	}
	for _, c := range []struct {
		config Config
		want   string
		until  time.Duration
	}{
		{Config{}, "[]", 0},
		{Config{MinRun: 5 * m}, "[new]", 4 * m},
		{Config{MinRun: 5*m + 1}, "[new old]", 4*m + 1},
		{Config{JobMoves: 2}, "[often]", 10 * m},
		{Config{JobMoves: 1}, "[often]", 20 * m},
		{Config{JobMoves: 3}, "[]", 0},
		{Config{Moves: 1}, "[new old often]", 20 * m},
		{Config{Moves: 3}, "[]", 0},
	} {
		rested, until, price := s.rested(&c.config, p, now)
		pinned := []string{}
		for i := range rested.Applications {
			if rested.Applications[i].Pinned {
				pinned = append(pinned, rested.Applications[i].ID)
			}
			if p.Applications[i].Pinned {
				t.Fatal("the problem was changed")
			}
		}
		if wait := until.Sub(now); fmt.Sprint(pinned) != c.want || (until.IsZero()) != (c.until == 0) || c.until > 0 && wait != c.until {
			t.Errorf("%+v: %v until %v, want %s until %v", c.config, pinned, until.Sub(now), c.want, c.until)
		}
		// The one that was not moved yet costs as much as the others do in the mean.
		if c.config.MinRun == 5*m {
			if diff := cmp.Diff(map[string]float64{"new": 1, "old": 0.1, "often": 1}, price); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		}
	}
}

// A decision on its own answer adjusts nobody, where moves have a price; without one it does.
func TestOwnAnswer(t *testing.T) {
	for _, price := range []float64{0, 0.02} {
		moves := 0
		for seed := range uint64(8) {
			p, prices := clusterOf(seed, 12, 18), map[string]float64{}
			for i := range p.Applications {
				prices[p.Applications[i].ID] = price
			}
			for round := range 4 {
				d, err := alloc.Reallocate(t.Context(), p, nil)
				if err != nil {
					t.Fatal(err)
				}
				if _, d, err = stay(t.Context(), decided, p, d, prices); err != nil {
					t.Fatal(err)
				}
				if round > 0 {
					for i := range p.Applications {
						moves += len(changed(p, d, p.Applications[i].ID))
					}
				}
				p.Previous = d.Allocation
			}
		}
		if t.Logf("price %v: %d changes", price, moves); (moves > 0) != (price == 0) {
			t.Errorf("at a price of %v decisions on their own answers change %d numbers", price, moves)
		}
	}
}

func decided(ctx context.Context, p *alloc.Problem) (*alloc.Decision, error) {
	return alloc.Reallocate(ctx, p, nil)
}

// BenchmarkOwnAnswer asks six times with nothing new, as a controller with a second for each decision would: moved/ask is how many of 500
// jobs the five last answers move in the mean. At a price of 0.02 a pause is a fiftieth of the least run.
func BenchmarkOwnAnswer(b *testing.B) {
	for _, price := range []float64{0, 0.02} {
		b.Run(fmt.Sprint("price=", price), func(b *testing.B) {
			moved, asked := 0, 0
			for b.Loop() {
				var d alloc.Decider
				p, prices := clusterOf(1, 300, 500), map[string]float64{}
				decide := func(ctx context.Context, p *alloc.Problem) (*alloc.Decision, error) {
					limited, cancel := context.WithTimeout(ctx, time.Second)
					defer cancel()
					return d.Reallocate(limited, p)
				}
				for i := range p.Applications {
					prices[p.Applications[i].ID] = price
				}
				for round := range 6 {
					answer, err := decide(b.Context(), p)
					if err == nil {
						_, answer, err = stay(b.Context(), decide, p, answer, prices)
					}
					if err != nil {
						b.Fatal(err)
					}
					if round > 0 {
						asked++
						for i := range p.Applications {
							if len(changed(p, answer, p.Applications[i].ID)) > 0 {
								moved++
							}
						}
					}
					p.Previous = answer.Allocation
				}
			}
			b.ReportMetric(float64(moved)/float64(asked), "moved/ask")
		})
	}
}

// clusterOf draws servers and jobs that do not fill them exactly.
func clusterOf(seed uint64, servers, jobs int) *alloc.Problem {
	r := rand.New(rand.NewPCG(seed, 36))
	p := &alloc.Problem{Kinds: apportion.Kinds{"cpu", "memory"}, Theta1: 0.2, Theta2: 0.3}
	for i := range servers {
		p.Servers = append(p.Servers, apportion.Server{ID: fmt.Sprint("n", i), Capacity: apportion.Resources{16 + r.Int64N(17), 64 + r.Int64N(65)}})
	}
	for i := range jobs {
		p.Applications = append(p.Applications, alloc.Application{ID: fmt.Sprint("j", i), Weight: 1 + float64(r.IntN(3)),
			Form: alloc.Form{Demand: apportion.Resources{1 + r.Int64N(5), 1 + r.Int64N(19)}, Min: 1, Max: 2 + r.Int64N(15)}})
	}
	return p
}

// A move that gains more than it costs is made, one that gains less is not, and one that lets somebody in always is.
func TestWorthIt(t *testing.T) {
	job := func(id string, most int64) alloc.Application {
		return alloc.Application{ID: id, Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1}, Min: 1, Max: most}}
	}
	for _, c := range []struct {
		what  string
		price float64
		apps  []alloc.Application
		has   alloc.Allocation
		want  string
	}{
		{"it doubles", 0.4, []alloc.Application{job("a", 8)}, alloc.Allocation{"a": {"n1": 4}}, "map[a:8]"},
		{"it grows by a quarter of what it has", 0.3, []alloc.Application{job("a", 5)}, alloc.Allocation{"a": {"n1": 4}}, "map[a:4]"},
		{"and that costs less", 0.2, []alloc.Application{job("a", 5)}, alloc.Allocation{"a": {"n1": 4}}, "map[a:5]"},
		{"another waits", 1, []alloc.Application{job("a", 8), job("b", 4)}, alloc.Allocation{"a": {"n1": 8}}, "map[a:4 b:4]"},
		{"it must go", 1, []alloc.Application{job("a", 2)}, alloc.Allocation{"a": {"n1": 8}}, "map[a:2]"},
	} {
		p := &alloc.Problem{Kinds: apportion.Kinds{"gpu"}, Theta1: 1, Theta2: 1, Servers: []apportion.Server{{ID: "n1", Capacity: apportion.Resources{8}}}, Applications: c.apps, Previous: c.has}
		d, err := decided(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		of, d, err := stay(t.Context(), decided, p, d, map[string]float64{"a": c.price})
		got := map[string]int64{}
		for i := range c.apps {
			got[c.apps[i].ID] = d.Allocation.Containers(c.apps[i].ID)
		}
		if err != nil || fmt.Sprint(got) != c.want {
			t.Errorf("%s: %v, %v, want %s", c.what, got, err, c.want)
		}
		if _, err := alloc.Explain(of, d); err != nil {
			t.Errorf("%s: the problem is not that of the decision: %v", c.what, err)
		}
	}
}
