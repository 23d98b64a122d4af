// This file holds Claim, what a filling is asked to serve, and the checks on it.

package drf

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"math/bits"
	"strconv"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
)

// NoMax as [Claim.Max] means that a claim may have any number of containers.
const NoMax = math.MaxInt64

// Weights lie in [MinWeight, MaxWeight], about 6e-61 to 2e60. Inside this range no rate, share or
// level of a filling can overflow or lose precision to underflow, whatever the quantities.
const (
	MinWeight = 0x1p-200
	MaxWeight = 0x1p200
)

// The sorts of bad input that only this package knows. They come inside an
// [apportion.FieldError].
var (
	// A Release of more than a client holds, and a Remove of one that holds something.
	ErrNotHeld = errors.New("is more than the client holds")
	ErrHolding = errors.New("still holds resources")
)

// Claim is what one client (a queue, a user, an application) asks for: containers that are all
// alike.
type Claim struct {
	// ID names the claim; not empty, unique in its list.
	ID string `json:"id"`
	// Demand is what one container needs, one quantity a kind; at least one is positive.
	Demand apportion.Resources `json:"demand"`
	// Weight is how large a share is due to this claim in proportion to the others; in
	// [MinWeight, MaxWeight]. In JSON a weight that is absent is 1.
	Weight float64 `json:"weight"`
	// Min and Max bound the number of containers, 0 <= Min <= Max. Max 0 means none at all, as
	// for a queue that is paused; NoMax means no bound, and so does a max that is absent in JSON.
	Min int64 `json:"min,omitzero"`
	Max int64 `json:"max"`
	// Queue is the ID of the queue of a [Tree] that the claim belongs to; empty: to none, so that it shares
	// with the queues at the top. Without a tree it must be empty.
	Queue string `json:"queue,omitempty"`
}

// UnmarshalJSON reads a claim: a weight that is absent is 1, a max that is absent NoMax. One that is there
// stays as it is, also 0, which for a weight is a fault.
func (c *Claim) UnmarshalJSON(text []byte) error {
	// The local type has the fields of Claim alone, or json.Unmarshal would call this method for ever.
	type fields Claim // without this method
	read := fields{Weight: 1, Max: NoMax}
	if err := json.Unmarshal(text, &read); err != nil {
		return err
	}
	*c = Claim(read)
	return nil
}

// checkClaims adds what is wrong with capacity and claims, their queues apart.
func checkClaims(faults *apportion.Faults, capacity apportion.Resources, claims []Claim) {
	// The capacity decides how many kinds there are, so that every demand is measured against it.
	kinds := checkCapacity(faults, capacity, "Capacity")
	seen := make(map[string]bool)
	// Two claims of one name are rare: the costly look for which they are is made only if there are any.
	unique := distinct(claims)
	for i := range claims {
		claim, before := &claims[i], len(*faults)
		if !unique {
			check.ID(faults, seen, claim.ID, apportion.Item{})
		}
		checkDemand(faults, kinds, claim.Demand, apportion.Item{})
		checkWeight(faults, claim.Weight, apportion.Item{})
		checkBounds(faults, claim)
		for _, fault := range (*faults)[before:] { // named only now: a sound claim costs no text
			fault.Item = check.Item("claim", claim.ID, i)
		}
	}
}

// checkDemand adds a demand that is no vector over kinds, or of nothing: it has no share, and would get containers without
// end.
func checkDemand(faults *apportion.Faults, kinds apportion.Kinds, demand apportion.Resources, item apportion.Item) {
	before := len(*faults)
	check.Resources(faults, kinds, demand, item, "Demand")
	if len(*faults) == before && demand.IsZero() {
		faults.Add(item, "Demand", apportion.ErrNoDemand, "")
	}
}

// checkCapacity adds the faults of a vector that gives the number of kinds, and returns the kinds,
// named by position.
func checkCapacity(faults *apportion.Faults, capacity apportion.Resources, field string) apportion.Kinds {
	kinds := make(apportion.Kinds, len(capacity))
	for k := range kinds {
		kinds[k] = strconv.Itoa(k)
	}
	// Without kinds every claim would be satisfied by nothing.
	if len(capacity) == 0 {
		faults.Add(apportion.Item{}, field, apportion.ErrEmpty, "")
	}
	check.Resources(faults, kinds, capacity, apportion.Item{}, field)
	return kinds
}

// checkWeight adds a weight that is not positive, not finite or outside [MinWeight, MaxWeight].
func checkWeight(faults *apportion.Faults, weight float64, item apportion.Item) {
	before := len(*faults)
	check.Weight(faults, weight, item)
	// One fault is enough: a weight that is not positive is out of range as well.
	if len(*faults) == before && (weight < MinWeight || weight > MaxWeight) {
		faults.Add(item, "Weight", apportion.ErrRange, fmt.Sprintf("%g is outside [%g, %g]", weight, MinWeight, MaxWeight))
	}
}

// checkBounds adds negative bounds, and a Min above Max.
func checkBounds(faults *apportion.Faults, claim *Claim) {
	if claim.Min < 0 {
		faults.Add(apportion.Item{}, "Min", apportion.ErrNegative, strconv.FormatInt(claim.Min, 10))
	}
	if claim.Max < 0 {
		faults.Add(apportion.Item{}, "Max", apportion.ErrNegative, strconv.FormatInt(claim.Max, 10))
		// A Max that is negative makes every Min look wrong, so that the two are compared only where it is
		// not.
	} else if claim.Min > claim.Max {
		faults.Add(apportion.Item{}, "Min", apportion.ErrConflict, fmt.Sprintf("%d is above Max %d", claim.Min, claim.Max))
	}
}

// unservable returns the first kind that demand needs and capacity has none of, or -1.
// Such a claim is no fault: kinds come and go with servers, and the claim of a vanished kind has to
// wait.
func unservable(capacity, demand apportion.Resources) int {
	for k, q := range demand {
		if q > 0 && capacity[k] == 0 {
			return k
		}
	}
	return -1
}

// distinct reports whether all IDs are different and none is empty. Its table of hashes is several
// times faster than a map of strings.
// A repeated name in a list of a hundred thousand is found without a map of them; which one it is, the
// caller finds out. O(n).
func distinct(claims []Claim) bool {
	// The table is a power of two and at least twice as large as the list: chains stay short, and a mask
	// replaces the division.
	size := 1 << bits.Len(uint(2*len(claims)))
	table := make([]uint64, size) // upper half of the hash, then the position plus 1
	// The seed differs from run to run, and only times depend on it: names that were chosen to collide
	// would not.
	seed := maphash.MakeSeed()
	for i := range claims {
		id := claims[i].ID
		if id == "" {
			return false
		}
		hash := maphash.String(seed, id)
		at := int(hash) & (size - 1)
		// Linear probing: the next free place is close, and mostly in the same line of the cache.
		for ; table[at] != 0; at = (at + 1) & (size - 1) {
			if table[at]>>32 == hash>>32 && claims[uint32(table[at])-1].ID == id {
				return false
			}
		}
		table[at] = hash>>32<<32 | uint64(i+1)
	}
	return true
}
