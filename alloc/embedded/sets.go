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

// searchSets searches the sets of freed applications, then makes a polish for what is preferred among equals.
func (r *run) searchSets(ctx context.Context) {
	l := leaf.NewLeaves(r.s)
	// The leaves stop at the same gap as the whole search, else the tree would split what nobody asks for.
	l.Gap, l.States = r.opts.Gap, r.states(r.tune.States)
	r.tree = tree.New(ctx, l, r.tune, r.warmStart())
	r.improveSets(ctx, l)
	// The incumbent of the sets may be worse than that of the annealer, which kept what runs now: Adopt
	// compares.
	if l.Found {
		r.a.Adopt(leaf.Unpack(r.s, &l.Best))
	}
	r.a.Polish(ctx, int64(r.tune.Polish*math.Min(r.work(), r.tune.MostPolish)))
	// The prices come last: they are for the certificate, and the incumbent says how low they need to go.
	r.root = newRoot(ctx, r.p, rootOptions{r.tune, 0, false, r.attained(), nil})
	r.extra += r.tree.Nodes + l.Judged + r.tree.Descent.Rounds
}

// improveSets searches until the gap is small enough or the effort is spent: by a walk over sets, then by branch
// and bound with the decomposition as the bound of a node. What turns on a unit of a scarce kind is worth
// another tree.
func (r *run) improveSets(ctx context.Context, l *leaf.Leaves) {
	// The root has already proven that nothing better than the incumbent exists.
	if r.tree.RootBound <= l.Cut() {
		return
	}
	// Whom the last decision freed is a good set to begin with, where little has changed.
	if set := r.lastFreed(); set != nil {
		l.Judge(func(i int32) bool { return set[i] })
	}
	effort := float64(r.opts.Effort)
	// tries = effort max(1, B/5), B the budget of adjustments: more of them make more sets.
	tries := math.Min(effort*math.Max(1, float64(r.p.Budget)/5), r.tune.MostEffort)
	sets.New(l, r.tree.RootX, r.opts.Seed, r.tune).Run(ctx, int64(r.tune.Tries*tries))
	// A node costs its rounds, each of them in proportion to what the decomposition looks at.
	unit := float64(len(r.s.Subsets) + len(r.s.EntryApp) + len(r.p.Apps) + r.s.Lists.Total)
	// nodes = effort Nodes / (cost of a round) / (rounds of a node).
	nodes := math.Min(r.tune.Nodes*effort/unit, math.MaxInt32) / float64(r.tune.NodeRounds)
	work := math.Min(r.tune.Subproblems*effort, math.MaxInt32)
	// A tree that is finished has nothing left to limit.
	if r.tree.Run(ctx, int64(nodes), r.tree.Work+int64(work)) || !r.tree.TurnsOnUnit() || r.tune.Limits.Size == 0 {
		return
	}
	r.tree.BeginLimits()
	// Nodes and work are counted from the beginning, so that the second tree gets its share on top.
	r.tree.Run(ctx, r.tree.Nodes+int64(r.tune.Limits.Size*nodes), r.tree.Work+int64(r.tune.Limits.Size*work))
}

// warmStart returns what sets the multipliers to those of the last decision, nil where there was none.
func (r *run) warmStart() func(x []float64) {
	if r.opts.Warm == nil {
		return nil
	}
	return func(x []float64) { r.opts.Warm.apply(r.s, x) }
}
