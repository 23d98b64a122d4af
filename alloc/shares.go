// This file computes the theoretical dominant shares of (2) by DRF on the pooled cluster, and what one
// container counts for in (2), [Dorm §IV-A].

package alloc

import (
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/drf"
)

// delta returns max_k d_k / C_k, the dominant share of one container (2): what n containers have is n times that, since
// all of them are alike.
// A kind of which the cluster has none has no part in it, as in the shares that it is compared with.
func (r *resolved) delta(demand apportion.Resources) float64 {
	share, _ := demand.DominantShare(r.shared)
	return share
}

// shares returns the theoretical dominant share s^ of each of apps, by DRF on the pooled cluster. An application claims
// what its first option in apps demands, and all of its options have that share: one application is one claim, however
// many ways it may run in. Each share is in [0, 1].
//
// The last answer is kept: a decision asks two or three times about the same applications. The slice is shared and only read.
func (r *resolved) shares(apps []int) []float64 {
	if r.lastShares != nil && slices.Equal(apps, r.lastSharing) {
		return r.lastShares
	}
	// Entries of one application are neighbours in apps, since apps ascends; the first of them is its head.
	var heads []int
	for a, i := range apps {
		if a == 0 || r.of[i] != r.of[apps[a-1]] {
			heads = append(heads, i)
		}
	}
	claimed := r.claimed(heads)
	shares, at := make([]float64, len(apps)), -1
	for a, i := range apps {
		if a == 0 || r.of[i] != r.of[apps[a-1]] {
			at++
		}
		shares[a] = claimed[at]
	}
	r.lastSharing, r.lastShares = slices.Clone(apps), shares
	return shares
}

// claimed returns the shares of entries of as many applications: no two in apps are options of one application. Which
// rule is behind them is for Options.Share to say, and queues come before it.
func (r *resolved) claimed(apps []int) []float64 {
	claims := make([]drf.Claim, len(apps))
	for a, i := range apps {
		app := &r.problem.Applications[i]
		claims[a] = drf.Claim{ID: app.ID, Demand: app.Demand, Weight: app.Weight, Min: app.Min, Max: app.Max}
		// What its servers cannot hold is nobody's share: an application would lose it for ever.
		if !r.problem.Options.Paper {
			claims[a].Max = min(app.Max, max(1, r.room[i]))
			claims[a].Min = min(app.Min, claims[a].Max)
		}
		if r.idle(i) {
			claims[a].Min = 0
		}
		// The plain rule of [Ghodsi11] knows no bounds: every claim grows until a kind is used up.
		if r.problem.Options.Share == PureDRF {
			claims[a].Min, claims[a].Max = 0, drf.NoMax
		}
	}
	shares := make([]float64, len(apps))
	// With queues every share is one of the whole tree: what a queue leaves goes to its siblings first.
	if r.tree != nil {
		return r.sharesOfTree(apps, claims)
	}
	// Whole containers leave what is indivisible unused, so that these shares may be below the
	// divisible ones.
	if r.problem.Options.Share == WholeDRF {
		filling := must(drf.FillWhole(r.total, claims, nil))
		for a := range shares {
			shares[a] = filling.Claims[a].Share
		}
		return shares
	}
	filling := must(drf.Fill(r.total, claims))
	for a := range shares {
		shares[a] = filling.Claims[a].Share
	}
	return shares
}

// sharesOfTree is shares by the tree of queues. Whole containers are handed out one by one there: where more could
// fit than 2^24, they are divisible.
// The claims are changed by it: each gets its queue.
func (r *resolved) sharesOfTree(apps []int, claims []drf.Claim) []float64 {
	shares := make([]float64, len(apps))
	for a, i := range apps {
		claims[a].Queue = r.problem.Applications[i].Queue
	}
	// The only error that valid claims may give is that there are too many containers.
	if r.problem.Options.Share == WholeDRF {
		if filling, err := r.tree.FillWhole(claims); err == nil {
			for a := range shares {
				shares[a] = filling.Claims[a].Share
			}
			return shares
		}
	}
	filling := must(r.tree.Fill(claims))
	for a := range shares {
		shares[a] = filling.Claims[a].Share
	}
	return shares
}
