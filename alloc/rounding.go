// This file measures what fairness loss whole containers cost, so that no loss budget forbids them, [Program §3], point 4.

package alloc

import (
	"cmp"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// rounding is a division of the cluster, as if it were one server, that gives each application its theoretical share up to a whole number
// of containers.
type rounding struct {
	*resolved
	left  apportion.Resources
	below []apportion.Resources // what is left of every ceiling
	loss  float64               // (15) of the division
	rise  float64               // what the last containers add to it, of the applications that are nearer to their shares without
}

// next is the number of containers after the one at a share, and how much more is lost with it.
type next struct {
	app  *solver.App
	i    int
	n    int64 // how many there are now
	more int64
	rise float64
}

// rounded divides the cluster among the entries in apps, dense[a] of apps[a]. Each gets its fewest containers, then the most
// that are within its share, and then the next number as long as there is room, first the application that comes nearest to its share
// by it. Of an application with options it is the first that counts. O(applications (log applications + kinds x depth)).
func (r *resolved) rounded(apps []int, dense []solver.App) *rounding {
	d := &rounding{resolved: r, left: r.total.Clone(), below: make([]apportion.Resources, len(r.limited))}
	for c := range d.below {
		d.below[c] = r.ceiling(c).Clone()
	}
	var list []next
	for a, i := range apps {
		if a > 0 && r.of[i] == r.of[apps[a-1]] {
			continue
		}
		n := d.fewest(i, &dense[a])
		d.take(i, n)
		list = append(list, next{app: &dense[a], i: i, n: n})
	}
	for at := range list {
		d.toShare(&list[at])
	}
	slices.SortStableFunc(list, func(x, y next) int { return cmp.Compare(x.rise, y.rise) })
	for at := range list {
		d.beyond(&list[at])
	}
	return d
}

// fewest returns how many containers entry i has at least, or what it must keep.
func (d *rounding) fewest(i int, app *solver.App) int64 {
	switch {
	case app.Pinned:
		return solver.Containers(app.Previous)
	case d.idle(i):
		return 0
	}
	return max(0, app.AtLeast(1))
}

// take gives entry i so many containers more.
func (d *rounding) take(i int, n int64) {
	for k, q := range d.problem.Applications[i].Demand {
		d.left[k] -= n * q
		for _, c := range d.aboveOf(i) {
			d.below[c][k] -= n * q
		}
	}
}

// aboveOf lists the ceilings above entry i.
func (r *resolved) aboveOf(i int) []int {
	if r.above == nil {
		return nil
	}
	return r.above[i]
}

// room returns how many containers more of entry i there is room for.
func (d *rounding) room(i int) int64 {
	room := d.belowCeilings(i, func(c int) apportion.Resources { return d.below[c] })
	for k, q := range d.problem.Applications[i].Demand {
		if q > 0 {
			room = min(room, max(0, d.left[k])/q)
		}
	}
	return room
}

// toShare gives an application the most containers within its share, and notes what the next number would bring.
func (d *rounding) toShare(v *next) {
	app := v.app
	if app.Pinned || !(app.Delta > 0) {
		return
	}
	within := app.Max
	// Compared as floats first: a quotient beyond int64 becomes another number on each kind of machine.
	if fair := app.Share/app.Delta + ceilTolerance; fair < float64(app.Max) {
		within = int64(fair)
	}
	if within = app.AtMost(within); within > v.n {
		n := app.AtMost(min(within, v.n+d.room(v.i)))
		d.take(v.i, n-v.n)
		if v.n = n; n < within {
			return
		}
	}
	if more := app.AtLeast(v.n + 1); more > 0 && v.n >= within {
		v.more, v.rise = more-v.n, app.Loss(more)-app.Loss(v.n)
	}
}

// beyond gives an application its next number of containers if there is room, and counts what it loses.
func (d *rounding) beyond(v *next) {
	if v.more > 0 && v.more <= d.room(v.i) {
		d.take(v.i, v.more)
		v.n += v.more
		d.rise += max(0, v.rise)
	}
	d.loss += v.app.Loss(v.n)
}
