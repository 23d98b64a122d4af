// This file tests the policy of package deadline on scenarios small enough to play by hand.

package policies

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/primaldual"
	"github.com/apportion/apportion/primaldual/deadline"
)

// by is worth so much if a job ends within so many slots after its arrival.
func by(within int, value float64) primaldual.Utility {
	return primaldual.Steps{{Within: within, Value: value}}
}

// Eight workers: the cheap job came first and is passed over, as both cannot end in time; a job that is late on arrival is refused.
func TestDeadline(t *testing.T) {
	jobs := []primaldual.Job{
		tinyJob("cheap", 1, 3, 8, by(1, 1)), tinyJob("dear", 1, 3, 8, by(1, 9)), tinyJob("late", 2, 9, 8, by(0, 99)), tinyJob("last", 3, 4, 8, by(1, 2)),
	}
	policy := &Deadline{}
	r := runTiny(t, policy, 5, []int64{8, 8, 8, 8}, jobs...)
	if diff := cmp.Diff([]int{0, 2, 0, 4}, r.completion); diff != "" || r.Worth() != 11 {
		t.Errorf("worth %g, completions (-want +got):\n%s", r.Worth(), diff)
	}
	if policy.Unplaced != 0 || policy.Planned == 0 {
		t.Errorf("%d of %d without a server", policy.Unplaced, policy.Planned)
	}
}

// The last slot takes the workers that are left to do, though nothing has arrived or ended.
func TestDeadlineEverySlot(t *testing.T) {
	r := runTiny(t, &Deadline{}, 5, []int64{8}, tinyJob("job", 1, 3, 8, by(3, 1)))
	if s := r.schedules[0]; len(s) != 2 || s[0].Total() != 8 || s[1].Total() != 4 {
		t.Errorf("%+v, want 8 workers and 4", s)
	}
}

// A promise on admission is kept against a better job that comes later.
func TestDeadlinePromise(t *testing.T) {
	jobs := []primaldual.Job{tinyJob("first", 1, 4, 8, by(1, 1)), tinyJob("better", 2, 2, 8, by(0, 9))}
	for strength, want := range map[deadline.Strength][]int{deadline.Never: {0, 2}, deadline.OnAdmission: {2, 0}} {
		policy := &Deadline{Options: deadline.Options{Promise: strength}}
		if r := runTiny(t, policy, 4, []int64{8, 8}, jobs...); !cmp.Equal(r.completion, want) || policy.Broken != 0 {
			t.Errorf("%v: completions %v, want %v; %d broken", strength, r.completion, want, policy.Broken)
		}
	}
}

// Totals have room for a worker of three units where each server has two left: what is not placed is done later.
func TestDeadlinePacks(t *testing.T) {
	wide := tinyJob("wide", 1, 2, 4, by(3, 1))
	wide.Worker = apportion.Resources{3}
	narrow := tinyJob("narrow", 1, 1, 4, by(3, 1))
	narrow.Worker = apportion.Resources{2}
	policy := &Deadline{}
	r := runTiny(t, policy, 4, []int64{4, 4}, narrow, wide)
	if policy.Unplaced == 0 || r.Worth() != 2 {
		t.Errorf("%d of %d without a server, worth %g", policy.Unplaced, policy.Planned, r.Worth())
	}
}

// A job without a utility by slots cannot be planned.
func TestDeadlineNeedsTraining(t *testing.T) {
	s, _ := opened(t, tinyJob("a", 1, 1, 4, always))
	s.Jobs[0].Training = nil
	must.Fail((&Deadline{}).offer(s, stateOf(s), apportion.Resources{1}))(t, must.ErrAny, "it was offered")
}

// stateOf returns the state of the first job of a scenario at its arrival.
func stateOf(s *sim.Scenario) *sim.JobState {
	return &sim.JobState{Job: &s.Jobs[0], New: true, Left: s.Jobs[0].Work}
}
