// This file holds one call of Solve: what it knows so far, and the answer that it makes of that.

package embedded

import (
	"context"
	"math"

	"github.com/apportion/apportion/alloc/embedded/internal/enumerate"
	"github.com/apportion/apportion/alloc/embedded/internal/lagrange"
	"github.com/apportion/apportion/alloc/embedded/internal/leaf"
	"github.com/apportion/apportion/alloc/embedded/internal/pattern"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/embedded/internal/search"
	"github.com/apportion/apportion/alloc/embedded/internal/tree"
	"github.com/apportion/apportion/alloc/embedded/internal/tuning"
	"github.com/apportion/apportion/alloc/solver"
)

const (
	// mostStates bounds the states of an exact leaf at any effort, and mostStateBytes is about what they
	// may take: stateBytes each, and typeBytes more for each type.
	mostStates                            = 500_000
	mostStateBytes, stateBytes, typeBytes = 128 << 20, 128, 16
)

// run is one call of Solve.
type run struct {
	p    *problem.Problem
	opts Options
	tune *tuning.Numbers
	a    *search.Annealer // holds the incumbent
	root *root
	tree *tree.Tree // nil until there is one
	// whole is the bound with ceilings that are kept, see lagrange.Dual.Whole; +Inf where there is none.
	whole float64
	// totals is the bound by what all use together, see lagrange.Totals; +Inf where there is none.
	totals float64
	s      *pattern.Cells // nil where the servers are too large for lists of patterns
	knowledge
	// refused says that an early answer exceeds the ceilings of within, or that there are no lists of patterns to find
	// one soon by.
	refused bool
	// divided: a search below maxima has found a solution.
	divided bool
	// less is the search with less effort that a search by containers begins with; nil: there is none.
	less *run
	// joined: the joined servers have a best choice, which is the bound totals.
	joined bool
	// extra counts the nodes and rounds of the proofs.
	extra int64
}

// knowledge is what is known about an instance with ceilings where one without them is searched, and the other way round.
type knowledge struct {
	// within has the ceilings that an early answer must keep for a search without them to go on; nil: none.
	within *solver.Instance
	// listed: without its ceilings the instance has lists of patterns.
	listed bool
}

// newRun returns a run that knows nothing yet: no bound but the Cap, and a state in which nobody is freed.
func newRun(p *problem.Problem, opts *Options, tune *tuning.Numbers) *run {
	return &run{p: p, opts: *opts, tune: tune, whole: math.Inf(1), totals: math.Inf(1), a: search.New(search.NewState(p), opts.Seed, tune)}
}

// bound returns the best bound.
func (r *run) bound() float64 {
	// Each bound is valid, and so the least of them is. Cap bounds the utilization by the capacity alone.
	bound, best := math.Min(math.Min(r.whole, r.totals), r.p.Inst.Cap()), &r.a.Best
	if r.root != nil {
		bound = math.Min(bound, r.root.bound())
	}
	if r.less != nil {
		bound = math.Min(bound, r.less.bound())
	}
	if r.tree != nil {
		// The annealer may hold a better incumbent than the tree: the tree bounds what it has not cut off.
		bound = math.Min(bound, math.Max(r.tree.Bound(), best.Objective))
	}
	// Utilizations are multiples of Step: a bound less than a step above the incumbent leaves room for none.
	if best.Found && bound < best.Objective+r.p.Step-solver.ObjectiveTolerance {
		return best.Objective // there is nothing between
	}
	return bound
}

// reached reports whether the incumbent is as good as the search wants it.
func (r *run) reached() bool { return r.a.Best.Found && r.attained() >= r.goal() }

// exceeds reports whether a solution of r, whose instance has no ceilings, exceeds those that it must be within.
func (r *run) exceeds(inc *problem.Incumbent) bool {
	return r.within != nil && r.within.Check(r.p.Decode(inc)) != nil
}

// attained returns the utilization of the incumbent, -Inf where there is none.
func (r *run) attained() float64 {
	if r.a.Best.Found {
		return r.a.Best.Objective
	}
	return math.Inf(-1)
}

// goal is the utilization at which the search may stop.
func (r *run) goal() float64 {
	bound := r.bound()
	// With a Gap the search stops at bound - gap |bound|; the tolerance is where two utilizations count as
	// equal.
	least := math.Max(solver.ObjectiveTolerance, float64(r.opts.Gap*math.Abs(bound)))
	// A fresh cluster below ceilings may end a part of a container short: no search has ever found that part.
	if r.divided && r.p.Pinnable == 0 {
		least = math.Max(least, float64(r.tune.Near*r.a.Unit()))
	}
	return bound - least
}

// work returns how much work of annealing the effort allows.
func (r *run) work() float64 {
	// Which unit holds is a matter of what a move costs and what is to be found by it, see tuning.
	unit, size := r.tune.Work, float64(r.p.Servers+len(r.p.Apps))
	switch {
	case r.p.Worthy:
		// unit falls with the square root of the size, so that work grows with the square root of it.
		unit = r.tune.WorthWork * math.Sqrt(r.tune.WorthCrowd/size)
	case len(r.p.Ceilings) > 0 && r.p.Pinnable > 0:
		unit = r.tune.CeilingWork
		if r.divided {
			unit = r.tune.DividedWork
		}
	case r.p.Budget <= 0 || len(r.p.Ceilings) > 0:
		unit = r.tune.FreshWork
	}
	// Beyond a crowd more servers and applications bring no more work: there bounds and sets do most.
	if !r.p.Worthy {
		size = math.Min(size, r.tune.Crowd)
	}
	return math.Min(float64(r.opts.Effort), r.tune.MostEffort) * unit * size
}

// states returns how many states an exact leaf may take, with so many for a unit of effort.
func (r *run) states(unit float64) int {
	// A state has an amount for each type, so that with many types there are fewer states in the same memory.
	most := min(mostStates, mostStateBytes/(stateBytes+typeBytes*len(r.p.Types)))
	return int(math.Min(unit*float64(r.opts.Effort), float64(most)))
}

// lastFreed returns whom the decision of the warm start has freed, by application; nil without one, or where none of those is here.
func (r *run) lastFreed() []bool {
	if r.opts.Warm == nil {
		return nil
	}
	return r.opts.Warm.set(r.p)
}

// solution turns the incumbent into an answer that has passed the referee.
func (r *run) solution() *solver.Solution {
	sol := &solver.Solution{Bound: math.Min(r.bound(), r.p.Inst.Cap())}
	sol.Multipliers = r.root.multipliers()
	if r.s != nil {
		// The certificate has the multipliers of the root, which anyone can evaluate; those of nodes hold for
		// nodes alone.
		sol.Copies = lagrange.CopyPrices(r.s, r.tree.RootX)
	}
	if !r.a.Best.Found {
		return sol
	}
	// Sums that are kept up to date lose their digits where numbers of very different size have met: what
	// looked like a solution may be none. The referee has the last word.
	if counts := r.p.Decode(&r.a.Best); r.p.Inst.Check(counts) == nil {
		sol.Counts = counts
		settle(sol, r.p.Inst)
		r.rank(sol)
	}
	return sol
}

// rank proves more than the utilization where that takes no search: no solution loses less, and none adjusts fewer.
//
// A type loses G(n) or more with n containers, whoever is kept and wherever they are, and with any number no less than
// the least of G. Where all applications are of one type the utilization says how many there are.
func (r *run) rank(sol *solver.Solution) {
	p := r.p
	if sol.Proven != solver.ByUtilization || !p.Plain || p.Stays || p.Inst.LossPrice != 0 {
		return
	}
	least := 0.0
	for t := range p.Types {
		demanded := &p.Types[t]
		// All members count as free here: whoever is kept has one of the numbers that G allows it.
		pool := problem.Pool{Members: demanded.Members}
		pool.Rebuild(p)
		// At price 0 and lambda 1 Wanted is the n of least loss.
		n := pool.Wanted(0, 1, demanded.Delta)
		if len(p.Types) == 1 && demanded.Value > 2*solver.ObjectiveTolerance {
			// N = objective / v, as every container of one type brings v.
			n = int64(math.Round(sol.Objective / demanded.Value))
		}
		least += pool.At(demanded.Delta, n)
	}
	if p.Inst.FairnessLoss(sol.Counts) > least+solver.LossTolerance {
		return
	}
	sol.Proven = solver.ByLoss
	// Those that cannot stay are adjusted in every solution.
	if p.Inst.AdjustedApps(sol.Counts) == int64(len(p.MustMove)) {
		sol.Proven = solver.ByAdjusted
	}
}

// settle fills in what follows from the counts and the bound of sol: the counts have passed the referee of inst.
func settle(sol *solver.Solution, inst *solver.Instance) {
	sol.Status, sol.Proven, sol.Objective = solver.Feasible, solver.ByNothing, inst.Objective(sol.Counts)
	// Both sides are rounded: a bound within the tolerance, or below the objective by rounding, is met.
	if sol.Bound-sol.Objective <= solver.ObjectiveTolerance {
		sol.Bound = math.Max(sol.Bound, sol.Objective) // both are rounded
		sol.Status, sol.Proven = solver.Optimal, solver.ByUtilization
	}
}

// infeasible returns the answer that there is no solution; no bound is below -Inf.
func infeasible() *solver.Solution {
	return &solver.Solution{Status: solver.Infeasible, Bound: math.Inf(-1)}
}

// empty reports whether the bound has shown that there is no solution: it is below what every solution is worth.
func (r *run) empty() bool {
	// A tree that has cut off everything is at -ProofMargin; half of that keeps rounding from proving what is not so.
	return !r.a.Best.Found && (r.bound() < r.p.Floor() || r.tree != nil && r.tree.Bound() < -leaf.ProofMargin/2)
}

// enumerable reports whether the instance is small enough to try.
func (r *run) enumerable() bool { return r.p.Servers*len(r.p.Apps) <= r.tune.MostCells }

// enumerate replaces sol by the proven answer if it can finish.
func (r *run) enumerate(ctx context.Context, sol *solver.Solution) {
	// Effort may be any number, and its product with the limit leaves int64.
	e, done := enumerate.Run(ctx, r.root.d, r.root.descent.Best, sol.Counts, problem.MulSaturated(r.tune.Enumerated, int64(r.opts.Effort)))
	r.extra += e.Nodes
	// Ordered says that the best was met here, so that it is at least as good as that of the search.
	if e.Ordered {
		counts := e.Counts()
		if r.p.Inst.Check(counts) != nil {
			return // see solution
		}
		sol.Counts = counts
		settle(sol, r.p.Inst)
	}
	switch {
	// The whole order is proven, so that the bound is the objective itself.
	case done && e.Found:
		sol.Status, sol.Proven, sol.Bound = solver.Optimal, solver.ByOrder, sol.Objective
	// All was tried, and nothing was a solution.
	case done:
		*sol = *infeasible()
	}
}

// fillMinima looks for a solution of the paper's P2 where the cluster is so full that no search has found one, and improves
// what it finds.
func (r *run) fillMinima(ctx context.Context) {
	if !r.p.Plain || r.a.Best.Found || r.refused {
		return
	}
	r.a.FillMinima(ctx, int64(math.Min(r.tune.Filled*float64(r.opts.Effort), math.MaxInt32)))
	if r.a.Best.Found {
		r.a.Polish(ctx, int64(r.tune.Polish*r.work()))
	}
}

// effort counts moves, rounds and nodes.
func (r *run) effort() int64 {
	effort := r.a.Work + r.root.taken() + r.extra
	if r.less != nil {
		effort += r.less.effort()
	}
	return effort
}
