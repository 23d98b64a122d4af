// This file tests that jobs are not moved more often than it is worth.

package controller

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/internal/must"
)

// What a move costs is measured from the stop of one run to the next, and moves are counted for an hour.
func TestPauses(t *testing.T) {
	s := newStarts(nil)
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
	must.Equal(t, len(a.moves), 1, "a move counts for longer than an hour", a.moves)
	s.take(checkpoint.Record{Lost: []string{"n2"}, Gone: []string{"a"}}, at)
	must.Equal(t, len(s.jobs), 0, "what is gone is remembered", s.jobs)
}

// Jobs rest after a start, when they were moved often, and when all were; nobody rests on a server that is to be left.
func TestRested(t *testing.T) {
	now := time.Unix(10000, 0)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	const m = time.Minute
	s := newStarts(nil)
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
		{Config{MinRun: time.Hour}, "[new old often]", 59 * m},
		{Config{JobMoves: 2}, "[often]", 10 * m},
		{Config{JobMoves: 1}, "[often]", 20 * m},
		{Config{JobMoves: 3}, "[]", 0},
		{Config{Moves: 1}, "[new old often]", 20 * m},
		{Config{Moves: 3}, "[]", 0},
	} {
		rested, until := s.rested(&c.config, p, now)
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
		// 30 s and 10 min are 5:15 in the mean, and no move costs more than all.
		cost := rested.Options.RestartCost
		if c.config.MinRun == 0 && (cost == nil || *cost != 0) || c.config.MinRun == 5*m && (cost == nil || *cost != 1) {
			t.Errorf("%+v: a restart costs %v", c.config, cost)
		}
	}
}

// Where no job waits the moves of one are apart by the hour's part that the limit leaves for each, work of others notwithstanding.
func TestMovesAreApart(t *testing.T) {
	now := time.Unix(10000, 0)
	s := newStarts(nil)
	for id, ago := range map[string]time.Duration{"a": 9 * time.Minute, "b": 10 * time.Minute} {
		s.jobs[id] = &runs{since: now.Add(-ago), moves: []time.Time{now.Add(-ago)}}
	}
	s.jobs["new"] = &runs{since: now.Add(-2 * time.Minute)}
	p := &alloc.Problem{Applications: []alloc.Application{{ID: "a"}, {ID: "b"}, {ID: "new"}, {ID: waitingID("x")}}, Servers: []apportion.Server{{ID: "n1"}},
		Previous: alloc.Allocation{"a": {"n1": 1}, "b": {"n1": 1}, "new": {"n1": 1}}}
	ask := func(moves int) string {
		rested, until := s.rested(&Config{MinRun: time.Minute, JobMoves: moves}, p, now)
		return fmt.Sprint(rested.Applications[0].Pinned, rested.Applications[1].Pinned, rested.Applications[2].Pinned, max(0, until.Sub(now)))
	}
	must.Equal(t, ask(6), "true false false 1m0s")
	must.Equal(t, ask(0), "false false false 0s", "without a limit")
	s.jobs["c"], p.Applications = &runs{}, append(p.Applications, alloc.Application{ID: "c"})
	must.Equal(t, ask(6), "false false false 0s", "a job waits")
}

// Where others have taken room from a server, as many jobs as fit stay there.
func TestKeepWhatFits(t *testing.T) {
	one := func(id string) alloc.Application {
		return alloc.Application{ID: id, Form: alloc.Form{Demand: apportion.Resources{1}}}
	}
	for _, c := range []struct {
		room   int64
		pinned string // by the problem
		closed bool
		want   string
	}{{5, "", false, "[]"}, {4, "", false, "[small wide]"}, {2, "", false, "[small wide]"}, {1, "", false, "[small]"}, {0, "", false, "[]"},
		{4, "large", false, "[small large]"}, {3, "large", false, "[large]"}, {4, "", true, "[]"}} {
		p := &alloc.Problem{Servers: []apportion.Server{{ID: "n1", Capacity: apportion.Resources{c.room}, Cordoned: c.closed}, {ID: "n2", Capacity: apportion.Resources{4}}},
			Applications: []alloc.Application{one("wide"), one("small"), one("large"), one("else"), one(waitingID("x"))},
			Previous:     alloc.Allocation{"small": {"n1": 1}, "wide": {"n1": 1, "n2": 1}, "large": {"n1": 3}, "else": {"n2": 1}}}
		for i := range p.Applications {
			p.Applications[i].Pinned = p.Applications[i].ID == c.pinned
		}
		rested, _ := newStarts(nil).rested(&Config{}, p, time.Unix(0, 0))
		var pinned []string
		for _, id := range []string{"small", "wide", "large", "else"} {
			for i := range rested.Applications {
				if a := &rested.Applications[i]; a.ID == id && a.Pinned {
					pinned = append(pinned, id)
				}
			}
		}
		must.Equal(t, fmt.Sprint(pinned), c.want, "room for", c.room, c.pinned, "is pinned, closed", c.closed, "stay")
	}
}

// A restart costs the mean pause as a part of the least run, and a job that was moved before its own; while no pause is known it costs what
// the problem says.
func TestPriceOfRestarts(t *testing.T) {
	s := newStarts(nil)
	said := 0.5
	p := &alloc.Problem{Options: alloc.Options{RestartCost: &said}, Applications: []alloc.Application{{ID: "unknown"}, {ID: "0"}, {ID: "1"}, {ID: "own"}, {ID: "stays"}}}
	p.Applications[3].RestartCost, p.Applications[4].StayWorth = &said, &said
	for pauses, want := range map[string]float64{"": 0.5, "6s": 0.1, "6s 18s": 0.2, "2m": 1} {
		s.jobs = map[string]*runs{"unknown": {}}
		for i, text := range strings.Fields(pauses) {
			pause := must.Have(time.ParseDuration(text))(t)
			s.jobs[fmt.Sprint(i)] = &runs{pause: pause}
			s.jobs["own"], s.jobs["stays"] = &runs{pause: pause}, &runs{pause: pause}
		}
		if len(s.jobs) == 5 { // of two pauses, which have another mean with these
			s.jobs["own"].pause, s.jobs["stays"].pause = 12*time.Second, 12*time.Second
		}
		rested, _ := s.rested(&Config{MinRun: time.Minute}, p, time.Unix(0, 0))
		if got := *rested.Options.RestartCost; got != want || said != 0.5 {
			t.Errorf("pauses %q: a restart costs %v, want %v", pauses, got, want)
		}
		apps := rested.Applications
		if apps[0].RestartCost != nil || apps[3].RestartCost != &said || apps[4].RestartCost != nil || p.Applications[1].RestartCost != nil {
			t.Errorf("pauses %q: %+v", pauses, apps)
		}
		if first := apps[1].RestartCost; (first == nil) != (pauses == "") || pauses == "6s 18s" && (*first != .1 || *apps[2].RestartCost != .3) {
			t.Errorf("pauses %q: a restart of the first costs %v", pauses, first)
		}
	}
}
