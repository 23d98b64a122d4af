// This file fills the classes of servers in the order of their profit for one type, [Geoffrion74].

package lagrange

// step is a run of containers with equal profit: those that the servers of one class hold.
// Filling greedily is exact, since the containers of a type are equal and only their
// profit differs by class: the n best of them are a prefix.
type step struct {
	profit float64
	class  int32
	end    int64   // containers up to the end of this step
	filled float64 // their profit together
}

// takeSteps takes the classes of heap in the order of their profit, as far as anyone may want them: until
// there are most containers, or, once there are least, the next one has a profit of floor or less. It appends
// the steps to steps and destroys heap, whose entries say in end how much the class holds.
//
// Few classes are sorted, as far as they are needed. Many come off a heap, since mostly few of them are needed:
// O(classes + steps log classes) instead of a whole sort. Invariants: profit falls from step to step, end and
// filled are sums over the steps so far.
func takeSteps(steps, heap []step, least, most int64, floor float64) []step {
	if most <= 0 {
		return steps
	}
	few := len(heap) <= fewClasses
	if few {
		heap = foremost(heap, most)
	} else {
		// The heap is built from the bottom, O(classes), where pushing one by one would take O(classes log
		// classes).
		for s := len(heap)/2 - 1; s >= 0; s-- {
			siftDown(heap, s)
		}
	}
	var end int64
	var filled float64
	for len(heap) > 0 && end < most {
		next := &heap[0]
		if !(next.profit > floor || end < least) {
			break
		}
		// The last step is cut off at most, since nobody wants more.
		n := min(next.end, most-end)
		end += n
		filled += float64(float64(n) * next.profit)
		steps = append(steps, step{next.profit, next.class, end, filled})
		if few {
			heap = heap[1:]
			continue
		}
		// Pop: the last one takes the place of the top and sinks.
		last := len(heap) - 1
		heap[0] = heap[last]
		heap = heap[:last]
		siftDown(heap, 0)
	}
	return steps
}

// fewClasses is up to how many classes to sort those that are needed takes less time than a heap.
const fewClasses = 40

// foremost sorts to the front of heap those classes of most profit that hold most containers together, all where there are
// fewer, and returns these.
func foremost(heap []step, most int64) []step {
	// held is what those at the front hold, none of them counted for more than most: less than twice that.
	front, held := 0, uint64(0)
	for _, next := range heap {
		if held >= uint64(most) && !before(&next, &heap[front-1]) {
			continue
		}
		at := front
		for ; at > 0 && before(&next, &heap[at-1]); at-- {
			heap[at] = heap[at-1]
		}
		heap[at] = next
		held += uint64(min(next.end, most))
		for front++; ; front-- {
			without := held - uint64(min(heap[front-1].end, most))
			if without < uint64(most) {
				break
			}
			held = without
		}
	}
	return heap[:front]
}

// siftDown restores the heap below s: the largest profit on top, ties to the lower class.
func siftDown(heap []step, s int) {
	if s >= len(heap) {
		return
	}
	sinks := heap[s]
	for child := 2*s + 1; child < len(heap); child = 2*s + 1 {
		// The larger child moves up, or the heap would not hold for the other one.
		if child+1 < len(heap) && before(&heap[child+1], &heap[child]) {
			child++
		}
		if !before(&heap[child], &sinks) {
			break
		}
		heap[s] = heap[child]
		s = child
	}
	heap[s] = sinks
}

// before is a strict order over classes, so that the steps, and with them all results,
// do not depend on how the heap was built.
// With ties left open the subgradient would depend on the order of the classes.
func before(a, b *step) bool {
	return a.profit > b.profit || a.profit == b.profit && a.class < b.class
}

// fullest returns how many containers the steps hold.
// 0 where no server has room for one.
func fullest(steps []step) int64 {
	if len(steps) == 0 {
		return 0
	}
	return steps[len(steps)-1].end
}

// worth returns how many containers have a profit above least.
// It relies on falling profits; equal to least is not above it, so that ties are left
// alone.
// O(log steps).
func worth(steps []step, least float64) int64 {
	low, high := 0, len(steps)
	for low < high {
		if middle := (low + high) / 2; steps[middle].profit > least {
			low = middle + 1
		} else {
			high = middle
		}
	}
	// low is the first step whose profit is not above least; the step before it ends the run.
	return fullest(steps[:low])
}

// stepOf returns the step that holds the n-th container, counted from 1.
// It is len(steps) where the steps hold fewer than n.
func stepOf(steps []step, n int64) int {
	low, high := 0, len(steps)
	for low < high {
		if middle := (low + high) / 2; steps[middle].end < n {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

// fill returns the profit of the first n containers.
// fill(n) = filled of n's step - (end - n) times its profit; 1 <= n <= fullest, or n = 0. It is
// concave in n, as profits fall.
func fill(steps []step, n int64) float64 {
	if n == 0 {
		return 0
	}
	s := steps[stepOf(steps, n)]
	return s.filled - float64(float64(s.end-n)*s.profit)
}
