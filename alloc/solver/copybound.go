// This file recomputes an upper bound of P2 from prices on containers and on the room that adjusted
// applications leave: the Lagrangean decomposition of [Guignard87], every server with a copy of its own
// of who is adjusted.

package solver

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"github.com/apportion/apportion"
)

// ErrTooLarge is returned by CopyBound for a server whose subsets of applications are too many to try.
var ErrTooLarge = errors.New("solver: too many applications that may stay on one server")

// mostResidents bounds the applications that may stay on one server: 2^16 sets of them are tried.
const mostResidents = 16

// CopyBound returns an upper bound on the utilization of every solution of inst, proved by m:
//
//	bound = lambda (LossBudget + LossTolerance) + sum_new phi_i + sum_running keep_i + sum_j a_j
//	        + the best scores that AdjustBudget pays for
//	phi_i = max over allowed n of p_i n + w_i(n) - (lambda + LossPrice) |delta_i n - share_i|
//	keep_i = v_i nprev_i + App.Kept - (lambda + LossPrice) |delta_i nprev_i - share_i|
//	score_i = phi_i - keep_i + sum_j mu_ij
//	a_j = max over sets S of those that may stay on j, as AdjustBudget pays for, of the best whole
//	      containers open to j, v_i - p_i each, in what the others leave, less sum_{i in S} mu_ij
//
// A running application that cannot stay must be adjusted and uses up the budget. Unlike DualBound it
// packs whole containers, server by server: closer where servers are small, and costly where they are
// large. The bound is -Inf where a server does not hold those that may not be adjusted.
//
// Cost: exponential in the applications on one server, at most 16, and in the containers it holds;
// equal servers are computed once. That a Choice uses one of its options is left out.
func CopyBound(inst *Instance, m *CopyPrices) (float64, error) {
	if err := m.check(inst); err != nil {
		return 0, err
	}
	inst, added := inst.Apart()
	b := newCopyBound(inst, m)
	// The budget is the widened one that Check grants: a solution may use the tolerance, and the
	// bound must hold for it.
	total := float64(m.Loss * (inst.LossBudget + LossTolerance))
	for i := range inst.Apps {
		if !inst.MayStay(i) {
			total += b.wanted(i)
			continue
		}
		app := &inst.Apps[i]
		n := Containers(app.Previous)
		keep := float64(app.Value*float64(n)) + app.Kept() - float64((m.Loss+inst.LossPrice)*app.Loss(n))
		switch {
		case app.Pinned:
			total += keep
			continue
		// It leaves and stays as it likes, so that no server counts on its room.
		case app.MayGrow():
			total += math.Max(keep, b.wanted(i))
			continue
		}
		total += keep
		score := b.wanted(i) - keep
		// An adjusted application gives up all of its room, so that every server's copy collects
		// its price.
		for _, mu := range m.Room[i] {
			score += mu
		}
		b.adjust.add(score, app.Cost)
	}
	// More applications must move than may: P2 has no solution, of which anything is a bound.
	if b.adjust.budget < 0 {
		return math.Inf(-1), nil
	}
	total += b.adjust.best()
	for j := range inst.Capacity {
		a, err := b.server(j)
		if err != nil {
			return 0, err
		}
		total += a
	}
	return total - added, nil
}

type copyBound struct {
	inst    *Instance
	m       *CopyPrices
	adjust  knapsack         // what those that may stay can gain
	stays   [][]resident     // by server
	rooms   map[string]int64 // demand and servers -> containers in the empty cluster
	key     []byte
	packing map[int]*packing // by class of servers
}

// resident is an application that may stay on a server, with its price there.
type resident struct {
	use  apportion.Resources
	mu   float64
	cost int64 // of its leaving; more than any budget where it is pinned
}

// newCopyBound gathers who may stay where, and what containers are worth packing. Those that must be adjusted come off the
// budget before anything is packed, since what is left of it says who is fixed.
func newCopyBound(inst *Instance, m *CopyPrices) *copyBound {
	b := &copyBound{
		inst:    inst,
		m:       m,
		adjust:  knapsack{budget: inst.AdjustBudget},
		stays:   make([][]resident, len(inst.Capacity)),
		rooms:   make(map[string]int64),
		packing: make(map[int]*packing),
	}
	// Whoever runs either counts as a resident or must leave; whoever may leave at no cost is neither, and no room is
	// counted on.
	for i := range inst.Apps {
		if inst.counts(i) {
			b.addResidents(i)
		} else if inst.Apps[i].Running {
			b.adjust.must(inst.Apps[i].leastCost())
		}
	}
	for j := range inst.Capacity {
		if class := inst.classOf(j); b.packing[class] == nil {
			b.packing[class] = b.packingOn(j)
		}
	}
	return b
}

// packingOn returns what may be packed on server j and those of its class.
func (b *copyBound) packingOn(j int) *packing {
	p := &packing{}
	for i := range b.inst.Apps {
		app := &b.inst.Apps[i]
		// What stays as it is, whatever happens, is not packed.
		fixed := b.inst.MayStay(i) && (app.Pinned || app.leastCost() > max(0, b.adjust.budget))
		if !fixed && b.inst.Open(i, j) {
			// A container is worth v_i to the objective less p_i, which phi_i has been paid for it.
			p.add(app.Demand, app.Value-b.m.Container[i])
		}
	}
	return p
}

// addResidents adds what application i holds to its servers. Whoever is pinned costs more than any budget, so that no set
// with it is paid for.
func (b *copyBound) addResidents(i int) {
	app := &b.inst.Apps[i]
	for s, p := range app.Previous {
		use := make(apportion.Resources, len(app.Demand))
		for k, d := range app.Demand {
			use[k] = p.Count * d // it fits the server, so that nothing overflows
		}
		cost := app.Cost
		if app.Pinned {
			cost = math.MaxInt64
		}
		b.stays[p.Server] = append(b.stays[p.Server], resident{use, b.m.Room[i][s], cost})
	}
}

// wanted returns phi_i. Without Worth the function is on a line between any two of the share, the points of Losses and the
// bounds, so that its maximum is next to one of these; worths are of any shape, and each is looked at. Either way the work
// follows what the instance lists, however many containers there may be: O((entries of Worth + Losses) x log Counts).
func (b *copyBound) wanted(i int) float64 {
	app := &b.inst.Apps[i]
	// No more than the empty cluster holds: a maximum may be far larger.
	most := min(b.room(i), app.Max)
	best := math.Inf(-1)
	try := func(n int64) {
		if n <= most {
			loss := float64((b.m.Loss + b.inst.LossPrice) * app.Loss(n))
			best = math.Max(best, float64(b.m.Container[i]*float64(n))+app.Extra(n)-loss)
		}
	}
	if app.Worth != nil {
		for n := range app.Numbers() {
			if n > most {
				break
			}
			try(n)
		}
		return best
	}
	for _, n := range [...]int64{0, app.Min, app.fairCount(), app.fairCount() + 1, most} {
		app.around(n, try)
	}
	for _, p := range app.Losses {
		app.around(p.N, try)
	}
	return best
}

// room returns how many containers of application i the empty cluster holds, server by server, or the largest number where
// that is less. What it depends on is the key under which it is remembered: demand, limit by server and classes.
func (b *copyBound) room(i int) int64 {
	app := &b.inst.Apps[i]
	b.key = binary.LittleEndian.AppendUint64(vectorKey(b.key[:0], app.Demand), uint64(app.PerServer))
	for _, class := range app.Classes {
		b.key = binary.LittleEndian.AppendUint64(b.key, uint64(class))
	}
	if app.Classes == nil {
		b.key = append(b.key, 0) // which differs from no class at all
	}
	if room, ok := b.rooms[string(b.key)]; ok {
		return room
	}
	var room int64
	for j, capacity := range b.inst.Capacity {
		room = addSaturated(room, b.inst.most(i, j, capacity))
	}
	b.rooms[string(b.key)] = room
	return room
}

// server returns a_j: the best over all sets of residents that leave, -Inf where none that is paid for leaves enough room for
// those that stay. O(2^residents) packings.
func (b *copyBound) server(j int) (float64, error) {
	stays := b.stays[j]
	if len(stays) > mostResidents {
		return 0, ErrTooLarge
	}
	best := math.Inf(-1)
	// set has a bit for each resident that leaves. The sets are independent of those of other
	// servers: that is the relaxation, and the prices mu punish servers that disagree about who
	// leaves.
	// The empty set, nobody leaves, is the first. It may be out of the question, where the server has shrunk.
	for set := range 1 << len(stays) {
		left, paid, cost := b.without(j, set)
		if cost <= b.adjust.budget && slices.Min(append(left, 0)) >= 0 {
			best = math.Max(best, b.packing[b.inst.classOf(j)].best(left)-paid)
		}
	}
	return best, nil
}

// without returns what the residents of server j leave if those in set are gone, what that is charged, and what
// it takes from the adjustment budget.
func (b *copyBound) without(j, set int) (left apportion.Resources, paid float64, cost int64) {
	// left may fall below nothing, where those that stay do not fit; the caller drops such a set.
	left = b.inst.Capacity[j].Clone()
	for s, r := range b.stays[j] {
		if set>>s&1 != 0 {
			paid += r.mu
			cost = addSaturated(cost, r.cost)
			continue
		}
		for k := range left {
			left[k] -= r.use[k]
		}
	}
	return left, paid, cost
}
