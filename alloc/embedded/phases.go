// This file orders the phases of a search.

package embedded

import (
	"context"
	"math"

	"github.com/apportion/apportion/alloc/embedded/internal/pattern"
)

// search finds a bound and, if it can, a solution: by sets of freed applications where the servers
// are small enough for lists of patterns, else by annealing on containers.
func (r *run) search(ctx context.Context) {
	r.a.Construct(ctx)
	if r.p.Plain {
		r.s = pattern.New(r.p, pattern.MostPatterns)
	}
	if r.s == nil && r.within != nil {
		r.refused = true
		return
	}
	if r.s != nil {
		r.searchSets(ctx)
	} else {
		r.searchContainers(ctx)
	}
	if r.p.Plain && !r.a.Best.Found && !r.refused {
		r.fillMinima(ctx)
	}
}

// fillMinima looks for a solution where the cluster is so full that no search finds one, and improves what it
// finds. With nobody to free, no way to place the minima means that there is no solution.
func (r *run) fillMinima(ctx context.Context) {
	impossible := r.a.FillMinima(ctx, int64(math.Min(r.tune.Filled*float64(r.opts.Effort), math.MaxInt32)))
	r.unfillable = impossible && r.p.Pinnable == 0
	if r.a.Best.Found {
		r.a.Polish(ctx, int64(r.tune.Polish*r.work()))
	}
}
