// This file closes the gap that a search leaves on a small instance: by the linear program behind it, the numbers of containers
// next to what that has, [Danna05], and branch and bound on the program, [Land60].

package embedded

import (
	"context"
	"math"

	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/internal/program"
	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/milp/bb"
	"github.com/apportion/apportion/alloc/solver"
)

const (
	// mostPairs and mostProgramRows bound the programs that are written and solved at any effort: an inverse has the square of
	// the rows.
	mostPairs, mostProgramRows = 2000, 1000
	// nodeRows is what a node takes whatever its program is, in squares of rows.
	nodeRows = 7000
	// whole is how near to a whole number the relaxation is taken for one.
	whole = 1e-6
	// promise is the part of its work after which a polish that is to be better than another answer, and is not, is given up. Where all had
	// all of it 8 of 15 decisions of 60 and 100 servers with options were worth less, 2 more, and it took half as long again.
	promise = 0.2
	// provenGap is the gap of a proof: well within the tolerance.
	provenGap = solver.ObjectiveTolerance / 10
)

// programmer is one answer that the program of its instance improves.
type programmer struct {
	*Solver
	inst *solver.Instance
	sol  *solver.Solution
	// step is what two different objectives differ by at least; 0: anything.
	step float64
}

// answerBest answers an instance that has been checked. Where its program is small a quick answer is enough to begin with.
func (s *Solver) answerBest(ctx context.Context, inst *solver.Instance) *solver.Solution {
	if ctx.Err() != nil {
		return unsearched(inst)
	}
	if settled, apps := fix(inst, stuck(inst)); len(settled.Choices) < len(inst.Choices) {
		sol := s.answerBest(ctx, settled)
		// Prices of copies are by application, and those of the options that are left out are not known.
		sol.Counts, sol.Copies = spread(sol.Counts, apps, len(inst.Apps)), nil
		return sol
	}
	linear := s.programOf(inst)
	if linear == nil {
		return s.answer(ctx, inst)
	}
	apart, _ := inst.Apart()
	p := &programmer{Solver: s, inst: inst, sol: s.quick().answer(ctx, inst), step: problem.New(apart).Step}
	// A caller whose start breaks the loss budget looks for the least loss where no answer is within it: no long search for what
	// may not be there, as that one finds it too.
	if inst.Start != nil && !p.sol.Status.HasSolution() {
		return p.sol
	}
	p.near(ctx, linear)
	if s.opts.Effort > Quick && !p.done(ctx) {
		p.join(ctx, s.answer(ctx, inst))
	}
	p.branch(ctx, linear)
	p.sol.Interrupted = ctx.Err() != nil
	return p.sol
}

// join takes over what another search of the instance has found and proven.
func (p *programmer) join(ctx context.Context, other *solver.Solution) {
	p.sol.Effort += other.Effort
	if other.Status == solver.Infeasible {
		effort := p.sol.Effort
		*p.sol = *other
		p.sol.Effort = effort
		return
	}
	p.sol.Certificate = other.Certificate
	p.lower(other.Bound)
	p.offer(ctx, other.Counts)
}

// programOf returns the program of a small instance, nil where it is too large, or is the paper's P2, with ceilings or without, for
// which there are better ways.
func (s *Solver) programOf(inst *solver.Instance) *program.Program {
	paper := len(inst.Choices) == 0 && problem.Plain(inst)
	if s.tune.ProgramNodes <= 0 || len(inst.Apps)*len(inst.Capacity) > mostPairs || paper {
		return nil
	}
	linear, err := program.Build(inst, program.Disjunctive, false)
	if err != nil || linear.Relaxed || linear.MILP.Rows() > mostProgramRows {
		return nil
	}
	return linear
}

// done reports whether nothing is left to improve, or no time for it.
func (p *programmer) done(ctx context.Context) bool {
	return ctx.Err() != nil || p.sol.Status == solver.Infeasible ||
		p.sol.Status.HasSolution() && near(p.sol.Objective, p.sol.Bound, p.opts.Gap)
}

// near reports whether an objective is as near to its bound as gap asks, in parts of the bound.
func near(objective, bound, gap float64) bool {
	return bound-objective <= math.Max(solver.ObjectiveTolerance, gap*math.Abs(bound))
}

// near solves the relaxation, which is a bound, and searches the instance with the numbers next to those of the relaxation.
func (p *programmer) near(ctx context.Context, linear *program.Program) {
	if p.done(ctx) {
		return
	}
	relaxation, err := linear.Relaxation()
	if err != nil {
		return
	}
	answer := p.solve(ctx, relaxation, &milp.Options{})
	if answer.Status != milp.Optimal || p.sol.Status == solver.Infeasible || p.done(ctx) {
		return
	}
	restricted, apps := p.restricted(linear.Amounts(answer.Values))
	if restricted == nil {
		return
	}
	brief := *p.Solver
	brief.opts.Warm, brief.opts.brief = nil, true
	sol := brief.answer(ctx, restricted)
	p.sol.Effort += sol.Effort
	p.offer(ctx, spread(sol.Counts, apps, len(p.inst.Apps)))
}

// branch searches the program itself, from the best counts so far.
func (p *programmer) branch(ctx context.Context, linear *program.Program) {
	if p.done(ctx) {
		return
	}
	nodes := math.Min(p.tune.ProgramNodes*float64(p.opts.Effort)/programWork(1, linear.MILP), math.MaxInt32)
	// A few nodes prove no more than the relaxation has, and find nothing better; they may prove that there is nothing to find.
	if nodes < p.tune.FewestNodes && p.sol.Status.HasSolution() {
		return
	}
	opts := &milp.Options{NodeLimit: int64(math.Ceil(nodes)), AbsoluteGap: provenGap, RelativeGap: math.Max(provenGap, p.opts.Gap)}
	if p.sol.Status.HasSolution() {
		opts.Hint = linear.Hint(p.sol.Counts)
	}
	if answer := p.solve(ctx, linear.MILP, opts); answer.HasSolution() {
		p.offer(ctx, linear.Counts(answer.Values))
	}
}

// programWork returns what so many nodes of a program cost: each about the square of the rows, and some more.
func programWork(nodes int64, m *milp.Model) float64 {
	rows := float64(m.Rows())
	return float64(nodes) * (float64(rows*rows) + nodeRows)
}

// solve solves a program and lowers the bound to its. A fault of the solver is none of the instance: it has then no answer.
func (p *programmer) solve(ctx context.Context, m *milp.Model, opts *milp.Options) milp.Solution {
	answer, err := milp.Solve(ctx, bb.Solver{}, m, opts)
	if err != nil {
		return milp.Solution{}
	}
	p.sol.Effort += answer.Nodes
	switch {
	case answer.Status != milp.Infeasible:
		p.lower(answer.Bound)
	// What is attained no program rules out: its numbers are rounded.
	case !p.sol.Status.HasSolution():
		effort := p.sol.Effort
		*p.sol = *infeasible()
		p.sol.Effort = effort
	}
	return answer
}

// restricted returns the instance in which every application that has a number of containers in a relaxation has one of the two
// next to it, and uses one of the options that have some there; and the positions of its applications. An application that
// partly stays may still do both, and the numbers of options that share one are left open. nil where the relaxation leaves nothing.
func (p *programmer) restricted(amounts []program.Amount) (*solver.Instance, []int) {
	inst := *p.inst
	inst.Apps = append([]solver.App(nil), inst.Apps...)
	picked, shared := stuck(p.inst), make([]bool, len(inst.Apps))
	for c, choice := range p.inst.Choices {
		some, used := -1, 0
		for _, i := range choice.Apps {
			if amounts[i].Stays > whole || amounts[i].Containers > whole {
				some = i
				used++
			}
		}
		if used == 1 {
			picked[c] = some
		}
		for _, i := range choice.Apps {
			shared[i] = used > 1
		}
	}
	for i := range inst.Apps {
		app, n := &inst.Apps[i], amounts[i].Containers
		below, above := app.AtMost(int64(n+whole)), app.AtLeast(int64(math.Ceil(n-whole)))
		if shared[i] || amounts[i].Stays > whole || below < 1 || above < 0 {
			continue
		}
		app.Min, app.Max, app.Elective = below, above, app.Elective && p.inChoice(i)
	}
	return fix(&inst, picked)
}

// inChoice reports whether application i is an option, which may always have nothing.
func (p *programmer) inChoice(i int) bool {
	for _, choice := range p.inst.Choices {
		for _, option := range choice.Apps {
			if option == i {
				return true
			}
		}
	}
	return false
}

// offer takes counts over if they are a solution that is worth more than the answer, after a polish for what is preferred among
// equals.
func (p *programmer) offer(ctx context.Context, counts solver.Counts) {
	if counts == nil || p.inst.Check(counts) != nil {
		return
	}
	if p.sol.Status.HasSolution() && p.inst.Objective(counts) <= p.sol.Objective+solver.ObjectiveTolerance {
		return
	}
	p.sol.Counts = p.polished(ctx, counts)
	settle(p.sol, p.inst)
	p.lower(p.sol.Bound)
}

// lower lowers the bound: to the objective that is attained where none lies between.
func (p *programmer) lower(bound float64) {
	p.sol.Bound = math.Min(p.sol.Bound, bound)
	if !p.sol.Status.HasSolution() {
		return
	}
	if p.sol.Bound < p.sol.Objective+p.step-solver.ObjectiveTolerance {
		p.sol.Bound = p.sol.Objective
	}
	settle(p.sol, p.inst)
}

// polished returns counts, or what is preferred to them of as much worth, with the same options in use.
func (p *programmer) polished(ctx context.Context, counts solver.Counts) solver.Counts {
	first := make([]int, len(p.inst.Choices))
	for c, choice := range p.inst.Choices {
		first[c] = choice.Apps[0]
	}
	fixed, apps := fix(p.inst, inUse(p.inst, counts, first))
	if fixed == nil {
		return counts
	}
	have := make(solver.Counts, len(apps))
	for a, i := range apps {
		have[a] = counts[i]
	}
	better := spread(p.Solver.polished(ctx, fixed, have, math.Inf(-1)), apps, len(counts))
	if better == nil || p.inst.Check(better) != nil || p.inst.Objective(better) < p.inst.Objective(counts)-solver.ObjectiveTolerance {
		return counts
	}
	return better
}

// polished returns what moves from counts come to that are never for the worse, nil where that is no solution, or where the first of them
// bring no more than above. inst has no options.
func (s *Solver) polished(ctx context.Context, inst *solver.Instance, counts solver.Counts, above float64) solver.Counts {
	p := problem.New(inst)
	if p.Impossible() {
		return nil
	}
	r := newRun(p, &s.opts, s.tune)
	r.a.Load(counts)
	work := float64(r.tune.Polish * r.work())
	r.a.Polish(ctx, int64(promise*work))
	if r.attained() < above+solver.ObjectiveTolerance {
		return nil
	}
	r.a.Run(ctx, int64((1-promise)*work), 0, math.Inf(1))
	if !r.a.Best.Found {
		return nil
	}
	return p.Decode(&r.a.Best)
}
