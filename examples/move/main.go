// This program moves jobs that have converged to workers with less to do, [Zheng] Algorithms 3 to 5.

// Move answers: where should it go?
package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/growth/specon"
)

// The program is in run, so that its test can read what it prints.
func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "move:", err)
		os.Exit(1)
	}
}

// run watches three jobs that all began on one of two workers.
func run(w io.Writer) error {
	// SpeCon looks at the jobs once an interval, as the thesis does.
	const interval = 30 * time.Second
	// Alpha is the gain per interval below which a job counts as slow.
	// nil leaves placement and options at the thesis' rules.
	manager, err := specon.NewManager(specon.ManagerConfig{
		Config: specon.Config{Interval: interval, Alpha: 0.05}, Kinds: apportion.Kinds{"cpu"},
	}, nil)
	if err != nil {
		return err
	}
	// CPUs are the one kind of resources here.
	cpus := func(n int64) apportion.Resources { return apportion.Resources{n} }
	events := []specon.Event{
		// The manager is told of everything as events: workers that come, jobs that arrive, readings of
		// their loss.
		{Kind: specon.WorkerUp, Worker: "east", Capacity: cpus(8)},
		{Kind: specon.WorkerUp, Worker: "west", Capacity: cpus(8)},
	}
	names := []string{"vae", "gru", "bert"}
	// All begin on the same worker: the uneven start that SpeCon is made for.
	for _, name := range names {
		events = append(events, specon.Event{Kind: specon.Arrival, Job: name, Demand: cpus(2), Worker: "east"})
	}
	// Readings of three minutes. vae falls quickly and then hardly moves, the others go on learning.
	// A step is an interval: readings first, then the decision.
	for step := range 6 {
		now := time.Duration(step) * interval
		// In life they come from the jobs' logs.
		events = append(events, readings(names, step, now)...)
		// Step takes events in the order of time and refuses what cannot be.
		for _, event := range events {
			if err := manager.Step(event); err != nil {
				return err
			}
		}
		events = nil
		// Tick decides: who has slowed down, and whether another worker has more to offer.
		decision, err := manager.Tick(now)
		if err != nil {
			return err
		}
		report(w, &decision)

		// Whoever carries the orders out tells the manager. Here that takes no time.
		for _, m := range decision.Moves {
			events = append(events, specon.Event{Kind: specon.Runs, Job: m.Job, Worker: m.To})
		}
	}
	return nil
}

// report prints what a tick has changed: categories, requests for another worker, and moves.
// An answer is the manager's to a job that asked for another worker, whether it was granted or not.
func report(w io.Writer, d *specon.Decision) {
	fmt.Fprintf(w, "%4.0f s\n", d.Time.Seconds())
	for _, c := range d.Changes {
		fmt.Fprintf(w, "  %s: %s -> %s\n", c.Job, c.From, c.To)
	}
	for _, a := range d.Answers {
		fmt.Fprintf(w, "  %s gains only %.3f on %s: %s\n", a.Job, a.Gain, a.Worker, a.Verdict)
	}
	for _, m := range d.Moves {
		fmt.Fprintf(w, "  %s moves from %s to %s\n", m.Job, m.From, m.To)
	}
}

// readings returns what the jobs report at a step: losses that fall from 10 towards 1.
// Usage is a whole CPU for all.
func readings(names []string, step int, now time.Duration) (events []specon.Event) {
	for _, name := range names {
		speed := 0.1
		if name == "vae" {
			speed = 2 // learns fast, and is done soon
		}
		events = append(events, specon.Event{Kind: specon.Reading, Job: name, At: now,
			Value: 1 + 9*math.Exp(-speed*float64(step)), Usage: growth.Used(1)})
	}
	return events
}
