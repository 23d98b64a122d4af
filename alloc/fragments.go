// This file reports how badly what is free is broken up and what moving a few applications would bring, and moves them, [Program §17].

package alloc

import (
	"math"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/check"
	"github.com/apportion/apportion/internal/exact"
)

// Fragmentation says how much of one kind is free in pieces, and what consolidation would bring.
type Fragmentation struct {
	Kind string `json:"kind"`
	// Free is what is free of it on open servers, together.
	Free int64 `json:"free"`
	// Fragments has an entry for every size from 1 on that doubles, up to the largest server.
	Fragments []Fragment `json:"fragments,omitzero"`
	// Moves names the applications that would have to move for Consolidated, at most as many as the
	// budget (16) pays for; Cost is what they cost against it, Allocation where everybody would be. NewPlan
	// gives the steps.
	Moves      []string   `json:"moves,omitzero"`
	Cost       int64      `json:"cost,omitzero"`
	Allocation Allocation `json:"allocation,omitzero"`
}

// Fragment says how many containers of a size fit. Neither Fit nor Consolidated is above Most; the distance of Consolidated to
// it is what moves within the budget cannot repair.
type Fragment struct {
	// Size is what one container uses of the kind, and of nothing else.
	Size int64 `json:"size"`
	// Fit is how many of them fit now, Consolidated how many after the moves, and Most how many would fit
	// if all that is free were in one piece.
	Fit          int64 `json:"fit"`
	Consolidated int64 `json:"consolidated"`
	Most         int64 `json:"most"`
}

// NewFragmentation reports on kind under allocation: for each size how many more containers fit on open servers,
// and after applications were moved to where they leave larger pieces, at most as many as one decision of p may
// adjust. Nobody gets more or fewer containers. Of all moves that one is made first which makes room for most
// containers of the largest size, then of the next; the search ends where none helps.
//
// Errors: what p.Validate finds; apportion.ErrUnknown for a kind that is not there, and what Measure says of an
// allocation. O(moves x applications x servers x kinds).
func NewFragmentation(p *Problem, kind string, allocation Allocation) (*Fragmentation, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	k := slices.Index(p.Kinds, kind)
	if k < 0 {
		return nil, &apportion.FieldError{Item: check.Item("kind", kind, 0), Err: apportion.ErrUnknown}
	}
	r := resolve(p)
	counts, err := r.counts(allocation, nil)
	if err != nil {
		return nil, err
	}
	// The draft begins with what runs. It is emptied and filled with the allocation, but keeps who may be moved at which
	// cost.
	d := newDraft(r)
	for i := range counts {
		d.remove(i)
	}
	for i, placed := range counts {
		if err := d.hold(i, placed); err != nil {
			return nil, err
		}
	}
	f := &Fragmentation{Kind: kind}
	before := f.measure(d, k)
	f.consolidate(d, k, len(counts))
	for at, fit := range f.measure(d, k) {
		f.Fragments[at].Consolidated, f.Fragments[at].Fit = fit, before[at]
	}
	if len(f.Moves) > 0 {
		f.Allocation = r.allocation(d.counts)
	}
	return f, nil
}

// hold gives application i what it has, and refuses quantities that leave int64. A server may be overfilled by it, and then
// has less than nothing left, which no piece fits.
func (d *draft) hold(i int, placed []apportion.Placement) error {
	used := make(apportion.Resources, len(d.r.total))
	for _, p := range placed {
		if err := exact.AddTimesTo(used, used, p.Count, d.r.problem.Applications[i].Demand); err != nil {
			return &apportion.FieldError{Item: check.Item("application", d.r.problem.Applications[i].ID, i), Field: "Allocation", Err: err}
		}
	}
	d.put(i, placed)
	d.in[i] = len(placed) > 0
	return nil
}

// measure fills in what is free of kind k, and returns how many containers of each size fit: sizes 1, 2, 4, ... up to the
// largest open server.
func (f *Fragmentation) measure(d *draft, k int) []int64 {
	largest := int64(0)
	f.Free = 0
	for j := range d.left {
		if !d.r.problem.Servers[j].Cordoned {
			largest = max(largest, d.r.capacity[j][k])
			f.Free += max(0, d.left[j][k])
		}
	}
	f.Fragments = f.Fragments[:0]
	var fits []int64
	for size := int64(1); size <= largest; size *= 2 {
		f.Fragments = append(f.Fragments, Fragment{Size: size, Most: f.Free / size})
		fits = append(fits, d.pieces(k, size))
		if size > largest/2 {
			break
		}
	}
	return fits
}

// pieces returns how many pieces of a size of kind k are free on open servers: containers that use this kind alone. What is
// left of other kinds may hold up real ones.
// O(servers).
func (d *draft) pieces(k int, size int64) (n int64) {
	for j := range d.left {
		if !d.r.problem.Servers[j].Cordoned {
			n += max(0, d.left[j][k]) / size
		}
	}
	return n
}

// makePieces carries out what NewFragmentation plans for the compact kinds, with at most Options.Moves applications: the last step of a
// decision. It costs the worth of their restarts.
func (r *resolved) makePieces(a *attempt) {
	most := int(min(r.problem.Options.Moves, int64(len(a.apps))))
	if most == 0 || len(r.compact) == 0 || len(a.apps) == 0 {
		return
	}
	d := newDraft(r)
	d.holdAll(a.apps, r.scatter(a.apps, a.solution.Counts))
	for _, k := range r.compact {
		f := &Fragmentation{}
		f.measure(d, k)
		f.consolidate(d, k, most)
		most -= len(f.Moves)
	}
	counts := gather(a.apps, d.counts)
	if d.takings == 0 || a.instance.Check(counts) != nil {
		return
	}
	s := *a.solution
	s.Counts, s.Objective, s.Proven = counts, a.instance.Objective(counts), solver.ByNothing
	s.Bound = math.Max(s.Bound, s.Objective)
	a.solution = &s
}

// consolidate moves at most so many applications while that makes room for more containers of a large size: each round tries every
// application that may be moved, and moves the one with the best score. A round either improves the score, of which there
// are finitely many, or is the last.
func (f *Fragmentation) consolidate(d *draft, k, most int) {
	for len(f.Moves) < most {
		// best is the move of this round, there where it leads.
		best, score := -1, f.score(d, k)
		var there []apportion.Placement
		for i := range d.counts {
			// Who has been moved moves no second time, since that is paid for once and wins little; the forced have to
			// move anyway.
			if len(d.counts[i]) == 0 || d.r.stays(i) || d.r.sliced(i) || d.r.fixed != nil && d.r.fixed[i] != nil || d.moved[i] && !d.r.forced[i] || d.cost(i) > d.budget-d.spent {
				continue
			}
			placed, ok := d.tighter(i)
			if !ok {
				continue
			}
			was := d.remove(i)
			d.put(i, placed)
			if s := f.score(d, k); slices.Compare(s, score) > 0 {
				best, score, there = i, s, placed
			}
			d.remove(i)
			d.put(i, was)
		}
		if best < 0 {
			return
		}
		f.Cost += d.cost(best)
		d.spent += d.cost(best)
		d.moved[best] = true
		d.takings++
		d.remove(best)
		d.put(best, there)
		f.Moves = append(f.Moves, d.r.problem.Applications[best].ID)
	}
}

// tighter returns where best fit puts application i, if that is elsewhere. The draft is the same before and after.
// The number of containers stays, or utilization would change with what is only a tidying up.
func (d *draft) tighter(i int) (placed []apportion.Placement, ok bool) {
	// Its own place is free meanwhile, so that best fit may well choose it again.
	was := d.remove(i)
	n := int64(0)
	for _, p := range was {
		n += p.Count
	}
	if d.place(i, n) {
		placed = d.remove(i)
		ok = !slices.Equal(placed, was)
	}
	d.put(i, was)
	return placed, ok
}

// score counts the pieces of each size, from the largest on: scores are compared entry by entry, so that one more large
// piece is worth any number of small ones.
func (f *Fragmentation) score(d *draft, k int) []int64 {
	score := make([]int64, 0, len(f.Fragments))
	for at := len(f.Fragments) - 1; at >= 0; at-- {
		score = append(score, d.pieces(k, f.Fragments[at].Size))
	}
	return score
}
