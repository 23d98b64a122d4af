// This file implements the bound on the cost of a schedule that relaxes each C_t to its convex hull,
// the Lagrangian relaxation of constraint (2).

package schedule

// relaxation keeps the cheapest stretches of hull that together do the work, over slots added one by
// one. What they cost is a lower bound on the cost of every schedule that ends by the last slot
// added; the slope of the dearest one, lambda, is the multiplier that gives this bound.
//
// A stretch that is displaced is never needed again, as lambda only falls when slots are added: all
// bounds of a job take O(stretches log stretches) together.
type relaxation struct {
	heap  []stretch // dearest first
	width int       // workers of all stretches
	cost  float64   // cost of all stretches
}

// stretch is one edge of a hull.
type stretch struct {
	slope float64
	width int
}

// reset forgets all slots.
func (x *relaxation) reset() { x.heap, x.width, x.cost = x.heap[:0], 0, 0 }

// add adds the hull of one more slot.
// heap[0] is the dearest stretch kept. Hulls begin at no work for nothing, so that their edges are all
// that counts.
func (x *relaxation) add(hull []vertex, work int) {
	for i := 1; i < len(hull); i++ {
		// Edges of a hull come with rising slopes.
		edge := stretch{slope(hull[i-1], hull[i]), hull[i].workers - hull[i-1].workers}
		if x.width >= work && edge.slope >= x.heap[0].slope {
			return // the next edges are dearer still
		}
		x.push(edge)
		// What is kept holds the work with as little to spare as whole stretches allow.
		for x.width-x.heap[0].width >= work {
			x.pop()
		}
	}
}

// bound returns the least cost of the work over the hulls and lambda; ok is false where the slots
// hold less than the work.
// It changes nothing: the same stretches go on to the bound of the next slot.
func (x *relaxation) bound(work int) (cost, lambda float64, ok bool) {
	if x.width < work {
		return inf, 0, false
	}
	// Of the dearest stretch only a part is needed: the rest is taken off at its slope.
	lambda = x.heap[0].slope
	return x.cost - float64(float64(x.width-work)*lambda), lambda, true
}

func (x *relaxation) push(edge stretch) {
	x.heap = append(x.heap, edge)
	x.width += edge.width
	x.cost += float64(edge.slope * float64(edge.width))
	for i := len(x.heap) - 1; i > 0; {
		parent := (i - 1) / 2
		if x.heap[parent].slope >= x.heap[i].slope {
			return
		}
		x.heap[parent], x.heap[i] = x.heap[i], x.heap[parent]
		i = parent
	}
}

// pop removes the dearest stretch from the heap.
func (x *relaxation) pop() {
	top := x.heap[0]
	x.width -= top.width
	x.cost -= float64(top.slope * float64(top.width))
	last := len(x.heap) - 1
	x.heap[0] = x.heap[last]
	x.heap = x.heap[:last]
	for i := 0; ; {
		child := 2*i + 1
		if child >= last {
			return
		}
		if child+1 < last && x.heap[child+1].slope > x.heap[child].slope {
			child++
		}
		if x.heap[child].slope <= x.heap[i].slope {
			return
		}
		x.heap[i], x.heap[child] = x.heap[child], x.heap[i]
		i = child
	}
}
