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
	"github.com/apportion/apportion/internal/exact"
)

// ErrTooLarge is returned by CopyBound for a server whose subsets of applications are too many to try.
var ErrTooLarge = errors.New("solver: too many applications that may stay on one server")

const (
	// mostLodgers bounds the applications that may stay on one server, mostSteps the steps of one
	// server's packing before a simpler bound takes its place.
	mostLodgers, mostSteps = 16, 200_000
)

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
		for _, mu := range m.Room[i] {
			score += mu
		}
		total += keep
		scores = append(scores, score)
	}
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
	inst   *Instance
	m      *CopyPrices
	budget int64
	stays  [][]lodger // by server
	items  []item
	known  map[string]float64 // residual capacity -> best packing
	rooms  map[string]int64   // demand -> containers in the empty cluster
	key    []byte
	steps  int
}

// lodger is an application that may stay on a server, with its price there.
type lodger struct {
	use apportion.Resources
	mu  float64
}

// item is a demand and the most that a container of it is worth.
type item struct {
	demand apportion.Resources
	worth  float64
}

func newCopyBound(inst *Instance, m *CopyPrices) *copyBound {
	b := &copyBound{inst: inst, m: m, budget: inst.AdjustBudget, stays: make([][]lodger, len(inst.Capacity)), known: make(map[string]float64), rooms: make(map[string]int64)}
	for i := range inst.Apps {
		app := &inst.Apps[i]
		if app.Running && !inst.mayStay(i) {
			b.budget--
		}
		if inst.mayStay(i) {
			for s, p := range app.Previous {
				use := make(apportion.Resources, len(app.Demand))
				for k, d := range app.Demand {
					use[k] = p.Count * d // it fits the server, so that nothing overflows
				}
				b.stays[p.Server] = append(b.stays[p.Server], lodger{use, m.Room[i][s]})
			}
		}
	}
	for i := range inst.Apps {
		app := &inst.Apps[i]
		worth := app.Value - m.Container[i]
		if worth <= 0 || inst.mayStay(i) && b.budget <= 0 {
			continue // worthless, or it stays as it is
		}
		at := slices.IndexFunc(b.items, func(o item) bool { return o.demand.Equal(app.Demand) })
		if at < 0 {
			b.items = append(b.items, item{app.Demand, worth})
		} else {
			b.items[at].worth = math.Max(b.items[at].worth, worth)
		}
	}
	return b
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

func vectorKey(key []byte, r apportion.Resources) []byte {
	for _, q := range r {
		key = binary.LittleEndian.AppendUint64(key, uint64(q))
	}
	return key
}

// server returns a_j.
func (b *copyBound) server(j int) (float64, error) {
	stays := b.stays[j]
	if len(stays) > mostLodgers {
		return 0, ErrTooLarge
	}
	best := math.Inf(-1)
	for set := range 1 << len(stays) {
		left := b.inst.Capacity[j].Clone()
		var paid float64
		var gone int64
		for s, l := range stays {
			if set>>s&1 != 0 {
				paid += l.mu
				gone++
				continue
			}
			for k := range left {
				left[k] -= l.use[k]
			}
		}
		if gone <= b.budget && slices.Min(append(left, 0)) >= 0 {
			best = math.Max(best, b.packed(left)-paid)
		}
	}
	return best, nil
}

// packed returns the most that whole containers in left are worth, or, where that takes too long, a
// bound on it.
func (b *copyBound) packed(left apportion.Resources) float64 {
	b.key = vectorKey(b.key[:0], left)
	if worth, ok := b.known[string(b.key)]; ok {
		return worth
	}
	b.steps = 0
	worth := b.fill(0, left)
	if b.steps > mostSteps {
		worth = b.fractional(left)
	}
	b.known[string(b.key)] = worth
	return worth
}

// fill tries every number of containers of item at and of those after it.
func (b *copyBound) fill(at int, left apportion.Resources) float64 {
	if b.steps++; at == len(b.items) || b.steps > mostSteps {
		return 0
	}
	it := b.items[at]
	n := it.demand.CountIn(left)
	if at == len(b.items)-1 {
		return float64(float64(n) * it.worth)
	}
	rest, best := left.Clone(), 0.0
	for c := int64(0); c <= n && b.steps <= mostSteps; c++ {
		best = math.Max(best, float64(float64(c)*it.worth)+b.fill(at+1, rest))
		for k, d := range it.demand {
			rest[k] -= d
		}
	}
	return best
}

// fractional bounds the worth of containers in left by each item and by each kind alone.
func (b *copyBound) fractional(left apportion.Resources) float64 {
	best := 0.0
	for _, it := range b.items {
		best += float64(float64(it.demand.CountIn(left)) * it.worth)
	}
	for k, q := range left {
		ratio := 0.0
		for _, it := range b.items {
			ratio = math.Max(ratio, it.worth/float64(it.demand[k])) // +Inf without demand: no bound
		}
		if q > 0 {
			best = math.Min(best, ratio*float64(q))
		}
	}
	return best
}
