// This file recomputes an upper bound of P2 from prices on containers and on the room that adjusted
// applications leave: the Lagrangean decomposition of [Guignard87], every server with a copy of its own
// of who is adjusted.

package solver

import (
	"errors"
	"math"
	"math/bits"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/exact"
)

// ErrTooLarge is returned by CopyBound for a server whose subsets of applications are too many to try.
var ErrTooLarge = errors.New("solver: too many applications that may stay on one server")

// mostResidents bounds the applications that may stay on one server: 2^16 sets of them are tried.
const mostResidents = 16

// CopyBound returns an upper bound on the utilization of every solution of inst, proved by m:
//
//	bound = lambda (LossBudget + LossTolerance) + sum_new phi_i + sum_running keep_i + sum_j a_j
//	        + the AdjustBudget largest positive scores
//	phi_i = max over n in [min, max] of p_i n - lambda |delta_i n - share_i|
//	keep_i = v_i nprev_i - lambda |delta_i nprev_i - share_i|
//	score_i = phi_i - keep_i + sum_j mu_ij
//	a_j = max over sets S of those that may stay on j, at most AdjustBudget of them, of the best whole
//	      containers, v_i - p_i each, in what the others leave, less sum_{i in S} mu_ij
//
// A running application that cannot stay must be adjusted and uses up the budget. Unlike DualBound it
// packs whole containers, server by server: closer where servers are small, and costly where they are
// large. The bound is -Inf where a server does not hold those that may not be adjusted.
//
// Cost: exponential in the applications on one server, at most 16, and in the containers it holds;
// equal servers are computed once.
func CopyBound(inst *Instance, m *CopyPrices) (float64, error) {
	if err := m.check(inst); err != nil {
		return 0, err
	}
	b := newCopyBound(inst, m)
	// The budget is the widened one that Check grants: a solution may use the tolerance, and the
	// bound must hold for it.
	total := float64(m.Loss * (inst.LossBudget + LossTolerance))
	var scores []float64
	for i := range inst.Apps {
		if !inst.mayStay(i) {
			total += b.wanted(i)
			continue
		}
		app := &inst.Apps[i]
		n := Containers(app.Previous)
		keep := float64(app.Value*float64(n)) - float64(m.Loss*app.Loss(n))
		score := b.wanted(i) - keep
		// An adjusted application gives up all of its room, so that every server's copy collects
		// its price.
		for _, mu := range m.Room[i] {
			score += mu
		}
		total += keep
		scores = append(scores, score)
	}
	// More applications must move than may: P2 has no solution, of which anything is a bound.
	if b.budget < 0 {
		return math.Inf(-1), nil
	}
	slices.SortFunc(scores, func(x, y float64) int { return compareFloats(y, x) })
	for _, score := range scores[:min(b.budget, int64(len(scores)))] {
		total += math.Max(0, score)
	}
	for j := range inst.Capacity {
		a, err := b.server(j)
		if err != nil {
			return 0, err
		}
		total += a
	}
	return total, nil
}

// copyBound is one computation of CopyBound.
type copyBound struct {
	inst    *Instance
	m       *CopyPrices
	budget  int64            // how many of those that may stay may be adjusted
	stays   [][]resident     // by server
	rooms   map[string]int64 // demand -> containers in the empty cluster
	key     []byte
	packing packing
}

// resident is an application that may stay on a server, with its price there.
type resident struct {
	use apportion.Resources
	mu  float64
}

// newCopyBound gathers who may stay where, and what containers are worth packing.
func newCopyBound(inst *Instance, m *CopyPrices) *copyBound {
	b := &copyBound{
		inst:   inst,
		m:      m,
		budget: inst.AdjustBudget,
		stays:  make([][]resident, len(inst.Capacity)),
		rooms:  make(map[string]int64),
	}
	for i := range inst.Apps {
		if inst.mayStay(i) {
			b.addResidents(i)
		} else if inst.Apps[i].Running {
			b.budget-- // it must be adjusted
		}
	}
	for i := range inst.Apps {
		if b.budget > 0 || !inst.mayStay(i) { // else it stays as it is, and nothing is packed for it
			// A container is worth v_i to the objective less p_i, which phi_i has been paid for it.
			b.packing.add(inst.Apps[i].Demand, inst.Apps[i].Value-m.Container[i])
		}
	}
	return b
}

// addResidents adds what application i holds to its servers.
func (b *copyBound) addResidents(i int) {
	app := &b.inst.Apps[i]
	for s, p := range app.Previous {
		use := make(apportion.Resources, len(app.Demand))
		for k, d := range app.Demand {
			use[k] = p.Count * d // it fits the server, so that nothing overflows
		}
		b.stays[p.Server] = append(b.stays[p.Server], resident{use, b.m.Room[i][s]})
	}
}

// wanted returns phi_i: the function is concave, so its maximum is next to the share or at a bound.
func (b *copyBound) wanted(i int) float64 {
	app := &b.inst.Apps[i]
	// No more than the empty cluster holds: a maximum may be far larger.
	most := min(b.room(app.Demand), app.Max)
	best := math.Inf(-1)
	for _, n := range [...]int64{app.Min, app.fairCount(), app.fairCount() + 1, most} {
		if n = max(n, app.Min); n <= most {
			best = math.Max(best, float64(b.m.Container[i]*float64(n))-float64(b.m.Loss*app.Loss(n)))
		}
	}
	return best
}

// room returns how many containers of a demand the empty cluster holds, server by server.
func (b *copyBound) room(demand apportion.Resources) int64 {
	b.key = vectorKey(b.key[:0], demand)
	if room, ok := b.rooms[string(b.key)]; ok {
		return room
	}
	var room int64
	for _, capacity := range b.inst.Capacity {
		sum, ok := exact.Add(room, demand.CountIn(capacity))
		if !ok {
			room = math.MaxInt64
			break
		}
		room = sum
	}
	b.rooms[string(b.key)] = room
	return room
}

// server returns a_j: the best over all sets of residents that leave.
func (b *copyBound) server(j int) (float64, error) {
	stays := b.stays[j]
	if len(stays) > mostResidents {
		return 0, ErrTooLarge
	}
	best := math.Inf(-1)
	// set has a bit for each resident that leaves. The sets are independent of those of other
	// servers: that is the relaxation, and the prices mu punish servers that disagree about who
	// leaves.
	for set := range 1 << len(stays) {
		left, paid := b.without(j, set)
		if int64(bits.OnesCount(uint(set))) <= b.budget && slices.Min(append(left, 0)) >= 0 {
			best = math.Max(best, b.packing.best(left)-paid)
		}
	}
	return best, nil
}

// without returns what the residents of server j leave if those in set are gone, and what that costs.
func (b *copyBound) without(j, set int) (left apportion.Resources, paid float64) {
	left = b.inst.Capacity[j].Clone()
	for s, r := range b.stays[j] {
		if set>>s&1 != 0 {
			paid += r.mu
			continue
		}
		for k := range left {
			left[k] -= r.use[k]
		}
	}
	return left, paid
}
