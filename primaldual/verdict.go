// This file holds Verdict, why a job was admitted or refused, and its numbers, [OASiS] §4.

package primaldual

import (
	"fmt"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/enum"
)

// Verdict says whether a job was admitted, and if not, why.
type Verdict uint8

// The verdicts, in the order in which they are tested.
const (
	// Admitted: the payoff of the best schedule is positive.
	Admitted Verdict = iota
	// BandwidthTooSmall: one parameter server reserves less bandwidth than one worker, so no number
	// of parameter servers satisfies both constraints (6) and (7).
	BandwidthTooSmall
	// FitsNoWorkerServer and FitsNoPSServer: one worker (parameter server) demands more than any
	// server of its side has when empty.
	FitsNoWorkerServer
	FitsNoPSServer
	// TooFewSlots: even with the most workers in every slot the work does not end within the horizon.
	TooFewSlots
	// Worthless: the utility is 0 at the earliest possible completion.
	Worthless
	// NoRoom: the servers have too little left before the horizon ends.
	NoRoom
	// TooExpensive: there is room, but every schedule costs at least what it is worth.
	TooExpensive
	// TooLarge: the search for a schedule of what is left of a job would exceed the limit on memory.
	// Only Fail says so; Offer returns ErrTooLarge.
	TooLarge
)

var verdictTexts = []string{
	"admitted", "bandwidth too small", "fits no worker server", "fits no ps server",
	"too few slots", "worthless", "no room", "too expensive", "too large",
}

// String returns the verdict in words.
func (v Verdict) String() string { return enum.String(v, verdictTexts) }

// MarshalText returns the text of String.
func (v Verdict) MarshalText() ([]byte, error) { return enum.Marshal(v, verdictTexts) }

// UnmarshalText reads a text of String.
func (v *Verdict) UnmarshalText(text []byte) error { return enum.Unmarshal(v, text, verdictTexts) }

// misfit returns why the job cannot run on the empty cluster in any number of slots, or Admitted.
func (j *Job) misfit(cluster *Cluster) Verdict {
	switch {
	case j.WorkerBandwidth > j.PSBandwidth:
		return BandwidthTooSmall
	case !fitsAny(cluster, Workers, j):
		return FitsNoWorkerServer
	case !fitsAny(cluster, ParameterServers, j):
		return FitsNoPSServer
	}
	return Admitted
}

// fitsAny reports whether one container fits some empty server of a side.
func fitsAny(cluster *Cluster, side Side, j *Job) bool {
	for _, server := range cluster.servers(side) {
		if j.demand(side).FitsIn(server.Capacity) {
			return true
		}
	}
	return false
}

// explain returns the reason of a decision about the request that was decided last. Its Constraint is
// the text of the verdict. It looks at servers, or at servers and slots where there is no room.
func (p *planner) explain(m *market, d *Decision) apportion.Reason {
	r := &p.request
	reason := apportion.Reason{Constraint: d.Verdict.String()}
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
	case TooFewSlots:
		need, have := r.shortest(), max(0, m.last()-r.first+1)
		return set(float64(need), float64(have), "it takes %d slots at least, the horizon has %d", need, have)
	case Worthless:
		return set(0, 0, "it is worth nothing in slot %d, where it could end at the earliest", r.first+int(r.shortest())-1)
	case NoRoom:
		room := r.roomFor(m, m.last()-r.first)
		if room >= r.work { // ChunkDP counts whole chunks only
			return set(float64(r.work), float64(room), "servers have room for its work, but not for whole chunks in each slot")
		}
		return set(float64(r.work), float64(room), "it takes %d worker-slots, servers have room for %d", r.work, room)
	case TooExpensive:
		return set(d.Cost, d.Utility, "ending in slot %d costs at least %.6g and is worth %.6g", d.Completion, d.Cost, d.Utility)
	}
	return apportion.Reason{}
}

// explainMisfit names the kind of which no empty server has what one container demands, if there is
// one; otherwise every kind is there on some server, but all of them on none.
func (p *planner) explainMisfit(m *market, v Verdict) apportion.Reason {
	side := Workers
	if v == FitsNoPSServer {
		side = ParameterServers
	}
	reason := apportion.Reason{Constraint: v.String()}
	for k, need := range p.request.job.demand(side) {
		most := int64(0)
		for _, server := range m.cluster.servers(side) {
			most = max(most, server.Capacity[k])
		}
		if need > most {
			reason.Kind, reason.Need, reason.Have = m.cluster.Kinds.Name(k), float64(need), float64(most)
			reason.Text = fmt.Sprintf("one container needs %d %s, no %v server has more than %d", need, reason.Kind, side, most)
			return reason
		}
	}
	reason.Text = fmt.Sprintf("no %v server has enough of all kinds together", side)
	return reason
}
