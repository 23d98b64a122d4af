// This file compares what happens where not all newcomers can be had: the paper's rule, its prefix, a loop that
// skips whoever does not fit, and the default rule, on days with few GPUs.

package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/examples/studies/command"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/placement/sim/policies"
)

// A day of forty jobs that come every quarter of an hour has several at once that want GPUs.
const (
	// ruleDays is how many days are played under each rule, and dayJobs how many jobs arrive on each.
	ruleDays, dayJobs = 10, 40
	// dayBetween is the mean time between two arrivals.
	dayBetween = 15 * time.Minute
)

// rules are the ways to decide that are compared.
var rules = []struct {
	name string
	make func() sim.Policy
}{
	{"paper", func() sim.Policy { return ruled(alloc.Options{Rule: alloc.Rule{Paper: true}}) }},
	{"paper, longest prefix", func() sim.Policy { return ruled(alloc.Options{Rule: alloc.Rule{Paper: true, AdmitPrefix: true}}) }},
	{"paper, skipping loop", func() sim.Policy { return skipping{} }},
	{"default", func() sim.Policy { return ruled(alloc.Options{}) }},
}

// ruled returns Dorm-3 with other options.
func ruled(options alloc.Options) sim.Policy {
	return &policies.Dorm{Label: "Dorm-3", Theta1: .1, Theta2: .1, Options: options}
}

// skipping asks the paper's problem again and again: for all, and if that has no solution for those who run and,
// one after the other, for each newcomer that leaves it solvable.
type skipping struct{}

// Name implements sim.Policy.
func (skipping) Name() string { return "skipping" }

// Decide implements sim.Policy. It uses exact answers for all of its questions, and keeps nothing between
// two decisions.
func (skipping) Decide(ctx context.Context, state *sim.State) (sim.Orders, error) {
	p := state.Problem()
	p.Theta1, p.Theta2, p.Options.Paper = .1, .1, true
	all, in := p.Applications, []alloc.Application(nil)
	var last *alloc.Decision
	// try decides for some applications, in the order of submission, and reports whether there is a solution.
	try := func(apps []alloc.Application) (bool, error) {
		if len(apps) == 0 {
			return false, nil
		}
		p.Applications = apps
		d, err := alloc.Reallocate(ctx, p, nil)
		if err != nil || d.Status == alloc.Kept {
			return false, err
		}
		last = d
		return true, nil
	}
	met, err := try(all)
	for i := 0; err == nil && !met && i <= len(all); i++ {
		// First those who run alone, then with each newcomer who leaves the problem solvable.
		var next []alloc.Application
		for at := range all {
			admitted := slices.ContainsFunc(in, func(a alloc.Application) bool { return a.ID == all[at].ID })
			if p.Previous.Containers(all[at].ID) > 0 || admitted || at == i-1 {
				next = append(next, all[at])
			}
		}
		var ok bool
		if ok, err = try(next); ok && i > 0 {
			in = append(in, all[i-1])
		}
	}
	if err != nil || last == nil {
		return sim.Orders{}, err
	}
	return sim.Orders{Places: state.Changes(last.Allocation)}, nil
}

// fewGPUs draws a day: ten servers, three of them with two GPUs, and jobs of which two in five want some.
func fewGPUs(seed uint64) *sim.Scenario {
	rng := rand.New(rand.NewPCG(seed, 3))
	s := &sim.Scenario{Kinds: paperKinds, AdjustCost: 2 * time.Minute}
	for j := range 10 {
		capacity := apportion.Resources{12, 0, 128}
		if j < 3 {
			capacity[1] = 2
		}
		s.Servers = append(s.Servers, apportion.Server{ID: fmt.Sprintf("s%02d", j), Capacity: capacity})
	}
	var at time.Duration
	for i := range dayJobs {
		at += time.Duration(rng.ExpFloat64() * float64(dayBetween))
		demand, weight := apportion.Resources{1 + rng.Int64N(4), 0, 4 + rng.Int64N(13)}, float64(int64(1)<<rng.IntN(3))
		app := alloc.Application{ID: fmt.Sprintf("%02d", i), Weight: weight, Form: alloc.Form{Demand: demand, Min: 1 + rng.Int64N(4), Max: 8}}
		if rng.IntN(5) < 2 {
			app.Demand[1], app.Min, app.Max = 1, 1+rng.Int64N(3), 4
		}
		length := time.Duration(20+rng.IntN(160)) * time.Minute
		s.Jobs = append(s.Jobs, sim.Job{Application: app, Arrival: at, Fixed: app.Min, Work: work(sim.Linear, app.Min, length), Speedup: sim.Linear})
	}
	return s
}

// ruleResult is what became of the days under one rule.
type ruleResult struct {
	idle             int // days that end with jobs that wait and nothing that runs
	completed        int
	wait, completion time.Duration // means of those that completed
	gpu              float64       // mean use of the GPUs until the last completion
}

// compareRules plays the days under every rule and prints a line for each.
func compareRules(ctx context.Context, stdout, stderr io.Writer) error {
	played, err := command.Grid(ctx, [2]int{len(rules), ruleDays}, stderr, "days", func(ctx context.Context, r, seed int) (*sim.Result, error) {
		return sim.Run(ctx, fewGPUs(uint64(seed)), rules[r].make())
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%d days of %d jobs, two in five with GPUs, of which the cluster has 6; theta1 = theta2 = 0.1.\n", ruleDays, dayJobs)
	table := command.RightTable(stdout)
	fmt.Fprintln(table, "rule\tdays that end idle\tcompleted\tmean wait\tmean completion\tGPUs used\t")
	for r := range rules {
		var result ruleResult
		for _, day := range played[r] {
			result.add(day)
		}
		fmt.Fprintln(table, rules[r].name+"\t"+result.String()+"\t")
	}
	return table.Flush()
}

// add takes one day into account.
func (r *ruleResult) add(played *sim.Result) {
	done := 0
	for i := range played.Jobs {
		job := &played.Jobs[i]
		if job.Completed {
			done++
			r.wait += job.Start - job.Arrival
			r.completion += job.Completion - job.Arrival
		}
	}
	r.completed += done
	if done < len(played.Jobs) {
		r.idle++
	}
	used := 0.0
	for s := 1; s < len(played.Samples); s++ {
		used += played.Samples[s-1].Utilization[1] * float64(played.Samples[s].At-played.Samples[s-1].At)
	}
	r.gpu += used / float64(played.End) / ruleDays
}

// String is the line of a rule, without its name.
func (r *ruleResult) String() string {
	of := func(sum time.Duration) time.Duration {
		return (sum / time.Duration(max(1, r.completed))).Round(time.Minute)
	}
	return fmt.Sprintf("%d of %d\t%d of %d\t%v\t%v\t%.0f %%", r.idle, ruleDays, r.completed, ruleDays*dayJobs, of(r.wait), of(r.completion), 100*r.gpu)
}
