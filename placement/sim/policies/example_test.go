// This file shows a policy of one's own beside those of the papers.

package policies_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/placement"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/placement/sim/policies"
)

// greedy gives each waiting job as many containers as fit, first come first served, for life.
type greedy struct{}

func (greedy) Name() string { return "greedy" }

func (greedy) Decide(_ context.Context, state *sim.State) (orders sim.Orders, err error) {
	packer, err := state.Packer(placement.BestFit)
	for i := 0; err == nil && i < len(state.Jobs); i++ {
		job := &state.Jobs[i]
		for n := job.Max; n >= job.Min && job.Containers == 0; n-- {
			if on, ok := packer.Place(job.Demand, n, nil); ok {
				orders.Places = append(orders.Places, sim.Place{Job: job.ID, On: on})
				break
			}
		}
	}
	return orders, err
}

// Three jobs come to a server of 8 CPUs, 20 minutes apart. Under a policy of one's own the first takes all
// of it and the others wait; Dorm lets them share, at the price of restarts.
func Example() {
	server := apportion.Server{ID: "s", Capacity: apportion.Resources{8}}
	scenario := &sim.Scenario{Kinds: apportion.Kinds{"cpu"}, Servers: []apportion.Server{server}, AdjustCost: sim.AdjustCost}
	for i, work := range []time.Duration{8 * time.Hour, 2 * time.Hour, 2 * time.Hour} {
		job := sim.Job{Arrival: time.Duration(i) * 20 * time.Minute, Work: work, Fixed: 2}
		job.ID, job.Demand, job.Weight, job.Min, job.Max = fmt.Sprint("job", i), apportion.Resources{1}, 1, 1, 8
		scenario.Jobs = append(scenario.Jobs, job)
	}
	results, err := sim.Compare(context.Background(), scenario, greedy{}, policies.Dorm123(nil)[1])
	if err != nil {
		panic(err)
	}
	sim.Table(os.Stdout, results...)
	// Output:
	// policy  completed  refused  wait   response   makespan  utilization  loss   adjusted  worth
	// greedy  3 of 3     0        25m0s  55m0s      1h30m0s   1.000        0.685  0         0.0
	// Dorm-2  3 of 3     0        0s     54m8.333s  1h41m15s  1.000        0.137  4         0.0
}
