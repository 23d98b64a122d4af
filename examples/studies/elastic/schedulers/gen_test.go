// This file makes small scenarios for the tests.

package schedulers

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/placement/sim/simtest"
)

// servers returns servers of so many accelerators, each of a type where there are several.
func servers(gpus int64, types ...string) []apportion.Server {
	all := make([]apportion.Server, len(types))
	for h := range all {
		all[h] = apportion.Server{ID: fmt.Sprint("s", h), Capacity: apportion.Resources{gpus}}
		if types[h] != "" {
			all[h].Labels = map[string]string{Accelerator: types[h]}
		}
	}
	return all
}

// job is a job of 1 to most containers, fixed at some, with so many seconds of work.
func job(id string, arrival, work, fixed, most int64) sim.Job {
	j := sim.Job{Arrival: time.Duration(arrival) * time.Second, Work: time.Duration(work) * time.Second, Fixed: fixed}
	j.ID, j.Demand, j.Weight, j.Min, j.Max = id, apportion.Resources{1}, 1, 1, most
	return j
}

// scenario is a cluster of one kind.
func scenario(all []apportion.Server, jobs ...sim.Job) *sim.Scenario {
	return &sim.Scenario{Kinds: apportion.Kinds{"gpu"}, Servers: all, Jobs: jobs}
}

// run plays a scenario, which must stand the referee.
func run(t testing.TB, s *sim.Scenario, p sim.Policy) *sim.Result {
	t.Helper()
	r := must.Have(sim.Run(t.Context(), s, p))(t)
	must.Do(t, simtest.Check(s, r))
	return r
}

// ends returns when the jobs completed, in seconds.
func ends(r *sim.Result) []int64 {
	all := make([]int64, len(r.Jobs))
	for i := range all {
		all[i] = int64(math.Round(r.Jobs[i].Completion.Seconds()))
	}
	return all
}

// fresh returns one of each policy.
func fresh() []sim.Policy {
	return []sim.Policy{
		&Static{}, &Tiresias{threshold: 500}, &Optimus{}, &Gavel{round: 100 * time.Second}, &Sia{},
		&Dorm{Theta1: 0.1, Theta2: 0.1}, &Dorm{Threshold: 0.6, Theta1: 0.1, Theta2: 0.1},
		&Worth{}, &Worth{Price: Age, Power: 0.5}, &Worth{Price: Free, Any: true}, &Worth{Any: true, Place: ByServers},
	}
}

// mixed draws up to ten jobs with speeds by type and spread, on servers of two types.
func mixed(seed uint64) *sim.Scenario {
	rng := rand.New(rand.NewPCG(seed, 1))
	all := servers(4, "fast", "slow", "fast", "slow")[:2+rng.IntN(3)]
	var jobs []sim.Job
	for i := range 2 + rng.IntN(9) {
		j := job(fmt.Sprint("j", i), int64(rng.IntN(20))*50, int64(1+rng.IntN(30))*100, 1+rng.Int64N(4), 8)
		j.Arrival += time.Duration(i)
		serial, gain := 0.05+0.3*rng.Float64(), 1+3*rng.Float64()
		j.SpeedOn = func(on []apportion.Placement) float64 {
			n, slow := int64(0), false
			for _, p := range on {
				n, slow = n+p.Count, slow || all[p.Server].Labels[Accelerator] == "slow"
			}
			speed := 1 / (serial*float64(len(on)) + (1-serial)/float64(n))
			if slow {
				return speed
			}
			return speed * gain
		}
		jobs = append(jobs, j)
	}
	s := scenario(all, jobs...)
	s.AdjustCost = 5 * time.Second
	return s
}
