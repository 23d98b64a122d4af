// This file solves P2 with ceilings by maxima: what the applications below a ceiling may have is divided among them
// beforehand, which leaves an instance without ceilings, whose every solution keeps them.

package embedded

import (
	"context"
	"slices"

	"github.com/apportion/apportion/alloc/embedded/internal/lagrange"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/solver"
)

// slice is the part of what the ceilings leave that one application gets in a turn: the last unit is so given after a number of
// turns that grows with the logarithm of what is left.
const slice = 8

// apportioned returns the instance of r without ceilings, but with maxima under which they hold whatever the
// applications have: first what each must have or may stay with, then as much as the bound wishes, then what is left of
// the ceilings, in turns. It returns nil where the ceilings do not hold that much.
func (r *run) apportioned(wish []int64) *solver.Instance {
	// left is what the ceilings have beside all maxima so far: where it stays at 0 or more any counts below the maxima hold them.
	p, left := r.p, r.p.Limits()
	inst := *p.Inst
	inst.Groups, inst.Apps = nil, slices.Clone(p.Inst.Apps)
	// raise raises a maximum by n, or as far as the ceilings allow, and returns by how much.
	raise := func(i int, n int64) int64 {
		t := p.Apps[i].Type
		n = min(n, p.Below(t, left))
		for _, use := range p.Types[t].Uses {
			left[use.Ceiling] -= n * use.Units
		}
		inst.Apps[i].Max += n
		return n
	}
	// 1. What each must have, or has and may stay with: less would take a solution from it.
	for i := range inst.Apps {
		inst.Apps[i].Max = 0
		least := p.Apps[i].Min
		if p.Apps[i].Pinnable {
			least = max(least, p.Apps[i].Held)
		}
		if raise(i, least) < least {
			return nil
		}
	}
	// 2. What the bound gives it; -1 is what it holds, which it has by now.
	for i := range inst.Apps {
		raise(i, max(0, wish[i]-inst.Apps[i].Max))
	}
	// 3. The rest, a part at a time, so that the first ones do not take all of it.
	for raised := true; raised; {
		raised = false
		for i := range inst.Apps {
			room := min(p.Apps[i].Max-inst.Apps[i].Max, p.Below(p.Apps[i].Type, left))
			raised = raise(i, (room+slice-1)/slice) > 0 || raised
		}
	}
	return &inst
}

// keepCeilings sets the bound with ceilings kept, and returns the numbers of containers that attain it.
func (r *run) keepCeilings() []int64 {
	// Whole leaves its Dual at other prices than it was asked at.
	best := r.root.better()
	bound, counts := best.F.(*lagrange.Dual).Whole(best.Best, r.tune.Tried)
	r.whole = bound
	// The prices by server guide what comes next.
	r.root.descent.Back()
	return counts
}

// divide searches below maxima by sets, from numbers of containers that a bound has chosen.
func (r *run) divide(ctx context.Context, counts []int64) {
	inst := r.apportioned(counts)
	if inst == nil || r.tune.Divided <= 0 {
		return
	}
	p := problem.New(inst)
	if p.Impossible() {
		return
	}
	opts := r.opts
	opts.Effort, opts.Warm = max(1, Effort(r.tune.Divided*float64(opts.Effort))), nil
	below := newRun(p, &opts, r.tune)
	// Maxima hold the ceilings: the search is given up only where there are no lists of patterns.
	below.within = r.p.Inst
	listed := below.searchListed(ctx)
	r.extra += below.a.Work + below.extra
	if r.divided = listed && below.a.Best.Found && !below.refused; r.divided {
		r.a.Load(p.Decode(&below.a.Best))
	}
}
