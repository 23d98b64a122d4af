// This file holds the reasons of refusals, with the numbers behind them.
// A reason is made only when a job has been refused, from the request that the planner still holds,
// and reads the market without changing it. need and have are in the unit of the verdict:
// bandwidth, units of a kind, slots, worker-slots or utility.

package primaldual

import (
	"fmt"

	"github.com/apportion/apportion"
)

// explain returns the reason of a decision about the request that was decided last. Its Constraint is
// the text of the verdict. It looks at servers, or at servers and slots where there is no room.
func (p *planner) explain(m *market, d *Decision) apportion.Reason {
	r := &p.request
	reason := apportion.Reason{Constraint: string(d.Verdict)}
	set := func(need, have float64, format string, args ...any) apportion.Reason {
		reason.Need, reason.Have, reason.Text = need, have, fmt.Sprintf(format, args...)
		return reason
	}
	switch d.Verdict {
	case BandwidthTooSmall:
		need, have := r.job.WorkerBandwidth, r.job.PSBandwidth
		return set(float64(need), float64(have), "one worker reserves bandwidth %d, one parameter server only %d", need, have)
	case FitsNoWorkerServer, FitsNoPSServer:
		return p.explainMisfit(m, d.Verdict)
	// need is n_i of what is left, have the slots of the horizon from the first that the job may
	// use.
	case TooFewSlots:
		need, have := r.shortest(), max(0, m.last()-r.first+1)
		return set(float64(need), float64(have), "it takes %d slots at least, the horizon has %d", need, have)
	// Have is the utility, which is 0, and Need is the 0 that it would have to exceed.
	case Worthless:
		return set(0, 0, "it is worth nothing in slot %d, where it could end at the earliest", r.first+int(r.shortest())-1)
	case NoRoom:
		// The room is counted only for the reason: O(slots x servers x kinds), which would be too
		// dear for every decision.
		room := r.roomFor(m, m.last()-r.first)
		if room >= r.work { // ChunkDP counts whole chunks only
			return set(float64(r.work), float64(room), "servers have room for its work, but not for whole chunks in each slot")
		}
		return set(float64(r.work), float64(room), "it takes %d worker-slots, servers have room for %d", r.work, room)
	// Need is the cost and Have the worth, in the unit of utility: the job would have to be worth
	// more than Need.
	case TooExpensive:
		return set(d.Cost, d.Utility, "ending in slot %d costs at least %.6g and is worth %.6g", d.Completion, d.Cost, d.Utility)
	}
	return apportion.Reason{}
}

// explainMisfit names the kind of which no empty server has what one container demands, if there is
// one; otherwise every kind is there on some server, but all of them on none.
// O(servers x kinds).
func (p *planner) explainMisfit(m *market, v Verdict) apportion.Reason {
	side := Workers
	if v == FitsNoPSServer {
		side = ParameterServers
	}
	reason := apportion.Reason{Constraint: string(v)}
	job, suited := p.request.job, 0
	servers := m.cluster.servers(side)
	for i := range servers {
		if servers[i].Satisfies(job.requires(side)) {
			suited++
		}
	}
	if suited == 0 {
		reason.Text = fmt.Sprintf("no %v server has the labels that it requires", side)
		return reason
	}
	// The first kind in the order of Kinds is named, so that equal refusals have equal reasons.
	// most is over servers whose labels suit, as the job could use no other.
	for k, need := range job.demand(side) {
		most := int64(0)
		for i := range servers {
			if servers[i].Satisfies(job.requires(side)) {
				most = max(most, servers[i].Capacity[k])
			}
		}
		if need > most {
			reason.Kind, reason.Need, reason.Have = m.cluster.Kinds.Name(k), float64(need), float64(most)
			reason.Text = fmt.Sprintf("one container needs %d %s, no %v server has more than %d", need, reason.Kind, side, most)
			return reason
		}
	}
	// Each kind is there on some server, and the misfit is in the combination: no single kind, need
	// and have can state it.
	reason.Text = fmt.Sprintf("no %v server has enough of all kinds together", side)
	return reason
}
