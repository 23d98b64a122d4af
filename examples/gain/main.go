// This program makes worths of what two running jobs have measured of themselves, and decides by them, [Qiao21] §3,
// [Zheng] (4.2).

// Gain answers: who gains most by one more container?
package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/worth"
	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/growth/speedup"
)

// The program is in run, so that its test can read what it prints.
func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "gain:", err)
		os.Exit(1)
	}
}

// gpus are how many GPUs a server has.
// Speeds depend on how many servers a job is spread over, so that the size of a server matters.
const gpus = 4

// job is what a scheduler knows of a job that runs: how long its steps took on what it had, and its loss.
// Nothing of it has to be asked of a user: a trainer measures both while it runs.
type job struct {
	id    string
	steps []speedup.Observation
	loss  func(minute float64) float64
	has   map[string]int64
}

// run shares 8 GPUs between a job that scales well and still learns, and one that scales badly and has nearly converged.
func run(w io.Writer) error {
	// The second job hardly gains from its fourth GPU.
	jobs := []job{
		{"resnet", []speedup.Observation{
			{Containers: 1, Servers: 1, Samples: 256, Seconds: 0.80}, {Containers: 2, Servers: 1, Samples: 256, Seconds: 0.42},
			{Containers: 4, Servers: 1, Samples: 256, Seconds: 0.23},
		}, func(minute float64) float64 { return 4 - 0.05*minute }, map[string]int64{"n1": 4}},
		{"vae", []speedup.Observation{
			{Containers: 1, Servers: 1, Samples: 64, Seconds: 0.20}, {Containers: 2, Servers: 1, Samples: 64, Seconds: 0.15},
			{Containers: 4, Servers: 1, Samples: 64, Seconds: 0.13},
		}, func(minute float64) float64 { return 1 + 3*math.Exp(-minute/4) }, map[string]int64{"n2": 4}},
	}
	// Thresholds of 1 let the decision be about worth alone.
	p := &alloc.Problem{Kinds: apportion.Kinds{"gpu"}, Theta1: 1, Theta2: 1, Previous: alloc.Allocation{}, Servers: []apportion.Server{
		{ID: "n1", Capacity: apportion.Resources{gpus}}, {ID: "n2", Capacity: apportion.Resources{gpus}},
	}}
	// What each job measured becomes what its containers are worth.
	for _, j := range jobs {
		app, err := j.application(w)
		if err != nil {
			return err
		}
		p.Applications, p.Previous[j.id] = append(p.Applications, app), j.has
	}
	decision, err := alloc.Reallocate(context.Background(), p, nil)
	if err != nil {
		return err
	}
	explanation, err := alloc.Explain(p, decision)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "\nworth %.3f, at most %.3f is possible\n%s", decision.Objective, decision.Bound, explanation)
	return err
}

// application states what containers are worth to a job: the logarithm of how fast it runs (proportional fairness), times
// the part of its improvement that is still ahead.
// Its result replaces Weight times containers by a table: Worth[n-1] is what n containers are worth.
func (j *job) application(w io.Writer) (alloc.Application, error) {
	// The weight stays 1: the worth has all that is to count.
	app := alloc.Application{ID: j.id, Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1}, Min: 1, Max: 8}}
	// 1. How fast would it be with other numbers of containers?
	// Request is what the job was submitted with, which counts as a guess as long as nothing better is
	// known.
	known := speedup.Estimator{Request: app.Max}
	for _, o := range j.steps {
		if err := known.Observe(o); err != nil {
			return app, err
		}
	}
	curve, err := known.Curve()
	if err != nil {
		return app, err
	}
	// Numbers beyond what was measured are extrapolated, at most to twice as many.
	counts := []int64{1, 2, 3, 4, 5, 6, 7, 8}
	speeds, err := curve.Speeds(counts, gpus)
	if err != nil {
		return app, err
	}
	// 2. How much has it still to learn?
	// A reading a minute, for half an hour.
	var series growth.Series
	series.Toward(growth.SmallerIsBetter)
	// Readings go in as they come; nothing is fitted before somebody asks.
	for minute := range 30 {
		series.Add(time.Duration(minute)*time.Minute, j.loss(float64(minute)), growth.Usage{})
	}
	ahead := 1.0 // nothing is known
	if e, known := series.Evidence(); known {
		ahead = e.Ahead()
	}
	// 3. What is each number worth? It has run for half an hour, and a restart takes a minute.
	// Stay is what the present number is worth without the price of a restart.
	worths, err := worth.Of(&worth.Job{Speeds: speeds, Fair: worth.FairSpeed(counts, speeds, gpus), Weight: worth.Growth(ahead, 0.1),
		Held: speeds[gpus-1], Restart: worth.Restart(30*time.Minute, time.Minute, 1)}, worth.Fair)
	if err != nil {
		return app, err
	}
	app.Worth, app.StayWorth = worths.Worth, worths.Stay
	fmt.Fprintf(w, "%-7s%4.0f %% of its improvement is ahead; 2, 4, 8 GPUs make it %.1f, %.1f, %.1f times as fast\n",
		j.id, 100*ahead, speeds[1], speeds[3], speeds[7])
	return app, nil
}
