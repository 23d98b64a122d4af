// This file implements ExplainTree: why claims and queues of a tree have what they have, and who borrows from
// whom.

package drf

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/apportion/apportion"
)

// TreeExplanation explains all claims and queues of a filling, in their order.
type TreeExplanation[N Amount] struct {
	Explanation[N]
	Queues []QueueExplanation[N] `json:"queues"`
}

// QueueExplanation is what a queue has against what it is guaranteed and allowed.
type QueueExplanation[N Amount] struct {
	FilledQueue[N]
	// Borrowed is what the queue has above its guarantee, Lent what it has not of its guarantee, one quantity a
	// kind.
	Borrowed []N `json:"borrowed"`
	Lent     []N `json:"lent"`
	// From lists the queues that lend of a kind that this one borrows, those above and below it apart, in the
	// order of the list; nil where what is borrowed is guaranteed to a queue above.
	From []string `json:"from,omitempty"`
	// Full lists the kinds of which the queue has all that its ceiling allows.
	Full []string `json:"full,omitempty"`
	// TakenFirst is the place of the queue among those that have borrowed, 1 for the one with the largest part of the
	// cluster above its guarantee for its weight, 0 for one that has borrowed nothing, or only what is guaranteed to a
	// queue above it. What of it would be taken first is
	// the answer of [Tree.Reclaim].
	TakenFirst int `json:"taken_first,omitempty"`
}

// ExplainTree says for each claim what stopped it, the queue for a ceiling, and for each queue what it has borrowed and
// from whom. claims and t are those that the filling was made of; kinds may be nil, then kinds are called by their
// number. O(K (n + q²)).
//
// The error is [apportion.Faults], as of [Explain], and ErrUnknown or ErrLength for queues that are not those of the tree.
func ExplainTree[N Amount](kinds apportion.Kinds, t *Tree, claims []Claim, filling *TreeFilling[N]) (*TreeExplanation[N], error) {
	var faults apportion.Faults
	if belongsTo(&faults, t, claims, filling); len(faults) > 0 {
		return nil, faults
	}
	e := &TreeExplanation[N]{
		Explanation: *explain(kinds, claims, &filling.Filling),
		Queues:      make([]QueueExplanation[N], len(filling.Queues)),
	}
	for i, filled := range filling.Queues {
		// Positions in the filling are those of the list of queues; positions in the tree are breadth first.
		at := t.index[filled.ID]
		e.Queues[i] = QueueExplanation[N]{FilledQueue: filled, Borrowed: make([]N, len(filled.Used)), Lent: make([]N, len(filled.Used))}
		for k, used := range filled.Used {
			if g := N(t.nodes[at].guarantee[k]); !t.isPart(k) {
				e.Queues[i].Borrowed[k], e.Queues[i].Lent[k] = max(0, used-g), max(0, g-used)
			}
			// Divisible use may lie a rounding error below the ceiling that it has reached.
			if limit := t.nodes[at].ceiling[k]; limit < NoLimit && reached(float64(used), limit) {
				e.Queues[i].Full = append(e.Queues[i].Full, kinds.Name(k))
			}
		}
	}
	for i := range e.Claims {
		if stop := e.Claims[i].StoppedBy; stop.Cause == AtCeiling {
			at := t.index[stop.Queue]
			// Explain knows the capacity alone; what a ceiling leaves is added here, to Reason and its text.
			have := float64(t.nodes[at].ceiling[stop.Kind]) - float64(filling.Queues[t.nodes[at].position].Used[stop.Kind])
			need := claims[i].Demand[stop.Kind]
			e.Claims[i].Reason.Need, e.Claims[i].Reason.Have = float64(need), max(0, have)
			e.Claims[i].Reason.Text += fmt.Sprintf(": one more needs %d, %.6g left", need, max(0, have))
		}
	}
	for i := range e.Queues {
		// What is borrowed within the guarantee of a queue above is borrowed from nobody: the family has it.
		if !e.covered(t, i) {
			e.Queues[i].From = lenders(t, e.Queues, i)
		}
	}
	e.rank(t)
	return e, nil
}

// lenders returns who lends of a kind that queue i borrows. A lender is listed once, however many kinds it lends. O(q (d + K)).
func lenders[N Amount](t *Tree, queues []QueueExplanation[N], i int) []string {
	var from []string
	for j := range queues {
		// A queue borrows neither from those above it nor from those below: their numbers contain each other.
		if t.isAbove(queues[i].ID, queues[j].ID) || t.isAbove(queues[j].ID, queues[i].ID) {
			continue
		}
		for k, lent := range queues[j].Lent {
			if lent > 0 && queues[i].Borrowed[k] > 0 {
				from = append(from, queues[j].ID)
				break
			}
		}
	}
	return from
}

// isAbove reports whether one queue is another or above it. Both are in the tree. O(d).
// The root is never the answer, since it is in no list of queues.
func (t *Tree) isAbove(above, id string) bool {
	for at := t.index[id]; at > 0; at = t.nodes[at].parent {
		if t.nodes[at].id == above {
			return true
		}
	}
	return false
}

// covered reports whether a queue above queue i is within its guarantee in all that queue i has borrowed. The root has none,
// so that what the uppermost queues have borrowed is always from somebody.
// Its answer is about all kinds together: of one that the queue above has borrowed as well, somebody
// else is the lender.
func (e *TreeExplanation[N]) covered(t *Tree, i int) bool {
	for at := t.nodes[t.index[e.Queues[i].ID]].parent; at > 0; at = t.nodes[at].parent {
		// Only kinds that queue i has borrowed matter: of those the queue above must have borrowed nothing.
		within := true
		for k, borrowed := range e.Queues[t.nodes[at].position].Borrowed {
			within = within && (borrowed == 0 || e.Queues[i].Borrowed[k] == 0)
		}
		if within {
			return true
		}
	}
	return false
}

// rank numbers those who have borrowed, the most for its weight first, equal ones by ID.
func (e *TreeExplanation[N]) rank(t *Tree) {
	// The order is that of the shares above the guarantee, each for its weight: the counterpart of Level, from the
	// guarantee up.
	// It is computed anew for each comparison: queues are tens, and an explanation is for people.
	level := func(i int) float64 {
		if e.covered(t, i) {
			return 0
		}
		most := 0.0
		for k, borrowed := range e.Queues[i].Borrowed {
			if c := t.shared[k]; c > 0 {
				most = max(most, float64(borrowed)/float64(c))
			}
		}
		return most / t.nodes[t.index[e.Queues[i].ID]].weight
	}
	var order []int
	for i := range e.Queues {
		if level(i) > 0 {
			order = append(order, i)
		}
	}
	// Equal levels by ID, so that the order of the list leaves no trace.
	slices.SortFunc(order, func(a, b int) int {
		if x, y := level(a), level(b); x != y {
			if x > y {
				return -1
			}
			return 1
		}
		return strings.Compare(e.Queues[a].ID, e.Queues[b].ID)
	})
	// Places count from 1, as 0 says that nothing was borrowed.
	for place, i := range order {
		e.Queues[i].TakenFirst = place + 1
	}
}

// String returns one aligned line for each claim and one for each queue.
func (e *TreeExplanation[N]) String() string {
	var text strings.Builder
	text.WriteString(e.Explanation.String())
	// Queues follow the claims in a table of their own, whose columns have widths of their own.
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for i := range e.Queues {
		q := &e.Queues[i]
		why := "borrowed " + amounts(q.Borrowed) + ", lent " + amounts(q.Lent)
		if len(q.From) > 0 {
			why += ", from " + strings.Join(q.From, " ")
		}
		if len(q.Full) > 0 {
			why += ", ceiling reached for " + strings.Join(q.Full, " ")
		}
		if q.ShortOf >= 0 {
			why += ", minima dropped"
		}
		fmt.Fprintf(table, "queue %s\tused %s\tshare %.6g\t%s\n", q.ID, amounts(q.Used), q.Share, why)
	}
	table.Flush() // to a strings.Builder, which never fails
	return text.String()
}

// amounts returns quantities as a short text.
// Six digits are enough for a reader; the numbers themselves are in the fields.
func amounts[N Amount](list []N) string {
	words := make([]string, len(list))
	for k, q := range list {
		words[k] = fmt.Sprintf("%.6g", float64(q))
	}
	return "[" + strings.Join(words, " ") + "]"
}
