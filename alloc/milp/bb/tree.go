// This file implements the tree of subproblems: nodes that know their parent, and the open ones by
// bound.

package bb

import (
	"container/heap"
	"math"
)

// nodeBytes is what an open node takes, with its place in the heap.
const nodeBytes = 80

// node is a subproblem: its parent's, with the bounds of one variable narrowed.
type node struct {
	parent       *node // nil: the root, which narrows nothing
	variable     int32
	depth        int32
	lower, upper float64
	bound        float64 // proven for the relaxation, in the scaled objective to be minimised
	from         float64 // value of the variable in the parent's relaxation
	serial       int64   // order of creation: breaks ties
}

// up reports whether the node is the upper of its siblings.
func (n *node) up() bool { return n.lower > n.from }

// openNodes is a heap: the least bound first, then the deepest, then the youngest.
type openNodes []*node

func (h openNodes) Len() int { return len(h) }
func (h openNodes) Less(a, b int) bool {
	switch x, y := h[a], h[b]; {
	// The least bound first makes the proof as short as it can be.
	case x.bound != y.bound:
		return x.bound < y.bound
	// The deepest of equal ones is nearest to a point,
	case x.depth != y.depth:
		return x.depth > y.depth
	// The youngest shares most of its path with the node just solved. serial is unique, so the
	// order is total.
	default:
		return x.serial > y.serial
	}
}
func (h openNodes) Swap(a, b int) { h[a], h[b] = h[b], h[a] }

func (h *openNodes) Push(x any) { *h = append(*h, x.(*node)) }

func (h *openNodes) Pop() any {
	last := len(*h) - 1
	n := (*h)[last]
	// The slice keeps its storage, so the entry is cleared: a solved node may be freed, with
	// ancestors that no other one needs.
	(*h)[last] = nil
	*h = (*h)[:last]
	return n
}

func (h *openNodes) push(n *node) { heap.Push(h, n) }
func (h *openNodes) pop() *node   { return heap.Pop(h).(*node) }

// least returns the least bound of an open node, +Inf without one.
func (h openNodes) least() float64 {
	if len(h) == 0 {
		return math.Inf(1)
	}
	return h[0].bound
}
