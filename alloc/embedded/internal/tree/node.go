// This file holds the nodes of branch and bound, and the heap of those that wait, [Land60].

package tree

import (
	"github.com/apportion/apportion/alloc/embedded/internal/lagrange"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
)

// node leaves some choices open. Its bound is that of its parent until it is worked on.
// A node owns choices (one for each application) and limits, but x may be its sibling's too: nobody may write
// to it. bound is in utilization and valid for all solutions of the node; order is the number of nodes when it
// was made, which breaks ties, so that the search is the same in every run.
type node struct {
	choices []problem.Choice
	limits  lagrange.Limits
	x       []float64 // where the parent's descent ended
	limited bool      // its last limit is not in its multipliers yet
	bound   float64
	order   int64
}

// nodes is a heap: the largest bound first, ties to the newest.
type nodes []*node

func (h nodes) Len() int { return len(h) }

func (h nodes) Less(a, b int) bool {
	// The largest bound first lowers the bound of the whole tree; a tie goes to the newest, which is deepest
	// and nearest to a leaf.
	if h[a].bound != h[b].bound {
		return h[a].bound > h[b].bound
	}
	return h[a].order > h[b].order
}

func (h nodes) Swap(a, b int) { h[a], h[b] = h[b], h[a] }

func (h *nodes) Push(n any) { *h = append(*h, n.(*node)) }

func (h *nodes) Pop() any {
	old := *h
	n := old[len(old)-1]
	// The slot is cleared: otherwise the array would hold the node, with its multipliers, until it is
	// overwritten.
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return n
}
