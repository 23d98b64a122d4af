// This file implements the units of ChunkDP: whole chunk trainings, as printed, [OASiS] Algorithm 2,
// lines 12-24. Where 1/m_i is no integer, ceil(d m_i) workers for d trainings waste parts of worker-slots, so that
// a schedule may cost more than constraint (2) asks for, never less.

package primaldual

import "math"

// workersFor returns ceil(d m_i): the workers that train d chunks in one slot.
func workersFor(j *Job, d int64) int64 {
	if d == 0 {
		return 0
	}
	// A training takes a worker, however small m_i is: ceilSlack alone would make d m_i below 1e-9
	// no worker at all.
	return max(1, ceilSlack(float64(d)*j.ChunkSlots()))
}

// chunksDone returns the chunk trainings that a schedule completes: y workers of a slot train
// floor(y/m_i) chunks.
func chunksDone(j *Job, s Schedule) int64 {
	// The sum of floors is what DP_COST adds up, not the floor of the sum: with whole chunks what a
	// slot has begun and not ended is lost.
	done := int64(0)
	for i := range s {
		done += floorSlack(float64(s[i].Total()) / j.ChunkSlots())
	}
	return done
}

// floorSlack rounds down, but takes what is below an integer by roundingSlack for that integer.
// floor(x + 1e-9 max(1, |x|)): y/m_i may come out as 0.9999999999999998 where it is 1, and a whole
// chunk would be lost.
func floorSlack(x float64) int64 {
	if near := math.Round(x); near-x <= roundingSlack*max(1, math.Abs(x)) {
		return int64(near)
	}
	return int64(math.Floor(x))
}
