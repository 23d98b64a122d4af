// This file orders the phases of a search by containers, where servers hold too much for lists of patterns:
// annealing with prices as its guide, then branch and bound with prices by server.

package embedded

import (
	"context"
	"math"

	"github.com/apportion/apportion/alloc/embedded/internal/leaf"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/embedded/internal/tree"
	"github.com/apportion/apportion/alloc/solver"
)

// mostRestPatterns bounds the patterns that a leaf with an instance of its own may list at any effort.
const mostRestPatterns = 200_000

// searchContainers anneals several times, branches, and polishes what comes out.
func (r *run) searchContainers(ctx context.Context) {
	if r.p.Plain {
		r.searchLess(ctx)
	}
	// On fresh clusters a search below maxima answers soon, so that prices come first there.
	if r.listed && r.p.Pinnable == 0 {
		r.lowerRoot(ctx)
		if !r.reached() {
			r.warmUp(ctx, r.goal())
		}
	} else {
		r.warmUp(ctx, r.p.Inst.Cap()-solver.ObjectiveTolerance)
		r.byTotals(ctx)
		r.lowerRoot(ctx)
	}
	// With a best choice of joined servers or a search below maxima an answer at the goal is proven, or as good as proven.
	starts := r.newStarts()
	for !((r.divided || r.joined) && r.reached()) && starts.next(ctx) {
		if r.opts.brief && !r.a.Best.Found {
			return
		}
	}
	r.shift(ctx)
	r.branch(ctx)
	// What branching took is part of the effort that is reported.
	if r.tree != nil {
		r.extra += r.tree.Nodes + r.tree.Judged
	}
	r.polish(ctx)
}

// searchLess begins with a search of the next lower of the usual efforts, so that more effort is never worse than that. Instances
// of other than the paper's P2 have a program where they are small, and are answered by several searches then.
func (r *run) searchLess(ctx context.Context) {
	less := r.opts.Effort.below()
	if less == 0 {
		return
	}
	opts := r.opts
	opts.Effort = less
	r.less = newRun(r.p, &opts, r.tune)
	r.less.knowledge = r.knowledge
	r.less.search(ctx)
	if r.less.a.Best.Found && !r.less.refused {
		r.a.Adopt(&r.less.a.Best)
	}
}

// lowerRoot computes the root bound, sets the guide, and searches below maxima where there are ceilings.
func (r *run) lowerRoot(ctx context.Context) {
	effort := r.opts.Effort
	// What is proven already needs no more than prices for its certificate.
	if r.joined && r.reached() {
		effort = 1
	}
	opts := rootOptions{r.tune, effort, true, r.attained(), nil}
	r.root = newRoot(ctx, r.p, opts)
	if r.p.Spreads && !r.reached() {
		r.root.pricePieces(ctx, &opts)
	}
	// The guide is set before any start: annealing without prices packs what is scarce first come, first
	// served.
	r.a.Guide(r.root.d, r.root.descent.Best)
	if len(r.p.Ceilings) > 0 && ctx.Err() == nil {
		counts := r.keepCeilings()
		if r.listed {
			r.divide(ctx, counts)
		}
	}
}

// polish makes a polish for what is preferred among equals: less loss, then fewer adjusted, at the utilization that there is.
func (r *run) polish(ctx context.Context) {
	if r.settled() {
		return
	}
	work := r.work()
	if len(r.p.Ceilings) > 0 {
		work = math.Min(work, r.tune.MostPolish)
	}
	r.a.Polish(ctx, int64(r.tune.Polish*work))
}

// settled reports whether no solution is preferred to the incumbent: every application has one number that it may have, so that all
// solutions are worth as much and lose as much, and everybody stays who may.
func (r *run) settled() bool {
	if !r.a.Best.Found || r.p.Spreads {
		return false
	}
	for i := range r.p.Apps {
		if app := &r.p.Inst.Apps[i]; app.Min != app.Max || app.Elective || r.p.Apps[i].Pinnable && r.a.Best.Free[i] {
			return false
		}
	}
	return true
}

// warmUp finds an incumbent, as the root bound needs one to aim at, and nothing is repaired for that.
// It ends at goal, which is what no solution can exceed while there is no bound.
func (r *run) warmUp(ctx context.Context, goal float64) {
	for range r.tune.WarmUps {
		r.a.Run(ctx, int64(r.tune.WarmUp*r.work()), r.tune.Hot*r.a.Unit(), goal)
		if r.a.Best.Found {
			break
		}
		// No solution yet: minima and budgets weigh more in the next warm-up.
		r.a.Insist()
	}
	r.a.Hope = r.tune.Hope
}

// starts spend the work. Where applications may be exchanged one annealing settles on one set of them:
// several from the start find more than a long one, and where they come to the same utilization there is
// hardly more to find.
type starts struct {
	r                *run
	n, count, agreed int
	work             int64 // of each
}

// newStarts divides the work among the starts.
func (r *run) newStarts() *starts {
	work := r.work()
	s := &starts{r: r, count: 1}
	if r.p.Servers <= r.tune.StartServers {
		each := r.tune.ShortStart
		if r.p.Budget <= 0 {
			each = r.tune.FreshStart
		}
		// count = floor(sqrt(work / (each size))), at least 1: with more work both the number of starts and
		// their length grow.
		s.count = int(math.Max(1, math.Floor(math.Sqrt(work/(each*float64(r.p.Servers+len(r.p.Apps)))))))
	}
	s.work = int64(work / float64(s.count))
	// The search with less effort counts as a start.
	if r.less != nil && r.less.a.Best.Found {
		s.agreed = 1
	}
	return s
}

// next anneals from the next start, and reports whether there was one.
func (s *starts) next(ctx context.Context) bool {
	r := s.r
	if s.n == s.count || s.agreed == r.tune.Agreeing || ctx.Err() != nil {
		return false
	}
	before := r.a.Best.Objective
	// The first start goes on from the warm-up.
	if s.n > 0 {
		r.a.Restart(ctx)
	}
	s.n++
	r.a.Run(ctx, s.work, r.tune.Hot*r.a.Unit(), r.goal())
	switch best := r.a.Best.Objective; {
	// A better utilization starts the count of agreeing starts anew.
	case best > before+solver.ObjectiveTolerance:
		s.agreed = 1
	// The start has come to the best again, without improving it.
	case r.a.Reached > best-solver.ObjectiveTolerance:
		s.agreed++
	}
	return true
}

// branch goes on by branch and bound on who is freed, with the prices by server as the bound of a node.
// Nobody to free or nothing to gain: the tree would have one node.
func (r *run) branch(ctx context.Context) {
	if ctx.Err() != nil || !r.p.Plain || r.p.Budget == 0 || r.p.Pinnable == 0 || r.a.Best.Found && r.bound() <= r.goal() {
		return
	}
	l := r.newRests()
	r.tree = tree.Of(l, r.root.d, r.root.descent, r.tune)
	// Prices of a set are those of the node, some rounds further.
	r.tree.LeafRounds = r.tune.PriceRounds
	// The set of the incumbent is settled first, since a better packing of it raises every cut.
	if best := &r.a.Best; l.Learn(best) {
		l.Settle(ctx, func(i int32) bool { return best.Free[i] })
	}
	if set := r.lastFreed(); set != nil {
		l.Settle(ctx, func(i int32) bool { return set[i] })
	}
	r.tree.Run(ctx, r.restNodes(), r.restWork())
	if l.Best.Found {
		r.a.Adopt(&l.Best)
	}
	// The root goes on from where it was before the nodes moved it.
	r.root.d.Decide(make([]problem.Choice, len(r.p.Apps)))
	r.root.descent.Bound = r.tree.RootBound
	copy(r.root.descent.Best, r.tree.RootX)
	r.root.descent.Back()
}

// newRests returns what answers the leaves of the tree.
func (r *run) newRests() *leaf.Rests {
	l := leaf.NewRests(r.p)
	l.Gap, l.States = r.opts.Gap, r.states(r.tune.RestStates)
	// The limit falls with the square of the servers, see tuning.Budgets.
	l.Patterns = int(math.Min(mostRestPatterns, r.tune.RestPatterns*float64(r.opts.Effort)/r.square()))
	return l
}

// restNodes returns how many nodes the tree may have.
func (r *run) restNodes() int64 {
	// A round costs types x classes + applications, see lagrange.Dual.
	unit := float64(len(r.p.Types)*len(r.root.d.Size) + len(r.p.Apps))
	nodes := r.tune.Nodes * float64(r.opts.Effort) / (float64(r.tune.PriceRounds) * unit)
	return int64(math.Min(nodes, math.MaxInt32))
}

// restWork returns how much work at leaves the tree may have: less for many servers, whose lists of patterns are long.
func (r *run) restWork() int64 {
	work := math.Min(r.tune.Subproblems, r.tune.RestSubproblems/r.square()) * float64(r.opts.Effort)
	return int64(math.Min(work, math.MaxInt32))
}

// square returns the square of the number of servers.
func (r *run) square() float64 { return float64(r.p.Servers) * float64(r.p.Servers) }
