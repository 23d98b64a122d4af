// This file tests what the referee counts with.

package simtest

import (
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/primaldual"
)

// Work is counted beyond 64 bits.
func TestProduct(t *testing.T) {
	want, _ := new(big.Int).SetString("85070591730234615847396907784232501249", 10) // (2^63-1)^2
	if got := product(math.MaxInt64, math.MaxInt64); got.Cmp(want) != 0 {
		t.Errorf("%v, want %v", got, want)
	}
	if got := product(3, -2*time.Nanosecond); got.Int64() != -6 {
		t.Errorf("%v, want -6", got)
	}
}

func TestCount(t *testing.T) {
	if n := count(nil); n != 0 {
		t.Errorf("%d containers are nowhere", n)
	}
	if n := count([]apportion.Placement{{Server: 2, Count: 3}, {Server: 0, Count: 1}, {Server: 2, Count: 4}}); n != 8 {
		t.Errorf("%d containers, want 8", n)
	}
}

// A span holds from its first instant until just before its end; containers take their demand of each kind, and
// parameter servers theirs on the other side.
func TestHeld(t *testing.T) {
	job := sim.Job{Training: &primaldual.Job{PS: apportion.Resources{5, 7}}}
	job.Demand = apportion.Resources{2, 3}
	s := &sim.Scenario{Kinds: apportion.Kinds{"a", "b"}, Jobs: []sim.Job{job}}
	o := &sim.Outcome{Spans: []sim.Span{{From: 10, Until: 20, Places: []apportion.Placement{{Server: 1, Count: 4}},
		ParameterServers: []apportion.Placement{{Server: 2, Count: 6}}}}}
	for at, want := range map[time.Duration]int{9: 0, 10: 2, 19: 2, 20: 0} {
		if got := held(s, 0, o, at); len(got) != want {
			t.Errorf("at %d: %+v", at, got)
		}
	}
	for i, want := range []holding{{0, 1, apportion.Resources{8, 12}}, {1, 2, apportion.Resources{30, 42}}} {
		got := held(s, 0, o, 10)[i]
		if got.side != want.side || got.server != want.server || got.takes[0] != want.takes[0] || got.takes[1] != want.takes[1] {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	// On a shared worker the rate is what is in use, however much is asked for.
	s.Law, o.Spans[0].Rate, o.Spans[0].ParameterServers = sim.Shared{}, 9, nil
	if got := held(s, 0, o, 10); len(got) != 1 || got[0].takes[0] != 9 {
		t.Errorf("%+v, want a rate of 9", got)
	}
}

// Parts are those of a kind over all servers of a side; a kind that no server has is not in use.
func TestInUse(t *testing.T) {
	job := sim.Job{}
	job.Demand = apportion.Resources{2, 0}
	s := &sim.Scenario{Kinds: apportion.Kinds{"a", "b"}, Jobs: []sim.Job{job, job}, Servers: []apportion.Server{
		{Capacity: apportion.Resources{4, 0}}, {Capacity: apportion.Resources{12, 0}}}}
	span := sim.Span{Until: 10, Places: []apportion.Placement{{Server: 0, Count: 1}, {Server: 1, Count: 2}}}
	r := &sim.Result{Jobs: []sim.Outcome{{Spans: []sim.Span{span}}, {Spans: []sim.Span{span}}}}
	if got := inUse(s, r, 5, 0); got[0] != 0.75 || got[1] != 0 {
		t.Errorf("%v of the servers, want 0.75 and 0", got)
	}
	if got := inUse(s, r, 5, 1); got[0] != 0 || got[1] != 0 {
		t.Errorf("%v of parameter servers that do not exist", got)
	}
}

// Results are compared by name, and the one that is given keeps its order.
func TestSorted(t *testing.T) {
	r := &sim.Result{Jobs: []sim.Outcome{{ID: "b"}, {ID: "a"}, {ID: "c"}}}
	if got := sorted(r); got.Jobs[0].ID != "a" || got.Jobs[2].ID != "c" || r.Jobs[0].ID != "b" {
		t.Errorf("%v of %v", got.Jobs, r.Jobs)
	}
}

// Jobs and servers that differ anywhere are not the same; functions are not looked at.
func TestSameJobs(t *testing.T) {
	for what, change := range map[string]func(s *sim.Scenario){
		"a job's work":        func(s *sim.Scenario) { s.Jobs[0].Work++ },
		"a job's demand":      func(s *sim.Scenario) { s.Jobs[0].Demand[0]++ },
		"the number of jobs":  func(s *sim.Scenario) { s.Jobs = s.Jobs[1:] },
		"a server's capacity": func(s *sim.Scenario) { s.Servers[0].Capacity[1]++ },
		"a parameter server":  func(s *sim.Scenario) { s.ParameterServers = []apportion.Server{{ID: "p"}} },
	} {
		s := Scenario(Containers, 3)
		if !sameJobs(s, Scenario(Containers, 3)) {
			t.Fatal("a scenario differs from itself")
		}
		if change(s); sameJobs(s, Scenario(Containers, 3)) {
			t.Errorf("%s is another one, and nobody sees it", what)
		}
	}
	s := Scenario(Containers, 3)
	s.Jobs[0].Speedup = sim.Linear
	if !sameJobs(s, Scenario(Containers, 3)) {
		t.Error("functions were compared")
	}
}
