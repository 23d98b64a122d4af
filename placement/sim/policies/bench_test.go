// This file measures simulations at the papers' sizes: days on Dorm's testbed, and FlowCon's and SpeCon's
// workers.

package policies_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/placement/sim/policies"
	"github.com/apportion/apportion/placement/sim/simtest"
)

// BenchmarkContainers is Dorm's day: 50 applications, 24 hours. It must take less than two seconds.
func BenchmarkContainers(b *testing.B) {
	s := testbed(50, 4)
	s.Horizon = 24 * time.Hour
	b.Run("apps=50/servers=20/policy=Swarm", func(b *testing.B) { measure(b, s, func() sim.Policy { return policies.Swarm{} }) })
	for i, dorm := range policies.Dorm123(nil) {
		b.Run("apps=50/servers=20/policy="+dorm.Label, func(b *testing.B) {
			measure(b, s, func() sim.Policy { return policies.Dorm123(nil)[i] })
		})
	}
}

func BenchmarkWorkers(b *testing.B) {
	for _, size := range []struct{ jobs, workers int }{{15, 1}, {50, 8}} {
		s := onWorkers(size.workers)
		s.AdjustCost = 5 * time.Second
		for i := range size.jobs {
			j := sim.SharedJob(fmt.Sprint(i), time.Duration(i)*9*time.Second, time.Duration(60+17*(i%11))*time.Second, sim.Whole)
			j.Request, j.Curve = 1, simtest.Falling()
			s.Jobs = append(s.Jobs, j)
		}
		for i, f := range made[simtest.Workers] {
			b.Run(fmt.Sprintf("jobs=%d/workers=%d/policy=%s-%d", size.jobs, size.workers, f().Name(), i), func(b *testing.B) { measure(b, s, f) })
		}
	}
}

func BenchmarkSlots(b *testing.B) {
	s := simtest.Scenario(simtest.Slots, 3)
	for _, f := range made[simtest.Slots] {
		b.Run(fmt.Sprintf("jobs=%d/policy=%s", len(s.Jobs), f().Name()), func(b *testing.B) { measure(b, s, f) })
	}
}

func measure(b *testing.B, s *sim.Scenario, fresh func() sim.Policy) {
	b.ReportAllocs()
	samples := 0
	for b.Loop() {
		result, err := sim.Run(context.Background(), s, fresh())
		if err != nil {
			b.Fatal(err)
		}
		samples = len(result.Samples)
	}
	b.ReportMetric(float64(samples), "samples")
}
