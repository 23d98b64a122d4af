// This file holds the Solver: options, and the order of the phases.

package embedded

import (
	"context"
	"math"

	"github.com/apportion/apportion/alloc/solver"
)

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
	// restBoxesUnit is how many residual problems one unit of effort pays for at leaves with an instance of
	// their own, times the square of the servers, but at most boxesUnit: they get dearer, and with more
	// applications more of them prove less. restStateUnit is the states of an exact one.
	restBoxesUnit, restStateUnit = 40_000, 100
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
	if err := validate(inst); err != nil {
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
	p := newProblem(inst)
	if conflict := plainConflict(p); conflict != nil {
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
		conflict, rounds := pricedConflict(ctx, run.p)
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
	p     *problem
	opts  Options
	a     *annealer
	root  *root
	tree  *tree
	split *split      // nil where the servers are too large for lists of patterns
	rest  *restLeaves // of the tree where they are
	extra int64       // nodes and rounds of the proofs
}

func newRun(p *problem, opts *Options) *run {
	return &run{p: p, opts: *opts, a: newAnnealer(newState(p), opts.Seed)}
}

// search finds a bound and, if it can, a solution: by sets of freed applications where the servers
// are small enough for lists of patterns, else by annealing.
func (r *run) search(ctx context.Context) {
	r.a.construct()
	if s := newSplit(r.p, mostPatterns); s != nil {
		r.searchSets(ctx, s)
		return
	}
	r.warmUp(ctx)
	r.root = newRoot(ctx, r.p, r.opts.Effort, r.target())
	r.root.refine()
	r.root.improve(ctx, r.target())
	r.a.guide(r.root.d, r.root.descent.best)
	starts := r.newStarts()
	starts.next(ctx)
	// With the better incumbent the step rule comes further down.
	r.root.improve(ctx, r.target())
	for starts.next(ctx) {
	}
	r.branch(ctx)
	if r.tree != nil {
		r.extra += r.tree.nodes + r.tree.judged
	}
	r.a.restore()
	r.a.run(ctx, int64(polishing*r.moves()), 0, math.Inf(1))
}

// branch goes on by branch and bound on who is freed, with the prices by server as the bound of a node.
func (r *run) branch(ctx context.Context) {
	if r.p.budget == 0 || r.p.keepable == 0 || r.a.best.found && r.bound() <= r.goal() {
		return
	}
	r.plantTree()
	l := r.rest
	if best := &r.a.best; l.learn(best) {
		l.settle(ctx, func(i int32) bool { return best.free[i] })
	}
	if set := r.lastFreed(); set != nil {
		l.settle(ctx, func(i int32) bool { return set[i] })
	}
	unit := float64(len(r.p.types)*len(r.root.d.size) + len(r.p.apps))
	nodes := nodeUnit * float64(r.opts.Effort) / (priceRounds * unit)
	work := math.Min(boxesUnit, restBoxesUnit/r.square()) * float64(r.opts.Effort)
	r.tree.run(ctx, int64(math.Min(nodes, math.MaxInt32)), int64(math.Min(work, math.MaxInt32)))
	if l.best.found {
		r.a.adopt(&l.best)
	}
	r.root.d.decide(make([]choice, len(r.p.apps)))
	r.root.descent.bound = r.tree.rootBound
	copy(r.root.descent.best, r.tree.rootX)
	r.root.descent.back()
}

// plantTree makes the tree.
func (r *run) plantTree() {
	l := newRestLeaves(r.p)
	l.gap, l.states = r.opts.Gap, r.states(restStateUnit)
	l.patterns = int(math.Min(mostRestPatterns, patternsUnit*float64(r.opts.Effort)/r.square()))
	r.rest = l
	r.tree = newTreeOf(l, r.root.d, r.root.descent)
	r.tree.each, r.tree.leafRounds = priceRounds, priceRounds
}

// states returns how many states an exact leaf may take, with so many for a unit of effort.
func (r *run) states(unit float64) int {
	most := min(mostStates, mostStateBytes/(stateBytes+typeBytes*len(r.p.types)))
	return int(math.Min(unit*float64(r.opts.Effort), float64(most)))
}

// square returns the square of the number of servers.
func (r *run) square() float64 { return float64(r.p.servers) * float64(r.p.servers) }

// searchSets searches the sets of freed applications: a local search, then branch and bound, then a
// polish for what is preferred among equals.
func (r *run) searchSets(ctx context.Context, s *split) {
	l := newLeaves(s)
	r.split = s
	l.gap, l.states = r.opts.Gap, r.states(stateUnit)
	r.tree = newTree(ctx, l, r.warmStart(s))
	r.improveSets(ctx, l, r.setEffort(s))
	if l.found {
		r.a.adopt(unpack(s, &l.best))
	}
	r.a.restore()
	r.a.run(ctx, int64(polishing*math.Min(r.moves(), mostPolish)), 0, math.Inf(1))
	r.root = newRoot(ctx, r.p, 0, r.target())
	r.extra += r.tree.nodes + l.judged + r.tree.d.rounds
}

// setEffort is what a search of sets may take: sets tried by the local search, rounds of the decomposition,
// and work at leaves.
type setEffort struct{ tries, rounds, work float64 }

func (r *run) setEffort(s *split) setEffort {
	effort := float64(r.opts.Effort)
	unit := float64(len(s.subsets) + len(s.entryApp) + len(r.p.apps) + s.ps.total)
	return setEffort{
		tries:  math.Min(effort*math.Max(1, float64(r.p.budget)/5), mostMoves),
		rounds: math.Min(nodeUnit*effort/unit, math.MaxInt32),
		work:   math.Min(boxesUnit*effort, math.MaxInt32),
	}
}

// improveSets searches until the gap is small enough or the effort is spent: by a local search, and by
// branch and bound with the decomposition as the bound of a node. What turns on a unit of a scarce kind is
// worth a longer local search, and another tree.
func (r *run) improveSets(ctx context.Context, l *leaves, e setEffort) {
	if r.tree.rootBound <= l.cut() {
		return
	}
	search := r.localSearch(l)
	branch := func(part float64) bool {
		nodes, work := int64(part*e.rounds/nodeRounds), int64(part*e.work)
		return r.tree.run(ctx, r.tree.nodes+nodes, r.tree.work+work)
	}
	search.run(ctx, int64(e.tries))
	if branch(1) || !r.tree.turnsOnUnit() {
		return
	}
	search.run(ctx, int64(moreTries*e.tries))
	if r.tree.turnsOnUnit() {
		r.tree.beginLimits()
		branch(limited)
	}
}

// localSearch makes a local search that starts from the best set known.
func (r *run) localSearch(l *leaves) *setSearch {
	if set := r.lastFreed(); set != nil {
		l.judge(func(i int32) bool { return set[i] })
	}
	search := newSetSearch(l, r.tree.rootX, r.opts.Seed)
	search.load(l.best.free)
	return search
}

// warmStart returns what sets the multipliers of s to those of the last decision, nil where there was none.
func (r *run) warmStart(s *split) func(x []float64) {
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
	bound, best := r.root.bound(), &r.a.best
	if r.tree != nil {
		bound = math.Min(bound, math.Max(r.tree.bound(), best.objective))
	}
	if best.found && bound < best.objective+r.p.step-solver.ObjectiveTolerance {
		return best.objective // there is nothing between
	}
	return bound
}

// target is what the root bound should come down to.
func (r *run) target() float64 {
	if r.a.best.found {
		return r.a.best.objective
	}
	if r.root == nil {
		return blindTarget * float64(r.p.kinds)
	}
	return blindTarget * r.root.bound()
}

// goal is the utilization at which the search may stop.
func (r *run) goal() float64 {
	bound := r.bound()
	return bound - math.Max(solver.ObjectiveTolerance, float64(r.opts.Gap*math.Abs(bound)))
}

// solution turns the incumbent into an answer that has passed the referee.
func (r *run) solution() *solver.Solution {
	sol := &solver.Solution{Bound: math.Min(r.bound(), r.p.inst.Cap())}
	sol.Multipliers = r.root.multipliers()
	if r.split != nil {
		sol.Copies = copyPrices(r.split, r.tree.rootX)
	}
	relaxed := r.root.bound()
	if r.tree != nil {
		relaxed = math.Min(relaxed, r.tree.rootBound)
	}
	sol.Searched = sol.Bound < relaxed-solver.ObjectiveTolerance
	if !r.a.best.found {
		return sol
	}
	counts := r.p.decode(&r.a.best)
	if err := r.p.inst.Check(counts); err != nil {
		panic("embedded: the search's own answer: " + err.Error())
	}
	sol.Status, sol.Counts, sol.Objective = solver.Feasible, counts, r.p.inst.Objective(counts)
	if sol.Bound-sol.Objective <= solver.ObjectiveTolerance {
		sol.Bound = math.Max(sol.Bound, sol.Objective) // both are rounded
		sol.Status, sol.Proven = solver.Optimal, solver.ByUtilization
	}
	return sol
}

// effort counts moves, rounds and nodes.
func (r *run) effort() int64 { return r.a.moves + r.root.taken() + r.extra }
