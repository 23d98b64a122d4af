// This file orders the phases of a search.

package embedded

import (
	"context"
)

// search finds a bound and, if it can, a solution: by sets of freed applications where the servers
// are small enough for lists of patterns, else by annealing on containers.
func (r *run) search(ctx context.Context) {
	switch {
	// Whether servers have lists of patterns shows only when these are made.
	case r.searchListed(ctx):
	case r.within != nil:
		r.refused = true
	default:
		r.searchContainers(ctx)
		r.fillMinima(ctx)
	}
}
