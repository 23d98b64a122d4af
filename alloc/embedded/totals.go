// This file uses the exact bound of joined servers: as a bound, and as the numbers of containers to begin with.

package embedded

import (
	"context"
	"math"

	"github.com/apportion/apportion/alloc/embedded/internal/lagrange"
	"github.com/apportion/apportion/alloc/embedded/internal/tuning"
	"github.com/apportion/apportion/alloc/solver"
)

// byTotals bounds an instance other than the paper's P2 by what all use together, and packs the numbers that attain the
// bound, or are next to the best, where they can be packed at once. With the best ones the search has nothing left to do but to prove it; else the numbers were too
// many for the servers one by one, and the bound alone stays.
func (r *run) byTotals(ctx context.Context) {
	if r.p.Plain || r.tune.Totals <= 0 || ctx.Err() != nil {
		return
	}
	t := lagrange.NewTotals(r.p, nil, r.p.Inst.LossBudget)
	if t == nil {
		return
	}
	// Good prices first: the better they are the fewer ways does the exact search look at.
	t.Lower(ctx, r.tune.TotalRounds)
	q := packer{r.p.Inst, r.tune, r.opts.Seed}
	found := t.Best(ctx, totalsWork(r.tune, r.opts.Effort), lagrange.Wanted{Above: r.attained() + solver.ObjectiveTolerance/2, Most: r.tune.Packed})
	r.totals = found.Bound
	r.joined = true
	// There is none where what is attained already is as good, or the work was spent.
	if placed := q.first(ctx, found.Choices); placed != nil {
		r.a.Load(placed)
	}
}

// totalsWork returns how many pairs of a state and a way an effort pays for. It is the same on every machine, however large the
// effort: a float64 that int64 does not hold becomes another number on each.
func totalsWork(tune *tuning.Numbers, effort Effort) int64 {
	return int64(math.Min(tune.Totals*float64(effort), math.MaxInt32))
}
