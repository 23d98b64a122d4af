// This file orders the phases of a search by sets of freed applications, where servers are small enough for
// lists of patterns.

package embedded

import (
	"context"
	"math"

	"github.com/apportion/apportion/alloc/embedded/internal/leaf"
	"github.com/apportion/apportion/alloc/embedded/internal/sets"
	"github.com/apportion/apportion/alloc/embedded/internal/tree"
)

// searchSets searches the sets of freed applications: a local search, then branch and bound, then a
// polish for what is preferred among equals.
func (r *run) searchSets(ctx context.Context) {
	l := leaf.NewLeaves(r.s)
	l.Gap, l.States = r.opts.Gap, r.states(r.tune.States)
	r.tree = tree.New(ctx, l, r.tune, r.warmStart())
	r.improveSets(ctx, l)
	if l.Found {
		r.a.Adopt(leaf.Unpack(r.s, &l.Best))
	}
	r.a.Restore()
	r.a.Run(ctx, int64(r.tune.Polish*math.Min(r.moves(), r.tune.MostPolish)), 0, math.Inf(1))
	r.root = newRoot(ctx, r.p, r.tune, 0, r.target())
	r.extra += r.tree.Nodes + l.Judged + r.tree.Descent.Rounds
}

// improveSets searches until the gap is small enough or the effort is spent: by a local search, and by
// branch and bound with the decomposition as the bound of a node. What turns on a unit of a scarce kind is
// worth a longer local search, and another tree.
func (r *run) improveSets(ctx context.Context, l *leaf.Leaves) {
	if r.tree.RootBound <= l.Cut() {
		return
	}
	effort := r.setEffort()
	search := r.localSearch(l)
	search.Run(ctx, int64(r.tune.Tries*effort.tries))
	if r.branchSets(ctx, effort, 1) || !r.tree.TurnsOnUnit() {
		return
	}
	search.Run(ctx, int64(r.tune.MoreTries*effort.tries))
	if r.tree.TurnsOnUnit() && r.tune.Limits.Size > 0 {
		r.tree.BeginLimits()
		r.branchSets(ctx, effort, r.tune.Limits.Size)
	}
}

// setEffort is what a search of sets may take: sets tried by the local search, nodes of the tree, and work at
// its leaves.
type setEffort struct{ tries, nodes, work float64 }

// setEffort divides the effort. A node costs its rounds, each of them in proportion to what the
// decomposition looks at.
func (r *run) setEffort() setEffort {
	effort := float64(r.opts.Effort)
	unit := float64(len(r.s.Subsets) + len(r.s.EntryApp) + len(r.p.Apps) + r.s.Lists.Total)
	return setEffort{
		tries: math.Min(effort*math.Max(1, float64(r.p.Budget)/5), r.tune.MostMoves),
		nodes: math.Min(r.tune.Nodes*effort/unit, math.MaxInt32) / float64(r.tune.NodeRounds),
		work:  math.Min(r.tune.Subproblems*effort, math.MaxInt32),
	}
}

// branchSets goes on with the tree for that part of the effort, and reports whether it is finished.
func (r *run) branchSets(ctx context.Context, effort setEffort, part float64) bool {
	return r.tree.Run(ctx, r.tree.Nodes+int64(part*effort.nodes), r.tree.Work+int64(part*effort.work))
}

// localSearch makes a local search that starts from the best set known.
func (r *run) localSearch(l *leaf.Leaves) *sets.Search {
	if set := r.lastFreed(); set != nil {
		l.Judge(func(i int32) bool { return set[i] })
	}
	search := sets.New(l, r.tree.RootX, r.opts.Seed, r.tune)
	search.Load(l.Best.Free)
	return search
}

// warmStart returns what sets the multipliers to those of the last decision, nil where there was none.
func (r *run) warmStart() func(x []float64) {
	if r.opts.Warm == nil {
		return nil
	}
	return func(x []float64) { r.opts.Warm.apply(r.s, x) }
}
