// This file implements Tree, the queues of an organization, and the checks on them, [Bhattacharya13] §3.

package drf

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
)

// NoLimit as a quantity of a [Ceiling] means that the kind has no limit.
const NoLimit = math.MaxInt64

// Queue is one node of a tree: a department, a team, a tenant. Its children are other queues or claims, not
// both.
type Queue struct {
	// ID names the queue; not empty, unique in its list.
	ID string `json:"id"`
	// Parent is the ID of the queue that this one is part of; empty: it is part of the whole cluster.
	Parent string `json:"parent,omitempty"`
	// Weight is how large a share is due to this queue in proportion to the other children of its parent;
	// in [MinWeight, MaxWeight]. In JSON a weight that is absent is 1.
	Weight float64 `json:"weight"`
	// Guarantee is what the queue gets before anybody has more than is guaranteed, one quantity a kind. Nil
	// means nothing, and so does 0 of a kind: a container is within a guarantee if all that it demands is.
	Guarantee apportion.Resources `json:"guarantee,omitempty"`
	// Usage is what the queue has used lately beside what it uses now, as a part of the cluster; finite and 0 or more. It
	// counts in the order in which package alloc lets applications in, and in no share.
	Usage float64 `json:"usage,omitzero"`
	// Ceiling is the most that all claims below the queue may have together, one quantity a kind, NoLimit (in
	// JSON null) where a kind has no limit. Nil means no limits.
	Ceiling Ceiling `json:"ceiling,omitempty"`
}

// UnmarshalJSON reads a queue: a weight that is absent is 1. One that is there stays as it is, also 0, which
// is a fault.
func (q *Queue) UnmarshalJSON(text []byte) error {
	// The local type has the fields of Queue alone, or json.Unmarshal would call this method for ever.
	type fields Queue // without this method
	read := fields{Weight: 1}
	if err := json.Unmarshal(text, &read); err != nil {
		return err
	}
	*q = Queue(read)
	return nil
}

// Ceiling is a vector of limits, one a kind: quantities in [0, NoLimit].
type Ceiling []int64

// MarshalJSON writes null for NoLimit.
// The number itself would be read as 2^63 by whoever takes numbers for floats, and be refused on its
// way back.
func (c Ceiling) MarshalJSON() ([]byte, error) {
	if c == nil {
		return []byte("null"), nil
	}
	var text bytes.Buffer
	text.WriteByte('[')
	for k, limit := range c {
		if k > 0 {
			text.WriteByte(',')
		}
		if limit == NoLimit {
			text.WriteString("null")
		} else {
			text.WriteString(strconv.FormatInt(limit, 10))
		}
	}
	text.WriteByte(']')
	return text.Bytes(), nil
}

// UnmarshalJSON reads null as NoLimit.
func (c *Ceiling) UnmarshalJSON(text []byte) error {
	var limits []*int64
	if err := json.Unmarshal(text, &limits); err != nil {
		return err
	}
	// An empty vector is not the same as none: its length is checked against the kinds.
	*c = nil
	if limits == nil {
		return nil
	}
	*c = make(Ceiling, len(limits))
	for k, limit := range limits {
		(*c)[k] = NoLimit
		if limit != nil {
			(*c)[k] = *limit
		}
	}
	return nil
}

// Tree is a cluster and the queues that share it, checked and in order. It never changes, so that several
// goroutines may use one.
//
// # Order of filling
//
// The whole cluster is the root. Every inner node serves the child with the least level. The level of a claim
// is its weighted dominant share. The level of a queue is the largest part of the cluster that all below it
// have together of any kind that it would be served now, over its weight: a kind that nobody next in line
// below it demands is not charged to it, or complementary children would starve each other.
//
// A child below its guarantee comes before every child that is not. It is below if the container that it would
// be served next is within the guarantee in every kind that this demands, or if that holds of a queue
// further down on the way to the container. Claims for which no container is within any guarantee above them are
// served when nobody else is left.
//
// A container that would lift a queue above its ceiling is refused, as is one that the cluster has no room for;
// its claim stops, and the others go on.
//
// Source: [Bhattacharya13], whose rescaling to the least child is replaced by leaving out the kinds that are
// not demanded next: both give complementary children their part, and this one is exact on integers.
type Tree struct {
	capacity apportion.Resources
	// shared is what shares are taken of: the capacity, but 0 of kinds that count as derived ones.
	shared  apportion.Resources
	derived *Derivation // nil for none
	// nodes has parents before children, the root first, and children of one parent by ID.
	nodes []treeNode
	index map[string]int // of a queue in nodes
}

// treeNode is one queue of a tree, or its root.
type treeNode struct {
	id     string
	parent int // -1: the root
	weight float64
	// guarantee and ceiling have one quantity a kind; the ceiling of the root is the capacity.
	guarantee apportion.Resources
	ceiling   apportion.Resources
	inner     bool // has queues below it
	position  int  // in the list that the tree was made of, -1 for the root
}

// NewTree returns the tree of queues that share capacity. The order of the list has no influence. No queues at
// all are a cluster that its claims share as in [Fill].
//
// The error is [apportion.Faults]: an empty or repeated ID, a parent that is no queue (ErrUnknown) or below its
// own child (ErrConflict), a weight outside [MinWeight, MaxWeight], a vector of the wrong length, a negative
// quantity. O(n (K + log n)).
func NewTree(capacity apportion.Resources, queues []Queue) (*Tree, error) {
	if err := validateQueues(capacity, queues); err != nil {
		return nil, err
	}
	return newTree(capacity, queues), nil
}

func newTree(capacity apportion.Resources, queues []Queue) *Tree {
	t := &Tree{
		capacity: capacity.Clone(),
		nodes:    []treeNode{{parent: -1, weight: 1, position: -1, ceiling: capacity.Clone(), guarantee: make(apportion.Resources, len(capacity))}},
		index:    map[string]int{"": 0},
	}
	t.shared = t.capacity
	children := make(map[string][]int)
	for i := range queues {
		children[queues[i].Parent] = append(children[queues[i].Parent], i)
	}
	// The list of nodes is its own queue of who is still to be looked at: breadth first.
	for at := 0; at < len(t.nodes); at++ {
		below := children[t.nodes[at].id]
		t.nodes[at].inner = len(below) > 0
		slices.SortFunc(below, func(a, b int) int { return cmp.Compare(queues[a].ID, queues[b].ID) })
		for _, i := range below {
			t.index[queues[i].ID] = len(t.nodes)
			t.nodes = append(t.nodes, newTreeNode(&queues[i], at, i, len(capacity)))
		}
	}
	return t
}

// newTreeNode returns a queue with vectors of its own.
// A vector that is nil has the right length here: nothing guaranteed, and no limits.
func newTreeNode(queue *Queue, parent, position, kinds int) treeNode {
	n := treeNode{
		id: queue.ID, parent: parent, weight: queue.Weight, position: position,
		guarantee: make(apportion.Resources, kinds), ceiling: make(apportion.Resources, kinds),
	}
	copy(n.guarantee, queue.Guarantee)
	for k := range n.ceiling {
		n.ceiling[k] = NoLimit
	}
	copy(n.ceiling, queue.Ceiling)
	return n
}

// validateQueues returns everything that is wrong with capacity and queues as Faults.
func validateQueues(capacity apportion.Resources, queues []Queue) error {
	var faults apportion.Faults
	kinds := checkCapacity(&faults, capacity, "Capacity")
	seen, parents := make(map[string]bool), make(map[string]string)
	for i := range queues {
		parents[queues[i].ID] = queues[i].Parent
	}
	for i := range queues {
		queue := &queues[i]
		item := check.Item("queue", queue.ID, i)
		check.ID(&faults, seen, queue.ID, item)
		checkWeight(&faults, queue.Weight, item)
		checkUsage(&faults, queue.Usage, item)
		if queue.Guarantee != nil {
			check.Resources(&faults, kinds, queue.Guarantee, item, "Guarantee")
		}
		if queue.Ceiling != nil {
			check.Resources(&faults, kinds, apportion.Resources(queue.Ceiling), item, "Ceiling")
		}
		if _, known := parents[queue.Parent]; queue.Parent != "" && !known {
			faults.Add(item, "Parent", apportion.ErrUnknown, strconv.Quote(queue.Parent))
		}
	}
	checkCircles(&faults, queues, parents)
	return faults.Err()
}

// checkUsage adds a usage that is below 0, NaN or infinite.
func checkUsage(faults *apportion.Faults, usage float64, item apportion.Item) {
	switch {
	case math.IsNaN(usage) || math.IsInf(usage, 0):
		faults.Add(item, "Usage", apportion.ErrNotFinite, strconv.FormatFloat(usage, 'g', -1, 64))
	case usage < 0:
		faults.Add(item, "Usage", apportion.ErrNegative, strconv.FormatFloat(usage, 'g', -1, 64))
	}
}

// checkCircles adds queues from which no way leads up to the whole cluster. A queue below a circle is not
// told: its own parent is no fault.
// Each queue climbs to the root, so that a long chain costs O(q²); trees of organizations are flat.
func checkCircles(faults *apportion.Faults, queues []Queue, parents map[string]string) {
	for i := range queues {
		at := queues[i].Parent
		// A way of more steps than there are queues has come round.
		for steps := 0; at != "" && at != queues[i].ID && steps <= len(queues); steps++ {
			at = parents[at]
		}
		if at != "" && at == queues[i].ID {
			faults.Add(check.Item("queue", queues[i].ID, i), "Parent", apportion.ErrConflict, fmt.Sprintf("%q is below the queue itself", queues[i].Parent))
		}
	}
}

// validate returns everything that is wrong with the capacity and with claims on the tree as Faults.
func (t *Tree) validate(claims []Claim) error {
	var faults apportion.Faults
	checkClaims(&faults, t.capacity, claims)
	for i := range claims {
		t.derived.check(&faults, claims[i].Demand, check.Item("claim", claims[i].ID, i), "Demand")
		if claims[i].Queue != "" {
			t.checkQueue(&faults, claims[i].Queue, check.Item("claim", claims[i].ID, i))
		}
	}
	return faults.Err()
}

// checkQueue adds a queue of a claim that does not exist, or has queues below it.
func (t *Tree) checkQueue(faults *apportion.Faults, id string, item apportion.Item) {
	at, known := t.index[id]
	switch {
	case !known:
		faults.Add(item, "Queue", apportion.ErrUnknown, strconv.Quote(id))
	// The root may have both: then claims without a queue share with the queues at the top.
	case at > 0 && t.nodes[at].inner:
		faults.Add(item, "Queue", apportion.ErrConflict, fmt.Sprintf("%q has queues below it", id))
	}
}

// floors returns what every claim has before anything is filled: its Min, or 0 where all Min below a queue above
// it do not fit its ceiling together; and for each node the first kind that lacked for them, -1 where none
// did. below lists the claims of each node. Dropping begins at the lowest queues: no claim loses a Min to a queue elsewhere
// that asks for too much. O(K (n + nodes)).
func (t *Tree) floors(claims []Claim, below [][]int) (floors []int64, short []int) {
	floors, short = make([]int64, len(claims)), make([]int, len(t.nodes))
	// Words without a sign, which stay at their largest value: Min times demand may be above 2^63, and
	// any such sum is above every ceiling.
	need, demand := make([][]uint64, len(t.nodes)), make([]uint64, len(t.capacity))
	for at := range t.nodes {
		need[at], short[at] = make([]uint64, len(t.capacity)), -1
	}
	for at := len(t.nodes) - 1; at >= 0; at-- {
		for _, i := range below[at] {
			if unservable(t.capacity, claims[i].Demand) < 0 {
				floors[i] = claims[i].Min
				for k, q := range claims[i].Demand {
					demand[k] = uint64(q)
				}
				addNeed(need[at], uint64(floors[i]), demand)
			}
		}
		// What is above the ceiling is not asked of the queues above: it has been dropped.
		for k, q := range need[at] {
			if limit := t.nodes[at].ceiling[k]; q > uint64(limit) && (at == 0 || limit < NoLimit) {
				short[at] = k
				clear(need[at])
				break
			}
		}
		if up := t.nodes[at].parent; up >= 0 {
			addNeed(need[up], 1, need[at])
		}
	}
	// Parents come first: who is dropped with a queue is dropped in all below it.
	dropped := make([]bool, len(t.nodes))
	for at := range t.nodes {
		dropped[at] = short[at] >= 0 || at > 0 && dropped[t.nodes[at].parent]
		for _, i := range below[at] {
			if dropped[at] {
				floors[i] = 0
			}
		}
	}
	return floors, short
}

// addNeed adds n times demand, and stays at the largest uint64 where that is less: more than any ceiling.
func addNeed(need []uint64, n uint64, demand []uint64) {
	for k, q := range demand {
		high, amount := bits.Mul64(n, q)
		sum, carry := bits.Add64(need[k], amount, 0)
		if high > 0 || carry > 0 {
			sum = math.MaxUint64
		}
		need[k] = sum
	}
}

func (t *Tree) below(claims []Claim) [][]int {
	lists := make([][]int, len(t.nodes))
	for i := range claims {
		at := t.index[claims[i].Queue]
		lists[at] = append(lists[at], i)
	}
	return lists
}
