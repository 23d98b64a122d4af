// This file generates trees of queues for the properties.

package drf_test

import (
	"fmt"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/oracle/drforacle"
)

// organization is one cluster, its queues and their claims.
type organization struct {
	instance
	queues []drf.Queue
}

// treeLimits bounds what genOrganization draws, beside what the claims have.
type treeLimits struct {
	limits
	queues                 int
	guarantees, ceilings   bool
	claimsWithout, extreme bool // claims without a queue may occur, and weights that differ by 1e24
}

func genOrganization(t *rapid.T, l treeLimits) organization {
	o := organization{instance: genInstance(t, l.limits)}
	n := rapid.IntRange(0, l.queues).Draw(t, "queues")
	inner := make([]bool, n)
	for i := range n {
		queue := drf.Queue{ID: fmt.Sprintf("q%d", (i*5+2)%7), Weight: rapid.SampledFrom([]float64{1, 1, 2, .5, 3}).Draw(t, "weight")}
		if up := rapid.IntRange(-1, i-1).Draw(t, "parent"); up >= 0 {
			queue.Parent, inner[up] = o.queues[up].ID, true
		}
		if l.guarantees && rapid.Bool().Draw(t, "guaranteed") {
			queue.Guarantee = rapid.SliceOfN(rapid.Int64Range(0, l.capacity), len(o.capacity), len(o.capacity)).Draw(t, "guarantee")
		}
		if l.ceilings && rapid.Bool().Draw(t, "limited") {
			limit := rapid.OneOf(rapid.Int64Range(0, l.capacity), rapid.Just(int64(drf.NoLimit)))
			queue.Ceiling = rapid.SliceOfN(limit, len(o.capacity), len(o.capacity)).Draw(t, "ceiling")
		}
		o.queues = append(o.queues, queue)
	}
	// Claims belong to the queues that have none below them, or to none.
	var leaves []string
	if l.claimsWithout || n == 0 {
		leaves = append(leaves, "")
	}
	for i, queue := range o.queues {
		if !inner[i] {
			leaves = append(leaves, queue.ID)
		}
	}
	for i := range o.claims {
		o.claims[i].Queue = rapid.SampledFrom(leaves).Draw(t, "queue")
		if !l.extreme {
			o.claims[i].Weight = rapid.SampledFrom([]float64{1, 1, 2, 3, .5}).Draw(t, "plain weight")
		}
	}
	return o
}

func (o organization) tree(t fatal) *drf.Tree {
	return must.Have(drf.NewTree(o.capacity, o.queues))(t)
}

func (o organization) fillTree(t fatal) *drf.TreeFilling[float64] {
	return must.Have(o.tree(t).Fill(o.claims))(t)
}

func (o organization) wholeTree(t fatal) *drf.TreeFilling[int64] {
	return must.Have(o.tree(t).FillWhole(o.claims))(t)
}

// twins returns the queues and claims as the oracle takes them.
func (o organization) twins() ([]drforacle.Queue, []drforacle.Member) {
	queues, members := make([]drforacle.Queue, len(o.queues)), make([]drforacle.Member, len(o.claims))
	for i, q := range o.queues {
		queues[i] = drforacle.Queue{ID: q.ID, Parent: q.Parent, Weight: q.Weight, Guarantee: make([]int64, len(o.capacity)), Ceiling: make([]int64, len(o.capacity))}
		copy(queues[i].Guarantee, q.Guarantee)
		for k := range o.capacity {
			queues[i].Ceiling[k] = -1
			if q.Ceiling != nil && q.Ceiling[k] != drf.NoLimit {
				queues[i].Ceiling[k] = q.Ceiling[k]
			}
		}
	}
	for i, claim := range o.twin() {
		members[i] = drforacle.Member{Claim: claim, Queue: o.claims[i].Queue}
	}
	return queues, members
}

// usedBelow adds up what the claims below a queue have of each kind.
func (o organization) usedBelow(id string, containers []float64) []float64 {
	used := make([]float64, len(o.capacity))
	for i, claim := range o.claims {
		if o.isBelow(claim.Queue, id) {
			for k, q := range claim.Demand {
				used[k] += containers[i] * float64(q)
			}
		}
	}
	return used
}

// isBelow reports whether a queue is another one, or below it.
func (o organization) isBelow(id, above string) bool {
	for id != above && id != "" {
		id = o.queue(id).Parent
	}
	return id == above
}

func (o organization) queue(id string) drf.Queue {
	for _, q := range o.queues {
		if q.ID == id {
			return q
		}
	}
	return drf.Queue{}
}

// node is a queue of a test, by words.
func node(id, parent string, weight float64, guarantee apportion.Resources, ceiling ...int64) drf.Queue {
	return drf.Queue{ID: id, Parent: parent, Weight: weight, Guarantee: guarantee, Ceiling: ceiling}
}
