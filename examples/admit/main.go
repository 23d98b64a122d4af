// This program admits jobs at their arrival by prices of the time to come, [OASiS] Algorithm 1.

// Admit answers: should this job be admitted, and when does it run?
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/primaldual"
)

// The program is in run, so that its test can read what it prints.
func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "admit:", err)
		os.Exit(1)
	}
}

// run offers four jobs, one after the other, to a cluster with six slots of time.
// Time is counted in slots from 1. The scheduler sees one job after the other and never revises what it has
// promised.
func run(w io.Writer) error {
	cluster := &primaldual.Cluster{
		// One kind is enough here; the parameter servers need it too.
		Kinds: apportion.Kinds{"gpu"}, Slots: 6,
		// Workers and parameter servers run on machines of their own, as in the paper.
		WorkerServers: []apportion.Server{{ID: "gpu-1", Capacity: apportion.Resources{4}}},
		PSServers:     []apportion.Server{{ID: "cpu-1", Capacity: apportion.Resources{4}}},
	}
	jobs := []primaldual.Job{
		job("demo", 1, 8, primaldual.Steps{{Within: 1, Value: 60}}),     // worth nothing after two slots
		job("nightly", 1, 12, primaldual.Linear{Start: 20, PerSlot: 2}), // may end late
		job("sweep", 2, 8, primaldual.Steps{{Within: 2, Value: 2}}),     // urgent, and worth little
		job("paper", 3, 4, primaldual.Sigmoid{Gamma1: 50, Gamma2: 2, Gamma3: 3}),
	}
	// Prices lie between bounds that come from the jobs to expect: here these jobs, in life a sample.
	bounds, err := primaldual.BoundsOf(cluster, jobs, nil)
	if err != nil {
		return err
	}
	// nil leaves all options at their defaults.
	scheduler, err := primaldual.NewScheduler(cluster, &bounds, nil)
	if err != nil {
		return err
	}
	earned := 0.0
	for _, job := range jobs {
		// Offer commits what it promises: the schedule is in the ledger when it returns.
		decision, err := scheduler.Offer(job)
		if err != nil {
			return err
		}
		// The verdict says in a word what was decided.
		fmt.Fprintf(w, "%-8s in slot %d: %s", job.ID, job.Arrival, decision.Verdict)
		if decision.Admitted {
			earned += decision.Utility
			fmt.Fprintf(w, ", worth %.1f, ends in slot %d", decision.Utility, decision.Completion)
		} else {
			fmt.Fprintf(w, ": %s", decision.Reason.Text)
		}
		fmt.Fprintln(w)
		// A schedule may have gaps, and other numbers of workers in each slot.
		for _, plan := range decision.Schedule {
			fmt.Fprintf(w, "  slot %d: %d workers\n", plan.Slot, count(plan.Workers))
		}
	}

	// Weak duality: no schedule, also not one that knew all jobs beforehand, earns more than this.
	// earned is what was admitted, and is part of the bound's proof.
	certificate, err := primaldual.Certify(scheduler.Ledger(), jobs, earned, nil)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "earned %.1f; nobody can earn more than %.1f\n", earned, certificate.Bound)
	return nil
}

// job returns one that needs some worker-slots, with at most four workers at a time.
// Chunks and minibatches are the paper's units of work: an epoch has four chunks, and a worker does one in
// a slot.
func job(id string, arrival int, workerSlots int64, utility primaldual.Utility) primaldual.Job {
	return primaldual.Job{
		ID: id, Arrival: arrival, Epochs: workerSlots / 4, Chunks: 4, Minibatches: 10,
		MinibatchSlots: 0.08, CommSlots: 0.02, // a worker trains a chunk in one slot
		WorkerBandwidth: 1, PSBandwidth: 4, // one parameter server serves four workers
		Worker: apportion.Resources{1}, PS: apportion.Resources{1}, Utility: utility,
	}
}

// count returns the number of containers.
// A schedule lists servers, and people count workers.
func count(placements []apportion.Placement) int64 {
	var n int64
	for _, p := range placements {
		n += p.Count
	}
	return n
}
