// This file searches for the offline optimum of all jobs together, [OASiS] (1)-(13).

package oasisoracle

// Job is one job of an offline instance.
// Quantities are at least 0, MaxWorkers and Work at least 1, and Arrival is below the number of slots.
type Job struct {
	// Arrival is the first slot that the job may use, from 0.
	Arrival                      int
	MaxWorkers, Work             int64
	WorkerBandwidth, PSBandwidth int64
	Worker, PS                   []int64
	// ClosedWorkers and ClosedPS say of each server of a side that the job may not use it; nil: it may use all.
	ClosedWorkers, ClosedPS []bool
	// Values[t] is the utility of a job whose last worker runs in slot t.
	Values []float64
}

// Instance is a cluster, empty in every slot, and all its jobs.
type Instance struct {
	Slots       int
	Workers, PS [][]int64 // capacities, server by kind
	Jobs        []Job
}

// Optimum returns the greatest total utility of schedules that fit the cluster together: (1) under (2)-(13), every job
// admitted or not, and every schedule of each. Each further job, slot or server multiplies the time.
// The jobs compete for room alone: there are no prices here, which is what makes the result an upper
// bound for every rule that has some.
func Optimum(in *Instance) float64 {
	// The bound is the only shortcut: what later jobs could earn alone in an empty cluster.
	s := search{in: in, workers: repeat(in.Workers, in.Slots), ps: repeat(in.PS, in.Slots)}
	// A sum of the best utilities from each job on: what no schedule of the rest can exceed.
	s.hope = make([]float64, len(in.Jobs)+1)
	for i := len(in.Jobs) - 1; i >= 0; i-- {
		most := 0.0
		for t := in.Jobs[i].Arrival; t < in.Slots; t++ {
			most = max(most, in.Jobs[i].Values[t])
		}
		s.hope[i] = s.hope[i+1] + most
	}
	s.job(0, 0)
	return s.best
}

// search is the state of a depth-first search: what is left of every server in every slot.
// workers and ps are indexed by slot, server and kind. Whoever takes from them gives back before it
// returns, so that each branch finds them as its caller left them.
type search struct {
	in          *Instance
	workers, ps [][][]int64
	hope        []float64 // the most that jobs i and later can earn
	best        float64
}

// repeat returns a copy of the capacities for every slot, since the search takes from them.
func repeat(servers [][]int64, slots int) [][][]int64 {
	out := make([][][]int64, slots)
	for t := range out {
		for _, capacity := range servers {
			out[t] = append(out[t], append([]int64(nil), capacity...))
		}
	}
	return out
}

// job tries everything for job i and all later ones.
// The bound lets only branches go that cannot be better than what was found.
func (s *search) job(i int, earned float64) {
	// Jobs i and later may all be left out, so what is earned by now can be had.
	s.best = max(s.best, earned)
	if i == len(s.in.Jobs) || earned+s.hope[i] <= s.best {
		return
	}
	// x_i = 1 with every schedule from the arrival on, (9)(10), and then x_i = 0.
	s.slot(i, s.in.Jobs[i].Arrival, 0, earned)
	s.job(i+1, earned)
}

// slot tries every number of workers and parameter servers for job i in slot t and later, done being done.
func (s *search) slot(i, t int, done int64, earned float64) {
	j := &s.in.Jobs[i]
	// The rest of the work fits no more, even with the most workers in every slot left.
	if t == s.in.Slots || done+int64(s.in.Slots-t)*j.MaxWorkers < j.Work {
		return
	}
	// The order of tries does not matter for the result; the first ones found make the bound of job useful.
	// No worker in slot t.
	// A slot may be left out although there is room: later slots may be of less use to others.
	s.slot(i, t+1, done, earned)
	// More workers than there is work left do nothing more, and more parameter servers than are needed only take room.
	for y := int64(1); y <= min(j.MaxWorkers, j.Work-done); y++ {
		z := int64(0)
		for z < y && y*j.WorkerBandwidth > z*j.PSBandwidth { // (6), (7)
			z++
		}
		if y*j.WorkerBandwidth > z*j.PSBandwidth {
			continue
		}
		// What is placed is taken off the free quantities until the rest has been tried, which is how jobs exclude each other.
		(&placer{s.workers[t], j.Worker, j.ClosedWorkers}).place(y, 0, func() {
			(&placer{s.ps[t], j.PS, j.ClosedPS}).place(z, 0, func() {
				if done+y >= j.Work {
					s.job(i+1, earned+j.Values[t])
				} else {
					s.slot(i, t+1, done+y, earned)
				}
			})
		})
	}
}

// placer places containers of one side in one slot.
type placer struct {
	servers [][]int64 // what is left of each
	demand  []int64
	closed  []bool
}

// place calls then for every way to put n containers on servers h and later that are not closed.
// Every distribution is tried once: counts on servers in their order, the first one slowest.
func (p *placer) place(n int64, h int, then func()) {
	if n == 0 {
		then()
		return
	}
	if h == len(p.servers) {
		return
	}
	for count := int64(0); count <= n; count++ {
		// If so many do not fit, more do not either.
		if count > 0 && (p.closed != nil && p.closed[h] || !take(p.servers[h], p.demand, count)) {
			break
		}
		p.place(n-count, h+1, then)
		if count > 0 {
			take(p.servers[h], p.demand, -count)
		}
	}
}

// take takes count containers if they fit, and else nothing. A negative count gives back what was taken, which always fits.
func take(free, demand []int64, count int64) bool {
	for r, q := range demand {
		if q*count > 0 && q*count > free[r] {
			return false
		}
	}
	for r, q := range demand {
		free[r] -= q * count
	}
	return true
}
