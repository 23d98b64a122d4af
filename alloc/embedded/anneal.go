// This file implements the search for a good solution: annealing with ruin and recreate,
// [Schrimpf00], on containers and on the set of free applications at once.

package embedded

import (
	"context"
	"math"

	"github.com/apportion/apportion/alloc/solver"
)

const (
	// checkEvery is how many moves pass between two looks at the context, and at the temperature.
	checkEvery = 64
	// halvings is how often the temperature is halved.
	halvings = 10
	// heavier is the factor by which penalties grow while no solution is found.
	heavier = 4
	// tieAdjust is the utilization that one more freed application must bring, in tieLoss.
	tieAdjust = 0.01
)

// hot is the first temperature in mean values of a container.
const hot = 1.0

// incumbent is the best state met that is a solution.
type incumbent struct {
	found     bool
	on        [][]slot
	free      []bool
	objective float64
	loss      float64
	freed     int64
}

// annealer searches from one state.
type annealer struct {
	s    *state
	rng  rng
	best incumbent
	// reached is the most utilization of a solution since the last start.
	reached float64
	// The guide: prices of the root bound, by server.
	price     []float64
	lambda    float64
	score     []float64 // by application: how often prices on the way to these have freed it
	keepables []int32
	// The energy's weights.
	missingWeight, lossWeight, lossLimit float64
	moves                                int64
	// Scratch of recreate.
	cand    []candidate
	inverse []float64
	charge  float64
	noise   float64
	filled  int     // touched servers that were filled
	fresh   []int32 // applications that this move freed
	// exchanged: this move changes who is free, around these servers; at first it may be hope mean values
	// of a container behind, slack in all. Until the warm-up is over there is no hope.
	exchanged   bool
	around      []int32
	hope, slack float64
}

func newAnnealer(s *state, seed uint64) *annealer {
	a := &annealer{
		s: s, rng: rng(seed), price: make([]float64, len(s.left)), score: make([]float64, len(s.p.apps)),
		lossWeight: 1, lossLimit: s.p.inst.LossBudget + solver.LossTolerance/2,
		inverse: make([]float64, s.p.kinds), reached: math.Inf(-1),
	}
	for i := range s.p.apps {
		if s.p.apps[i].keepable {
			a.keepables = append(a.keepables, int32(i))
		}
	}
	a.missingWeight = 0.5
	for t := range s.p.types {
		a.missingWeight = math.Max(a.missingWeight, 2*s.p.types[t].value)
	}
	return a
}

// guide takes over the prices and scores of the root bound.
func (a *annealer) guide(d *dual, x []float64) {
	k := d.p.kinds
	for j, g := range d.classOf {
		copy(a.price[j*k:(j+1)*k], x[int(g)*k:(int(g)+1)*k])
	}
	a.lambda = d.lambda(x)
	a.lossWeight = math.Max(a.lossWeight, 3*a.lambda)
	for i, often := range d.often {
		a.score[i] = float64(often)
	}
}

// energy is what the search maximizes: utilization, less penalties for what makes the state no
// solution, less very little for loss and freed applications, so that they decide among equals.
func (a *annealer) energy() float64 {
	s := a.s
	e := s.objective - float64(s.p.tieLoss*s.loss) - float64(float64(tieAdjust*s.p.tieLoss)*float64(s.freed))
	e -= float64(a.missingWeight * float64(s.missing))
	if s.loss > a.lossLimit {
		e -= float64(a.lossWeight * (s.loss - a.lossLimit))
	}
	if over := s.freed - s.p.budget; over > 0 {
		e -= float64(over)
	}
	return e
}

// insist makes it dearer to be no solution.
func (a *annealer) insist() {
	a.missingWeight *= heavier
	a.lossWeight *= heavier
}

// construct completes the first state greedily.
func (a *annealer) construct() {
	a.s.begin()
	a.filled = 0
	for j := range a.s.p.servers {
		a.s.touch(j)
	}
	if len(a.s.active) > 0 {
		a.recreate()
	}
	a.record()
}

// restart goes back to the first state, but keeps the incumbent.
func (a *annealer) restart() {
	a.s = newState(a.s.p)
	a.reached = math.Inf(-1)
	a.construct()
}

// unit returns the unit of temperature: the mean value of a container.
func (a *annealer) unit() float64 {
	var sum float64
	for i := range a.s.p.apps {
		sum += a.s.p.types[a.s.p.apps[i].typ].value
	}
	return sum / float64(max(1, len(a.s.p.apps)))
}

// run makes moves at temperatures that start at heat and are halved halvings times on the way, and
// leaves the state wherever it ends; it ends early once the incumbent is worth goal. Acceptance is
// by a random threshold and cooling by halves, which need no exponential function and so are the
// same on every machine.
func (a *annealer) run(ctx context.Context, moves int64, heat, goal float64) {
	if len(a.s.active) == 0 && a.s.p.budget <= 0 {
		return
	}
	a.slack = 0
	if heat > 0 {
		a.slack = a.hope * a.unit()
	}
	current, threshold, look := a.energy(), heat, a.moves
	for m := range moves {
		if a.moves >= look { // a move that is mended counts as many
			if ctx.Err() != nil {
				return
			}
			look = a.moves + checkEvery
		}
		if m%checkEvery == 0 {
			if a.best.found && a.best.objective >= goal {
				return
			}
			cooled, part := math.Modf(halvings * float64(m) / float64(moves))
			threshold = math.Ldexp(heat, -int(cooled)) * (1 - part/2)
		}
		a.moves++
		if a.step(current - float64(threshold*a.square())) {
			if e := a.energy(); e != current {
				if e > current {
					a.record()
				}
				current = e
			}
		}
	}
}

// square returns the square of a random number in [0, 1): most thresholds are small.
func (a *annealer) square() float64 {
	u := a.rng.float()
	return u * u
}

// step makes one move and keeps it if the energy is at least least; otherwise it undoes it.
func (a *annealer) step(least float64) bool {
	a.s.begin()
	if a.ruin() {
		if len(a.s.active) > 0 {
			a.recreate()
		}
		if a.exchanged {
			a.mend(least)
		}
		if a.energy() >= least {
			return true
		}
	}
	a.s.undo()
	return false
}

// feasible reports whether the state is a solution.
func (a *annealer) feasible() bool {
	return a.s.missing == 0 && a.s.freed <= a.s.p.budget && a.s.loss <= a.lossLimit
}

// record keeps the state if it is a solution and preferred to the incumbent: more utilization, then
// less loss, then fewer freed applications.
func (a *annealer) record() {
	now := incumbent{objective: a.s.objective, loss: a.s.loss, freed: a.s.freed}
	if !a.feasible() {
		return
	}
	a.reached = math.Max(a.reached, now.objective)
	if a.best.found && !now.preferred(&a.best) {
		return
	}
	a.best.found = true
	a.best.objective, a.best.loss, a.best.freed = a.s.objective, a.s.loss, a.s.freed
	a.best.free = append(a.best.free[:0], a.s.free...)
	if a.best.on == nil {
		a.best.on = make([][]slot, len(a.s.on))
	}
	for j, slots := range a.s.on {
		a.best.on[j] = append(a.best.on[j][:0], slots...)
	}
}

// preferred reports whether inc is preferred to other.
func (inc *incumbent) preferred(other *incumbent) bool {
	if d := inc.objective - other.objective; math.Abs(d) > solver.ObjectiveTolerance {
		return d > 0
	}
	if d := inc.loss - other.loss; math.Abs(d) > solver.LossTolerance {
		return d < 0
	}
	return inc.freed < other.freed
}

// adopt makes inc the incumbent if it is preferred; equals do not displace what is there.
func (a *annealer) adopt(inc *incumbent) {
	if !a.best.found || inc.preferred(&a.best) {
		a.best = *inc
	}
}

// restore goes back to the incumbent. The containers go first, then those that it frees are freed,
// then those that it keeps are kept: in this order everything fits at any time.
func (a *annealer) restore() {
	s := a.s
	if !a.best.found {
		return
	}
	for j := range s.on {
		for len(s.on[j]) > 0 {
			sl := s.on[j][len(s.on[j])-1]
			s.put(j, sl.typ, -sl.count)
		}
	}
	for _, i := range a.keepables {
		if a.best.free[i] && !s.free[i] {
			s.unpin(i)
			a.putHeld(i, -1)
		}
	}
	for _, i := range a.keepables {
		if !a.best.free[i] && s.free[i] {
			a.putHeld(i, 1)
			s.pin(i)
		}
	}
	for j, slots := range a.best.on {
		for _, sl := range slots {
			s.put(j, sl.typ, sl.count)
		}
	}
	s.objective, s.loss = a.best.objective, a.best.loss
	s.begin()
}

// putHeld places (times 1) or removes (times -1) what application i holds.
func (a *annealer) putHeld(i int32, times int64) {
	for _, placed := range a.s.p.inst.Apps[i].Previous {
		a.s.put(placed.Server, a.s.p.apps[i].typ, times*placed.Count)
	}
}
