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

// finish returns the filling once no claim can be served.
func (f *fluid) finish() *TreeFilling[float64] {
	for i := range f.drops {
		f.out.Claims[i].Containers = f.drops[i].n
	}
	root := &f.vessels[0]
	f.out.Unused = make([]float64, len(f.tree.capacity))
	for k, c := range f.tree.capacity {
		// A kind that is used up has exactly 0 left, whatever rounding says.
		if !root.full[k] {
			f.out.Unused[k] = max(0, root.left(k, c))
		}
	}
	for at := range f.vessels[1:] {
		node, v := &f.tree.nodes[at+1], &f.vessels[at+1]
		queue := &f.out.Queues[node.position]
		queue.ID, queue.Used = node.id, make([]float64, len(f.tree.capacity))
		for k, c := range f.tree.capacity {
			queue.Used[k] = v.used(k)
			if f.tree.shared[k] > 0 {
				queue.Share = max(queue.Share, queue.Used[k]/float64(c))
			}
		}
	}
	return f.out
}
