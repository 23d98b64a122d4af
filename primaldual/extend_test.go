// This file tests Extend: jobs that turn out to be late.

package primaldual

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
)

// A job that is late by one worker-slot gets it: beside what it has, in time; later, for less; or not at all, and then it
// keeps what it has.
func TestExtend(t *testing.T) {
	job := deadlined("j", 1, 4, 4, 0)
	job.Utility = Steps{{1, 100}, {3, 40}}
	for _, test := range []struct {
		name       string
		other      int64 // worker-slots of another job that must end in the first slots
		work       int64
		admitted   bool
		completion int
		lost       float64
	}{
		{"in time", 0, 1, true, 2, 0},
		{"exactly in time", 0, 4, true, 2, 0},
		{"late", 0, 5, true, 3, 60},
		{"beside another job", 4, 1, true, 3, 60},
		{"no room before it is worthless", 4, 9, false, 0, 0},
	} {
		for _, learn := range []*Learning{nil, {}} {
			cluster, bounds := plainCluster(6, 2)
			if learn != nil {
				bounds = nil
			}
			s, err := NewScheduler(cluster, bounds, &SchedulerOptions{Learn: learn})
			if err != nil {
				t.Fatal(err)
			}
			offer(t, s, job)
			if test.other > 0 {
				offer(t, s, deadlined("other", 1, test.other, 2, 1e6))
			}
			before, _ := s.Schedule("j")
			e, err := s.Extend("j", test.work)
			if err != nil || e.Decision.Admitted != test.admitted || e.Lost != test.lost || e.Decision.Completion != test.completion && test.admitted {
				t.Errorf("%s, learning %v: %+v, %v", test.name, learn != nil, e, err)
			}
			now, _ := s.Schedule("j")
			if test.admitted && now.WorkerSlots() < 4+test.work || !test.admitted && !cmp.Equal(before, now) {
				t.Errorf("%s, learning %v: runs %+v, before %+v", test.name, learn != nil, now, before)
			}
			if want := test.work; !test.admitted && s.jobs["j"].extra != 0 || test.admitted && s.jobs["j"].extra != want {
				t.Errorf("%s: %d more worker-slots, asked for %d", test.name, s.jobs["j"].extra, want)
			}
			if err := s.recount(); err != nil {
				t.Errorf("%s: %v", test.name, err)
			}
		}
	}
}

// An extension in the middle of a run counts the work of past slots as done, and survives a snapshot: a second one starts
// from the first.
func TestExtendTwice(t *testing.T) {
	cluster, bounds := plainCluster(10, 2)
	s := newScheduler(t, cluster, bounds, BoundsFirst)
	j := deadlined("j", 1, 8, 10, 1000)
	j.Chunks, j.MinibatchSlots = 2, 4
	offer(t, s, j)
	for round := range 2 {
		if _, err := s.Advance(2 + round); err != nil {
			t.Fatal(err)
		}
		if e, err := s.Extend("j", 2); err != nil || !e.Decision.Admitted {
			t.Fatalf("%+v, %v", e, err)
		}
		data, err := s.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		if s, err = RestoreScheduler(cluster, bounds, nil, data); err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := s.Schedule("j"); got.WorkerSlots() != 12 {
		t.Errorf("%d worker-slots, want 8 + 2 + 2", got.WorkerSlots())
	}
}

// A late job is not offered among strangers: it is planned at whatever price as long as it is worth anything, where a new
// job of the same worth would be too expensive.
func TestExtendAtAnyPrice(t *testing.T) {
	cluster, _ := plainCluster(6, 2)
	dear := &Bounds{UWorker: []float64{50}, LWorker: []float64{5}, UPS: []float64{50}, LPS: []float64{5}}
	s := newScheduler(t, cluster, dear, BoundsFirst)
	j := deadlined("j", 1, 4, 6, 0)
	j.Utility = Steps{{0, 100}, {5, 1}}
	if d := offer(t, s, j); !d.Admitted || d.Completion != 1 {
		t.Fatalf("%+v", d)
	}
	stranger := deadlined("stranger", 1, 8, 6, 1)
	if d := offer(t, s, stranger); d.Verdict != TooExpensive {
		t.Fatalf("%+v", d)
	}
	e, err := s.Extend("j", 4)
	if err != nil || !e.Decision.Admitted || e.Decision.Utility != 1 || e.Lost != 99 {
		t.Fatalf("%+v, %v", e, err)
	}
	// The price is that of its containers at the prices in force before it took them.
	if want := 8 * (5.0 + 5); math.Abs(e.Decision.Cost-want) > 1e-9 || e.Decision.Payoff != 1-e.Decision.Cost {
		t.Errorf("cost %g, payoff %g, want a cost of %g", e.Decision.Cost, e.Decision.Payoff, want)
	}
}

func TestExtendFaults(t *testing.T) {
	s := learner4(t, 4, Learning{})
	offer(t, s, deadlined("j", 1, 4, 4, 10))
	for _, test := range []struct {
		id   string
		work int64
		want error
	}{{"nobody", 1, apportion.ErrUnknown}, {"j", 0, apportion.ErrRange}, {"j", -1, apportion.ErrRange}, {"j", math.MaxInt64, apportion.ErrRange}} {
		unchanged(t, s, fmt.Sprint(test.id, test.work), test.want, func() error { _, err := s.Extend(test.id, test.work); return err })
	}
}
