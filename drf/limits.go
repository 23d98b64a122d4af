// This file implements what limits do to a divisible filling: claims stop at a ceiling, and wait for the others once a
// guarantee is spent.

package drf

import (
	"github.com/apportion/apportion"
)

// settle notes every limit that has been reached, stops the claims that this concerns, and groups all vessels anew. at are
// vessels of which a limit is known to be reached; without any, every claim is looked at.
// O(K d) for each claim below a limit, O(K log q) for each vessel.
func (f *fluid) settle(at ...*vessel) {
	f.sync()
	concerned := make([]bool, len(f.vessels))
	for _, v := range at {
		concerned[v.at] = true
	}
	// Parents come first: a claim below two full queues is told of the upper one.
	for i := range f.vessels {
		v, node := &f.vessels[i], &f.tree.nodes[i]
		for k := range v.full {
			used := v.used(k)
			limited := i == 0 || node.ceiling[k] < NoLimit
			if !v.full[k] && limited && reached(used, node.ceiling[k]) {
				v.full[k], concerned[i] = true, true
			}
			if !v.spent[k] && reached(used, node.guarantee[k]) {
				v.spent[k], concerned[i] = true, concerned[i] || f.within
			}
		}
		concerned[i] = concerned[i] || len(at) == 0 || i > 0 && concerned[node.parent]
	}
	for _, w := range f.waters {
		if concerned[w.at] {
			f.limit(w)
		}
		f.look(w)
	}
	// Children come after their parents.
	for i := len(f.vessels) - 1; i >= 0; i-- {
		f.vessels[i].regroup()
		f.look(&f.vessels[i])
	}
}

// reachedAbove reports whether a limit above a queue that is new is reached. All above it have come to its clock.
func (f *fluid) reachedAbove(v *vessel) bool {
	for up := f.tree.nodes[v.at].parent; up >= 0; up = f.tree.nodes[up].parent {
		above, node := &f.vessels[up], &f.tree.nodes[up]
		for k := range above.full {
			if limited := up == 0 || node.ceiling[k] < NoLimit; limited && !above.full[k] && reached(above.used(k), node.ceiling[k]) {
				return true
			}
		}
	}
	return false
}

// settleBelow is settle of a queue alone: nothing but what is below it has changed. O(K d) for each claim below it.
func (f *fluid) settleBelow(v *vessel) {
	if v.water != nil {
		f.limit(v)
		f.look(v)
		return
	}
	for _, c := range v.children {
		if c.served {
			c.rise(v.low)
			c.served = false // until v is grouped anew
		}
		f.settleBelow(c)
	}
	v.regroup()
	f.look(v)
}

// sync brings the clocks of all vessels that are served up to those of their parents, and adds up what queues use.
func (f *fluid) sync() {
	for i := range f.vessels {
		v := &f.vessels[i]
		for _, c := range v.children {
			if c.served {
				c.rise(v.low)
				c.served = false // until v is grouped anew
			}
		}
	}
	for i := len(f.vessels) - 1; i >= 0; i-- {
		v := &f.vessels[i]
		if len(v.children) == 1 {
			continue
		}
		clear(v.usedAt)
		for _, c := range v.children {
			for k := range v.usedAt {
				v.usedAt[k] += c.used(k)
			}
		}
	}
}

// reached reports whether a use has come to a limit, up to rounding.
func reached(used float64, limit int64) bool { return used >= float64(limit)*(1-levelTolerance) }

// levelTolerance is the relative distance within which limits are reached together: the rounding of a handful of float
// operations, so that an exact tie stays one.
const levelTolerance = 0x1p-48

// limit stops the claims of a vessel that a limit above them concerns.
func (f *fluid) limit(v *vessel) {
	w := v.water
	for _, i := range w.list {
		claim, d := &f.claims[i], &f.drops[i]
		if d.state == stopped {
			continue
		}
		// A claim that has Max could not have had more, whatever is full.
		if d.state == growing && d.pace*w.level >= float64(claim.Max)*(1-levelTolerance) {
			w.reachMax(i, &f.out.Claims[i])
		} else if why, blocked := f.blocked(claim.Demand, v.at); blocked {
			f.stop(w, i, why)
		} else if f.within && d.state != aside && !f.guaranteed(claim.Demand, v.at) {
			w.freeze(i, aside)
		}
	}
	w.settle()
}

// stop ends the filling of claim i at a limit.
func (f *fluid) stop(w *water, i int, why Stop) {
	d, out := &f.drops[i], &f.out.Claims[i]
	grew := d.state == growing
	w.freeze(i, stopped)
	out.Share, out.Level, out.StoppedBy = d.n*d.delta, w.level, why
	if grew {
		// Rounded once, which containers times delta would not be: claims of one level and weight have one share.
		out.Share = w.level * f.claims[i].Weight
	}
}

// putAside leaves the claims of a vessel to the next pass that no guarantee covers.
func (f *fluid) putAside(v *vessel) {
	for _, i := range v.water.list {
		if d := &f.drops[i]; d.state == waiting && !f.guaranteed(f.claims[i].Demand, v.at) {
			d.state = aside
		}
	}
}

// blocked returns the full kind that stops a claim below node at. The cluster comes before any queue, and a
// queue before those below it: a limit that is further up concerns more.
func (f *fluid) blocked(demand apportion.Resources, at int) (why Stop, blocked bool) {
	for ; at >= 0; at = f.tree.nodes[at].parent {
		// Downwards, so that the first of several full kinds is the one that is told.
		for k := len(demand) - 1; k >= 0; k-- {
			if demand[k] > 0 && f.vessels[at].full[k] {
				why, blocked = Stop{Cause: AtCeiling, Kind: k, Queue: f.tree.nodes[at].id}, true
			}
		}
	}
	// The last one found is the highest: the root has no name, and its ceiling is the capacity.
	if why.Queue == "" && blocked {
		why.Cause = Exhausted
	}
	return why, blocked
}

// guaranteed reports whether any guarantee above a claim below node at has something left of all that it
// demands. The root guarantees nothing.
func (f *fluid) guaranteed(demand apportion.Resources, at int) bool {
	for ; at > 0; at = f.tree.nodes[at].parent {
		// One kind that is spent is enough for a container not to be within the guarantee.
		left := true
		for k, q := range demand {
			left = left && (q == 0 || !f.vessels[at].spent[k])
		}
		if left {
			return true
		}
	}
	return false
}
