// This file orders the phases of a search by sets of freed applications, where servers are small enough for
// lists of patterns.

package embedded

import (
	"context"
	"math"

	"github.com/apportion/apportion/alloc/embedded/internal/leaf"
	"github.com/apportion/apportion/alloc/embedded/internal/pattern"
	"github.com/apportion/apportion/alloc/embedded/internal/sets"
	"github.com/apportion/apportion/alloc/embedded/internal/tree"
)

// searchListed begins with a first state, and searches by sets where servers have lists of patterns. It reports whether they
// have.
func (r *run) searchListed(ctx context.Context) bool {
	r.a.Construct(ctx)
	if start := r.p.Inst.Start; start != nil && r.p.Inst.Check(start) == nil {
		r.a.Load(start)
	}
	if r.p.Plain {
		r.s = pattern.New(r.p, pattern.MostPatterns)
	}
	if r.s == nil {
		return false
	}
	r.searchSets(ctx)
	r.fillMinima(ctx)
	return true
}

// searchSets searches the sets of freed applications, then makes a polish for what is preferred among equals.
func (r *run) searchSets(ctx context.Context) {
	// A search of the default effort is hardly ever worse than a quick one, and mostly proves its answer.
	if r.opts.Effort > Default {
		r.searchLess(ctx)
	}
	// Leaves are shared by the walk over sets and the tree: what one of them has settled the other knows.
	l := leaf.NewLeaves(r.s)
	// The leaves stop at the same gap as the whole search, else the tree would split what nobody asks for.
	l.Gap, l.States = r.opts.Gap, r.states(r.tune.States)
	r.tree = tree.New(ctx, l, r.tune, r.warmStart())
	if r.within != nil {
		// A part of the effort tells as a rule, and lowers the bound on the way.
		finished := r.improveSets(ctx, l, min(r.opts.Effort, Quick/4))
		if r.refused = l.Found && r.exceeds(leaf.Unpack(r.s, &l.Best)); r.refused {
			r.limitSets(ctx, min(r.opts.Effort, Quick/4), finished)
			r.extra += r.tree.Nodes + l.Judged + r.tree.Descent.Rounds
			return
		}
	}
	r.limitSets(ctx, r.opts.Effort, r.improveSets(ctx, l, r.opts.Effort))
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
// and bound with the decomposition as the bound of a node. It reports whether there is nothing left to search.
func (r *run) improveSets(ctx context.Context, l *leaf.Leaves, effort Effort) (finished bool) {
	// The root has already proven that nothing better than the incumbent exists.
	if r.tree.RootBound <= l.Cut() {
		return true
	}
	// Whom the last decision freed is a good set to begin with, where little has changed.
	if set := r.lastFreed(); set != nil {
		l.Judge(func(i int32) bool { return set[i] })
	}
	// tries = effort max(1, B/5), B the budget of adjustments: more of them make more sets.
	tries := math.Min(float64(effort)*math.Max(1, float64(r.p.Budget)/5), r.tune.MostEffort)
	sets.New(l, r.tree.RootX, r.opts.Seed, r.tune).Run(ctx, int64(r.tune.Tries*tries))
	nodes, work := r.setNodes(effort)
	return r.tree.Run(ctx, int64(nodes), r.tree.Work+int64(work))
}

// setNodes returns how many nodes, and how much work at leaves, so much effort pays for.
func (r *run) setNodes(effort Effort) (nodes, work float64) {
	// A node costs its rounds, each of them in proportion to what the decomposition looks at.
	unit := float64(len(r.s.Subsets) + len(r.s.EntryApp) + len(r.p.Apps) + r.s.Lists.Total)
	// nodes = effort Nodes / (cost of a round) / (rounds of a node).
	nodes = math.Min(r.tune.Nodes*float64(effort)/unit, math.MaxInt32) / float64(r.tune.NodeRounds)
	return nodes, math.Min(r.tune.Subproblems*float64(effort), math.MaxInt32)
}

// limitSets goes on with another tree where what is left turns on a unit of a scarce kind. A tree that is finished has
// nothing left to limit.
func (r *run) limitSets(ctx context.Context, effort Effort, finished bool) {
	if finished || !r.tree.TurnsOnUnit() || r.tune.Limits.Size == 0 {
		return
	}
	r.tree.BeginLimits()
	// Nodes and work are counted from the beginning, so that the second tree gets its share on top.
	nodes, work := r.setNodes(effort)
	r.tree.Run(ctx, r.tree.Nodes+int64(r.tune.Limits.Size*nodes), r.tree.Work+int64(r.tune.Limits.Size*work))
}

// warmStart returns what sets the multipliers to those of the last decision, nil where there was none.
func (r *run) warmStart() func(x []float64) {
	if r.opts.Warm == nil {
		return nil
	}
	return func(x []float64) { r.opts.Warm.apply(r.s, x) }
}
