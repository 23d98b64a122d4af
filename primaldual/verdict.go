// This file holds Verdict, why a job was admitted or refused, [OASiS] §4.

package primaldual

import (
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
	// server of its side has when empty, of those whose labels suit.
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
// It depends on job and cluster alone: what is refused here need not come again before the cluster
// changes. O((H+K) R).
func (j *Job) misfit(cluster *Cluster) Verdict {
	switch {
	// With b > B (6) and (7) contradict each other for every y > 0.
	case j.WorkerBandwidth > j.PSBandwidth:
		return BandwidthTooSmall
	case !fitsAny(cluster, Workers, j):
		return FitsNoWorkerServer
	case !fitsAny(cluster, ParameterServers, j):
		return FitsNoPSServer
	}
	return Admitted
}

// fitsAny reports whether one container fits some empty server of a side that suits.
func fitsAny(cluster *Cluster, side Side, j *Job) bool {
	servers := cluster.servers(side)
	for i := range servers {
		if j.demand(side).FitsIn(servers[i].Capacity) && servers[i].Satisfies(j.requires(side)) {
			return true
		}
	}
	return false
}
