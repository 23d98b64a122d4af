// This file holds who has borrowed from whom, and what would be taken back first.

package drf

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
	"github.com/apportion/apportion/internal/exact"
)

// Balance compares what a queue has with what it is guaranteed.
type Balance struct {
	ID string `json:"id"`
	// Borrowed is what the queue has above its guarantee, Lent what it has not of its guarantee, one quantity a
	// kind; of each kind at most one is positive.
	Borrowed apportion.Resources `json:"borrowed"`
	Lent     apportion.Resources `json:"lent"`
}

// balance returns the balance of the queue at a node, which uses so much.
// Neither quantity is negative, so that no difference of the two overflows.
func (t *Tree) balance(at int, used apportion.Resources) Balance {
	n := &t.nodes[at]
	b := Balance{ID: n.id, Borrowed: make(apportion.Resources, len(used)), Lent: make(apportion.Resources, len(used))}
	for k, q := range used {
		if t.isPart(k) {
			continue
		}
		b.Borrowed[k], b.Lent[k] = max(0, q-n.guarantee[k]), max(0, n.guarantee[k]-q)
	}
	return b
}

// Balances returns the balance of every queue, in the order of the list that the tree was made of. O(K q).
// What is lent to others is not told by name: [ExplainTree] does that for a filling.
func (s *Sorter) Balances() []Balance {
	list := make([]Balance, len(s.groups)-1)
	// The root borrows nothing: it has the cluster.
	for at := 1; at < len(s.groups); at++ {
		list[s.groups[at].node.position] = s.tree.balance(at, s.groups[at].key.held)
	}
	return list
}

// Holding is one thing that runs and that may be taken back as a whole: a container, a job.
type Holding struct {
	ID    string              `json:"id"`
	Queue string              `json:"queue,omitempty"`
	Held  apportion.Resources `json:"held"`
	// Since says when it came, in any unit: larger is later.
	Since int64 `json:"since"`
	// Loss is the work that would be lost, in any unit: what has been done since the last checkpoint. Finite,
	// not negative.
	Loss float64 `json:"loss"`
}

// Reclaim returns the holdings that could be taken back without anybody having less than is guaranteed, in the order
// in which they would be: last come first, among equals the least work lost, then by ID. As queues come down to
// their guarantees on the way, what is left of them is kept.
//
// A holding is kept as long as any queue above it has no more than its guarantee in every kind that the holding
// has. Nothing is guaranteed above a holding in no queue. Callers that preempt take from the front until
// there is room.
//
// The error is [apportion.Faults]: an empty or repeated ID, a queue that does not exist (ErrUnknown), a vector of the
// wrong length, a negative quantity, a loss that is not finite or negative, sums above 2^63 (ErrOverflow).
// O(n (d K + log n)).
func (t *Tree) Reclaim(holdings []Holding) ([]Holding, error) {
	used, err := t.usedBy(holdings)
	if err != nil {
		return nil, err
	}
	// Last come first: what has run for longest has most to lose and is nearest to its end.
	order := slices.Clone(holdings)
	slices.SortFunc(order, func(a, b Holding) int {
		return cmp.Or(cmp.Compare(b.Since, a.Since), cmp.Compare(a.Loss, b.Loss), cmp.Compare(a.ID, b.ID))
	})
	taken := make([]Holding, 0, len(order))
	for _, h := range order {
		// used falls with what is taken, so that queues come down to their guarantees and keep the rest.
		if t.keeps(used, &h) {
			continue
		}
		// The answer is the caller's, and its input stays as it was.
		h.Held = h.Held.Clone()
		taken = append(taken, h)
		for at := t.index[h.Queue]; at >= 0; at = t.nodes[at].parent {
			for k, q := range h.Held {
				used[at][k] -= q
			}
		}
	}
	return taken, nil
}

// keeps reports whether a queue above a holding is within its guarantee in all that this has.
// used is what is left after those who came before in the order: the answer for a holding may change
// with each one that is taken. The root guarantees nothing, so that the way ends below it.
func (t *Tree) keeps(used []apportion.Resources, h *Holding) bool {
	for at := t.index[h.Queue]; at > 0; at = t.nodes[at].parent {
		// A kind that the holding has not is no reason to take it.
		within := true
		for k, q := range h.Held {
			within = within && (q == 0 || used[at][k] <= t.nodes[at].guarantee[k])
		}
		if within {
			return true
		}
	}
	return false
}

// usedBy adds up what is held below each node, and refuses holdings that are wrong.
// With an error the sums are of no use: those of faulty holdings are missing in them.
func (t *Tree) usedBy(holdings []Holding) ([]apportion.Resources, error) {
	var faults apportion.Faults
	kinds := make(apportion.Kinds, len(t.capacity))
	for k := range kinds {
		kinds[k] = strconv.Itoa(k)
	}
	used := make([]apportion.Resources, len(t.nodes))
	for at := range used {
		used[at] = make(apportion.Resources, len(t.capacity))
	}
	seen := make(map[string]bool)
	for i := range holdings {
		h, before := &holdings[i], len(faults)
		item := check.Item("holding", h.ID, i)
		check.ID(&faults, seen, h.ID, item)
		check.Resources(&faults, kinds, h.Held, item, "Held")
		if !(h.Loss >= 0) || math.IsInf(h.Loss, 1) { // NaN is no number either
			faults.Add(item, "Loss", apportion.ErrRange, strconv.FormatFloat(h.Loss, 'g', -1, 64))
		}
		at, known := t.index[h.Queue]
		if !known {
			faults.Add(item, "Queue", apportion.ErrUnknown, strconv.Quote(h.Queue))
		}
		// A faulty holding is left out of the sums: it would hide what is wrong with the others.
		if len(faults) > before {
			continue
		}
		// The root has the most: where its sum fits, so do those below.
		for ; at >= 0; at = t.nodes[at].parent {
			if err := exact.AddTo(used[at], used[at], h.Held); err != nil {
				faults.Add(item, "Held", err, "")
				break
			}
		}
	}
	return used, faults.Err()
}
