// This file runs a slot: what must be done now, then the rest by deadline.

package deadline

import (
	"cmp"
	"slices"
)

// urgent gives workers to jobs, in order of deadline, until what is left of them can be done from the next slot on: for D
// ascending, the pressing work of the first D slots less what the D - 1 slots behind this one can take. It returns
// the units that remain of room. Which of the pressing jobs of a D get them does not matter for later D: what a job
// must do grows with D. O(D x n) over the D that are short.
func urgent(jobs []*planned, d *demand, room int64) int64 {
	for i, free := range d.free {
		need := d.capacity - free
		if need <= 0 {
			continue
		}
		for _, j := range jobs {
			need -= min(j.given, pressing(j.left, j.width, j.by, i+1))
		}
		for _, j := range jobs {
			if need <= 0 || room <= 0 {
				break
			}
			more := min(min(j.width, pressing(j.left, j.width, j.by, i+1))-j.given, roundUp(need, j.unit))
			got := j.give(more, room)
			need -= got
			room -= got
		}
	}
	return room
}

// give adds up to more units, in whole workers, within room, and returns how many it added.
func (p *planned) give(more, room int64) int64 {
	got := max(0, min(more, room)) / p.unit * p.unit
	p.given += got
	return got
}

// fill gives the jobs, one after the other, all that they can take.
func fill(jobs []*planned, room int64) int64 {
	for _, j := range jobs {
		room -= j.give(min(j.width, j.left)-j.given, room)
	}
	return room
}

// keep gives the jobs that ran in the slot before the workers that they had, by deadline.
func keep(jobs []*planned, room int64) int64 {
	for _, j := range jobs {
		room -= j.give(min(j.Before*j.unit, j.left)-j.given, room)
	}
	return room
}

func roundUp(x, unit int64) int64 { return (x + unit - 1) / unit * unit }

func byDeadline(jobs []*planned, keep func(*planned) bool) []*planned {
	var out []*planned
	for _, j := range jobs {
		if j.by > 0 && keep(j) {
			out = append(out, j)
		}
	}
	slices.SortStableFunc(out, func(a, b *planned) int { return cmp.Compare(a.by, b.by) })
	return out
}
