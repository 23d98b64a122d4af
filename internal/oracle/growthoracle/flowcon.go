// This file implements FlowCon as listed, [Zheng] Algorithms 1 and 2.

package growthoracle

import (
	"math"
	"sort"
)

// Reading is one finite reading: a value at a time in seconds, and usages by kind.
type Reading struct {
	At, Value float64
	Usage     []float64
}

// FlowCon holds lists as sets and every reading that it was ever given.
type FlowCon struct {
	Alpha, Beta      float64
	Initial, Itval   float64
	BoundAll         bool // the lower bound for growing containers too
	NL, WL, CL       map[string]bool
	Readings         map[string][]Reading // those that runs have taken, with averages of usage
	Offered          map[string][]Reading // all
	Limits           map[string][]float64
	nextRun          float64
	kinds            int
	growth           map[string][]float64
	initialRunIsOver bool
}

// NewFlowCon returns a twin without containers, which normalizes by the first value that is not 0.
func NewFlowCon(alpha, beta, itval float64, kinds int) *FlowCon {
	return &FlowCon{
		Alpha: alpha, Beta: beta, Initial: itval, Itval: itval, BoundAll: true, kinds: kinds,
		NL: map[string]bool{}, WL: map[string]bool{}, CL: map[string]bool{},
		Readings: map[string][]Reading{}, Offered: map[string][]Reading{}, Limits: map[string][]float64{}, growth: map[string][]float64{},
	}
}

// Step is one call of the listener, followed by Algorithm 1 where it is due. Readings are not
// missing, finite and later than those before.
func (f *FlowCon) Step(now float64, readings map[string]Reading) {
	listener := false
	for id := range readings {
		if !f.NL[id] && !f.WL[id] && !f.CL[id] {
			f.NL[id] = true
			listener = true
		}
	}
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
	for id, reading := range readings {
		f.Offered[id] = append(f.Offered[id], reading)
	}
	if !listener && f.initialRunIsOver && now < f.nextRun {
		return
	}
	f.initialRunIsOver = true
	if listener {
		f.Itval = f.Initial
	}
	for id, reading := range readings {
		reading.Usage = f.average(id)
		f.Readings[id] = append(f.Readings[id], reading)
	}
	f.algorithm1(!listener)
	f.nextRun = now + f.Itval
}

// average returns the average usage since the reading that the run before took: R of (4.2).
func (f *FlowCon) average(id string) []float64 {
	taken, offered := f.Readings[id], f.Offered[id]
	mean := append([]float64(nil), offered[len(offered)-1].Usage...)
	if len(taken) == 0 {
		return mean
	}
	from := taken[len(taken)-1].At
	for k := range mean {
		mean[k] = 0
		for i, r := range offered {
			if r.At > from {
				mean[k] += r.Usage[k] * (r.At - offered[i-1].At) / (offered[len(offered)-1].At - from)
			}
		}
	}
	return mean
}

func (f *FlowCon) ids() []string {
	var ids []string
	for id := range f.Readings {
		ids = append(ids, id)
	}
	sort.Strings(ids)
	return ids
}

func (f *FlowCon) algorithm1(mayBackOff bool) {
	for _, id := range f.ids() { // lines 2-13
		if !f.measure(id) {
			continue
		}
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
	all := len(f.Readings) > 0
	for id := range f.Readings {
		all = all && f.CL[id]
	}
	if all && mayBackOff {
		f.Itval *= 2
	} else {
		f.Itval = f.Initial // a job grows again
	}
	f.lines14to26(all)
}

// measure computes (4.1) and (4.2) over the last two readings. An interval in which nothing was used
// and nothing gained proves nothing.
func (f *FlowCon) measure(id string) bool {
	readings := f.Readings[id]
	if len(readings) < 2 {
		return false
	}
	scale := 0.0
	for _, r := range readings {
		if scale == 0 {
			scale = math.Abs(r.Value)
		}
	}
	last, before := readings[len(readings)-1], readings[len(readings)-2]
	if last.Value == before.Value && last.Usage[0] < 1e-6 {
		return false
	}
	progress := 0.0
	if last.Value != before.Value {
		progress = math.Abs(last.Value-before.Value) / (last.At - before.At) / scale
	}
	f.growth[id] = make([]float64, f.kinds)
	for k := range f.kinds {
		if progress > 0 {
			f.growth[id][k] = progress / math.Max(last.Usage[k], 1e-6)
		}
	}
	return true
}

func (f *FlowCon) lines14to26(all bool) {
	unmeasured := false
	for id := range f.Readings {
		unmeasured = unmeasured || f.growth[id] == nil
	}
	for _, id := range f.ids() {
		if f.Limits[id] == nil {
			f.Limits[id] = make([]float64, f.kinds)
		}
		for k := range f.kinds {
			s := 0.0
			for _, other := range f.ids() {
				if f.growth[other] != nil {
					s += f.growth[other][k]
				}
			}
			bound := 1 / (f.Beta * float64(len(f.Readings)))
			ratio := 0.0
			if f.growth[id] != nil && s > 0 && !unmeasured {
				ratio = f.growth[id][k] / s
			}
			switch {
			case all || f.growth[id] == nil:
				f.Limits[id][k] = 1
			case f.CL[id]:
				f.Limits[id][k] = math.Max(ratio, bound)
			case f.WL[id] || unmeasured:
			case f.BoundAll:
				f.Limits[id][k] = math.Max(ratio, bound)
			default:
				f.Limits[id][k] = ratio
			}
		}
	}
}
