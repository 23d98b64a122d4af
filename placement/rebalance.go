// This file implements the rebalancing of converged containers, [Zheng] Algorithm 5.

package placement

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
	"github.com/apportion/apportion/internal/exact"
)

// Active is one container that runs.
type Active struct {
	// ID names the container; not empty, unique.
	ID string
	// Worker is the position of its worker in [RebalanceRequest.Free].
	Worker int
	// Demand is what it needs on any worker: all of its members together if it is a gang.
	Demand apportion.Resources
	// Migrated says that it converged and the manager decided on its host, at time Since: the
	// container's t_c. Since is not after the time of the request.
	Migrated bool
	Since    time.Duration
	// Rebalanced says that it was moved by an earlier rebalancing: it is not moved again.
	Rebalanced bool
}

// RebalanceRequest is the state of the cluster.
type RebalanceRequest struct {
	// Now is the current time, on the clock of Active.Since.
	Now time.Duration
	// Kinds names the kinds of Free and of the demands.
	Kinds apportion.Kinds
	// Free is what is left of each worker's capacity beside its containers; it may be negative
	// where a worker shrank.
	Free       []apportion.Resources
	Containers []Active
}

// RebalanceOptions are the choices; nil means all defaults.
type RebalanceOptions struct {
	// Literal follows the listing: one container at most to each idle worker, from whatever
	// worker, whether or not that one is left empty; nothing where no worker is idle, because line
	// 27 asks a worker outside the candidate set for what only those inside have.
	Literal bool
	// Ceiling rounds the balance factor up instead of down, so that fewer containers than workers
	// spread as well.
	Ceiling bool
	// IgnoreRoom moves containers to workers without room, as the thesis does.
	IgnoreRoom bool
}

// Transfer moves a container; the fields are positions in the request.
type Transfer struct {
	Container, From, To int
}

// RebalancePlan is the result.
type RebalancePlan struct {
	// Ready says whether every container is migrated; otherwise there is nothing to rebalance yet.
	Ready bool
	// Factor is bf, the number of containers on each worker of a uniform distribution.
	Factor int
	// Transfers are to be carried out in this order: each finds room left by those before it.
	Transfers []Transfer
}

// Rebalance plans the moves that make a cluster of converged containers even again after some have
// left. An idle worker takes containers until it has bf of them; where none is idle, a worker with
// fewer than bf - 1 takes containers until it has bf - 1. It takes the container with the shortest
// time since its mark, ties by id, that was not moved before, fits, and whose worker has at least
// two containers more than the taker, so no move makes the cluster less even. This is repeated
// until nothing moves: a request that carries the plan's moves and marks gets an empty plan.
//
// Workers are served in the order of [RebalanceRequest.Free], and transfers are in the order in which
// they were chosen, which is the order in which they have room. The order of the containers does not
// matter. The request is read only and not kept; the plan is the caller's.
//
// Every container moves at most once, so there are at most n transfers. For n containers on w
// workers it takes O(n log n), and O(n + w) for each transfer. All faults of the input are
// returned at once, as apportion.Faults.
func Rebalance(request RebalanceRequest, options *RebalanceOptions) (RebalancePlan, error) {
	var chosen RebalanceOptions
	if options != nil {
		chosen = *options
	}
	if err := request.check(); err != nil {
		return RebalancePlan{}, err
	}
	plan := RebalancePlan{Factor: len(request.Containers) / len(request.Free)}
	if chosen.Ceiling && len(request.Containers)%len(request.Free) > 0 {
		plan.Factor++
	}
	for _, c := range request.Containers {
		if !c.Migrated {
			return plan, nil
		}
	}
	plan.Ready = true
	b := newBalancer(request, chosen)
	if chosen.Literal {
		b.literal(plan.Factor)
	} else {
		for b.round(plan.Factor) {
		}
	}
	plan.Transfers = b.transfers
	return plan, nil
}

// balancer is the state of one rebalancing.
type balancer struct {
	request   RebalanceRequest
	options   RebalanceOptions
	free      []apportion.Resources // copies, as the moves change them
	sizes     []int                 // |w|
	worker    []int                 // of each container
	order     []int                 // D: containers that may move, by time since the mark
	transfers []Transfer
}

func newBalancer(request RebalanceRequest, options RebalanceOptions) *balancer {
	b := &balancer{request: request, options: options, sizes: make([]int, len(request.Free))}
	for _, free := range request.Free {
		b.free = append(b.free, free.Clone())
	}
	for i, c := range request.Containers {
		b.worker = append(b.worker, c.Worker)
		b.sizes[c.Worker]++
		if !c.Rebalanced || options.Literal { // line 16 sets the mark, no line reads it
			b.order = append(b.order, i)
		}
	}
	slices.SortFunc(b.order, func(x, y int) int {
		cx, cy := &request.Containers[x], &request.Containers[y]
		return cmp.Or(cmp.Compare(cy.Since, cx.Since), cmp.Compare(cx.ID, cy.ID))
	})
	return b
}

// literal is lines 10-18 as printed.
func (b *balancer) literal(factor int) {
	for w := range b.sizes {
		if b.sizes[w] == 0 && factor > 0 && !b.wasEmptied(w) {
			b.take(w, -1)
		}
	}
}

// wasEmptied reports whether a worker became idle only by these moves: T is fixed before the first.
func (b *balancer) wasEmptied(w int) bool {
	return slices.ContainsFunc(b.transfers, func(t Transfer) bool { return t.From == w })
}

// round goes through the workers once and reports whether anything moved.
func (b *balancer) round(factor int) bool {
	before := len(b.transfers)
	goal := factor
	takes := func(size int) bool { return size == 0 }
	if !slices.Contains(b.sizes, 0) {
		goal = factor - 1
		takes = func(size int) bool { return size < goal }
	}
	for w := range b.sizes {
		if !takes(b.sizes[w]) {
			continue
		}
		for b.sizes[w] < goal && b.take(w, b.sizes[w]+1) {
		}
	}
	return len(b.transfers) > before
}

// take moves the first container of the order that fits to worker w, from another worker with more
// than least containers, and reports whether there was one.
func (b *balancer) take(w, least int) bool {
	for at, c := range b.order {
		from := b.worker[c]
		demand := b.request.Containers[c].Demand
		if from == w || b.sizes[from] <= least || !b.options.IgnoreRoom && demand.CountIn(b.free[w]) < 1 {
			continue
		}
		b.order = slices.Delete(b.order, at, at+1)
		b.transfers = append(b.transfers, Transfer{Container: c, From: from, To: w})
		b.worker[c] = w
		b.sizes[from]--
		b.sizes[w]++
		for k, q := range demand {
			b.free[from][k] += q
			b.free[w][k] -= q
		}
		return true
	}
	return false
}

func (r *RebalanceRequest) check() error {
	var faults apportion.Faults
	if len(r.Free) == 0 {
		faults.Add(apportion.Item{}, "Free", apportion.ErrEmpty, "")
	}
	for w, free := range r.Free {
		before := len(faults)
		checkFree(&faults, r.Kinds, free)
		attribute(faults[before:], "worker", "", w)
	}
	seen := make(map[string]bool, len(r.Containers))
	for i, c := range r.Containers {
		before := len(faults)
		check.ID(&faults, seen, c.ID, apportion.Item{})
		check.Resources(&faults, r.Kinds, c.Demand, apportion.Item{}, "Demand")
		if c.Worker < 0 || c.Worker >= len(r.Free) {
			faults.Add(apportion.Item{}, "Worker", apportion.ErrRange, fmt.Sprintf("%d of %d workers", c.Worker, len(r.Free)))
		}
		if c.Migrated && c.Since > r.Now {
			faults.Add(apportion.Item{}, "Since", apportion.ErrRange, c.Since.String()+" is after "+r.Now.String())
		}
		attribute(faults[before:], "container", c.ID, i)
	}
	if len(faults) == 0 && !r.bounded() {
		faults.Add(apportion.Item{}, "Containers", apportion.ErrOverflow, "all demands beside the free quantities")
	}
	return faults.Err()
}

// bounded reports whether all demands together can be added to and taken from every free quantity,
// so that no sequence of moves overflows.
func (r *RebalanceRequest) bounded() bool {
	sum := make(apportion.Resources, len(r.Kinds))
	for _, c := range r.Containers {
		if exact.AddTo(sum, sum, c.Demand) != nil {
			return false
		}
	}
	scratch := make(apportion.Resources, len(r.Kinds))
	for _, free := range r.Free {
		if exact.AddTo(scratch, free, sum) != nil || exact.AddTimesTo(scratch, free, -1, sum) != nil {
			return false
		}
	}
	return true
}
