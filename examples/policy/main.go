// This program plays a day of jobs under a policy of its own and under those of the papers.

// Policy answers: how good is a scheduler of my own?
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/placement"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/placement/sim/policies"
)

// The program is in run, so that its test can read what it prints.
func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "policy:", err)
		os.Exit(1)
	}
}

// shortest is the policy: the job with the least work first, as many containers as fit, and nobody is
// ever adjusted. Two methods are all that the simulator asks for.
// It keeps nothing between decisions, and need not: the state has it all.
type shortest struct{}

// Name implements sim.Policy.
func (shortest) Name() string { return "shortest" }

// Decide implements sim.Policy.
func (shortest) Decide(_ context.Context, state *sim.State) (sim.Orders, error) {
	// The packer knows what is free now, and keeps count while containers are placed.
	// BestFit fills servers that are nearly full first.
	packer, err := state.Packer(placement.BestFit)
	if err != nil {
		return sim.Orders{}, err
	}
	var orders sim.Orders
	placed := make(map[string]bool)
	for {
		// The shortest of those that wait and have not been looked at in this decision.
		var next *sim.JobState
		for i := range state.Jobs {
			j := &state.Jobs[i]
			if j.Containers == 0 && !placed[j.ID] && (next == nil || j.Work < next.Work) {
				next = j
			}
		}
		if next == nil {
			return orders, nil
		}
		placed[next.ID] = true
		// As many containers as find room; none is a possible answer, and the job waits for the next
		// decision.
		for n := next.Max; n >= max(next.Min, 1); n-- {
			if on, ok := packer.Place(next.Demand, n, nil); ok {
				orders.Places = append(orders.Places, sim.Place{Job: next.ID, On: on})
				break
			}
		}
	}
}

// run plays the same twelve jobs under four policies.
func run(w io.Writer) error {
	// All play the same jobs on the same servers, so that the tables differ by the policies alone.
	results, err := sim.Compare(context.Background(), scenario(),
		shortest{}, &policies.FIFO{}, &policies.DRF{}, &policies.Dorm{Label: "Dorm", Theta1: 0.1, Theta2: 0.5})
	if err != nil {
		return err
	}
	return sim.Table(w, results...)
}

// scenario returns four servers with four GPUs each and twelve jobs, one every ten minutes, large and small.
func scenario() *sim.Scenario {
	// AdjustCost is what killing and resuming a job costs it. A policy that adjusts often pays for it
	// here.
	s := &sim.Scenario{Kinds: apportion.Kinds{"gpu"}, AdjustCost: sim.AdjustCost}
	for i := range 4 {
		s.Servers = append(s.Servers, apportion.Server{ID: fmt.Sprint("node-", i+1), Capacity: apportion.Resources{4}})
	}
	for i := range 12 {
		s.Jobs = append(s.Jobs, sim.Job{
			Application: alloc.Application{ID: fmt.Sprint("job-", i+1), Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1}, Min: 1, Max: int64(2 + 2*(i%4))}},
			// Times are virtual: a day takes milliseconds.
			// Arrivals ascend; the simulator refuses anything else.
			Arrival: time.Duration(i) * 10 * time.Minute,
			Work:    time.Duration(1+i*5%7) * time.Hour, // on one container; twice as fast on two
			Fixed:   int64(1 + i%4),
		})
	}
	return s
}
