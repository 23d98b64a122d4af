// This file says how much of what is scarce a placement breaks up: the expected fragment, [Weng23] §3.2, which counts in a sum with
// best fit, [Program §17].

package alloc

import (
	"cmp"
	"slices"

	"github.com/apportion/apportion"
)

const (
	// mostTypical is to how many demands, the most frequent, pieces should be of use: it bounds time.
	mostTypical = 32
	// fullness is what a part of the cluster that is left, of any kind, counts for beside one of a compact kind that is of no use. On the
	// whole-GPU pods of a production cluster (TestFragmentsOfPods) its half and its double leave less than best fit and than fragments alone; on
	// pods drawn afterwards it leaves less than best fit, and as much as fragments alone (TestFragmentsOfDrawnPods).
	fullness = 1. / 32
	// sameFragment is by how much less has to be broken up to count as less.
	sameFragment = 1e-9
)

// typical is the demand of a container, and which part of the containers has it.
type typical struct {
	demand apportion.Resources
	part   float64
}

// findTypical lists the most frequent demands for compact kinds, each application counted by its fewest containers: what comes is taken to
// be like what is there. Labels are not asked. nil: no kind is compact, or nobody uses one.
func (r *resolved) findTypical() {
	of, sum := make(map[string]int), 0.0
	for i := range r.problem.Applications {
		app := &r.problem.Applications[i]
		if !r.usesCompact(app.Demand) {
			continue
		}
		key := string(appendVector(nil, app.Demand))
		at, known := of[key]
		if !known {
			at, of[key] = len(r.typical), len(r.typical)
			r.typical = append(r.typical, typical{demand: app.Demand})
		}
		r.typical[at].part += float64(max(1, app.Min))
	}
	slices.SortFunc(r.typical, func(a, b typical) int {
		return cmp.Or(cmp.Compare(b.part, a.part), slices.Compare(a.demand, b.demand))
	})
	r.typical = r.typical[:min(len(r.typical), mostTypical)]
	for _, t := range r.typical {
		sum += t.part
	}
	for at := range r.typical {
		r.typical[at].part /= sum
	}
}

// fragment returns which part of the compact kinds of the cluster is left on a server, and of no use to the next container, in expectation.
// O(typical demands x kinds).
func (r *resolved) fragment(left apportion.Resources) float64 {
	pieces := 0.0
	for _, k := range r.compact {
		if r.total[k] > 0 {
			pieces += float64(max(0, left[k])) / float64(r.total[k])
		}
	}
	if pieces == 0 {
		return 0
	}
	useless := 0.0
	for _, t := range r.typical {
		if !t.demand.FitsIn(left) {
			useless += t.part
		}
	}
	return useless * pieces
}

// breaks returns by how much n containers of application i on server j raise the fragment there.
func (d *draft) breaks(i, j int, n int64) float64 {
	d.after = append(d.after[:0], d.left[j]...)
	for k, q := range d.r.problem.Applications[i].Demand {
		d.after[k] -= n * q
	}
	return d.r.fragment(d.after) - d.r.fragment(d.left[j])
}

// looseness returns what best fit makes small when n containers of application i come to server j: what is left, and with compact kinds what
// is broken up beside it.
func (d *draft) looseness(i, j int, n int64) float64 {
	rest := d.rest(i, j, n)
	if d.r.typical == nil {
		return rest
	}
	return float64(fullness*rest) + d.breaks(i, j, n)
}

// loosenessOf is that of all places of application i, which has none in the draft.
func (d *draft) loosenessOf(i int, placed []apportion.Placement) (sum float64) {
	for _, p := range placed {
		sum += d.looseness(i, p.Server, p.Count)
	}
	return sum
}
