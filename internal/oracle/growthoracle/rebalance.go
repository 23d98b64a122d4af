// This file implements rebalancing as a search through all moves, [Zheng] Algorithm 5.

package growthoracle

// Container is one converged container on a worker, marked at a time.
type Container struct {
	ID     string
	Worker int
	Since  int64
	Moved  bool
}

// Rebalance moves containers among workers, without regard to room, until no move is allowed, and
// returns them with their new workers.
func Rebalance(workers int, containers []Container) []Container {
	state := append([]Container(nil), containers...)
	bf := len(state) / workers
	size := func(w int) (n int) {
		for _, c := range state {
			if c.Worker == w {
				n++
			}
		}
		return n
	}
	for again := true; again; {
		again = false
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
			for size(w) < goal {
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
