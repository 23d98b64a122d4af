// This file bounds what a set of freed applications is worth at fixed prices, server by server, [Geoffrion74].

package sets

import (
	"github.com/apportion/apportion/alloc/embedded/internal/colgen"
	"github.com/apportion/apportion/alloc/embedded/internal/pattern"
)

// pricedSets values sets of free applications F at prices of one point:
//
//	U(F) = lambda L + sum_kept keep_i + sum_free phi_i + sum_j best pattern of what F leaves on j
//
// bounds every F, and one more or one less member changes it by what its own servers show.
// This is the bound of the decomposition without multipliers on copies: since F is
// fixed, every server knows what it has left. It is cheap and weak, so that it ranks
// moves and decides nothing.
type pricedSets struct {
	best []float64 // by class of patterns
	gain []float64 // phi_i - keep_i by application
}

// price sets the prices: worth of a container by type in patterns, lambda on loss.
// O(patterns x types + applications). Gains are of pinnable applications; the others
// are always free.
func (u *pricedSets) price(s *pattern.Cells, worth []float64, lambda float64) {
	p := s.Problem
	u.best, u.gain = colgen.Resize(u.best, len(s.Lists.Classes)), colgen.Resize(u.gain, len(p.Apps))
	for g := range u.best {
		_, u.best[g] = s.Lists.Best(int32(g), worth)
	}
	for i := range p.Apps {
		if a := &p.Apps[i]; a.Pinnable {
			// A container is worth v - worth to its application where it is worth that much to the server.
			_, phi := p.Wanted(int32(i), p.Types[a.Type].Value-worth[a.Type], lambda)
			u.gain[i] = phi - p.KeepWorth(int32(i), lambda)
		}
	}
}
