// This file climbs down the lexicographic preference among the optima of P2: the program is solved
// again with the better levels held, [Dorm P1 (5)].

package mip

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/solver"
)

// How much of a proof is enough: general solvers work with tolerances of their own.
const (
	// provenTolerance is how far a general solver's bound may stay above the utilization of a proven
	// optimum: such solvers stop at an absolute gap of this size.
	provenTolerance = 1e-7
	// levelTolerance is how close to the best a lower level is proven, in shares of loss. The slack of
	// ObjectiveTolerance in the level above lets a relaxation undercut the best point by the slack over
	// the difference of two utilizations per share, which no tighter proof survives.
	levelTolerance = 1e-5
)

// level is one level of the preference below the utilization.
type level struct {
	rank solver.Rank
	// of is what counts come to, and tolerance how far above what the program reached that may be.
	of        func(inst *solver.Instance, counts solver.Counts) float64
	tolerance float64
}

// lowerLevels are the levels below the utilization, in their order.
var lowerLevels = [...]level{
	{solver.ByLoss, (*solver.Instance).FairnessLoss, levelTolerance},
	{solver.ByAdjusted, func(inst *solver.Instance, counts solver.Counts) float64 { return float64(inst.AdjustedApps(counts)) }, .5},
	{solver.ByMoved, func(inst *solver.Instance, counts solver.Counts) float64 { return float64(inst.Moved(counts)) }, .5},
}

// preference is the way from the best utilization down the levels.
type preference struct {
	backend  milp.Solver
	opts     Options
	inst     *solver.Instance
	model    *Model
	answer   milp.Solution
	solution *solver.Solution
	reached  []float64 // by the answers to the levels so far
}

// climb takes over the answer and goes down as far as the options ask and proofs are found.
func (p *preference) climb(ctx context.Context) error {
	p.adopt(p.answer.Values)
	// Below an utilization that is not proven no level means anything: a better one might lie
	// elsewhere.
	if p.solution.Status != solver.Optimal {
		return nil
	}
	for _, level := range lowerLevels {
		if p.opts.Preference < level.rank {
			return nil
		}
		program, err := p.model.program.Next(p.answer.Values, p.reached)
		if err != nil {
			return err
		}
		answer, err := milp.Solve(ctx, p.backend, program, p.options(program))
		if err != nil {
			return fmt.Errorf("mip: preference by %s: %w", level.rank, err)
		}
		p.solution.Effort += answer.Nodes
		// The answer of the level above stays: it is as good as before, only not proven further.
		if !answer.HasSolution() {
			return nil
		}
		p.answer, p.reached = answer, append(p.reached, p.model.program.Level(len(p.reached), answer.Values))
		p.adopt(answer.Values)
		// What a relaxed model reaches its counts may miss, and then nothing is proven.
		if answer.Status != milp.Optimal || !p.attains(p.solution.Counts) {
			return nil
		}
		// A level is proven only after all above it, which the loop's order guarantees.
		p.solution.Proven = level.rank
	}
	return nil
}

// options returns the options for a lower level, which starts at the answer of the level above.
// The hint saves the search for a first point, which the level above has found already.
func (p *preference) options(program *milp.Model) *milp.Options {
	opts := p.opts.Search
	can := milp.Capabilities(p.backend)
	if can&milp.CanHint != 0 {
		opts.Hint = slices.Clone(p.answer.Values)
		for len(opts.Hint) < program.Variables() {
			opts.Hint = append(opts.Hint, math.NaN()) // a variable of this level alone
		}
	}
	if can&milp.CanGaps != 0 {
		opts.AbsoluteGap = max(opts.AbsoluteGap, levelTolerance)
	}
	return &opts
}

// adopt takes the counts of values if they are a solution of P2, which those of a relaxed model may not be,
// and no worse than the counts so far.
func (p *preference) adopt(values []float64) {
	counts := p.model.Counts(values)
	if p.inst.Check(counts) != nil {
		return
	}
	s, objective := p.solution, p.inst.Objective(counts)
	if k := len(p.reached); k > 0 {
		// The present counts may already be as good on this level; then they stay, since every change of
		// an answer without need would make it depend on more than the instance.
		of := lowerLevels[k-1].of
		// A lower level costs nothing of those above it.
		if s.Bound-objective > provenTolerance || !p.attains(counts) || of(p.inst, counts) >= of(p.inst, s.Counts) {
			return
		}
	}
	s.Status, s.Counts, s.Objective = solver.Feasible, counts, objective
	// The objective is recomputed from whole counts and exact values, and so more accurate than the
	// solver's.
	s.Bound = math.Max(s.Bound, s.Objective) // a bound proven to a tolerance may lie below by as much
	if s.Bound-s.Objective <= provenTolerance {
		s.Status = solver.Optimal
		s.Proven = max(s.Proven, solver.ByUtilization)
	}
}

// attains reports whether counts are on every level what the program reached there.
// With an exact model they are, by its rows; with a relaxed one the program may reach what no allocation does.
func (p *preference) attains(counts solver.Counts) bool {
	for k, reached := range p.reached {
		if lowerLevels[k].of(p.inst, counts) > reached+lowerLevels[k].tolerance {
			return false
		}
	}
	return true
}
