// This file tests the measures of runs that are written down, and finish-time fairness on two types of servers.

package schedulers

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/apportion/apportion/placement/sim"
)

// finished is a job that came at 0 and completed after so many seconds.
func finished(seconds int64) sim.Outcome {
	return sim.Outcome{Completed: true, Started: true, Completion: time.Duration(seconds) * time.Second}
}

// Reference: [Mahajan20] (1): alone on both types of servers, half of the time on each, a job would run at
// (6 + 2)/2 = 4, as the first type has two accelerators of speed 3 and the second two of speed 1. With a second job
// beside it all the time its part is half of that.
func TestPaperRhoOnTwoTypes(t *testing.T) {
	all := servers(2, "fast", "slow")
	s := scenario(all, fasterOn(job("a", 0, 400, 1, 4), all, map[string]float64{"fast": 3, "slow": 1}))
	for _, test := range []struct {
		jobs    int
		seconds int64
		want    float64
	}{
		{1, 100, 1}, {1, 200, 2}, {1, 50, 0.5},
		// Half of four containers are two on each type for half of the time: as fast as all, for a type holds no more.
		{2, 100, 1},
		// A third of four is 4/3 on each: 4 and 4/3.
		{3, 150, 1},
	} {
		r := &sim.Result{Jobs: []sim.Outcome{finished(test.seconds)}, Samples: []sim.Sample{{Running: test.jobs}}}
		m, err := Measure(s, r)
		if err != nil || math.Abs(m.Rho-test.want) > 1e-9 || m.WorstRho != m.Rho || m.Unfair != float64(map[bool]int{true: 1}[test.want > 1]) {
			t.Errorf("%d jobs, %d s: %+v (%v), want rho %g", test.jobs, test.seconds, m, err, test.want)
		}
	}
}

// The 99th of a hundred times in their order, whatever the order of the jobs, and the lower of two in the middle.
func TestQuantiles(t *testing.T) {
	for _, test := range []struct{ n, median, p99 int64 }{{1, 1, 1}, {2, 1, 2}, {3, 2, 3}, {99, 50, 99}, {100, 50, 99}, {101, 51, 100}, {200, 100, 198}} {
		s, r := scenario(servers(1, "")), &sim.Result{}
		for i := range test.n {
			s.Jobs = append(s.Jobs, job(fmt.Sprint("j", i), 0, 1, 1, 1))
			r.Jobs = append(r.Jobs, finished((i*37)%test.n+1)) // 37 and the numbers of jobs have no divisor in common
		}
		m, err := Measure(s, r)
		if err != nil || m.Median != time.Duration(test.median)*time.Second || m.P99 != time.Duration(test.p99)*time.Second || m.Completed != int(test.n) {
			t.Errorf("%d jobs: %+v (%v), want median %d and 99th %d", test.n, m, err, test.median, test.p99)
		}
	}
}
