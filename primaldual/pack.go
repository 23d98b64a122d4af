// This file implements packing: work as early as possible into the room that is left, first servers first. It asks
// for no prices; [OASiS] has no such step.
// As early as possible is the right aim where utility falls with time and no price tells slots
// apart: it leaves the late slots, of which least is known, to jobs that come later.

package primaldual

import "github.com/apportion/apportion"

// packer places work; it keeps its storage from one job to the next.
// request is its own and not the planner's, since a line of jobs is packed while the planner's
// still holds the values of the wish.
type packer struct {
	request request
	picks   [2][]apportion.Placement
	joint   joint
}

// pack returns a schedule of what is left of a job that ends as early as can be, with as many workers in every slot as
// there is room for, or false where the work does not end by slot until. The ledger is only read.
// O(slots x (kinds + servers of slots with room x kinds)).
func (p *packer) pack(m *market, job *Job, left remainder, until int) (Schedule, bool) {
	r := &p.request
	// No values are set: a wish says by until how late it may end, and an earlier end is never
	// worth less.
	r.job, r.first, r.work = job, left.first, left.work
	r.set(m)
	// As many workers as fit in every slot from the first on: no schedule has done more work by any slot, so that none ends
	// earlier.
	var schedule Schedule
	work := left.work
	for slot := left.first; slot <= min(until, m.last()) && work > 0; slot++ {
		if ceilDiv(work, job.perSlot()) > int64(until-slot+1) {
			return nil, false // not even with the most workers from here on
		}
		if done := p.fill(m, m.slot(slot), work); done > 0 {
			work -= done
			schedule = append(schedule, SlotPlan{
				Slot:    slot,
				Workers: append([]apportion.Placement{}, p.picks[Workers]...),
				PS:      append([]apportion.Placement{}, p.picks[ParameterServers]...),
			})
		}
	}
	return schedule, work == 0
}

// fill places containers for up to so much work in one slot, and returns how much they do.
func (p *packer) fill(m *market, s *slotState, work int64) int64 {
	job := p.request.job
	if len(job.Speeds) > 0 || p.request.coupled(m) {
		if m.most(s, &p.request.demands[Workers]) == 0 {
			return 0 // every way has a worker
		}
		return p.fastest(m, s, work)
	}
	workers := p.side(m, s, Workers, min(job.Chunks, work, m.most(s, &p.request.demands[Workers])))
	// ceil(y b/B) parameter servers, constraint (6). most bounds what fits by sums over the side,
	// which costs O(kinds) and finds full slots before any server is looked at.
	need := job.PSFor(workers)
	ps := p.side(m, s, ParameterServers, min(need, m.most(s, &p.request.demands[ParameterServers])))
	if ps == need {
		return workers
	}
	// Fewer parameter servers than these workers need: as many workers as they serve, on the first servers.
	workers = p.request.served(ps, workers)
	p.side(m, s, Workers, workers)
	p.side(m, s, ParameterServers, job.PSFor(workers))
	return workers
}

// fastest places the way of a job that does the most, or of those that do all the work the one with the fewest workers.
func (p *packer) fastest(m *market, s *slotState, work int64) int64 {
	r := &p.request
	// Both are what is left after the slots before: the ways are cut to it, so that the last slot
	// takes no more than it must.
	r.work, r.units = work, work
	way := r.fastest(m, s)
	if r.coupled(m) {
		p.joint.setFree(m, &r.demands, r.job.Colocation)
		// fastest has found this couple to fit by the same table, so that place cannot fail.
		placed, _ := p.joint.place(unpriced(s), couple{way.Workers, way.PS})
		p.picks = placed
		return way.Units
	}
	p.side(m, s, Workers, way.Workers)
	p.side(m, s, ParameterServers, way.PS)
	return way.Units
}

// side places up to want containers of a side, and returns how many.
func (p *packer) side(m *market, s *slotState, side Side, want int64) int64 {
	// The list is the packer's own; pack copies what it keeps.
	p.picks[side] = p.picks[side][:0]
	left := want
	// First servers first, and not the cheapest: what is packed tightly leaves whole servers free
	// for wide jobs.
	for server, machine := range m.on[side] {
		if left == 0 {
			break
		}
		if count := min(left, m.room(s, &p.request.demands[side], machine)); count > 0 {
			p.picks[side] = append(p.picks[side], apportion.Placement{Server: server, Count: count})
			left -= count
		}
	}
	return want - left
}

// most returns an upper bound on the containers that fit a side in one slot: by what all its servers together have
// left. It is what makes full slots cost nothing.
func (m *market) most(s *slotState, d *demand) int64 {
	count := maxCount
	for i, r := range d.kinds {
		free := m.totals[int(d.side)*m.kinds+r]
		if s.taken != nil {
			free -= s.taken[int(d.side)*m.kinds+r]
		}
		count = min(count, max(0, free)/d.amounts[i])
	}
	return count
}
