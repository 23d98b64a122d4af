// This file implements rebalancing as a search through all moves, [Zheng] Algorithm 5.

package growthoracle

// Container is one converged container on a worker, marked at a time. IDs differ; workers are numbered from 0. Moved says
// that it was moved by an earlier rebalancing, after which the listing leaves it where it is.
type Container struct {
	ID     string
	Worker int
	Since  int64
	Moved  bool
}

// Rebalance moves containers among workers, without regard to room, until no move is allowed, and
// returns them in their order with their new workers. Every choice counts the worker of each container anew,
// O(c^2) for c containers.
// Room takes no part: it is compared with package placement where that one ignores room as well.
func Rebalance(workers int, containers []Container) []Container {
	// The caller's list stays as it is.
	state := append([]Container(nil), containers...)
	// Line 9: bf = floor(containers / workers), the balance factor, computed once; the listing repeats it in the loop.
	bf := len(state) / workers
	// size counts anew each time, since every move changes two of them.
	size := func(w int) (n int) {
		for _, c := range state {
			if c.Worker == w {
				n++
			}
		}
		return n
	}
	// One round may leave a worker below its goal that a later move elsewhere has made able to take; rounds go on until
	// nothing moves. Each container moves once at most, so they end.
	for again := true; again; {
		again = false
		// Lines 10-18 fill idle workers up to bf. Only where there are none lines 19 on fill the others, up to bf - 1.
		goal, idle := bf-1, false
		for w := range workers {
			idle = idle || size(w) == 0
		}
		if idle {
			goal = bf
		}
		for w := range workers {
			if idle && size(w) > 0 {
				continue
			}
			// The listing says "if", its example moves several containers to one worker: "while".
			for size(w) < goal {
				// The container with the smallest d_c = now - t_c is the one that was marked last. It comes from a worker that has more than
				// one more than w: otherwise the move would only exchange who lacks one.
				best := -1
				for i, c := range state {
					if c.Moved || c.Worker == w || size(c.Worker) <= size(w)+1 {
						continue
					}
					if best < 0 || c.Since > state[best].Since || c.Since == state[best].Since && c.ID < state[best].ID {
						best = i
					}
				}
				if best < 0 {
					break
				}
				state[best].Worker, state[best].Moved, again = w, true, true
			}
		}
	}
	return state
}
