// This file holds Verdict, why a job was admitted or refused, [OASiS] §4.

package primaldual

// Verdict says whether a job was admitted, and if not, why.
type Verdict string

// The verdicts, in the order in which they are tested.
const (
	// Admitted: the payoff of the best schedule is positive.
	Admitted Verdict = "admitted"
	// BandwidthTooSmall: one parameter server reserves less bandwidth than one worker, so no number
	// of parameter servers satisfies both constraints (6) and (7).
	BandwidthTooSmall Verdict = "bandwidth too small"
	// FitsNoWorkerServer and FitsNoPSServer: one worker (parameter server) demands more than any
	// server of its side has when empty, of those whose labels suit.
	FitsNoWorkerServer Verdict = "fits no worker server"
	FitsNoPSServer     Verdict = "fits no ps server"
	// TooFewSlots: even with the most workers in every slot the work does not end within the horizon.
	TooFewSlots Verdict = "too few slots"
	// Worthless: the utility is 0 at the earliest possible completion.
	Worthless Verdict = "worthless"
	// NoRoom: the servers have too little left before the horizon ends.
	NoRoom Verdict = "no room"
	// TooExpensive: there is room, but every schedule costs at least what it is worth.
	TooExpensive Verdict = "too expensive"
	// TooLarge: the search for a schedule of what is left of a job would exceed the limit on memory.
	// Only Fail says so; Offer returns ErrTooLarge.
	TooLarge Verdict = "too large"
)

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
