// This file implements what the policies of slots share: who is let in, and containers that are placed
// one after the other on the next server with room, [OASiS] §5.

package policies

import (
	"sort"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/placement"
	"github.com/apportion/apportion/placement/sim"
)

// entry notes who can run at all. Jobs that no number of servers serves are refused at their arrival: they
// would wait for ever, and under FIFO hold up everybody behind them.
type entry struct {
	// fixed is, of the jobs that are there, the number of workers that a static scheduler gives
	// them: Fixed, or as many as the empty cluster has room for if those are fewer.
	fixed map[string]int64
	// changed: a job has been let in, or has ended, since the decision before.
	changed bool
}

// admit looks at the new jobs and returns those that can never run. O(new jobs x servers x kinds).
func (e *entry) admit(state *sim.State) (refused []string) {
	if e.fixed == nil {
		e.fixed = make(map[string]int64)
	}
	// A refused arrival changes nothing for the others: the policies that divide the cluster anew
	// leave it as it is then, and their pointers where they are.
	e.changed = len(state.Ended) > 0
	for _, id := range state.Ended {
		delete(e.fixed, id)
	}
	for i := range state.Jobs {
		job := &state.Jobs[i]
		if !job.New {
			continue
		}
		// The empty cluster decides, and not what is free now: waiting is no reason to refuse.
		n := fitting(state.Scenario, job.Job)
		if n == 0 {
			refused = append(refused, job.ID)
			continue
		}
		e.fixed[job.ID], e.changed = n, true
	}
	return refused
}

// taking returns the jobs that were let in and of those that wait only the first few; 0 is for all.
func (e *entry) taking(state *sim.State, queue int) []sim.JobState {
	var jobs []sim.JobState
	waiting := 0
	for _, job := range state.Jobs {
		if e.fixed[job.ID] == 0 {
			continue
		}
		if job.Containers == 0 {
			waiting++
			if queue > 0 && waiting > queue {
				continue
			}
		}
		jobs = append(jobs, job)
	}
	return jobs
}

// fitting returns the most workers, up to Fixed, that the empty cluster serves; 0 for fewer than Min. Both
// sides bound it: the room for workers, and the room for the parameter servers that they need.
func fitting(s *sim.Scenario, job *sim.Job) int64 {
	n := roomOn(s.Servers, job.Demand, job.Fixed)
	if training := job.Training; training != nil && training.WorkerBandwidth > training.PSBandwidth {
		return 0
	} else if training != nil {
		// PSFor rises with the workers, so the first number with too many parameter servers is one
		// too far.
		servers := roomOn(s.ParameterServers, training.PS, n)
		n = int64(sort.Search(int(n), func(fewer int) bool { return training.PSFor(int64(fewer)+1) > servers }))
	}
	if n < job.Min {
		return 0
	}
	return n
}

// roomOn returns how many containers empty servers have room for, at most limit.
func roomOn(servers []apportion.Server, demand apportion.Resources, limit int64) int64 {
	var sum int64
	for h := range servers {
		sum += min(demand.CountIn(servers[h].Capacity), limit-sum)
	}
	return sum
}

// side is one set of servers with what jobs hold there. Its pointer keeps its place between jobs and
// decisions.
type side struct {
	// packer knows the room on each of so many servers.
	packer  *placement.Packer
	servers int
	// held and demand are by job what it holds and what a container of it takes.
	held   map[string][]apportion.Placement
	demand map[string]apportion.Resources
}

// take notes what the new jobs hold at their arrival. It has room, as the simulator has seen.
func (s *side) take(jobs []sim.JobState) {
	for i := range jobs {
		job := &jobs[i]
		if !job.New || len(job.Places) == 0 {
			continue
		}
		for _, p := range job.Places {
			_ = s.packer.Take(p.Server, job.Demand, p.Count)
		}
		s.held[job.ID], s.demand[job.ID] = job.Places, job.Demand
	}
}

// open makes the side ready at the first decision. The scenario is valid, so there is no error.
func (s *side) open(kinds apportion.Kinds, servers []apportion.Server) {
	// A value serves one run, so the servers are those of the first decision.
	if s.held != nil {
		return
	}
	bins := make([]placement.Bin, len(servers))
	for h := range servers {
		bins[h].Free = servers[h].Capacity
	}
	s.packer, _ = placement.NewPacker(placement.RoundRobin, kinds, bins)
	s.servers = len(servers)
	s.held, s.demand = make(map[string][]apportion.Placement), make(map[string]apportion.Resources)
}

// room returns how many containers of a demand have room, at most limit.
func (s *side) room(demand apportion.Resources, limit int64) int64 {
	var sum int64
	for h := 0; h < s.servers && sum < limit; h++ {
		// Both terms are at most limit, so their sum cannot overflow before it is cut.
		sum += min(s.packer.Room(h, demand), limit-sum)
	}
	return sum
}

// place places n more containers of a job, for which there must be room, and returns all that it has.
func (s *side) place(id string, demand apportion.Resources, n int64) []apportion.Placement {
	if n > 0 {
		s.held[id], _ = s.packer.Place(demand, n, s.held[id])
		s.demand[id] = demand
	}
	return s.held[id]
}

// release takes from jobs all that they have; those that have nothing, or are not known, have nothing to
// give back.
func (s *side) release(ids ...string) {
	for _, id := range ids {
		for _, p := range s.held[id] {
			_ = s.packer.Release(p.Server, s.demand[id], p.Count) // what was placed can be released
		}
		delete(s.held, id)
		delete(s.demand, id)
	}
}

// desk hands out workers with their parameter servers. It keeps account of what it gave to whom beside the
// simulator: orders are carried out as they are given.
type desk struct {
	entry
	workers, servers side
}

// open lets jobs in, forgets those that have ended, and returns who is refused.
func (d *desk) open(state *sim.State) (refused []string) {
	d.workers.open(state.Scenario.Kinds, state.Scenario.Servers)
	d.servers.open(state.Scenario.Kinds, state.Scenario.ParameterServers)
	d.release(state.Ended...)
	d.workers.take(state.Jobs)
	return d.admit(state)
}

// release takes from jobs all that they hold.
func (d *desk) release(ids ...string) {
	d.workers.release(ids...)
	d.servers.release(ids...)
}

// grow gives a job that has some workers n more, with the parameter servers that it then needs in
// addition, or nothing where they do not fit. The room is looked at first, so the pointers move only when
// something is placed.
func (d *desk) grow(job *sim.Job, has, n int64) bool {
	var servers apportion.Resources
	var more int64
	if job.Training != nil {
		servers, more = job.Training.PS, job.Training.PSFor(has+n)-job.Training.PSFor(has)
	}
	if d.workers.room(job.Demand, n) < n || d.servers.room(servers, more) < more {
		return false
	}
	d.workers.place(job.ID, job.Demand, n)
	d.servers.place(job.ID, servers, more)
	return true
}

// order is what a job holds now.
func (d *desk) order(id string) sim.Place {
	return sim.Place{Job: id, On: d.workers.held[id], PS: d.servers.held[id]}
}
