// This file implements ChunkDP: DP_COST over chunk trainings as printed, [OASiS] Algorithm 2, lines
// 12-24.

package primaldual

import "math"

// chunkTables turns tables over workers into tables over chunk trainings: d trainings in one slot
// take ceil(d m_i) workers. Where 1/m_i is no integer that wastes parts of worker-slots, so the pass
// over these tables may cost more than constraint (2) asks for, never less.
//
// The result shares the slots of costs; only distinct tables are computed.
func chunkTables(costs *slotCosts, r *request) *slotCosts {
	chunks := &slotCosts{of: costs.of, from: []int{0}}
	for i := range costs.tables() {
		table := costs.distinct(i)
		for d := int64(0); d <= r.chunks; d++ {
			y := workersFor(r.job, d)
			if y >= int64(len(table)) {
				break
			}
			chunks.cost = append(chunks.cost, table[y])
		}
		chunks.from = append(chunks.from, len(chunks.cost))
	}
	return chunks
}

// workersFor returns ceil(d m_i): the workers that train d chunks in one slot.
func workersFor(j *Job, d int64) int64 {
	if d == 0 {
		return 0
	}
	return max(1, ceilSlack(float64(d)*j.ChunkSlots()))
}

// chunksDone returns the chunk trainings that a schedule completes: y workers of a slot train
// floor(y/m_i) chunks.
func chunksDone(j *Job, s Schedule) int64 {
	done := int64(0)
	for i := range s {
		done += floorSlack(float64(s[i].Total()) / j.ChunkSlots())
	}
	return done
}

// floorSlack rounds down, but takes what is below an integer by roundingSlack for that integer.
func floorSlack(x float64) int64 {
	if near := math.Round(x); near-x <= roundingSlack*max(1, math.Abs(x)) {
		return int64(near)
	}
	return int64(math.Floor(x))
}
