// This file plays studies: the same scenarios under every policy, side by side.

package main

import (
	"context"
	"io"
	"time"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/mip"
	"github.com/apportion/apportion/examples/internal/backend"
	"github.com/apportion/apportion/examples/studies/command"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/placement/sim/policies"
)

// solvers are the choices of -solver.
var solvers = backend.All()

// decisionLimit is how long a general solver may search for one decision.
// The embedded solver has a budget of moves instead, so that its decisions do not depend on the machine.
const decisionLimit = 10 * time.Second

// policyNames are the policies of every study, the baseline first.
var policyNames = []string{"Swarm", "Dorm-1", "Dorm-2", "Dorm-3"}

// study is a set of scenarios, and what became of each under each policy.
// reading are the options by which the paper's ambiguities are read.
type study struct {
	name, title string
	scenarios   []*sim.Scenario
	// paper says that the paper's numbers belong beside the results.
	paper    bool
	measured time.Duration
	solver   backend.Backend
	reading  alloc.Options
	policies []string
	// runs[i][p] is scenario i under policies[p].
	runs [][]*played
}

// played is one run of one policy.
type played struct {
	*sim.Result
	// decisions are the optimizer's; none for the baseline.
	decisions []decision
}

// makePolicy returns a policy that reports to run.
func (s *study) makePolicy(name string, run *played) sim.Policy {
	solver := s.solver.P2(&mip.Options{Search: milp.Options{TimeLimit: decisionLimit}})
	for _, dorm := range policies.Dorm123(solver) {
		if dorm.Label == name {
			dorm.Options = s.reading
			dorm.Options.Paper = true
			return noted{dorm, run}
		}
	}
	return policies.Swarm{}
}

// play fills in the runs of all studies, on all CPUs. Every run is independent of the others, so
// the results do not depend on who finishes first. The studies have as many policies.
func play(ctx context.Context, stderr io.Writer, studies []*study) error {
	type day struct {
		study    *study
		scenario *sim.Scenario
	}
	var days []day
	for _, s := range studies {
		for _, scenario := range s.scenarios {
			days = append(days, day{s, scenario})
		}
	}
	runs, err := command.Grid(ctx, [2]int{len(days), len(studies[0].policies)}, stderr, "simulating", func(ctx context.Context, i, p int) (run *played, err error) {
		s := days[i].study
		run = &played{}
		run.Result, err = sim.Run(ctx, days[i].scenario, s.makePolicy(s.policies[p], run))
		return run, err
	})
	for _, s := range studies {
		s.runs, runs = runs[:len(s.scenarios)], runs[len(s.scenarios):]
	}
	return err
}
