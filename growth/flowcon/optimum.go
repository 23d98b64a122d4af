// This file implements FlowCon's optimization problem, [Zheng] §4.1.3, problem (4.3).

package flowcon

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
	"github.com/apportion/apportion/internal/exact"
)

// growthLimit is the largest growth of a claim: what growth.Efficiency returns at most.
const growthLimit = 1e200

// Claim is one job's part in the optimization for one resource kind.
type Claim struct {
	// ID names the job in messages; not empty, unique.
	ID string
	// Growth is its growth efficiency G for the kind: progress per second and unit; finite, not
	// negative.
	Growth float64
	// Min and Max bound what it can get, in the kind's own units; 0 <= Min <= Max.
	Min, Max int64
}

// Optimum is an optimal division of a resource, with its proof.
type Optimum struct {
	// Feasible is false where the minima alone exceed the capacity: then Shortfall says by how
	// much and the rest is zero.
	Feasible  bool
	Shortfall int64
	// Grants holds what each claim gets, in the order of the claims.
	Grants []int64
	// Total is the sum of growth efficiency times grant, the objective: progress per second.
	Total float64
	// Price is what one more unit of capacity would bring: the growth efficiency of the claim that
	// is next in line, 0 where all have their maximum. It proves the optimum: who grows faster
	// than the price has its maximum, who grows slower has its minimum.
	Price float64
}

// checkClaims returns the sum of the minima.
func checkClaims(capacity int64, claims []Claim) (least int64, err error) {
	var faults apportion.Faults
	if capacity < 0 {
		faults.Add(apportion.Item{}, "capacity", apportion.ErrNegative, strconv.FormatInt(capacity, 10))
	}
	seen := make(map[string]bool, len(claims))
	for i, c := range claims {
		item := check.Item("claim", c.ID, i)
		check.ID(&faults, seen, c.ID, item)
		if !(c.Growth >= 0 && c.Growth <= growthLimit) {
			faults.Add(item, "Growth", apportion.ErrRange, strconv.FormatFloat(c.Growth, 'g', -1, 64))
		}
		if c.Min < 0 {
			faults.Add(item, "Min", apportion.ErrNegative, strconv.FormatInt(c.Min, 10))
		}
		if c.Max < c.Min {
			faults.Add(item, "Max", apportion.ErrConflict, strconv.FormatInt(c.Max, 10)+" is below Min")
		}
		sum, ok := exact.Add(least, c.Min)
		if !ok {
			faults.Add(item, "Min", apportion.ErrOverflow, "the minima together")
			sum = least
		}
		least = sum
	}
	return least, faults.Err()
}

// Optimize divides capacity units of one resource kind so that the sum of growth is largest:
//
//	maximize   sum_i G_i r_i
//	subject to sum_i r_i <= capacity,  Min_i <= r_i <= Max_i     (4.3)
//
// The claims get their minima, then what they can take in the order of falling growth efficiency;
// ties go to the first in the input. Growth of zero gets its minimum only. Kinds are independent:
// call it once for each. O(n log n). Bad claims are returned all at once, as apportion.Faults.
func Optimize(capacity int64, claims []Claim) (Optimum, error) {
	least, err := checkClaims(capacity, claims)
	if err != nil {
		return Optimum{}, err
	}
	if least > capacity {
		return Optimum{Shortfall: least - capacity}, nil
	}
	order := make([]int, len(claims))
	result := Optimum{Feasible: true, Grants: make([]int64, len(claims))}
	for i := range claims {
		order[i] = i
		result.Grants[i] = claims[i].Min
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(claims[b].Growth, claims[a].Growth) })
	room := capacity - least
	for _, i := range order {
		more := min(room, claims[i].Max-claims[i].Min)
		if claims[i].Growth == 0 {
			break
		}
		result.Grants[i] += more
		room -= more
		if result.Grants[i] < claims[i].Max {
			result.Price = claims[i].Growth
			break
		}
	}
	for i := range claims {
		result.Total += float64(claims[i].Growth * float64(result.Grants[i]))
	}
	return result, nil
}
