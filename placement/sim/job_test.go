// This file tests the life of a single job, where rounding decides.

package sim

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
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
		must.Fail(j.next(1, 0))(t, apportion.ErrOverflow, name, "error")
	}
	must.Fail(at(1, 5).next(math.MaxInt64-7, 100))(t, apportion.ErrOverflow, "the slot's end overflows: error")
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
	must.Equal(t, cmp.Diff([]time.Duration{0, 2, 2, 3, 3, 4, 4, 5, 5, 6}, ends), "", "spans from and until")
}
