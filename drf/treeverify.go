// This file implements VerifyTree, the properties of a fair division of a tree, [Bhattacharya13] §3 and
// [Ghodsi11] §3 for the children of one queue.

package drf

import (
	"math"
	"math/big"
)

// VerifyTree checks a division of a tree, however it came about: containers[i] is what claims[i] has. Capacity,
// bounds and ceilings of whole containers are checked exactly, all else with a relative tolerance of 1e-9.
// The properties are those of [Verify], with ceilings, guarantees and weights:
//
//   - WithinCapacity and WithinBounds as there; WithinCeilings: no queue has more than its ceiling.
//   - ParetoEfficient: no claim below Max could have more out of what the cluster and all ceilings above leave.
//   - GuaranteesMet: no claim below Max could have more within a guarantee above it and all ceilings. Not
//     looked at where the guarantees of all queues together exceed the capacity.
//   - EnvyFree and WeightMonotone: among the children of one queue. A queue takes part as one claim if all below it
//     have the same demand, and no ceiling, guarantee or Min of their own; the others are left out.
//   - SharingIncentive: each claim that no ceiling stops has at least what it could run on its own part of the
//     cluster, its part of the weights at every level multiplied. A queue with such a claim below Max
//     has its part of the cluster in some kind (divisible containers only).
//
// The fillings of a tree are within capacity, bounds and ceilings (if no Min is dropped) and Pareto efficient,
// and meet guarantees where nobody has a Min. [Tree.Fill] is free of envy and weight monotone as well; without
// guarantees and Min it gives everyone its sharing incentive.
//
// The time is O(q n d K) for the tree, and O(K c²) for every queue of c children.
func VerifyTree[N Amount](t *Tree, claims []Claim, containers []N) (Report, error) {
	if err := t.validate(claims); err != nil {
		return nil, err
	}
	if err := checkContainers(claims, containers); err != nil {
		return nil, err
	}
	v := &treeVerifier{verifier: verifier{capacity: t.capacity, claims: claims, has: make([]float64, len(claims))}, tree: t}
	for i, n := range containers {
		v.has[i] = float64(n)
	}
	if whole, ok := any(containers).([]int64); ok {
		v.whole = whole
	}
	// In the order of Property, as the report has them; what all below a node have is added up once before.
	v.addUp()
	v.checkCapacity()
	v.checkBounds()
	v.checkCeilings()
	v.checkRoom()
	v.checkSiblings()
	if t.derived == nil {
		v.checkParts()
	}
	return v.report, nil
}

// treeVerifier holds a division of a tree while its properties are checked.
type treeVerifier struct {
	verifier
	tree  *Tree
	below [][]int // claims of each node
	// used is what all below a node have of each kind, over is set where that is above its ceiling.
	used [][]float64
	over [][]bool
}

// addUp computes what every node has, exactly for whole containers.
func (v *treeVerifier) addUp() {
	// A verifier of the claims below each node adds up their use, with whole numbers exactly.
	v.below = v.tree.below(v.claims)
	v.used, v.over = make([][]float64, len(v.tree.nodes)), make([][]bool, len(v.tree.nodes))
	for at := range v.tree.nodes {
		v.used[at], v.over[at] = make([]float64, len(v.capacity)), make([]bool, len(v.capacity))
		under := v.under(at)
		for k, limit := range v.tree.nodes[at].ceiling {
			sum := verifier{capacity: v.capacity}
			for _, i := range under {
				sum.claims, sum.has = append(sum.claims, v.claims[i]), append(sum.has, v.has[i])
				if v.whole != nil {
					sum.whole = append(sum.whole, v.whole[i])
				}
			}
			amount, _ := sum.used(k)
			v.used[at][k] = amount
			// The root has the capacity for a ceiling, which checkCapacity has reported already.
			v.over[at][k] = limit < NoLimit && exceedsLimit(&sum, k, limit)
		}
	}
}

// exceedsLimit reports whether a division hands out more of kind k than limit.
func exceedsLimit(v *verifier, k int, limit int64) bool {
	if v.whole == nil {
		amount, _ := v.used(k)
		return amount > float64(limit)*(1+verifyTolerance)
	}
	// Sums of foreign divisions may be beyond 2^63.
	var sum, term big.Int
	for i, n := range v.whole {
		term.Mul(big.NewInt(n), big.NewInt(v.claims[i].Demand[k]))
		sum.Add(&sum, &term)
	}
	return sum.Cmp(big.NewInt(limit)) > 0
}

// under lists the claims below a node, however far.
func (v *treeVerifier) under(at int) []int {
	// O(q d) for each node: trees of organizations are small, and this is a referee.
	var list []int
	for node := range v.tree.nodes {
		for up := node; up >= 0; up = v.tree.nodes[up].parent {
			if up == at {
				list = append(list, v.below[node]...)
			}
		}
	}
	return list
}

func (v *treeVerifier) checkCeilings() {
	for at := 1; at < len(v.tree.nodes); at++ {
		for k, over := range v.over[at] {
			if over {
				v.report = append(v.report, Violation{
					Property: WithinCeilings, Queue: v.tree.nodes[at].id, Kind: k,
					Got: v.used[at][k], Limit: float64(v.tree.nodes[at].ceiling[k]),
				})
			}
		}
	}
}

// room returns how many more containers of claim i fit below limits of the nodes from at up, which are its ceilings and
// the capacity.
// A fraction, also for whole containers, and negative where the claim has more than is allowed.
func (v *treeVerifier) room(i, at int) float64 {
	// No limit leaves room for more than Max.
	more := float64(v.claims[i].Max) - v.has[i]
	for ; at >= 0; at = v.tree.nodes[at].parent {
		limit := v.tree.nodes[at].ceiling
		left := make([]float64, len(limit))
		for k, l := range limit {
			// NoLimit of a queue is infinite; NoLimit of the root would be a capacity of 2^63 - 1.
			left[k] = math.Inf(1)
			if at == 0 || l < NoLimit {
				left[k] = v.left(float64(l), v.used[at][k])
			}
		}
		more = min(more, quotient(left, v.claims[i].Demand, 1))
	}
	return more
}

// left returns what is left of a limit; of a divisible kind a part of verifyTolerance counts as nothing.
// Without it a queue that is filled up to rounding would seem to have room for a claim of tiny
// containers.
func (v *treeVerifier) left(limit, used float64) float64 {
	if v.whole == nil && limit-used <= verifyTolerance*limit {
		return 0
	}
	return limit - used
}

// counts reports whether so many more containers are more at all.
func (v *treeVerifier) counts(more float64) bool {
	return v.whole != nil && more >= 1 || v.whole == nil && exceeds(more, 0)
}

// checkRoom looks for claims that could have more, and for guarantees that are not met.
// Both properties ask what one claim could have more while all others keep what they have, so that
// nobody has to be moved for the proof of a violation.
func (v *treeVerifier) checkRoom() {
	for at := range v.tree.nodes {
		for _, i := range v.below[at] {
			if unservable(v.capacity, v.claims[i].Demand) >= 0 {
				continue
			}
			if more := v.room(i, at); v.counts(more) {
				v.violate(ParetoEfficient, i, v.has[i], v.has[i]+more)
			}
		}
	}
	// Guarantees that exceed the cluster together cannot all be met: whose is not is a matter of the order.
	if !v.tree.guaranteesFit() {
		return
	}
	for at := range v.tree.nodes {
		for _, i := range v.below[at] {
			if unservable(v.capacity, v.claims[i].Demand) >= 0 {
				continue
			}
			for up := at; up > 0; up = v.tree.nodes[up].parent {
				// The capacity is left out: what others hold above their own guarantees should have been given to
				// this claim.
				more := min(v.promised(i, up), v.roomInQueues(i, at))
				if v.counts(more) {
					v.violate(GuaranteesMet, i, v.has[i], v.has[i]+more)
					// One violation for each claim, with the lowest queue whose guarantee is not met.
					v.report[len(v.report)-1].Queue = v.tree.nodes[up].id
					break
				}
			}
		}
	}
}

// promised returns how many more containers of claim i are within the guarantee of a queue.
// A kind of which nothing is guaranteed leaves nothing, as a container is within a guarantee only if
// all that it demands is.
func (v *treeVerifier) promised(i, at int) float64 {
	left := make([]float64, len(v.capacity))
	for k, g := range v.tree.nodes[at].guarantee {
		left[k] = max(0, v.left(float64(g), v.used[at][k]))
	}
	return quotient(left, v.claims[i].Demand, 1)
}

// roomInQueues is room without the capacity.
func (v *treeVerifier) roomInQueues(i, at int) float64 {
	more := float64(v.claims[i].Max) - v.has[i]
	for ; at > 0; at = v.tree.nodes[at].parent {
		for k, q := range v.claims[i].Demand {
			if limit := v.tree.nodes[at].ceiling[k]; q > 0 && limit < NoLimit {
				more = min(more, v.left(float64(limit), v.used[at][k])/float64(q))
			}
		}
	}
	return more
}

// guaranteesFit reports whether what is guaranteed to all queues together is within the capacity. A queue stands
// for at least what is guaranteed to the queues below it.
func (t *Tree) guaranteesFit() bool {
	// From the leaves up: a queue needs what is guaranteed to it or to all below it, whichever is more.
	need := make([][]float64, len(t.nodes))
	for at := range need {
		need[at] = make([]float64, len(t.capacity))
	}
	for at := len(t.nodes) - 1; at > 0; at-- {
		for k, g := range t.nodes[at].guarantee {
			need[t.nodes[at].parent][k] += max(float64(g), need[at][k])
		}
	}
	for k, c := range t.capacity {
		if need[0][k] > float64(c) && !t.isPart(k) {
			return false
		}
	}
	return true
}

// checkSiblings compares the children of every queue with each other.
// Claims of different queues are not compared: what they may have is a matter of their queues, one of
// which may be due much more.
func (v *treeVerifier) checkSiblings() {
	for at := range v.tree.nodes {
		// The children become claims of a cluster of their own, so that the checks of Verify apply to them.
		party := verifier{capacity: v.capacity}
		join := func(c Claim, n float64, whole int64) {
			party.claims, party.has = append(party.claims, c), append(party.has, n)
			if v.whole != nil {
				party.whole = append(party.whole, whole)
			}
		}
		for _, i := range v.below[at] {
			n := int64(0)
			if v.whole != nil {
				n = v.whole[i]
			}
			join(v.claims[i], v.has[i], n)
		}
		for child := at + 1; child < len(v.tree.nodes); child++ {
			if v.tree.nodes[child].parent == at {
				// A queue whose claims differ has no bundle that its siblings could envy in one number.
				if c, n, alike := v.asOne(child); alike {
					join(c, n, int64(n))
				}
			}
		}
		// Names of queues and claims may meet in the report: a violation names the child, whichever it is.
		if v.tree.derived == nil {
			party.checkEnvy()
		}
		party.checkWeights()
		v.report = append(v.report, party.report...)
	}
}

// asOne returns all claims below a queue as one claim with the queue's name and weight; alike is false where that does
// not stand for them.
func (v *treeVerifier) asOne(at int) (c Claim, n float64, alike bool) {
	under := v.under(at)
	if len(under) == 0 {
		return c, 0, false
	}
	// A bound of any queue below changes what the whole may have, so that its claims are none among equals.
	for node := range v.tree.nodes {
		for up := node; up > 0; up = v.tree.nodes[up].parent {
			if up == at && v.tree.nodes[node].bounded() {
				return c, 0, false
			}
		}
	}
	// All that the sibling may have is what its claims may have together.
	c = Claim{ID: v.tree.nodes[at].id, Demand: v.claims[under[0]].Demand, Weight: v.tree.nodes[at].weight}
	for _, i := range under {
		if v.claims[i].Min > 0 || !v.claims[i].Demand.Equal(c.Demand) {
			return c, 0, false
		}
		if c.Max += v.claims[i].Max; c.Max < 0 { // above 2^63
			c.Max = NoMax
		}
		n += v.has[i]
	}
	return c, n, true
}

// bounded reports whether a queue has a ceiling or a guarantee in any kind.
func (n *treeNode) bounded() bool {
	for _, limit := range n.ceiling {
		if limit < NoLimit {
			return true
		}
	}
	return !n.guarantee.IsZero()
}

// checkParts compares each claim and each queue with a part of the cluster of its own.
// The incentive of a queue is one kind in which it has its part; that of a claim is what it could run
// alone on its part of every kind.
func (v *treeVerifier) checkParts() {
	// The weights along the way multiplied, and the cluster divided by them once and for all.
	part := v.parts()
	capacity := make([]float64, len(v.capacity))
	for k, c := range v.capacity {
		capacity[k] = float64(c)
	}
	for at := range v.tree.nodes {
		waiting := false // for what the cluster has not, rather than for a ceiling
		for _, i := range v.under(at) {
			waiting = waiting || v.waits(i)
		}
		if at > 0 && waiting && v.whole == nil {
			// The level of a queue is a share of one kind, so that one kind is what it must have its part of.
			share := 0.0
			for k, c := range capacity {
				if c > 0 {
					share = max(share, v.used[at][k]/c)
				}
			}
			if exceeds(part[at], share) {
				v.report = append(v.report, Violation{Property: SharingIncentive, Queue: v.tree.nodes[at].id, Kind: -1, Got: share, Limit: part[at]})
			}
		}
		weights := v.weightBelow(at)
		for _, i := range v.below[at] {
			claim := &v.claims[i]
			due := min(quotient(capacity, claim.Demand, part[at]*claim.Weight/weights), float64(claim.Max))
			if v.whole != nil {
				due = math.Floor(due * (1 + verifyTolerance))
			}
			// Who is at a ceiling or at Max has been offered his part and could not take it.
			if v.waits(i) && exceeds(due, v.has[i]) {
				v.violate(SharingIncentive, i, v.has[i], due)
			}
		}
	}
}

// waits reports whether a claim that can be served is below Max and at no ceiling.
func (v *treeVerifier) waits(i int) bool {
	return unservable(v.capacity, v.claims[i].Demand) < 0 && v.counts(v.roomInQueues(i, v.tree.index[v.claims[i].Queue]))
}

// parts returns the part of the cluster that is due to each node by its weight and those above it.
// The parts of the children of one node, its own claims included, add up to its part.
func (v *treeVerifier) parts() []float64 {
	part := make([]float64, len(v.tree.nodes))
	// Parents come first in nodes, so that the part of the parent is known.
	part[0] = 1
	for at := 1; at < len(part); at++ {
		node := &v.tree.nodes[at]
		part[at] = part[node.parent] * node.weight / v.weightBelow(node.parent)
	}
	return part
}

// weightBelow adds up the weights of a node's children.
func (v *treeVerifier) weightBelow(at int) float64 {
	sum := 0.0
	for _, i := range v.below[at] {
		sum += v.claims[i].Weight
	}
	for child := at + 1; child < len(v.tree.nodes); child++ {
		if v.tree.nodes[child].parent == at {
			sum += v.tree.nodes[child].weight
		}
	}
	return sum
}
