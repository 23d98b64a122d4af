// This file tests the life of a single job, where rounding decides.

package sim

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
)

// at returns a job that runs at a rate and has some millionths of a nanosecond left.
func at(rate int64, left uint64) *job {
	return &job{Job: &Job{}, outcome: &Outcome{}, n: 1, rate: rate, left: work{lo: left}}
}

// A job completes in the first nanosecond in which its work is done, or with the slot of that nanosecond.
func TestNext(t *testing.T) {
	for _, test := range []struct {
		name      string
		j         *job
		now, slot time.Duration
		want      time.Duration
	}{
		{"exactly", at(10, 100), 7, 0, 17},
		{"rounded up", at(10, 101), 7, 0, 18},
		{"nothing left", at(10, 0), 7, 0, 7},
		{"end of a slot", at(10, 101), 10, 10, 30},
		{"exactly at the end of a slot", at(10, 100), 10, 10, 20},
		{"nothing left within a slot", at(10, 0), 13, 10, 20},
		{"waits", at(0, 100), 7, 0, never},
		{"pauses", &job{Job: &Job{}, n: 1, rate: 0, resumes: 9}, 7, 0, 9},
		{"has paused", &job{Job: &Job{}, n: 1, rate: 5, resumes: 7, left: work{lo: 5}}, 7, 0, 8},
		{"would pause but holds nothing", &job{Job: &Job{}, resumes: 9}, 7, 0, never},
	} {
		if got, err := test.j.next(test.now, test.slot); got != test.want || err != nil {
			t.Errorf("%s: %v, %v, want %v", test.name, got, err, test.want)
		}
	}
	for name, j := range map[string]*job{"sum": at(1, math.MaxInt64), "work": {Job: &Job{}, n: 1, rate: 1, left: work{hi: 1}}} {
		if _, err := j.next(1, 0); !errors.Is(err, apportion.ErrOverflow) {
			t.Errorf("%s: error %v, want %v", name, err, apportion.ErrOverflow)
		}
	}
	if _, err := at(1, 5).next(math.MaxInt64-7, 100); !errors.Is(err, apportion.ErrOverflow) {
		t.Errorf("the slot's end overflows: error %v", err)
	}
}

// Time counts as a pause as long as the job holds containers and has not resumed.
func TestAdvance(t *testing.T) {
	for _, test := range []struct {
		name        string
		rate, n     int64
		resumes     time.Duration
		left        uint64
		from, until time.Duration
		want        uint64
		paused      time.Duration
	}{
		{"runs", 10, 1, 0, 100, 2, 5, 70, 0},
		{"more than is left", 10, 1, 0, 20, 2, 5, 0, 0},
		{"pauses", 0, 1, 9, 100, 2, 5, 100, 3},
		{"waits", 0, 0, 9, 100, 2, 5, 100, 0},
		{"resumes now", 0, 1, 2, 100, 2, 5, 100, 0},
	} {
		j := &job{Job: &Job{}, outcome: &Outcome{}, n: test.n, rate: test.rate, resumes: test.resumes, left: work{lo: test.left}}
		j.advance(test.from, test.until)
		if j.left != (work{lo: test.want}) || j.outcome.Paused != test.paused {
			t.Errorf("%s: %v left, paused %v; want %d, %v", test.name, j.left, j.outcome.Paused, test.want, test.paused)
		}
	}
}

// A span ends when anything about it changes, and only then.
func TestNote(t *testing.T) {
	j := at(10, 100)
	j.places, j.limit = []apportion.Placement{{Server: 1, Count: 1}}, 7
	j.note(0)
	j.note(1)
	j.rate = 5
	j.note(2)
	j.limit = 6
	j.note(3)
	j.ps = []apportion.Placement{{Server: 0, Count: 1}}
	j.note(4)
	j.places = []apportion.Placement{{Server: 1, Count: 2}}
	j.note(5)
	j.places, j.ps, j.n = nil, nil, 0
	j.note(6)
	j.note(7)
	var ends []time.Duration
	for _, span := range j.outcome.Spans {
		ends = append(ends, span.From, span.Until)
	}
	if diff := cmp.Diff([]time.Duration{0, 2, 2, 3, 3, 4, 4, 5, 5, 6}, ends); diff != "" {
		t.Errorf("spans from and until (-want +got):\n%s", diff)
	}
}

// The first containers cost nothing, every other change does; an end of time is an error.
func TestChange(t *testing.T) {
	j := at(0, 100)
	j.n, j.places = 0, []apportion.Placement{{Server: 0, Count: 2}, {Server: 3, Count: 1}}
	if err := j.change(5, 4); err != nil || j.n != 3 || j.speed != 3*Whole || j.resumes != 0 || !j.outcome.Started || j.outcome.Start != 5 {
		t.Errorf("first: %v, %+v", err, j)
	}
	if err := j.change(6, 4); err != nil || j.resumes != 10 || j.outcome.Adjusted != 1 {
		t.Errorf("second: %v, %+v", err, j)
	}
	j.places = nil
	if err := j.change(7, 4); err != nil || j.holds() || j.outcome.Adjusted != 2 {
		t.Errorf("suspended: %v, %+v", err, j)
	}
	j.places = []apportion.Placement{{Server: 0, Count: 1}}
	if err := j.change(8, 4); err != nil || j.resumes != 12 || j.outcome.Adjusted != 2 || j.outcome.Start != 5 {
		t.Errorf("resumed: %v, %+v", err, j)
	}
	if err := j.change(9, math.MaxInt64); !errors.Is(err, apportion.ErrOverflow) {
		t.Errorf("error %v, want %v", err, apportion.ErrOverflow)
	}
}
