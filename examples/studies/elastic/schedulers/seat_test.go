// This file tests how jobs are seated: what is taken, kept, let go of, and refused.

package schedulers

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apportion/apportion"
)

// seated returns seats in a state of two servers of four accelerators, and jobs that hold what is said.
func seated(t *testing.T, held map[string][]apportion.Placement) *seats {
	t.Helper()
	s := scenario(servers(4, "v", "k"), job("a", 0, 100, 2, 4), job("b", 0, 100, 2, 4), job("c", 0, 100, 2, 4))
	s.Jobs[2].Demand = apportion.Resources{3}
	state := at(s, 0, held)
	return newSeats(opened(t, state), state)
}

// A seat takes room from its server; one that does not fit takes nothing, and orders nothing.
func TestSeat(t *testing.T) {
	s := seated(t, map[string][]apportion.Placement{"a": nil, "b": nil, "c": nil})
	for _, step := range []struct {
		w    want
		ok   bool
		free string
	}{
		{want{0, 3, 0}, true, "[[1] [4]]"},
		{want{1, 2, 0}, false, "[[1] [4]]"}, // one is left, and the other type does not count
		{want{2, 2, 1}, false, "[[1] [4]]"}, // two of three each are six
		{want{2, 1, 1}, true, "[[1] [1]]"},
		{want{1, 1, 0}, true, "[[0] [1]]"},
	} {
		if fits := s.fits(step.w); fits != step.ok {
			t.Errorf("%+v fits: %t", step.w, fits)
		}
		if ok := s.seat(step.w); ok != step.ok || fmt.Sprint(s.free) != step.free {
			t.Errorf("%+v: %t, then free %v; want %t, %s", step.w, ok, s.free, step.ok, step.free)
		}
	}
	if got := fmt.Sprint(s.finish().Places); got != "[{a [{0 3}] [] } {c [{1 1}] [] } {b [{0 1}] [] }]" {
		t.Error(got)
	}
	if got := s.state.Scenario.Servers[0].Capacity[0]; got != 4 {
		t.Errorf("the scenario's own server has %d left", got)
	}
}

// The fastest type that has room: a is three times as fast on the first one, and goes to the other where that is full.
func TestSeatFastest(t *testing.T) {
	all := servers(4, "v", "k")
	s := scenario(all, fasterOn(job("a", 0, 100, 2, 4), all, map[string]float64{"v": 3, "k": 1}),
		fasterOn(job("b", 0, 100, 2, 4), all, map[string]float64{"v": 3, "k": 1}), job("c", 0, 100, 2, 4))
	state := at(s, 0, map[string][]apportion.Placement{"a": nil, "b": nil, "c": nil})
	seats := newSeats(opened(t, state), state)
	for _, step := range []struct {
		job  int
		n    int64
		ok   bool
		free string
	}{{0, 3, true, "[[1] [4]]"}, {1, 2, true, "[[1] [2]]"}, {2, 3, false, "[[1] [2]]"}, {2, 5, false, "[[1] [2]]"}, {2, 1, true, "[[0] [2]]"}} {
		if ok := seats.seatFastest(step.job, step.n); ok != step.ok || fmt.Sprint(seats.free) != step.free {
			t.Errorf("job %d with %d: %t, free %v; want %t, %s", step.job, step.n, ok, seats.free, step.ok, step.free)
		}
	}
}

// Whatever is wanted that fits together, of containers of one size, is given: who stays is not mentioned and all others
// hold just what they want, on their type.
func TestPropSettle(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	moved, stayed := 0, 0
	for range 300 {
		s := scenario(servers(4, "v", "k", "v", "k"))
		held := map[string][]apportion.Placement{}
		free := []int64{4, 4, 4, 4}
		left := []int64{8, 8} // by type
		var wants []want
		for i := range 5 {
			id := fmt.Sprint("j", i)
			s.Jobs = append(s.Jobs, job(id, 0, 100, 1, 8))
			held[id] = nil
			if h := rng.IntN(4); free[h] > 0 && rng.IntN(2) == 0 {
				n := 1 + rng.Int64N(free[h])
				held[id], free[h] = on(h, n), free[h]-n
			}
			if w := (want{i, 1 + rng.Int64N(4), rng.IntN(2)}); w.n <= left[w.kind] {
				wants, left[w.kind] = append(wants, w), left[w.kind]-w.n
			}
		}
		state := at(s, 0, held)
		b := opened(t, state)
		after := held
		for _, p := range settle(b, state, wants).Places {
			after[p.Job] = p.On
			moved++
		}
		for _, w := range wants {
			job := &state.Jobs[w.job]
			n := int64(0)
			for _, p := range after[job.ID] {
				n += p.Count
				if b.kindOf[p.Server] != w.kind {
					t.Fatalf("%s wants type %d and is on %v", job.ID, w.kind, after[job.ID])
				}
			}
			if n != w.n {
				t.Fatalf("%s wants %d and has %v", job.ID, w.n, after[job.ID])
			}
			if job.Containers == w.n && b.kind(job) == w.kind {
				stayed++
				if fmt.Sprint(after[job.ID]) != fmt.Sprint(job.Places) {
					t.Fatalf("%s has what it wants and was moved from %v to %v", job.ID, job.Places, after[job.ID])
				}
			}
			delete(after, job.ID)
		}
		for id, on := range after {
			if len(on) > 0 {
				t.Fatalf("%s wants nothing and has %v", id, on)
			}
		}
	}
	if moved == 0 || stayed == 0 {
		t.Errorf("%d moved, %d stayed", moved, stayed)
	}
}
