// This file bounds what others would give up for an application: within the budget (16), and beyond what their queues are guaranteed,
// [Program §7], point 2.

package alloc

import (
	"math"
	"slices"

	"github.com/apportion/apportion/alloc/solver"
)

// gift is what one application would give up of a kind.
type gift struct {
	i     int
	gives int64
	cost  int64
}

// freeable returns at most how much of kind k the applications that may be changed within the budget would give up for application i, by the best
// choice that looks at kind k alone, and lists the first ones of that choice. kept says that what other queues are guaranteed
// is why it is no more.
func (d *draft) freeable(i, k int) (amount int64, from []int, kept bool) {
	return d.afforded(i, k, d.gifts(i, k))
}

// afforded is freeable of these gifts.
func (d *draft) afforded(i, k int, gifts []gift) (amount int64, from []int, kept bool) {
	amount, from = affordable(gifts, d.budget-d.spent)
	if d.r.guaranteed && len(gifts) > 0 {
		if spared := d.spared(i, k, gifts); spared < amount {
			return spared, from, true
		}
	}
	return amount, from, false
}

// gifts lists what each application has of kind k beyond the least that it may have, most for its cost first.
func (d *draft) gifts(i, k int) []gift {
	// Thousands ask where nobody has more than the least.
	if d.giveable()[k] == 0 {
		return nil
	}
	var gifts []gift
	n := max(0, d.least(i))
	for v := range d.counts {
		if !d.in[v] || d.r.stays(v) || len(d.counts[v]) == 0 {
			continue
		}
		if gives := solver.Containers(d.counts[v])*d.r.problem.Applications[v].Demand[k] - d.leastOf(v, k); gives > 0 {
			gifts = append(gifts, gift{v, gives, d.charge(i, v, n)})
		}
	}
	// As in the relaxation of the knapsack problem. The forced and the newcomers among them cost nothing, and come first whatever they
	// give.
	slices.SortStableFunc(gifts, func(a, b gift) int {
		x, y := float64(a.gives)*float64(b.cost), float64(b.gives)*float64(a.cost)
		switch {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	return gifts
}

// affordable returns how much the first of these gifts are together that the budget pays for, and whose they are.
func affordable(gifts []gift, budget int64) (amount int64, from []int) {
	for _, g := range gifts {
		if g.cost > budget {
			// The last one counts in part, so that the amount is an upper bound.
			if g.cost > 0 {
				amount += int64(math.Ceil(float64(g.gives) * float64(budget) / float64(g.cost)))
			}
			break
		}
		budget -= g.cost
		amount += g.gives
		from = append(from, g.i)
	}
	return amount, from
}

// spared returns at most how much of kind k these gifts are for application i if every other queue is left what it is guaranteed.
func (d *draft) spared(i, k int, gifts []gift) int64 {
	below := make([]int64, len(d.used))      // what is given by a leaf, and then by all below a queue
	others := make([][]float64, len(d.used)) // by kind: at most how much of k goes with one unit of it
	for _, g := range gifts {
		demand := d.r.problem.Applications[g.i].Demand
		below[d.r.leaf[g.i]] += g.gives
		for q := d.r.leaf[g.i]; q > 0; q = d.r.nodes[q].parent {
			if others[q] == nil {
				others[q] = make([]float64, len(demand))
			}
			for other, n := range demand {
				if other != k && n > 0 {
					others[q][other] = max(others[q][other], float64(demand[k])/float64(n))
				}
			}
		}
	}
	above := make(map[int]bool)
	for q := d.r.leaf[i]; q >= 0; q = d.r.nodes[q].parent {
		above[q] = true
	}
	var sum func(q int) int64
	sum = func(q int) int64 {
		for _, c := range d.r.nodes[q].children {
			below[q] += sum(c)
		}
		if above[q] || d.r.nodes[q].guarantee == nil || others[q] == nil {
			return below[q]
		}
		return min(below[q], d.beyond(q, k, others[q]))
	}
	return sum(0)
}

// beyond returns at most how much of kind k queue q can lose while it uses no less than its guarantee of one kind of each application
// that gives: of k itself, or of others with which so much of k goes.
func (d *draft) beyond(q, k int, others []float64) int64 {
	over := func(kind int) int64 { return max(0, d.used[q][kind]-d.r.nodes[q].guarantee[kind]) }
	sum := 0.0
	for other, rate := range others {
		sum += float64(rate * float64(over(other)))
	}
	return max(over(k), int64(math.Ceil(sum)))
}
