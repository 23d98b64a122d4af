// This program limits jobs that hardly learn any more, [Zheng] Algorithms 1 and 2.

// Profit answers: who still profits from resources?
package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"github.com/apportion/apportion/growth/flowcon"
)

// The program is in run, so that its test can read what it prints.
func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "profit:", err)
		os.Exit(1)
	}
}

// run watches two jobs of one worker: one is nearly done learning, the other has just begun.
func run(w io.Writer) error {
	// Alpha is the gain per second and share of CPU below which a job counts as slow, in the unit of its
	// loss; with losses near 1 that is half a hundredth.
	const interval = 20 * time.Second
	// nil leaves the classifier at the thesis' own.
	executor, err := flowcon.New(flowcon.Config{Interval: interval, Alpha: 0.005, Kinds: 1}, nil)
	if err != nil {
		return err
	}
	// Step fills it in, so that nothing is allocated at each check.
	var decision flowcon.Decision
	for step := range 7 {
		// A reading is the job's own loss, and the share of the CPU that it has used since the one before.
		now := time.Duration(step) * interval
		readings := []flowcon.Reading{
			{Job: "vae", At: now, Value: 1 + 4*math.Exp(-float64(step)), Usage: []float64{0.5}},
		}
		if step >= 3 { // arrives after a minute
			readings = append(readings, flowcon.Reading{Job: "lstm", At: now, Value: 12 - 1.5*float64(step), Usage: []float64{0.5}})
		}
		// Step is to be called at every interval and whenever a job comes or goes.
		if err := executor.Step(now, readings, &decision); err != nil {
			return err
		}
		fmt.Fprintf(w, "%4.0f s, %s:\n", now.Seconds(), decision.Trigger)
		// Changes are moves between the three lists of the thesis: new, watching, converged.
		for _, change := range decision.Changes {
			fmt.Fprintf(w, "  %-5s %s -> %s: %s\n", change.Job, change.From, change.To, change.Cause)
		}
		// A limit that has not changed is not listed again.
		for _, limit := range decision.Limits {
			fmt.Fprintf(w, "  %-5s may have %.0f %% of the CPU: %s\n", limit.Job, 100*limit.Value, limit.Rule)
		}
	}
	return nil
}
