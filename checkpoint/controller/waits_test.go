// This file tests what counts of the work that waits, look by look, and what becomes of it in a problem.

package controller

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/internal/must"
)

func TestWaitsCount(t *testing.T) {
	var w waits
	at := time.Unix(0, 0)
	for i, step := range []struct {
		what     string
		waiting  []string
		capacity int64
		room     bool
		after    time.Duration
		want     string
	}{
		{"it comes", []string{"a"}, 8, false, 0, "[]"},
		{"it still waits", []string{"a"}, 8, false, 1, "[a]"},
		{"a list without it", nil, 8, true, 1, "[a]"},
		{"it is there again", []string{"a"}, 8, true, 1, "[a]"},
		{"it begins", nil, 6, true, 1, "[]"},
		{"it is there once more", []string{"a"}, 6, false, 1, "[]"},
		{"and waits, twice in one list", []string{"a", "a"}, 6, true, 1, "[a]"},
		{"its user cancels it", nil, 6, true, 1, "[a]"},
		{"and a look later it is gone", nil, 6, true, 1, "[]"},
		{"another", []string{"b"}, 6, false, 1, "[]"},
		{"has room", []string{"b"}, 6, true, 1, "[b]"},
		{"for nearly as long as it is held", []string{"b"}, 6, true, 99, "[b]"},
		{"for as long", []string{"b"}, 6, true, 1, "[]"},
		{"its room was given away", []string{"b"}, 6, false, 1, "[]"},
		{"it is gone", nil, 6, false, 1, "[]"},
		{"and gone", nil, 6, false, 1, "[]"},
		{"and comes anew", []string{"b"}, 6, false, 1, "[]"},
		{"and waits", []string{"b"}, 6, true, 1, "[b]"},
		{"it loses its room", []string{"b"}, 6, false, 99, "[b]"},
		{"and has it for less than that", []string{"b"}, 6, true, 1, "[b]"},
		{"in a row", []string{"b"}, 6, true, 99, "[b]"},
	} {
		at = at.Add(step.after)
		view := View{Servers: []Server{host("n1", func(s *Server) { s.Capacity = apportion.Resources{step.capacity} })}}
		for _, id := range step.waiting {
			view.Waiting = append(view.Waiting, Waiting{ID: id, Demand: apportion.Resources{2}})
		}
		w.count(&view, func(string) bool { return step.room }, 100, at)
		got := []string{}
		for _, one := range view.Waiting {
			got = append(got, one.ID)
		}
		must.Equal(t, fmt.Sprint(got), step.want, "step", i, step.what)
	}
}

// What waits has a name of its own and stands above all jobs, or where it is told to; what nobody could decide on, or the cluster
// could not hold with what comes before, is no part of a problem.
func TestOutside(t *testing.T) {
	like := alloc.Problem{Kinds: apportion.Kinds{"gpu"}, Applications: []alloc.Application{{ID: "waiting: a", Priority: 7}}}
	view := View{Servers: []Server{host("n1", func(*Server) {}), host("n2", func(*Server) {})}, Waiting: []Waiting{
		{ID: "a", Demand: apportion.Resources{2}, Count: 3, PerServer: 2, Requires: []apportion.Requirement{{Key: "x", Op: apportion.Exists}}},
		{ID: "of no kind", Demand: apportion.Resources{}}, {ID: "nothing", Demand: apportion.Resources{0}}, {ID: "negative", Demand: apportion.Resources{-1}},
		{ID: "too large", Demand: apportion.Resources{13}}, {ID: "endless", Demand: apportion.Resources{math.MaxInt64}, Count: math.MaxInt64}, {ID: "fits", Demand: apportion.Resources{12}}, {ID: "behind", Demand: apportion.Resources{1}},
	}}
	want := []alloc.Application{
		{ID: "waiting: a'", Weight: 1, Priority: 8, PerServer: 2, Form: alloc.Form{Demand: apportion.Resources{2}, Min: 3, Max: 3, Requires: view.Waiting[0].Requires}},
		{ID: "waiting: fits", Weight: 1, Priority: 8, Form: alloc.Form{Demand: apportion.Resources{12}, Min: 1, Max: 1}},
	}
	must.Equal(t, cmp.Diff(want, outside(&view, &like, nil)), "")
	standing := int64(-3)
	like.Applications[0].Priority = math.MaxInt64
	if apps := outside(&view, &like, nil); apps[0].Priority != math.MaxInt64 {
		t.Errorf("%+v", apps)
	}
	if apps := outside(&view, &like, &standing); apps[0].Priority != standing {
		t.Errorf("%+v", apps)
	}
	view.Waiting = nil
	for i := range 300 {
		view.Waiting = append(view.Waiting, Waiting{ID: fmt.Sprint(i), Demand: apportion.Resources{1}})
	}
	view.Servers[0].Capacity = apportion.Resources{1000}
	if apps := outside(&view, &like, nil); len(apps) != mostWaiting {
		t.Errorf("%d are decided at once", len(apps))
	}
}

// Work of others that has no room moves jobs that rest, at the price that restarts have, and none that a problem pins.
func TestDecideBeside(t *testing.T) {
	price := 0.3
	free := &alloc.Problem{Applications: []alloc.Application{{ID: "rests"}, {ID: "pinned", Pinned: true}, {ID: "waiting: x"}}}
	p := *free
	p.Options.RestartCost = &price
	p.Applications = slices.Clone(free.Applications)
	p.Applications[0].Pinned, p.Applications[0].RestartCost = true, &price
	asked := 0
	decided, _, err := decideBeside(t.Context(), func(_ context.Context, q *alloc.Problem) (*alloc.Decision, error) {
		if asked++; asked == 1 {
			return &alloc.Decision{}, nil
		}
		return &alloc.Decision{Allocation: alloc.Allocation{"waiting: x": {"n1": 1}}}, nil
	}, &p, free, 1)
	if err != nil || asked != 2 || decided.Theta2 != 1 || !decided.Options.Preempt {
		t.Fatalf("%+v, %v", decided, err)
	}
	if a := decided.Applications; a[0].Pinned || !a[1].Pinned || a[0].RestartCost != &price || decided.Options.RestartCost != &price || !p.Applications[0].Pinned {
		t.Errorf("%+v", decided)
	}
}

func TestFaultsOfReserve(t *testing.T) {
	for _, test := range []struct {
		reserve Reserve
		want    error
	}{
		{Reserve{Headroom: []Headroom{{Amount: -1}}}, apportion.ErrNegative},
		{Reserve{Headroom: []Headroom{{Part: math.NaN()}}}, apportion.ErrRange},
		{Reserve{Headroom: []Headroom{{}, {}}}, apportion.ErrLength},
		{Reserve{Headroom: []Headroom{{}}, Hours: Hours{From: -1}}, apportion.ErrRange},
		{Reserve{Headroom: []Headroom{{}}, Hours: Hours{To: 25 * time.Hour}}, apportion.ErrRange},
	} {
		c := Config{Reserve: []Reserve{test.reserve}, Problem: alloc.Problem{Kinds: apportion.Kinds{"gpu"}}}
		must.Err(t, c.Validate(), test.want, test.reserve)
	}
}

// Hours hold from their beginning to before their end, over midnight as well, on the days on which they begin.
func TestHours(t *testing.T) {
	weekdays := [7]bool{time.Monday: true, time.Tuesday: true, time.Wednesday: true, time.Thursday: true, time.Friday: true}
	night := Hours{From: 22 * time.Hour, To: 6*time.Hour + 30*time.Minute, Days: weekdays}
	day := Hours{From: 8 * time.Hour, To: 18 * time.Hour, Days: weekdays}
	evening := Hours{From: 20 * time.Hour, To: 24 * time.Hour}
	for _, test := range []struct {
		hours Hours
		at    string
		want  bool
	}{
		{Hours{}, "Sun 00:00:00", true}, {Hours{Days: weekdays}, "Sun 23:00:00", false}, {Hours{Days: weekdays}, "Mon 00:00:00", true},
		{day, "Mon 07:59:59", false}, {day, "Mon 08:00:00", true}, {day, "Mon 17:59:59", true}, {day, "Mon 18:00:00", false}, {day, "Sat 12:00:00", false},
		{night, "Fri 22:00:00", true}, {night, "Sat 06:29:59", true}, {night, "Sat 06:30:00", false}, {night, "Sat 23:00:00", false},
		{night, "Sun 05:00:00", false}, {night, "Mon 05:00:00", false}, {night, "Tue 05:00:00", true},
		{evening, "Sun 19:59:59", false}, {evening, "Sun 23:59:59", true}, {evening, "Mon 00:00:00", false},
	} {
		at, err := time.Parse("15:04:05", test.at[4:])
		for at.Weekday().String()[:3] != test.at[:3] {
			at = at.AddDate(0, 0, 1)
		}
		if got := test.hours.Hold(at); got != test.want || err != nil {
			t.Errorf("%+v at %s: %v, %v", test.hours, test.at, got, err)
		}
	}
}

// Of what is left free at a time the most counts, kind by kind.
func TestHeadroomByHours(t *testing.T) {
	c := Config{Problem: alloc.Problem{Kinds: apportion.Kinds{"cpu", "gpu"}}, Reserve: []Reserve{
		{Headroom: []Headroom{{Amount: 2}, {}}},
		{Headroom: []Headroom{{Amount: 1, Part: .5}, {Amount: 3}}, Hours: Hours{From: 8 * time.Hour, To: 18 * time.Hour}},
	}}
	noon := time.Date(2026, 1, 4, 12, 0, 0, 0, time.UTC)
	for at, want := range map[time.Time][]Headroom{noon: {{2, .5}, {Amount: 3}}, noon.Add(7 * time.Hour): {{Amount: 2}, {}}} {
		must.Same(t, c.headroom(at), want, at)
		view := View{Servers: []Server{{Server: apportion.Server{Capacity: apportion.Resources{10, 4}}}}}
		c.prepare(&view, at)
		if left := view.Servers[0].Capacity; left[1] != 4-want[1].Amount || left[0] != 10-max(want[0].Amount, int64(10*want[0].Part)) {
			t.Errorf("%v: %v are left", at, left)
		}
	}
}
