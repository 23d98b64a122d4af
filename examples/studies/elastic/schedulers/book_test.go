// This file tests what policies remember of jobs from one decision to the next.

package schedulers

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/placement/sim"
)

// at returns a decision at so many seconds with the jobs of a scenario that are named, and what each of them holds.
func at(s *sim.Scenario, seconds float64, held map[string][]apportion.Placement) *sim.State {
	state := &sim.State{Scenario: s, Now: time.Duration(seconds * float64(time.Second))}
	for i := range s.Jobs {
		on, there := held[s.Jobs[i].ID]
		if !there {
			continue
		}
		j := sim.JobState{Job: &s.Jobs[i], Index: i, Places: on, Left: s.Jobs[i].Work}
		for _, p := range on {
			j.Containers += p.Count
		}
		state.Jobs = append(state.Jobs, j)
	}
	return state
}

// on places containers on one server.
func on(server int, count int64) []apportion.Placement {
	return []apportion.Placement{{Server: server, Count: count}}
}

// opened returns a book that has seen a decision.
func opened(t *testing.T, state *sim.State) *book {
	t.Helper()
	b := &book{}
	must.Do(t, b.open(state))
	return b
}

// Attained service is containers times seconds since the decision before, and the time on each type is told apart from
// it; a job that waits attains nothing.
func TestBookService(t *testing.T) {
	s := scenario(servers(4, "v", "k"), job("a", 0, 100, 1, 4), job("b", 0, 100, 1, 4), job("c", 0, 100, 1, 4))
	b := opened(t, at(s, 10, map[string][]apportion.Placement{"a": nil, "b": nil}))
	for id, r := range b.jobs {
		if r.service != 0 || len(r.on) != 2 || len(r.speeds) != 2 {
			t.Errorf("%s is new, and has %+v", id, r)
		}
	}
	for _, step := range []struct {
		now  float64
		held map[string][]apportion.Placement
	}{
		{20, map[string][]apportion.Placement{"a": on(0, 3), "b": nil}},
		{25, map[string][]apportion.Placement{"a": on(0, 3), "b": on(1, 2), "c": nil}},
		{27.5, map[string][]apportion.Placement{"a": on(1, 1), "b": on(1, 2), "c": on(0, 4)}},
	} {
		must.Do(t, b.open(at(s, step.now, step.held)))
	}
	for _, want := range []struct {
		id      string
		service float64
		on      []float64
	}{
		{"a", 10*3 + 5*3 + 2.5, []float64{15, 2.5}}, {"b", 5*2 + 2.5*2, []float64{0, 7.5}}, {"c", 2.5 * 4, []float64{2.5, 0}},
	} {
		if r := b.jobs[want.id]; r.service != want.service || !cmp.Equal(r.on, want.on) {
			t.Errorf("%s: service %g, on %v; want %g, %v", want.id, r.service, r.on, want.service, want.on)
		}
	}
	// Who has ended is forgotten, and begins anew under the same name.
	last := at(s, 30, map[string][]apportion.Placement{"b": on(1, 2)})
	last.Ended = []string{"a", "c"}
	if err := b.open(last); err != nil || len(b.jobs) != 1 || b.jobs["b"].service != 20 {
		t.Errorf("%d jobs, %v", len(b.jobs), err)
	}
	if err := b.open(at(s, 31, map[string][]apportion.Placement{"a": nil})); err != nil || b.jobs["a"].service != 0 {
		t.Errorf("service of a newcomer: %v", err)
	}
}

// A restart is an order for a job that holds containers: the first start is none, and nor is what was not ordered.
func TestBookRestarts(t *testing.T) {
	s := scenario(servers(4, ""), job("a", 0, 100, 1, 4), job("b", 0, 100, 1, 4), job("c", 0, 100, 1, 4))
	state := at(s, 0, map[string][]apportion.Placement{"a": on(0, 1), "b": on(0, 1), "c": nil})
	b := opened(t, state)
	b.close(state, &sim.Orders{Places: []sim.Place{{Job: "a", On: on(0, 2)}, {Job: "c", On: on(0, 1)}}})
	b.close(state, &sim.Orders{Places: []sim.Place{{Job: "a"}}})
	b.close(state, &sim.Orders{})
	for id, want := range map[string]int{"a": 2, "b": 0, "c": 0} {
		must.Equal(t, b.jobs[id].restarts, want, id, "restarts")
	}
}
