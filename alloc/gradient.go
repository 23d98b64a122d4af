// This file says how much of what is scarce a placement breaks up: what is left of it when servers are filled, after the expected fragment of
// [Weng23] §3.2, which is what is left that the next container does not fit; among equals best fit decides, [Program §17].

package alloc

import (
	"cmp"
	"math"
	"slices"

	"github.com/apportion/apportion"
)

const (
	// mostTypical is to how many demands, the most frequent, pieces should be of use: it bounds time.
	mostTypical = 32
	// mixture is what a piece that the mean of all demands leaves counts for, beside one that a single demand does: in TestFragmentsOfPods and
	// TestFragmentsOfDrawnPods 1 and 4 are as good, and without either of the two more is left.
	mixture = 2
	// fullness is what a part of the cluster that is left, of any kind, counts for beside one of a compact kind that is broken up: so little that
	// best fit decides among equals alone, which all places are to a demand that fits any piece.
	fullness = 1. / 8192
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
	r.mean = make([]float64, len(r.total))
	for at := range r.typical {
		t := &r.typical[at]
		t.part /= sum
		for k, q := range t.demand {
			r.mean[k] += float64(t.part * float64(q))
		}
	}
}

// unfilled returns which part of the compact kinds of the cluster is left on a server that is filled: with containers of one typical demand, in
// expectation, and with the mixture of all. That a server can take the next container is too little: CPUs for eight that it has left may
// be enough for seven.
// O(typical demands x kinds).
func (r *resolved) unfilled(left apportion.Resources) (sum float64) {
	if !slices.ContainsFunc(r.compact, func(k int) bool { return left[k] > 0 }) {
		return 0
	}
	for at := range r.typical {
		t := &r.typical[at]
		sum += float64(t.part * r.piece(left, float64(t.demand.CountIn(left)), func(k int) float64 { return float64(t.demand[k]) }))
	}
	n := math.Inf(1) // of the mean
	for k, q := range r.mean {
		if q > 0 {
			n = min(n, float64(max(0, left[k]))/q)
		}
	}
	return sum + float64(mixture*r.piece(left, n, func(k int) float64 { return r.mean[k] }))
}

// piece returns which part of the compact kinds of the cluster n containers of a demand leave of what a server has left.
func (r *resolved) piece(left apportion.Resources, n float64, demand func(k int) float64) (sum float64) {
	for _, k := range r.compact {
		if r.total[k] > 0 {
			sum += (float64(left[k]) - float64(n*demand(k))) / float64(r.total[k])
		}
	}
	return sum
}

// breaks returns by how much n containers of application i on server j raise what is left unfilled there.
func (d *draft) breaks(i, j int, n int64) float64 {
	d.after = append(d.after[:0], d.left[j]...)
	for k, q := range d.r.problem.Applications[i].Demand {
		d.after[k] -= n * q
	}
	return d.r.unfilled(d.after) - d.r.unfilled(d.left[j])
}

// looseness returns what is made small when n containers of application i come to server j: what is left, and with compact kinds what is broken
// up, before that.
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
