// This file prices sets of freed applications, [Geoffrion74]: U bounds what a set is worth, and one member more or less
// changes it by what its own servers show.

package sets

import (
	"github.com/apportion/apportion/alloc/embedded/internal/pattern"
)

// prices are what a set is worth at the multipliers of one point:
//
//	U(F) = lambda L + sum_kept keep_i + sum_free phi_i + sum_j best pattern of what F leaves on j
//
// U bounds every F: it is the bound of the decomposition without multipliers on copies, since every server
// knows what a fixed F leaves it. U is cheap and weak, so that it says only who is missed least; the residual
// problem judges a set.
type prices struct {
	best []float64 // by class of patterns
	gain []float64 // phi_i - keep_i of an application that may stay
}

// newPrices returns prices for the cells of s, none of them set.
func newPrices(s *pattern.Cells) prices {
	return prices{best: make([]float64, len(s.Lists.Classes)), gain: make([]float64, len(s.Problem.Apps))}
}

// set computes best and gain, where worth[t] >= 0 is what a container of type t is worth to a server and lambda what a
// unit of loss costs. The rest of its value is worth to its application.
func (u *prices) set(s *pattern.Cells, worth []float64, lambda float64) {
	p := s.Problem
	for g := range u.best {
		// One search for each class of patterns; each set that the walk meets then costs a look-up for a
		// server.
		_, u.best[g] = s.Lists.Best(int32(g), worth)
	}
	for i := range p.Apps {
		if t := p.Apps[i].Type; p.Apps[i].Pinnable {
			// phi_i = max over n of (v - worth) n - lambda loss_i(n), and gain = phi_i - keep_i, as in
			// pattern.Cells.
			_, phi := p.Wanted(int32(i), p.Types[t].Value-worth[t], lambda)
			u.gain[i] = phi - p.KeepWorth(int32(i), lambda)
		}
	}
}
