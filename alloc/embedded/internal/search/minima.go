// This file places the minima of the free applications by trying every way, where moves have not found one.

package search

import (
	"context"

	"github.com/apportion/apportion/alloc/embedded/internal/filling"
)

// FillMinima goes back to the first state, without the free containers, and places their minima there by
// trying every way; it takes at most steps steps. If that gives a solution it is the incumbent, unless there
// is one.
func (a *Annealer) FillMinima(ctx context.Context, steps int64) {
	// The state is one that keeps whom it can: nobody is freed beside those who must move or do not fit
	// together.
	s := keeping(a.S.p)
	a.S = s
	c := &filling.Cluster{}
	for j := range s.p.Servers {
		c.Left = append(c.Left, s.left[j*s.p.Kinds:(j+1)*s.p.Kinds])
	}
	// Minima count by type: within a type containers are anybody's, so that the search has as many levels on a
	// server as there are types, not applications.
	for _, t := range s.active {
		c.Demand, c.Need = append(c.Demand, s.p.DemandOf(t)), append(c.Need, s.pools[t].Min)
	}
	// Left shares the memory of the state, and Fill does not change it.
	placed, _ := filling.Fill(ctx, c, steps)
	for j, counts := range placed {
		for at, n := range counts {
			if n > 0 {
				s.put(j, s.active[at], n)
			}
		}
	}
	a.record()
}
