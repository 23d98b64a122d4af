// This file searches for the offline optimum of all jobs together, [OASiS] (1)-(13).

package oasisoracle

// Job is one job of an offline instance.
type Job struct {
	// Arrival is the first slot that the job may use, from 0.
	Arrival                      int
	MaxWorkers, Work             int64
	WorkerBandwidth, PSBandwidth int64
	Worker, PS                   []int64
	// Values[t] is the utility of a job whose last worker runs in slot t.
	Values []float64
}

// Instance is a cluster, empty in every slot, and all its jobs.
type Instance struct {
	Slots       int
	Workers, PS [][]int64 // capacities, server by kind
	Jobs        []Job
}

// Optimum returns the greatest total utility of schedules that fit the cluster together.
func Optimum(in *Instance) float64 {
	// The bound is the only shortcut: what later jobs could earn alone in an empty cluster.
	s := search{in: in, workers: repeat(in.Workers, in.Slots), ps: repeat(in.PS, in.Slots)}
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

// slot tries every number of workers for job i in slot t and later, done being done.
func (s *search) slot(i, t int, done int64, earned float64) {
	j := &s.in.Jobs[i]
	// The rest of the work fits no more, even with all workers in every slot left.
	if t == s.in.Slots || done+int64(s.in.Slots-t)*j.MaxWorkers < j.Work {
		return
	}
	// No worker in slot t.
	s.slot(i, t+1, done, earned)
	for y := int64(1); y <= min(j.MaxWorkers, j.Work-done); y++ {
		s.place(s.workers[t], j.Worker, y, 0, func() {
			for z := int64(0); z <= y; z++ {
				// (6); (7) holds since z goes no further than y.
				if y*j.WorkerBandwidth > z*j.PSBandwidth {
					continue
				}
				s.place(s.ps[t], j.PS, z, 0, func() {
					if done+y >= j.Work {
						s.job(i+1, earned+j.Values[t])
					} else {
						s.slot(i, t+1, done+y, earned)
					}
				})
				break // more parameter servers only take room
			}
		})
	}
}

// place calls then for every way to put n containers on servers h and later.
func (s *search) place(servers [][]int64, demand []int64, n int64, h int, then func()) {
	if n == 0 {
		then()
		return
	}
	if h == len(servers) {
		return
	}
	for count := int64(0); count <= n; count++ {
		if count > 0 && !take(servers[h], demand, count) {
			return
		}
		s.place(servers, demand, n-count, h+1, then)
		if count > 0 {
			take(servers[h], demand, -count)
		}
	}
}

// take takes count containers if they fit.
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
