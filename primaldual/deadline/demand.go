// This file implements the test for deadlines: what must be done in the first D slots fits into them, [Horn74], with widths.

package deadline

// demand holds for D = 1, 2, ... what is free of the first D slots: capacity x D less the sum over jobs of
// max(0, left - width x max(0, by - D)), the work of a job that cannot wait until D slots have passed.
//
// A set of jobs can end in time exactly if nothing is negative: by the cut theorem the least free set of D slots decides, and
// since all jobs are there the first D slots leave every job the fewest others before its deadline. Whole units
// suffice, as flows between whole capacities are whole.
type demand struct {
	capacity int64
	free     []int64
}

// newDemand returns the demand of no job over so many slots. capacity x slots must not overflow.
func newDemand(capacity int64, slots int) *demand {
	d := &demand{capacity: capacity, free: make([]int64, slots)}
	for i := range d.free {
		d.free[i] = capacity * int64(i+1)
	}
	return d
}

// pressing returns the units of a job that must be done in the first D slots. by is its deadline in slots from now, at
// least 1; width its most units in a slot, at most the capacity.
func pressing(left, width int64, by, D int) int64 {
	return max(0, left-width*int64(max(0, by-D)))
}

// take adds a job if all still end in time, and says whether it did. O(slots).
func (d *demand) take(left, width int64, by int) bool {
	if by < 1 || width < 1 || left > width*int64(by) {
		return false
	}
	first := by - int((left-1)/width) // before it the job can wait
	for D := first; D <= len(d.free); D++ {
		if pressing(left, width, by, D) > d.free[D-1] {
			return false
		}
	}
	for D := first; D <= len(d.free); D++ {
		d.free[D-1] -= pressing(left, width, by, D)
	}
	return true
}

// slack returns the least that is free of the first D slots, for D from a deadline on.
func (d *demand) slack(by int) int64 {
	least := d.free[len(d.free)-1]
	for D := max(1, by); D <= len(d.free); D++ {
		least = min(least, d.free[D-1])
	}
	return least
}
