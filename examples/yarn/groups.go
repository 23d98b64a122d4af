//go:build unix

// This file makes the queues of the CapacityScheduler groups of the optimizer: what a queue is guaranteed and may have at
// most is shared among its elastic jobs as YARN would let them have it.

package yarn

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint/controller"
	"github.com/apportion/apportion/drf"
)

// lookAtQueues adds the queues, and says of each job in which it is.
// A FairScheduler or FifoScheduler answers without queues: then jobs have no queue, and all share alike.
func (y *yarn) lookAtQueues(ctx context.Context, view *controller.View, apps []application, all []holding) error {
	root, err := y.manager.queues(ctx)
	if err != nil {
		return err
	}
	// Jobs name a queue by its path or, where that is unique, by its last word, as YARN's own tools do.
	paths := leaves(&root)
	for i := range view.Jobs {
		a := &view.Jobs[i].Application
		a.Queue = paths[a.Queue]
	}
	if len(root.Queues.Queue) == 0 {
		return nil // another scheduler has no capacities
	}
	nodes, err := y.manager.nodes(ctx)
	if err != nil {
		return err
	}
	tenants, err := y.manager.tenants(ctx)
	if err != nil {
		return err
	}
	// others sums what applications of other people use, by the path of their queue.
	others := map[string]apportion.Resources{}
	add := func(queue string, amounts apportion.Resources) {
		path := paths[queue]
		if others[path] == nil {
			others[path] = make(apportion.Resources, len(y.kinds))
		}
		for k, amount := range amounts {
			others[path][k] += amount
		}
	}
	for i := range tenants {
		if !slices.ContainsFunc(apps, func(a application) bool { return a.ID == tenants[i].ID }) {
			// Elastic applications are left out here, as their containers are what is decided about.
			add(tenants[i].Queue, tenants[i].used(y.kinds))
		}
	}
	// The containers of a master's own needs count as somebody else's.
	for i := range all {
		for _, c := range all[i].containers {
			if c.Priority != runPriority {
				add(all[i].Queue, c.Allocated.vector(y.kinds))
			}
		}
	}
	view.Queues = groups(&root, partitions(nodes, y.kinds), others, len(y.kinds))
	return nil
}

// partitions are what the nodes that are up have, by the label of their partition.
// Nodes that are down count for nothing: capacities are percentages of what is there.
func partitions(nodes []node, kinds apportion.Kinds) map[string]apportion.Resources {
	total := map[string]apportion.Resources{}
	for i := range nodes {
		s := serverOf(&nodes[i], nil, kinds)
		if s.Down != "" {
			continue
		}
		label := s.Labels[partition]
		if total[label] == nil {
			total[label] = make(apportion.Resources, len(kinds))
		}
		for k, amount := range nodes[i].Total.vector(kinds) {
			total[label][k] += amount
		}
	}
	return total
}

// leaves are the paths of the queues that hold applications, by path, and by name where only one has it.
// A name that two queues have is left out, so that no job counts in the wrong one.
func leaves(root *queue) map[string]string {
	paths, twice := map[string]string{}, map[string]bool{}
	var walk func(q *queue)
	walk = func(q *queue) {
		// The root of a scheduler without queues has no children, and is no leaf all the same.
		if len(q.Queues.Queue) == 0 && q.Path != "" && q != root {
			name := q.Path[strings.LastIndex(q.Path, ".")+1:]
			twice[name] = twice[name] || paths[name] != ""
			paths[q.Path], paths[name] = q.Path, q.Path
		}
		for i := range q.Queues.Queue {
			walk(&q.Queues.Queue[i])
		}
	}
	walk(root)
	// A path has a dot in it and a name has none, so the two are never mixed up.
	for name, is := range twice {
		if is {
			delete(paths, name)
		}
	}
	return paths
}

// leastWeight is the weight of a queue that is guaranteed nothing, in percent.
// YARN allows a queue of capacity 0 that lives from what others leave; a weight of 0 would give it nothing
// even then.
const leastWeight = 0.01

// groups are the queues below one: capacities are weights, and less what others have there, guarantees; maximum capacities
// are ceilings.
func groups(parent *queue, total map[string]apportion.Resources, others map[string]apportion.Resources, kinds int) []drf.Queue {
	var list []drf.Queue
	for i := range parent.Queues.Queue {
		q := &parent.Queues.Queue[i]
		// Capacities are percentages of one parent, and so weights among its children.
		g := drf.Queue{ID: q.Path, Parent: parent.Path, Weight: max(leastWeight, q.Capacity)}
		if !strings.Contains(parent.Path, ".") {
			g.Parent = "" // root is the cluster
		}
		// What elastic jobs have there is not taken: it is what is decided about.
		taken := taken(q, others, kinds)
		g.Guarantee = left(q, total, taken, func(p *partitionCapacity) float64 { return p.Absolute })
		// A maximum of 100 % in every partition that has nodes is no ceiling, and the optimizer is spared
		// one.
		if slices.ContainsFunc(q.Capacities.ByPartition, func(p partitionCapacity) bool { return p.Most < 100 && total[p.Name] != nil }) {
			g.Ceiling = drf.Ceiling(left(q, total, taken, func(p *partitionCapacity) float64 { return p.Most }))
		}
		list = append(append(list, g), groups(q, total, others, kinds)...)
	}
	return list
}

// taken is what others have in a queue and those below it.
func taken(q *queue, others map[string]apportion.Resources, kinds int) apportion.Resources {
	v := make(apportion.Resources, kinds)
	copy(v, others[q.Path])
	for i := range q.Queues.Queue {
		for k, amount := range taken(&q.Queues.Queue[i], others, kinds) {
			v[k] += amount
		}
	}
	return v
}

// roundOff is what percentages of YARN's, which are floats of 32 bits, may be too small by, as a part.
// Without it a guarantee of 30 % of 10 containers would count as 2.
const roundOff = 1e-6

// left is the part of all partitions that a queue may have, less what is taken there.
// It is never below zero: YARN may have lent others more than the queue's part.
// part says which percentage counts, the guaranteed or the largest. Both are of a whole partition and not of the parent's part.
func left(q *queue, total map[string]apportion.Resources, taken apportion.Resources, part func(*partitionCapacity) float64) apportion.Resources {
	v := make(apportion.Resources, len(taken))
	for k := range v {
		for i := range q.Capacities.ByPartition {
			p := &q.Capacities.ByPartition[i]
			if has := total[p.Name]; has != nil {
				// Rounded down, so that the guarantees of siblings come to no more than there is.
				v[k] += int64(math.Floor(float64(has[k]) * part(p) / 100 * (1 + roundOff)))
			}
		}
		v[k] = max(0, v[k]-taken[k])
	}
	return v
}
