// This file sums up what groups of applications use below the ceiling that they have together: (G) of [Program §2].

package solver

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// Ceiling is the constraint (G), beside those of the paper.
const Ceiling Constraint = "ceiling (G)"

// NoLimit as a quantity of a Group's Ceiling means that the kind has no limit.
const NoLimit = math.MaxInt64

// checkGroups returns the first ceiling that counts exceed, wrapping ErrViolated, or nil. The numbers have been checked: none
// is negative, and the sum of each application is within int64. O(applications of all groups x kinds).
func (inst *Instance) checkGroups(counts Counts) error {
	for g := range inst.Groups {
		group := &inst.Groups[g]
		// A kind without a limit has no sum that could leave anything.
		for k, limit := range group.Ceiling {
			if limit < NoLimit && group.exceeded(inst, k, func(i int) int64 { return Containers(counts[i]) }) {
				return fmt.Errorf("%w: (G): group %d exceeds its ceiling of %d in kind %d", ErrViolated, g, limit, k)
			}
		}
	}
	return nil
}

// exceeded reports whether the applications of a group, with so many containers each, use more of kind k than its
// ceiling. The sum is exact whatever its size: it is compared with what is left of the ceiling.
func (g *Group) exceeded(inst *Instance, k int, containers func(i int) int64) bool {
	// No ceiling and no number is negative, as Validate and CheckApp have seen, so that both are right as uint64.
	left := uint64(g.Ceiling[k])
	for _, i := range g.Apps {
		high, amount := bits.Mul64(uint64(containers(i)), uint64(inst.Apps[i].Demand[k]))
		if high > 0 || amount > left {
			return true
		}
		left -= amount
	}
	return false
}

// Room returns how many more containers application i may have below every ceiling that is above it, if all have so
// many containers: 0 where a ceiling is exceeded. O(groups x applications x kinds).
func (inst *Instance) Room(i int, containers []int64) int64 {
	room := int64(math.MaxInt64)
	for g := range inst.Groups {
		group := &inst.Groups[g]
		if !slices.Contains(group.Apps, i) {
			continue
		}
		for k, d := range inst.Apps[i].Demand {
			if d == 0 || group.Ceiling[k] == NoLimit {
				continue
			}
			// What all below it use comes off exactly, as in exceeded: the rest is what more containers may have.
			left := uint64(group.Ceiling[k])
			for _, other := range group.Apps {
				high, amount := bits.Mul64(uint64(containers[other]), uint64(inst.Apps[other].Demand[k]))
				if high > 0 || amount > left {
					return 0
				}
				left -= amount
			}
			room = min(room, int64(left)/d)
		}
	}
	return room
}
