// This file checks that a filling belongs to the claims, and to the tree, that it is explained with: fillings are values, which
// may have been stored and read again long after.

package drf

import (
	"fmt"
	"strconv"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
)

// belongs adds what shows that a filling was not made of these claims: another number or order of them, or kinds that their
// demands do not have. Where it adds nothing, all that Explain looks up is there. O(n).
func belongs[N Amount](faults *apportion.Faults, claims []Claim, filling *Filling[N]) {
	if len(filling.Claims) != len(claims) {
		faults.Add(apportion.Item{}, "Claims", apportion.ErrLength, fmt.Sprintf("a filling of %d claims for %d", len(filling.Claims), len(claims)))
		return
	}
	// The filling itself says with how many kinds it was made, and demands are held against that.
	kinds := len(filling.Unused)
	if filling.ShortOf < -1 || filling.ShortOf >= kinds {
		faults.Add(apportion.Item{}, "ShortOf", apportion.ErrRange, strconv.Itoa(filling.ShortOf))
	}
	for i := range claims {
		item, filled := check.Item("claim", claims[i].ID, i), &filling.Claims[i]
		stop := filled.StoppedBy
		switch {
		case filled.ID != claims[i].ID:
			faults.Add(item, "ID", apportion.ErrConflict, "the filling has "+strconv.Quote(filled.ID))
		case len(claims[i].Demand) != kinds:
			faults.Add(item, "Demand", apportion.ErrLength, fmt.Sprintf("%d quantities for %d kinds", len(claims[i].Demand), kinds))
		// Only a claim at its maximum is stopped by no kind.
		case stop.Kind >= kinds || stop.Kind < 0 && (stop.Cause != AtMax || stop.Kind < -1):
			faults.Add(item, "StoppedBy", apportion.ErrRange, strconv.Itoa(stop.Kind))
		}
	}
}

// belongsTo adds what shows that a filling is none of the tree, beside what belongs adds: another list of queues, vectors of
// another length, a claim at the ceiling of a queue that is not there. O(n + q).
func belongsTo[N Amount](faults *apportion.Faults, t *Tree, claims []Claim, filling *TreeFilling[N]) {
	belongs(faults, claims, &filling.Filling)
	if len(filling.Unused) != len(t.capacity) {
		faults.Add(apportion.Item{}, "Unused", apportion.ErrLength, fmt.Sprintf("%d quantities for %d kinds", len(filling.Unused), len(t.capacity)))
	}
	// The root is no queue of the list.
	if len(filling.Queues) != len(t.nodes)-1 {
		faults.Add(apportion.Item{}, "Queues", apportion.ErrLength, fmt.Sprintf("a filling of %d queues for %d", len(filling.Queues), len(t.nodes)-1))
	}
	for i := range filling.Queues {
		queue := &filling.Queues[i]
		at, known := t.index[queue.ID]
		item := check.Item("queue", queue.ID, i)
		// The empty ID is that of the root, whose position is in no list.
		if !known || t.nodes[at].position != i {
			faults.Add(item, "ID", apportion.ErrUnknown, "")
		}
		if len(queue.Used) != len(t.capacity) {
			faults.Add(item, "Used", apportion.ErrLength, fmt.Sprintf("%d quantities for %d kinds", len(queue.Used), len(t.capacity)))
		}
	}
	// The root, at 0, has the capacity: who is stopped by that is not at a ceiling.
	for i := range filling.Claims {
		stop := filling.Claims[i].StoppedBy
		if at, known := t.index[stop.Queue]; stop.Cause == AtCeiling && (!known || at == 0) {
			faults.Add(check.Item("claim", filling.Claims[i].ID, i), "StoppedBy", apportion.ErrUnknown, "queue "+strconv.Quote(stop.Queue))
		}
	}
}
