// This file implements CappedDP: DP_COST over worker-slots, [OASiS] Algorithm 2, lines 12-22, with
// the reading sum of workers >= W_i of constraint (2).

package schedule

// cappedDP fills in, for slots 0 to last, the least cost of doing all the work by then:
//
//	c_t(d) = min over y <= Y_t of C_t(y) + c_{t-1}(d-y),   c_{-1}(0) = 0
//
// one forward pass for every completion. Exactly W worker-slots are enough, as C_t never falls. Y_t is
// the length of the slot's table, which is what the cap in the name means. O(slots x W x max Y_t).
type cappedDP struct {
	least  []float64 // by slot: c_t(W); inf: the work cannot be done by then
	before []float64 // c_{t-1}
	after  []float64 // c_t
	choice []int32   // slots x (W+1): the y of each minimum
	work   int
}

// run computes the pass over slots 0 to last. It refuses one whose choices would exceed the limit on
// cells before it allocates.
func (d *cappedDP) run(p *prefix) error {
	slots, states := p.last+1, p.work+1
	if err := CheckCells(int64(slots), int64(states), p.limit, p.item, "slots x work"); err != nil {
		return err
	}
	d.work = p.work
	d.before, d.after = filled(d.before, states, inf), filled(d.after, states, inf)
	d.choice = grown(d.choice, slots*states)
	d.least = d.least[:0]
	// Before the first slot nothing is done, for nothing.
	d.before[0] = 0
	// No sum above reach has a finite cost yet: choices that would start from one are not looked at.
	reach := 0
	for s := range slots {
		reach = d.slot(p.tables.Of(s), d.choice[s*states:(s+1)*states], reach)
		d.least = append(d.least, d.after[p.work])
		d.before, d.after = d.after, d.before
	}
	return nil
}

// slot does one slot: at most reach units could be done before it. It returns the reach after it.
// O(W x length of the table), less what reach and the ends cut off.
func (d *cappedDP) slot(table []float64, choice []int32, reach int) int {
	most := len(table) - 1
	for sum := range d.after {
		// Of equal costs the fewest units in this slot win, and so the earliest slots do the work.
		best, y := inf, 0
		for n := max(0, sum-reach); n <= min(sum, most); n++ {
			if cost := table[n] + d.before[sum-n]; cost < best {
				best, y = cost, n
			}
		}
		d.after[sum], choice[sum] = best, int32(y)
	}
	return min(d.work, reach+most)
}

// trace writes the units of slots 0 to last of the cheapest way to do the work by then.
// units must have last + 1 entries, and least[last] be finite.
func (d *cappedDP) trace(units []int64, last int) {
	// choice holds a row for each slot; the walk back subtracts what each slot has done.
	sum, states := d.work, d.work+1
	for s := last; s >= 0; s-- {
		y := d.choice[s*states+sum]
		units[s] = int64(y)
		sum -= int(y)
	}
}

// filled returns a slice of n values x, in the storage of s where that is large enough.
func filled(s []float64, n int, x float64) []float64 {
	s = grown(s, n)
	for i := range s {
		s[i] = x
	}
	return s
}

// grown returns a slice of length n, in the storage of s where that is large enough. Its values are
// those that were there.
func grown[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
