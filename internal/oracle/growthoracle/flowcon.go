// This file implements FlowCon as listed, [Zheng] Algorithms 1 and 2.

package growthoracle

import (
	"math"
	"sort"
)

// Reading is one finite reading: a value at a time in seconds, and usages by kind.
// Usage has one entry a kind, in parts of the resource. It is kept, so that the caller must not write to it
// any more.
type Reading struct {
	At, Value float64
	Usage     []float64
}

// FlowCon holds lists as sets and every reading that it was ever given.
// Nothing is summed up along the way: each run computes averages, efficiencies and limits from the readings themselves, so
// that no running sum can hide a mistake. Times are in seconds, usages and limits in parts of a resource.
type FlowCon struct {
	// Alpha is the least growth efficiency of who grows, and Beta divides the lower bound of limits, 1/(Beta n).
	Alpha, Beta float64
	// Initial is the interval as configured, and Itval the one that holds now, which doubles while all have converged.
	Initial, Itval float64
	BoundAll       bool // the lower bound for growing containers too
	// NL, WL and CL are the lists of Algorithm 1: who grows, who is watched, who has completed; a container is in one of them.
	NL, WL, CL map[string]bool
	Readings   map[string][]Reading // those that runs have taken, with averages of usage
	Offered    map[string][]Reading // all
	Limits     map[string][]float64
	// nextRun is when Algorithm 1 is due again, growth G of (4.2) by kind, nil for who has not been measured.
	nextRun          float64
	kinds            int
	growth           map[string][]float64
	initialRunIsOver bool
}

// NewFlowCon returns a twin without containers, which normalizes by the first value that is not 0.
// alpha is at least 0, beta positive, itval in seconds and positive, and kinds at least 1: kind 0 is
// the CPU, by which the lists are kept.
func NewFlowCon(alpha, beta, itval float64, kinds int) *FlowCon {
	return &FlowCon{
		Alpha: alpha, Beta: beta, Initial: itval, Itval: itval, BoundAll: true, kinds: kinds,
		NL: map[string]bool{}, WL: map[string]bool{}, CL: map[string]bool{},
		Readings: map[string][]Reading{}, Offered: map[string][]Reading{}, Limits: map[string][]float64{}, growth: map[string][]float64{},
	}
}

// Step is one call of the listener, followed by Algorithm 1 where it is due. Readings are not
// missing, finite and later than those before.
// now is in seconds and never falls. The order of the map leaves no trace, since each container has
// lists of its own.
func (f *FlowCon) Step(now float64, readings map[string]Reading) {
	listener := f.listen(readings)
	for id, reading := range readings {
		f.Offered[id] = append(f.Offered[id], reading)
	}
	// Algorithm 1 runs when its interval is over, or when the listener calls.
	if !listener && f.initialRunIsOver && now < f.nextRun {
		return
	}
	f.initialRunIsOver = true
	// Lines 8 and 16: a change of the set ends the back-off.
	if listener {
		f.Itval = f.Initial
	}
	for id, reading := range readings {
		reading.Usage = f.average(id)
		f.Readings[id] = append(f.Readings[id], reading)
	}
	// A run that the listener asks for never backs off, whatever it finds.
	f.algorithm1(!listener)
	f.nextRun = now + f.Itval
}

// listen brings the lists up to date, Algorithm 2, and reports whether the set of containers has changed.
// A container that comes back under its old name after an exit is a new one: nothing of its first life
// remains.
func (f *FlowCon) listen(readings map[string]Reading) bool {
	// Lines 5-9: who is on no list is new. listener says that the set has changed, by arrivals or exits: the
	// listing compares counts only, and one of each at once would escape it.
	listener := false
	for id := range readings {
		if !f.NL[id] && !f.WL[id] && !f.CL[id] {
			f.NL[id] = true
			listener = true
		}
	}
	// Lines 10-17: who is on a list and has no reading any more is gone, with all that was known of it.
	for _, list := range []map[string]bool{f.NL, f.WL, f.CL} {
		for id := range list {
			if _, there := readings[id]; !there {
				delete(list, id)
				delete(f.Readings, id)
				delete(f.Offered, id)
				delete(f.growth, id)
				delete(f.Limits, id)
				listener = true
			}
		}
	}
	return listener
}

// average returns the average usage since the reading that the run before took: R of (4.2).
func (f *FlowCon) average(id string) []float64 {
	taken, offered := f.Readings[id], f.Offered[id]
	mean := append([]float64(nil), offered[len(offered)-1].Usage...)
	if len(taken) == 0 {
		return mean
	}
	// Each reading stands for the time since the one before it, and weighs as much.
	from := taken[len(taken)-1].At
	for k := range mean {
		mean[k] = 0
		for i, r := range offered {
			// offered[i-1] exists: the first reading of a container causes a run, which takes it.
			if r.At > from {
				mean[k] += r.Usage[k] * (r.At - offered[i-1].At) / (offered[len(offered)-1].At - from)
			}
		}
	}
	return mean
}

// ids returns the containers in the order of their names, in which sums are taken: map order would round differently
// from run to run.
func (f *FlowCon) ids() []string {
	var ids []string
	for id := range f.Readings {
		ids = append(ids, id)
	}
	sort.Strings(ids)
	return ids
}

// algorithm1 is Algorithm 1 with its lists by CPU alone, kind 0; mayBackOff is false in a run of the listener.
func (f *FlowCon) algorithm1(mayBackOff bool) {
	for _, id := range f.ids() { // lines 2-13
		if !f.measure(id) {
			continue
		}
		// Lines 4-6, 7-9 and 10-13. The three tests are a chain: printed as separate ifs, one low value would move a container
		// through two lists at once.
		g := f.growth[id][0]
		if g < f.Alpha && f.NL[id] {
			delete(f.NL, id)
			f.WL[id] = true
		} else if g < f.Alpha && f.WL[id] {
			delete(f.WL, id)
			f.CL[id] = true
		} else if g >= f.Alpha {
			f.NL[id] = true
			delete(f.WL, id)
			delete(f.CL, id)
		}
	}
	// Line 14: have all containers converged? Without containers there is nothing to wait for.
	all := len(f.Readings) > 0
	for id := range f.Readings {
		all = all && f.CL[id]
	}
	if all && mayBackOff {
		// The listing doubles within the loop over containers; once for each run is meant.
		f.Itval *= 2
	} else {
		f.Itval = f.Initial // a job grows again
	}
	f.lines14to26(all)
}

// measure computes (4.1) and (4.2) over the last two readings. An interval in which nothing was used
// and nothing gained proves nothing.
// False: nothing has been measured, and growth stays what the run before has found.
func (f *FlowCon) measure(id string) bool {
	// Progress needs two readings; with one the container is unmeasured.
	readings := f.Readings[id]
	if len(readings) < 2 {
		return false
	}
	// Values are divided by the first that is not 0, so that alpha means the same for every evaluation function.
	scale := 0.0
	for _, r := range readings {
		if scale == 0 {
			scale = math.Abs(r.Value)
		}
	}
	// An interval is the time between the readings of two runs, not between two offers.
	last, before := readings[len(readings)-1], readings[len(readings)-2]
	if last.Value == before.Value && last.Usage[0] < 1e-6 {
		return false
	}
	// (4.1)
	progress := 0.0
	if last.Value != before.Value {
		// Two values that differ are not both 0, so that scale is positive here.
		progress = math.Abs(last.Value-before.Value) / (last.At - before.At) / scale
	}
	f.growth[id] = make([]float64, f.kinds)
	for k := range f.kinds {
		if progress > 0 {
			// (4.2), with a floor for a usage of 0
			f.growth[id][k] = progress / math.Max(last.Usage[k], 1e-6)
		}
	}
	return true
}

// lines14to26 sets the limits, for each resource by itself: all is the answer of line 14.
func (f *FlowCon) lines14to26(all bool) {
	// As long as one container is unmeasured the sum of lines 21 and 26 is not known: it counts as infinitely efficient.
	unmeasured := false
	for id := range f.Readings {
		unmeasured = unmeasured || f.growth[id] == nil
	}
	for _, id := range f.ids() {
		if f.Limits[id] == nil {
			f.Limits[id] = make([]float64, f.kinds)
		}
		for k := range f.kinds {
			// n is the number of all containers: the thesis' limit of 0.25 for one of two needs beta*n = 4.
			bound := 1 / (f.Beta * float64(len(f.Readings)))
			ratio := f.ratio(id, k, unmeasured)
			switch {
			// Lines 14-17, and who has just come.
			case all || f.growth[id] == nil:
				f.Limits[id][k] = 1
			// Lines 20-22: a converged container keeps the lower bound.
			case f.CL[id]:
				f.Limits[id][k] = math.Max(ratio, bound)
			// Lines 23-24: a watched container keeps its limit, as everybody does until a newcomer has been measured.
			case f.WL[id] || unmeasured:
			// Lines 25-26; the listing has no lower bound here, and a growing container beside a faster one would starve.
			case f.BoundAll:
				f.Limits[id][k] = math.Max(ratio, bound)
			default:
				f.Limits[id][k] = ratio
			}
		}
	}
}

// ratio is G/S of lines 21 and 26 for kind k: the part of a container in what all containers of the worker grow.
func (f *FlowCon) ratio(id string, k int, unmeasured bool) float64 {
	// The sum is added up anew for each container, in the order of names.
	s := 0.0
	for _, other := range f.ids() {
		if f.growth[other] != nil {
			s += f.growth[other][k]
		}
	}
	// Where nobody grows the ratio would be 0/0; it counts as 0, and the lower bound holds.
	if f.growth[id] == nil || s <= 0 || unmeasured {
		return 0
	}
	return f.growth[id][k] / s
}
