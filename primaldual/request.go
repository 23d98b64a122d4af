// This file implements request: one job, or what is left of it, as the best-schedule algorithms see it.
// The search knows units and slots from 0, the job knows workers, chunks and calendar slots: a
// request is where one is turned into the other, for a first offer and for what is left of a job
// alike.

package primaldual

import "github.com/apportion/apportion/primaldual/internal/schedule"

// request asks for the best schedule of the work that a job has left. Slots count from 0 for the
// first slot that it may use.
type request struct {
	job     *Job
	first   int       // slot number of slot 0
	work    int64     // worker-slots to do: W_i at first
	chunks  int64     // chunk trainings to do: E_i N_i at first (ChunkDP only)
	whole   bool      // a slot trains whole chunks only (ChunkDP): units are chunk trainings
	units   int64     // what there is to do, in units of the tables: work or chunks
	values  []float64 // values[s] = f_i if the last worker runs in slot s; never increasing
	demands [2]demand // by side
}

// shortest returns the fewest slots in which the work can be done.
func (r *request) shortest() int64 { return ceilDiv(r.work, r.job.Chunks) }

// floorCost returns what the work costs at least, wherever and whenever it runs.
func (r *request) floorCost() float64 {
	// At base prices W_i workers and Z_i = ceil(W_i b/B) parameter servers, the fewest of any
	// schedule: a lower bound on the cost that needs no slot.
	return float64(float64(r.work)*r.demands[Workers].floor) +
		float64(float64(r.job.PSFor(r.work))*r.demands[ParameterServers].floor)
}

// set prepares the request for a market: values must be filled in.
func (r *request) set(m *market) {
	for _, side := range []Side{Workers, ParameterServers} {
		r.demands[side].set(m, side, r.job.demand(side))
		r.demands[side].restrict(m, r.job.requires(side))
	}
	// Tables count worker-slots, ChunkDP's count chunk trainings.
	r.units = r.work
	if r.whole {
		r.units = r.chunks
	}
}

// problem states the search; set must have been called.
func (r *request) problem() schedule.Problem {
	return schedule.Problem{
		Item: r.job.item(), Work: r.units, Shortest: int(r.shortest()),
		Values: r.values, Floor: r.floorCost(), Servers: r.job,
	}
}

// workersFor returns the fewest workers that do a number of units in one slot.
func (r *request) workersFor(units int64) int64 {
	if r.whole {
		return workersFor(r.job, units)
	}
	return units
}

// mostWorkers returns an upper bound on the workers of one slot: N_i, the work, and what the empty
// servers hold.
// No schedule holds more in any slot, as capacities are those of empty servers that are up.
func (r *request) mostWorkers(m *market) int64 {
	most := min(r.job.Chunks, r.work)
	// min(most, ...) keeps the sum from overflow, where containers that demand nothing find room
	// without end.
	room := int64(0)
	// An empty slot with all servers up holds at least what any slot of the horizon does.
	empty := slotState{}
	for h := range m.cluster.WorkerServers {
		if room >= most {
			break
		}
		room += min(most, m.room(&empty, &r.demands[Workers], h))
	}
	return min(most, room)
}

// roomFor returns the worker-slots for which servers have room in slots 0 to last, at whatever price;
// it stops counting once the work has room.
// Each slot counts its most by itself, so that the sum is no promise of a schedule in whole chunks.
func (r *request) roomFor(m *market, last int) int64 {
	total := int64(0)
	for s := 0; s <= last && total < r.work; s++ {
		state := m.slot(r.first + s)
		// N_i is the most by (3). Room for containers says nothing of prices, as the reason is
		// about room alone.
		workers := r.roomIn(m, state, Workers, r.job.Chunks)
		ps := r.roomIn(m, state, ParameterServers, r.job.PSFor(workers))
		for workers > 0 && r.job.PSFor(workers) > ps {
			// The most workers that ps parameter servers serve: floor(ps B/b), found by halving.
			// ps may serve none at all: the loop then ends with 0 workers.
			workers = r.served(ps, workers)
		}
		total += workers
	}
	return total
}

// roomIn returns the containers that fit a side in one slot, at most enough.
func (r *request) roomIn(m *market, s *slotState, side Side, enough int64) int64 {
	room := int64(0)
	for server := range m.cluster.servers(side) {
		if room >= enough {
			break
		}
		room += min(enough, m.room(s, &r.demands[side], m.machine(side, server)))
	}
	return min(room, enough)
}

// served returns the largest y < limit with ceil(y b/B) <= ps.
func (r *request) served(ps, limit int64) int64 {
	low, high := int64(0), limit // PSFor(low) <= ps < PSFor(high)
	for high-low > 1 {
		// PSFor never falls, so that halving finds the last y that ps serve. The float floor(ps
		// B/b) could be one too many.
		if mid := low + (high-low)/2; r.job.PSFor(mid) <= ps {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}
