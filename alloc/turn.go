// This file draws who is asked next whether it can be let in, [Program §7], point 1.

package alloc

import (
	"cmp"
	"context"
	"slices"

	"github.com/apportion/apportion/alloc/internal/queues"
)

// turn is the order in which applications ask to be taken in. It is drawn anew after each, since it depends on what queues have by
// then.
type turn struct {
	*draft
	forced  []int // the first of all, in their order
	due     []int // those that are due, by how long they have been
	ctx     context.Context
	asked   map[int]bool // those that next has returned
	chosen  map[int]bool // the leaves in which it was chosen what comes first
	tried   map[int]bool // for whom room was reserved, or could not be
	waiting [][]int      // by queue: the newcomers of a leaf, in their order
	passed  []int        // by queue: how many of them, the first ones, are known to go beyond a guarantee
	beyond  bool         // so are all
	taken   int          // of the draft when passed and beyond were right
}

// newTurn lists those who ask to be taken in: of an application with options the entry that it runs as, or the first. An
// application that an earlier decision has suspended is a newcomer here: it has nothing in Previous.
func newTurn(d *draft) *turn {
	r := d.r
	t := &turn{draft: d, waiting: make([][]int, len(r.nodes)), passed: make([]int, len(r.nodes)), tried: make(map[int]bool), asked: make(map[int]bool), chosen: make(map[int]bool), ctx: context.Background()}
	for o, entries := range r.entries {
		if e := r.runs(o); e < 0 {
			q := r.leaf[entries[0]]
			t.waiting[q] = append(t.waiting[q], entries[0])
		} else if r.forced[e] {
			t.forced = append(t.forced, e)
		}
	}
	// The sorts are stable, so that the order of submission decides between equals.
	for _, list := range append(t.waiting, t.forced) {
		slices.SortStableFunc(list, func(a, b int) int {
			return cmp.Or(r.compareDue(a, b), cmp.Compare(r.problem.Applications[b].Priority, r.problem.Applications[a].Priority))
		})
	}
	var all []int
	for _, list := range t.waiting {
		all = append(all, list...)
	}
	slices.Sort(all)
	t.due = r.dueFirst(all)
	return t
}

// next takes the one whose turn it is out of the order and returns it, or -1: the forced, then those with whom their queues stay
// within their guarantees, then the others; of each those first for which room is reserved. O(queues x depth), but for those of a
// leaf that have become too many for a guarantee.
func (t *turn) next() int {
	if len(t.forced) > 0 {
		i := t.forced[0]
		t.forced = t.forced[1:]
		return i
	}
	// What has been taken from a queue may have brought others within its guarantee.
	if t.taken != t.draft.takings {
		clear(t.passed)
		t.beyond = false
		t.taken = t.draft.takings
	}
	// Those that were forced have broken what was reserved before.
	t.reserve()
	i := -1
	if t.r.guaranteed {
		if i = t.holder(true); i < 0 && !t.beyond {
			i = t.guaranteed(0)
			t.beyond = i < 0
		}
	}
	if i < 0 {
		i = t.holder(false)
	}
	if i < 0 {
		i = t.lowest(0)
	}
	if i >= 0 {
		t.asked[i] = true
		q := t.r.leaf[i]
		at := slices.Index(t.waiting[q], i)
		if at == 0 {
			t.waiting[q] = t.waiting[q][1:]
		} else {
			t.waiting[q] = slices.Delete(t.waiting[q], at, at+1)
		}
	}
	return i
}

// rest lists all who still ask, where they are of one leaf.
func (t *turn) rest() []int { return append(slices.Clip(t.forced), t.waiting[len(t.waiting)-1]...) }

// guaranteed returns who is next below queue q among those that stay within all guarantees above them, or -1: of children the one
// with the least part of its guarantee in use, those without one last; ties go to the earliest submission.
func (t *turn) guaranteed(q int) int {
	if children := t.r.nodes[q].children; children != nil {
		return queues.Least(children, t.guaranteed, t.part)
	}
	for list := t.waiting[q]; t.passed[q] < len(list); t.passed[q]++ {
		if i := list[t.passed[q]]; t.within(i, max(0, t.draft.least(i))) {
			return i
		}
	}
	return -1
}

// lowest returns who is next below queue q, or -1: of children that of the least level, and of a leaf the first.
func (t *turn) lowest(q int) int {
	if children := t.r.nodes[q].children; children != nil {
		return queues.Least(children, t.lowest, func(c int) float64 { return t.level(c, 0, 0) })
	}
	if len(t.waiting[q]) == 0 {
		return -1
	}
	t.choose(t.ctx, q)
	return t.waiting[q][0]
}

// part returns how much of its guarantee queue q uses, of the kind of which the part is largest; of one without a guarantee more
// than of any with one, in the order of levels.
func (t *turn) part(q int) float64 {
	guarantee := t.r.nodes[q].guarantee
	if guarantee == nil {
		return queues.Beyond + t.level(q, 0, 0)
	}
	return queues.Part(t.used[q], guarantee)
}
