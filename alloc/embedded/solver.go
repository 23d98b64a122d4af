// This file enumerates small instances: depth first over the containers of every application on
// every server, with bounds, in lexicographic order. It proves the whole preference among optima.

package embedded

import (
	"context"
	"math"

	"github.com/apportion/apportion/alloc/embedded/internal/conflict"
	"github.com/apportion/apportion/alloc/embedded/internal/counting"
	"github.com/apportion/apportion/alloc/embedded/internal/enumerate"
	"github.com/apportion/apportion/alloc/embedded/internal/lagrange"
	"github.com/apportion/apportion/alloc/embedded/internal/leaf"
	"github.com/apportion/apportion/alloc/embedded/internal/pattern"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/embedded/internal/search"
	"github.com/apportion/apportion/alloc/embedded/internal/sets"
	"github.com/apportion/apportion/alloc/embedded/internal/tree"
	"github.com/apportion/apportion/alloc/solver"
)

// enumerable reports whether the instance is small enough to try.
func (r *run) enumerable() bool { return r.p.Servers*len(r.p.Apps) <= enumerate.MostCells }

// enumerate replaces sol by the proven answer if it can finish.
func (r *run) enumerate(ctx context.Context, sol *solver.Solution) {
	e, done := enumerate.Run(ctx, r.root.d, r.root.descent.Best, sol.Counts, problem.MulSaturated(enumerate.NodeWork, int64(r.opts.Effort)))
	r.extra += e.Nodes
	if e.Ordered {
		counts := e.Counts()
		if err := r.p.Inst.Check(counts); err != nil {
			panic("embedded: the enumeration's own answer: " + err.Error())
		}
		sol.Counts = counts
		settle(sol, r.p.Inst)
	}
	switch {
	case done && e.Found:
		sol.Status, sol.Proven, sol.Bound, sol.Searched = solver.Optimal, solver.ByOrder, sol.Objective, true
	case done:
		*sol = *infeasible(conflict.Smallest(ctx, r.p, e.Limit))
	}
}

// Name is the name under which a certificate's settings know the solver of this package.
const Name = "embedded"

// Effort is how much work a Solver does: moves of annealing for each server and application, sets tried,
// nodes, leaves and rounds are in proportion. It is never a time, so that the same problem has the same
// answer everywhere.
type Effort int64

// The usual efforts. Any other positive number may be used. Prove goes on until the optimum is proven,
// where branch and bound can do that at all.
const (
	Quick    Effort = 20
	Default  Effort = 100
	Thorough Effort = 1000
	Prove    Effort = 1_000_000
)

const (
	// nodeUnit is the work of branch and bound, in sets, entries and applications looked at, that
	// one unit of effort pays for; stateUnit the states of an exact leaf.
	nodeUnit, stateUnit = 40_000, 50
	// restSubproblemsUnit is how many residual problems one unit of effort pays for at leaves with an instance of
	// their own, times the square of the servers, but at most SubproblemsUnit: they get dearer, and with more
	// applications more of them prove less. restStateUnit is the states of an exact one.
	restSubproblemsUnit, restStateUnit = 40_000, 100
	// patternsUnit is how many patterns such a leaf may list, times the square of the servers; at most
	// mostRestPatterns.
	patternsUnit, mostRestPatterns = 400_000, 200_000
	// priceRounds are the subgradient rounds of a node with prices by server.
	priceRounds = 25
	// mostStates bounds the states of an exact leaf at any effort, mostStateBytes about what they take:
	// stateBytes each, and typeBytes more for each type.
	mostStates                            = 500_000
	mostStateBytes, stateBytes, typeBytes = 128 << 20, 128, 16
	// moreTries is how many times as many sets the longer local search tries; limited is how
	// large, in parts of the tree without, one with limits is.
	moreTries, limited = 2, 1.5
)

// Options adjusts a Solver. nil and the zero value mean the defaults.
type Options struct {
	// Effort is the budget; 0 means Default.
	Effort Effort
	// Gap stops the search early: once (bound - utilization)/bound is at most Gap, in [0, 1].
	// 0 means only a proven optimum stops it.
	Gap float64
	// Seed selects the random numbers; every seed, 0 too, gives a reproducible answer.
	Seed uint64
	// Warm is what the last decision left, see WarmFrom; nil: nothing.
	Warm *Warm
}

// Solver answers P2 as the package comment says. It is safe for concurrent use.
type Solver struct{ opts Options }

// New returns a Solver; nil options mean the defaults, and so do an Effort below 1 and a Gap that
// is no number in [0, 1].
func New(opts *Options) *Solver {
	s := &Solver{}
	if opts != nil {
		s.opts = *opts
	}
	if s.opts.Effort < 1 {
		s.opts.Effort = Default
	}
	if !(s.opts.Gap >= 0 && s.opts.Gap <= 1) {
		s.opts.Gap = 0
	}
	return s
}

var _ solver.Solver = (*Solver)(nil)

// Solve implements solver.Solver. The error is a *apportion.FieldError for an instance that is no
// instance: vectors of unequal length, negative quantities, servers that do not exist.
func (s *Solver) Solve(ctx context.Context, inst *solver.Instance) (*solver.Solution, error) {
	if err := inst.Validate(); err != nil {
		return nil, err
	}
	sol := s.solve(ctx, inst)
	sol.By = s.settings()
	return sol, nil
}

// settings is what the answers of s depend on beside the instance.
func (s *Solver) settings() solver.Settings {
	return solver.Settings{Solver: Name, Effort: int64(s.opts.Effort), Gap: s.opts.Gap, Seed: s.opts.Seed, Warm: s.opts.Warm != nil}
}

// solve answers an instance that has been checked.
func (s *Solver) solve(ctx context.Context, inst *solver.Instance) *solver.Solution {
	p := problem.New(inst)
	if conflict := counting.Conflict(p); conflict != nil {
		return infeasible(conflict)
	}
	run := newRun(p, &s.opts)
	run.search(ctx)
	// Enumeration replaces the search's answer where it can finish; prices come last, because they
	// only matter when nothing was found.
	sol := run.solution()
	if run.enumerable() {
		run.enumerate(ctx, sol)
	}
	if !sol.Status.HasSolution() && sol.Status != solver.Infeasible {
		conflict, rounds := conflict.Priced(ctx, run.p)
		run.extra += rounds
		if conflict == nil {
			conflict = run.searchedConflict(ctx)
		}
		if conflict != nil {
			sol = infeasible(conflict)
		}
	}
	sol.Effort = run.effort()
	sol.Interrupted = ctx.Err() != nil
	return sol
}

func infeasible(conflict *solver.Conflict) *solver.Solution {
	return &solver.Solution{Status: solver.Infeasible, Bound: math.Inf(-1), Conflict: conflict}
}

// run is one call of Solve.
type run struct {
	p     *problem.Problem
	opts  Options
	a     *search.Annealer
	root  *root
	tree  *tree.Tree
	split *pattern.Cells // nil where the servers are too large for lists of patterns
	rest  *leaf.Rests    // of the tree where they are
	extra int64          // nodes and rounds of the proofs
}

func newRun(p *problem.Problem, opts *Options) *run {
	return &run{p: p, opts: *opts, a: search.New(search.NewState(p), opts.Seed)}
}

// search finds a bound and, if it can, a solution: by sets of freed applications where the servers
// are small enough for lists of patterns, else by annealing.
func (r *run) search(ctx context.Context) {
	r.a.Construct()
	if s := pattern.New(r.p, pattern.MostPatterns); s != nil {
		r.searchSets(ctx, s)
		return
	}
	r.warmUp(ctx)
	r.root = newRoot(ctx, r.p, r.opts.Effort, r.target())
	r.root.refine()
	r.root.improve(ctx, r.target())
	r.a.Guide(r.root.d, r.root.descent.Best)
	starts := r.newStarts()
	starts.next(ctx)
	// With the better incumbent the step rule comes further down.
	r.root.improve(ctx, r.target())
	for starts.next(ctx) {
	}
	r.branch(ctx)
	if r.tree != nil {
		r.extra += r.tree.Nodes + r.tree.Judged
	}
	r.a.Restore()
	r.a.Run(ctx, int64(polishing*r.moves()), 0, math.Inf(1))
}

// branch goes on by branch and bound on who is freed, with the prices by server as the bound of a node.
func (r *run) branch(ctx context.Context) {
	if r.p.Budget == 0 || r.p.Pinnable == 0 || r.a.Best.Found && r.bound() <= r.goal() {
		return
	}
	r.newRestTree()
	l := r.rest
	if best := &r.a.Best; l.Learn(best) {
		l.Settle(ctx, func(i int32) bool { return best.Free[i] })
	}
	if set := r.lastFreed(); set != nil {
		l.Settle(ctx, func(i int32) bool { return set[i] })
	}
	unit := float64(len(r.p.Types)*len(r.root.d.Size) + len(r.p.Apps))
	nodes := nodeUnit * float64(r.opts.Effort) / (priceRounds * unit)
	work := math.Min(tree.SubproblemsUnit, restSubproblemsUnit/r.square()) * float64(r.opts.Effort)
	r.tree.Run(ctx, int64(math.Min(nodes, math.MaxInt32)), int64(math.Min(work, math.MaxInt32)))
	if l.Best.Found {
		r.a.Adopt(&l.Best)
	}
	r.root.d.Decide(make([]problem.Choice, len(r.p.Apps)))
	r.root.descent.Bound = r.tree.RootBound
	copy(r.root.descent.Best, r.tree.RootX)
	r.root.descent.Back()
}

// newRestTree makes the tree.
func (r *run) newRestTree() {
	l := leaf.NewRests(r.p)
	l.Gap, l.States = r.opts.Gap, r.states(restStateUnit)
	l.Patterns = int(math.Min(mostRestPatterns, patternsUnit*float64(r.opts.Effort)/r.square()))
	r.rest = l
	r.tree = tree.Of(l, r.root.d, r.root.descent)
	r.tree.Each, r.tree.LeafRounds = priceRounds, priceRounds
}

// states returns how many states an exact leaf may take, with so many for a unit of effort.
func (r *run) states(unit float64) int {
	most := min(mostStates, mostStateBytes/(stateBytes+typeBytes*len(r.p.Types)))
	return int(math.Min(unit*float64(r.opts.Effort), float64(most)))
}

// square returns the square of the number of servers.
func (r *run) square() float64 { return float64(r.p.Servers) * float64(r.p.Servers) }

// searchSets searches the sets of freed applications: a local search, then branch and bound, then a
// polish for what is preferred among equals.
func (r *run) searchSets(ctx context.Context, s *pattern.Cells) {
	l := leaf.NewLeaves(s)
	r.split = s
	l.Gap, l.States = r.opts.Gap, r.states(stateUnit)
	r.tree = tree.New(ctx, l, r.warmStart(s))
	r.improveSets(ctx, l, r.setEffort(s))
	if l.Found {
		r.a.Adopt(leaf.Unpack(s, &l.Best))
	}
	r.a.Restore()
	r.a.Run(ctx, int64(polishing*math.Min(r.moves(), mostPolish)), 0, math.Inf(1))
	r.root = newRoot(ctx, r.p, 0, r.target())
	r.extra += r.tree.Nodes + l.Judged + r.tree.D.Rounds
}

// setEffort is what a search of sets may take: sets tried by the local search, rounds of the decomposition,
// and work at leaves.
type setEffort struct{ tries, rounds, work float64 }

func (r *run) setEffort(s *pattern.Cells) setEffort {
	effort := float64(r.opts.Effort)
	unit := float64(len(s.Subsets) + len(s.EntryApp) + len(r.p.Apps) + s.Ps.Total)
	return setEffort{
		tries:  math.Min(effort*math.Max(1, float64(r.p.Budget)/5), mostMoves),
		rounds: math.Min(nodeUnit*effort/unit, math.MaxInt32),
		work:   math.Min(tree.SubproblemsUnit*effort, math.MaxInt32),
	}
}

// improveSets searches until the gap is small enough or the effort is spent: by a local search, and by
// branch and bound with the decomposition as the bound of a node. What turns on a unit of a scarce kind is
// worth a longer local search, and another tree.
func (r *run) improveSets(ctx context.Context, l *leaf.Leaves, e setEffort) {
	if r.tree.RootBound <= l.Cut() {
		return
	}
	search := r.localSearch(l)
	branch := func(part float64) bool {
		nodes, work := int64(part*e.rounds/tree.NodeRounds), int64(part*e.work)
		return r.tree.Run(ctx, r.tree.Nodes+nodes, r.tree.Work+work)
	}
	search.Run(ctx, int64(e.tries))
	if branch(1) || !r.tree.TurnsOnUnit() {
		return
	}
	search.Run(ctx, int64(moreTries*e.tries))
	if r.tree.TurnsOnUnit() {
		r.tree.BeginLimits()
		branch(limited)
	}
}

// localSearch makes a local search that starts from the best set known.
func (r *run) localSearch(l *leaf.Leaves) *sets.Search {
	if set := r.lastFreed(); set != nil {
		l.Judge(func(i int32) bool { return set[i] })
	}
	search := sets.New(l, r.tree.RootX, r.opts.Seed)
	search.Load(l.Best.Free)
	return search
}

// warmStart returns what sets the multipliers of s to those of the last decision, nil where there was none.
func (r *run) warmStart(s *pattern.Cells) func(x []float64) {
	if r.opts.Warm == nil {
		return nil
	}
	return func(x []float64) { r.opts.Warm.apply(s, x) }
}

// lastFreed returns whom the warm start has freed, or nil.
func (r *run) lastFreed() []bool {
	if r.opts.Warm == nil {
		return nil
	}
	return r.opts.Warm.set(r.p)
}

// bound returns the best bound.
func (r *run) bound() float64 {
	bound, best := r.root.bound(), &r.a.Best
	if r.tree != nil {
		bound = math.Min(bound, math.Max(r.tree.Bound(), best.Objective))
	}
	if best.Found && bound < best.Objective+r.p.Step-solver.ObjectiveTolerance {
		return best.Objective // there is nothing between
	}
	return bound
}

// target is what the root bound should come down to.
func (r *run) target() float64 {
	if r.a.Best.Found {
		return r.a.Best.Objective
	}
	if r.root == nil {
		return lagrange.BlindTarget * float64(r.p.Kinds)
	}
	return lagrange.BlindTarget * r.root.bound()
}

// goal is the utilization at which the search may stop.
func (r *run) goal() float64 {
	bound := r.bound()
	return bound - math.Max(solver.ObjectiveTolerance, float64(r.opts.Gap*math.Abs(bound)))
}

// solution turns the incumbent into an answer that has passed the referee.
func (r *run) solution() *solver.Solution {
	sol := &solver.Solution{Bound: math.Min(r.bound(), r.p.Inst.Cap())}
	sol.Multipliers = r.root.multipliers()
	if r.split != nil {
		sol.Copies = lagrange.CopyPrices(r.split, r.tree.RootX)
	}
	relaxed := r.root.bound()
	if r.tree != nil {
		relaxed = math.Min(relaxed, r.tree.RootBound)
	}
	sol.Searched = sol.Bound < relaxed-solver.ObjectiveTolerance
	if !r.a.Best.Found {
		return sol
	}
	counts := r.p.Decode(&r.a.Best)
	if err := r.p.Inst.Check(counts); err != nil {
		panic("embedded: the search's own answer: " + err.Error())
	}
	sol.Counts = counts
	settle(sol, r.p.Inst)
	return sol
}

// settle fills in what follows from the counts and the bound of sol.
func settle(sol *solver.Solution, inst *solver.Instance) {
	sol.Status, sol.Proven, sol.Objective = solver.Feasible, solver.ByNothing, inst.Objective(sol.Counts)
	if sol.Bound-sol.Objective <= solver.ObjectiveTolerance {
		sol.Bound = math.Max(sol.Bound, sol.Objective) // both are rounded
		sol.Status, sol.Proven = solver.Optimal, solver.ByUtilization
	}
}

// effort counts moves, rounds and nodes.
func (r *run) effort() int64 { return r.a.Moves + r.root.taken() + r.extra }
