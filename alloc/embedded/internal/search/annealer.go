// This file holds the Annealer: its guide, its energy, and the best solution that it has met.

package search

import (
	"math"

	"github.com/apportion/apportion/alloc/embedded/internal/lagrange"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/embedded/internal/rng"
	"github.com/apportion/apportion/alloc/embedded/internal/tuning"
	"github.com/apportion/apportion/alloc/solver"
)

// tieFreed is the utilization that one more freed application must bring, in parts of what a unit of loss is
// worth: so little that it decides among equals only. Half and twice as much change no answer that matters.
const tieFreed = 0.01

// Annealer searches from one state.
// All memory that a move needs is allocated once: at tens of thousands of moves a second the rest would be
// spent on garbage. price is by server and kind, j*kinds+k, in utilization per unit; lambda in utilization
// per share; both are at least 0. missingWeight is in utilization per container, lossWeight in utilization
// per share.
type Annealer struct {
	tune *tuning.Numbers
	S    *State
	rng  rng.Source
	Best problem.Incumbent
	// Reached is the most utilization of a solution since the last start.
	Reached float64
	// The guide: prices of the root bound, by server.
	price     []float64
	surcharge []float64 // by type: what a container pays to the ceilings
	lambda    float64
	score     []float64 // by application: how often prices on the way to these have freed it
	pinnables []int32
	torn      []int32 // those of them that lose something by their servers where they are
	// The energy's weights.
	missingWeight, lossWeight, lossLimit float64
	ceilingWeight                        []float64 // a unit above a ceiling
	// Work counts moves, and the looks of their fills at what a server could take: what time goes with.
	Work int64
	// Hope is how many mean values of a container an exchange may be behind at first; until the warm-up is over
	// there is none.
	Hope float64
	// unlike is how many fitters more look at each server, since groups of them have been too many.
	unlike int
	// The move that is proposed, and a part of it that its repair tries: memory that is used again.
	move, part *move
	// Scratch of recreate.
	cand    []candidate
	inverse []float64
}

// candidate is a type considered for a server.
type candidate struct {
	typ int32
	// full says that the members may not have more, limited that more than the room on the server may keep containers from it.
	full, limited bool
	worth         float64 // of one container, before its size
	// noise is drawn for each candidate once a fill, from [1, 1 + taste.noise).
	noise float64 // a factor
	margin
}

// margin is what one more container of a type changes: the loss, the objective before loss, and whether it leads to a number that the
// members may have. It holds until containers of the type are placed or removed.
type margin struct {
	loss, value float64
	short       bool
}

// New returns an annealer that starts from s; seed selects its random numbers.
func New(s *State, seed uint64, tune *tuning.Numbers) *Annealer {
	a := &Annealer{
		tune: tune,
		S:    s, rng: rng.Source(seed), price: make([]float64, len(s.left)), surcharge: make([]float64, len(s.p.Types)), score: make([]float64, len(s.p.Apps)),
		// lossLimit lies half of the tolerance above the budget: the referee sums in another order, and must
		// come to the same verdict.
		lossWeight: s.p.Scale, lossLimit: s.p.Inst.LossBudget + solver.LossTolerance/2,
		inverse: make([]float64, s.p.Kinds), Reached: math.Inf(-1), move: newMove(s.p.Servers), part: newMove(s.p.Servers),
	}
	for i := range s.p.Apps {
		// Fixed ones are left out, so that no draw meets them.
		if s.p.Apps[i].Pinnable && !s.p.Apps[i].Fixed {
			a.pinnables = append(a.pinnables, int32(i))
			if s.p.Apps[i].HeldTorn > 0 {
				a.torn = append(a.torn, int32(i))
			}
		}
	}
	// A missing container costs 0.5 in the paper's P2, or twice what any container brings
	// where that is more: else a minimum could be traded for a dear container.
	a.missingWeight = 0.5 * s.p.Scale
	for t := range s.p.Types {
		a.missingWeight = max(a.missingWeight, 2*a.most(int32(t)))
	}
	// A unit above a ceiling costs twice what any container brings for it.
	a.ceilingWeight = make([]float64, len(s.p.Ceilings))
	for t := range s.p.Types {
		for _, use := range s.p.Types[t].Uses {
			a.ceilingWeight[use.Ceiling] = max(a.ceilingWeight[use.Ceiling], 2*a.most(int32(t))/float64(use.Units))
		}
	}
	return a
}

// Guide takes over the prices and scores of the root bound.
func (a *Annealer) Guide(d *lagrange.Dual, x []float64) {
	k := d.Problem.Kinds
	// Servers of one class have one price for each kind; each server gets a copy, so that a fill reads one
	// row.
	for j, g := range d.ClassOf {
		copy(a.price[j*k:(j+1)*k], x[int(g)*k:(int(g)+1)*k])
	}
	for t := range a.surcharge {
		a.surcharge[t] = d.Surcharge(x, int32(t))
	}
	a.lambda = d.Lambda(x)
	// P = max(1, 3 lambda): below lambda the search would gain by exceeding the budget (15),
	// as lambda is what a share of it brings.
	a.lossWeight = max(a.lossWeight, 3*a.lambda)
	for i, often := range d.Often {
		a.score[i] = float64(often)
	}
}

// energy is what the search maximizes: utilization, less penalties for what makes the state no
// solution, less very little for loss and freed applications, so that they decide among equals.
func (a *Annealer) energy() float64 {
	s := a.S
	// energy = worth - TieLoss (loss + 0.01 freed) - the penalties below, each 0 in a solution. The float64
	// conversions keep products from being fused with sums, which would differ between machines.
	e := s.worth() - float64(s.p.TieLoss*s.loss) - float64(float64(tieFreed*s.p.TieLoss)*float64(s.Freed))
	e -= float64(a.missingWeight * float64(s.missing))
	// The penalty grows with the excess: a state that is nearly within the budget (15) is nearly as good.
	if s.loss > a.lossLimit {
		e -= float64(a.lossWeight * (s.loss - a.lossLimit))
	}
	// Each unit of weight above (16) costs a whole kind: the state may pass there within a move, but hardly
	// stays.
	if over := s.Freed - s.p.Spend; over > 0 {
		e -= float64(s.p.Scale * float64(over))
	}
	if s.exceeded > 0 {
		for c, left := range s.below {
			e += float64(a.ceilingWeight[c] * float64(min(0, left)))
		}
	}
	return e
}

// Insist makes it dearer to be no solution: penalties that are too low leave the search among states with more
// utilization and a minimum missing, and ones that are high from the start wall off the ways between solutions.
func (a *Annealer) Insist() {
	a.missingWeight *= a.tune.Heavier
	a.lossWeight *= a.tune.Heavier
	for c := range a.ceilingWeight {
		a.ceilingWeight[c] *= a.tune.Heavier
	}
}

// most returns the most that a container of type t can bring: its value, and what it saves in loss.
func (a *Annealer) most(t int32) float64 {
	demanded := &a.S.p.Types[t]
	// One container changes the loss by at most delta, and each share of loss costs LossPrice.
	most := demanded.Value + float64(a.S.p.Inst.LossPrice*demanded.Delta)
	if demanded.Curve != nil {
		most += demanded.Curve.Steepest
	}
	return most
}

// Unit returns the unit of temperature: the mean of what containers bring, and may save in loss.
// Temperatures in this unit mean the same on a small cluster and on a large one, where a container is a far
// smaller part of the utilization.
func (a *Annealer) Unit() float64 {
	var sum float64
	for i := range a.S.p.Apps {
		t := a.S.p.Apps[i].Type
		sum += a.S.p.Typical(t) + float64(a.S.p.Inst.LossPrice*a.S.p.Types[t].Delta)
	}
	// Without applications the sum is 0, and so is the unit.
	return sum / float64(max(1, len(a.S.p.Apps)))
}

// Feasible reports whether the state is a solution, of the searches: capacities hold in every state. The referee's
// tolerance on loss is used by half, as its sum goes in another order.
func (a *Annealer) Feasible() bool {
	return a.S.missing == 0 && a.S.exceeded == 0 && a.S.Freed <= a.S.p.Spend && a.S.loss <= a.lossLimit
}

// record keeps the state if it is a solution and preferred to the incumbent: more utilization, then
// less loss, then fewer freed applications.
func (a *Annealer) record() {
	if !a.Feasible() {
		return
	}
	a.Reached = max(a.Reached, a.S.worth())
	if !a.Best.Accept(a.S.worth(), a.S.loss, a.S.Freed) {
		return
	}
	// The slices are copied: the state goes on changing. Their memory is that of the last incumbent, so that
	// nothing is allocated once they are long enough.
	a.Best.Free = append(a.Best.Free[:0], a.S.free...)
	if a.Best.On == nil {
		a.Best.On = make([][]problem.Slot, len(a.S.on))
	}
	for j, slots := range a.S.on {
		a.Best.On[j] = append(a.Best.On[j][:0], slots...)
	}
}

// Adopt makes inc the incumbent if it is preferred; equals do not displace what is there.
func (a *Annealer) Adopt(inc *problem.Incumbent) {
	if a.Best.Accept(inc.Objective, inc.Loss, inc.Freed) {
		// On and Free are shared with inc, which must not be changed afterwards.
		a.Best.On, a.Best.Free = inc.On, inc.Free
	}
}
