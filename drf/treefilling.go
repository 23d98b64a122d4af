// This file declares what is known of a tree that was filled.

package drf

// TreeFilling says who deserves how much of a tree.
type TreeFilling[N Amount] struct {
	Filling[N]
	// Queues has one entry for each queue, in the order of the input.
	Queues []FilledQueue[N] `json:"queues"`
}

// FilledQueue is what all claims below one queue get together.
type FilledQueue[N Amount] struct {
	ID string `json:"id"`
	// Used is one quantity for each kind.
	Used []N `json:"used"`
	// Share is the largest part of the capacity that the queue has of any kind.
	Share float64 `json:"share"`
	// ShortOf is the first kind of which the ceiling does not allow all Min below the queue together, so that
	// these were taken as 0; else -1.
	ShortOf int `json:"short_of"`
}

// finish returns the filling once nobody can be served.
// The level of a claim is that of what it has, not that of its queue when it stopped.
func (f *fluid) finish() *TreeFilling[float64] {
	for i := range f.leaves {
		leaf, filled := &f.leaves[i], &f.out.Claims[i]
		filled.Containers = leaf.n
		filled.Share = leaf.n * leaf.delta
		filled.Level = filled.Share / f.claims[i].Weight
	}
	f.out.Unused = make([]float64, len(f.tree.capacity))
	for k, c := range f.tree.capacity {
		// A kind that is used up has exactly 0 left, whatever rounding says.
		if !f.nodes[0].full[k] {
			f.out.Unused[k] = float64(c) - f.nodes[0].used[k]
		}
	}
	for at := range f.nodes[1:] {
		node, used := &f.tree.nodes[at+1], f.nodes[at+1].used
		queue := &f.out.Queues[node.position]
		queue.ID, queue.Used = node.id, used
		for k, c := range f.tree.capacity {
			if c > 0 {
				queue.Share = max(queue.Share, used[k]/float64(c))
			}
		}
	}
	return f.out
}
