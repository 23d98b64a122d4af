// This file implements Previous: what runs now, in the words of alloc, also while jobs are on their way.

package bridge

import (
	"cmp"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint"
)

// Previous returns what the jobs of a machine have, as the Previous of the next problem on these servers. See
// the documentation of the package for what a job has that is on its way. It fits the servers wherever the
// containers do that exist and stay. O(jobs log jobs + containers).
func Previous(jobs []checkpoint.Job, servers []apportion.Server) alloc.Allocation {
	free := make(room, len(servers))
	for _, s := range servers {
		free[s.ID] = s.Capacity.Clone()
	}
	moves := make([]move, 0, len(jobs))
	for i := range jobs {
		m := moveOf(&jobs[i])
		free.take(m.kept, m.job.Demand)
		moves = append(moves, m)
	}
	slices.SortStableFunc(moves, func(a, b move) int { return cmp.Compare(a.job.Order, b.job.Order) })
	previous := alloc.Allocation{}
	for _, m := range moves {
		if has := m.settle(free); len(has) > 0 {
			previous[m.job.Name] = has
		}
	}
	return previous
}

// move is a job between what it holds and its goal. At rest the two are the same.
type move struct {
	job  *checkpoint.Job
	held map[string]int64
	goal map[string]int64
	kept map[string]int64 // the containers of both
}

func moveOf(j *checkpoint.Job) move {
	m := move{j, Counts(j.Containers), Counts(Goal(j)), map[string]int64{}}
	for server, n := range m.goal {
		if both := min(n, m.held[server]); both > 0 {
			m.kept[server] = both
		}
	}
	return m
}

// settle takes the room for the most that the job can have beyond what it keeps, and returns all it has.
func (m *move) settle(free room) map[string]int64 {
	for _, wish := range []map[string]int64{m.goal, m.held} {
		if rest := minus(wish, m.kept); free.fits(rest, m.job.Demand) {
			free.take(rest, m.job.Demand)
			return wish
		}
	}
	return m.kept
}

// minus returns the containers of a beyond those of b, which a has as well.
func minus(a, b map[string]int64) map[string]int64 {
	rest := map[string]int64{}
	for server, n := range a {
		if n > b[server] {
			rest[server] = n - b[server]
		}
	}
	return rest
}

// room is what is free on each server. A server that is not there has none.
type room map[string]apportion.Resources

// fits reports whether there is room for containers that need so much each.
func (r room) fits(counts map[string]int64, demand apportion.Resources) bool {
	for server, n := range counts {
		if free, there := r[server]; !there || demand.CountIn(free) < n {
			return false
		}
	}
	return true
}

// take takes the room of containers. What is taken without asking may leave less than nothing.
func (r room) take(counts map[string]int64, demand apportion.Resources) {
	for server, n := range counts {
		for k := range r[server] {
			r[server][k] -= n * demand[k]
		}
	}
}
