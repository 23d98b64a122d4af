// This file finds the server on which best fit puts containers, without a look at each: servers of equal remainders are one group.

package alloc

import (
	"encoding/binary"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/internal/remainders"
)

// newRemainders groups the servers of d that are open to the same applications, domains apart, and have equally much left; nil where too many of them
// are unlike. O(servers x kinds).
func newRemainders(d *draft) *remainders.Groups {
	g := remainders.New(len(d.left))
	for j := range d.left {
		if g.Put(j, d.likeness(j)); !g.Few() {
			return nil
		}
	}
	return g
}

// likeness returns what tells server j from those that are open to the same applications and have equally much left.
func (d *draft) likeness(j int) []byte {
	d.key = appendVector(binary.AppendUvarint(d.key[:0], uint64(d.r.open.alike[j])), d.left[j])
	return d.key
}

// first returns the first server of a group for which nothing is reserved, -1 where there is none.
func (d *draft) first(at int) (server int) {
	for from := 0; ; {
		j := d.remain.Next(at, from)
		if j < from {
			return -1
		}
		if !d.isReserved(j) {
			return j
		}
		from = j + 1
	}
}

// isReserved reports whether something is reserved on server j.
func (d *draft) isReserved(j int) bool {
	return slices.ContainsFunc(d.reserved, func(v *reserved) bool {
		return slices.ContainsFunc(v.servers, func(p apportion.Placement) bool { return p.Server == j })
	})
}

// fit is the best server found so far for containers of an application: the one that takes most of them, then the one that has least
// left beside them, then the first.
type fit struct {
	server int
	count  int64
	rest   float64
}

// consider looks at server j for need containers of application i.
func (f *fit) consider(d *draft, i, j int, need int64) {
	// A server that takes more than is needed is no better than one that takes just that.
	n := min(need, d.r.most(i, j, d.room(i, j)))
	if n <= 0 || n < f.count {
		return
	}
	if rest := d.looseness(i, j, n); n > f.count || rest < f.rest || rest == f.rest && j < f.server {
		*f = fit{j, n, rest}
	}
}

// bestServer returns the server, other than those in used, that takes the most of need containers of
// application i, and how many; of equals the one that has least left afterwards. -1: no server takes any.
// O(groups of remainders x kinds), or O(servers x (kinds + used)) where most servers are unlike, and of those of its domains where it
// is held to some. Of servers that are equal in both the
// first counts, so that the same problem gives the same draft.
func (d *draft) bestServer(i int, need int64, used []apportion.Placement) (server int, count int64) {
	// Few servers come before a tight fit: a job that is spread pays for that as long as it runs.
	best := fit{server: -1}
	if classes := d.r.confined[i]; classes != nil {
		for _, class := range classes {
			for _, j := range d.r.open.members[class] {
				if !slices.ContainsFunc(used, func(p apportion.Placement) bool { return p.Server == j }) {
					best.consider(d, i, j, need)
				}
			}
		}
		return best.server, best.count
	}
	if d.remain == nil {
		for j := range d.left {
			if !slices.ContainsFunc(used, func(p apportion.Placement) bool { return p.Server == j }) {
				best.consider(d, i, j, need)
			}
		}
		return best.server, best.count
	}
	for _, at := range d.remain.Live() {
		if j := d.first(at); j >= 0 {
			best.consider(d, i, j, need)
		}
	}
	for _, v := range d.reserved {
		for _, p := range v.servers {
			if d.remain.Grouped(p.Server) {
				best.consider(d, i, p.Server, need)
			}
		}
	}
	return best.server, best.count
}
