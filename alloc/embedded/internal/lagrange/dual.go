// This file holds what the bound at prices by class of servers and kind is made of, [Geoffrion74].

package lagrange

import (
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/solver"
)

// Dual evaluates, for prices p_gk of kind k on the servers of class g and lambda on loss, all of them
// at least 0,
//
//	bound = sum_j p_j c_j + lambda L + sum_c nu_c L_c + sum_new free_i + sum_running keep_i
//	        + the budget largest positive scores free_i - keep_i
//
// as solver.DualBound states it, type by type. Servers of one class hold as much of each type and nothing that
// could stay, so they share a price. The multipliers are one vector: p_gk at g*kinds+k, then nu_c of the
// ceilings (G), which whoever uses one pays in any place, then those of pieces, see WithPieces, then lambda.
//
// Here free_i is the most that application i is worth at these prices when it may have any count in
// its bounds anywhere, and keep_i its worth when it stays exactly where it is:
//
//	free_i = max over n in [min, max] of sum of the n largest profits v - p_g d - lambda loss_i(n)
//	keep_i = sum over its containers of v - p_g d - lambda loss_i(held)
//
// The bound holds because it relaxes only what it prices: that containers fit the servers, and that
// losses sum to at most L. The adjustment budget is kept exactly, by sorting.
type Dual struct {
	Selection
	Problem *problem.Problem
	ClassOf []int32 // of a server
	Size    []int64 // servers in class g
	shape   []int32 // of class g
	Allowed float64 // L, with the tolerance of a solution
	// steps are those of buildSteps by type, valid for the prices evaluated last; heap is
	// scratch.
	steps [][]step
	heap  []step
	Free  []float64 // free_i
	count []int64   // the n that attains it
	Keep  []float64
	Have  []float64 // class g, kind k: the capacity of its servers together; then the limits of the ceilings
	// cap[t*classes+g] is the most containers of type t that the servers of class g can hold: an
	// application is kept unless the budget allows to free it. open[t] lists the classes that hold any.
	cap      []int64
	open     [][]int32
	residual []int64 // under the choices of a node
	// turns counts calls of Decide, changed[j] is that in which residual of server j has changed last, and filled[t] that in which
	// cap of type t was brought up to date.
	turns           int64
	changed, filled []int64
	single          []int32   // the servers that are classes of their own
	stale           []bool    // scratch of Decide: the servers with other choices
	demand          []float64 // as Problem.DemandOf
	// wanted are bounds on what a member of a type that may move can have.
	wanted []wanted
	// What the applications use and are worth that the choices keep is the same at all prices: left is
	// have without them. moving are the others, and active their types.
	left                []float64
	keptValue, keptLoss float64
	moving, active      []int32
	// choices are the applications with options, see WithOptions: inChoice tells their entries, and others lists beside
	// the head of each the rest of it.
	choices  []solver.Choice
	inChoice []bool
	others   [][]int32
	pieces   *pieces // nil: none has a price
	// slope is the subgradient that evaluate leaves behind: of each price, what there is less what the
	// chosen containers use; of lambda, the budget less the loss of the chosen counts.
	slope []float64
	// evaluated is where Evaluate was last, without components where choices have changed since, and bound what it has returned.
	evaluated []float64
	bound     float64
}

// wanted is the most that a member of a type may have, and the largest minimum of one.
type wanted struct{ most, least int64 }

// NewDual classes the servers by what they hold: all of them if coarse, else those without residents, while
// each server with residents is a class of its own. Both give valid bounds; coarse ones are cheap.
// A server with residents needs a price of its own since what stays differs from one
// such server to the next; averaging them loses sharpness and gains speed. Memory is 8
// bytes times classes times (types + 3 kinds).
func NewDual(p *problem.Problem, coarse bool) *Dual {
	d := &Dual{
		Selection: newSelection(p), Problem: p, Allowed: p.Inst.LossBudget + solver.LossTolerance, steps: make([][]step, len(p.Types)),
		Free: make([]float64, len(p.Apps)), count: make([]int64, len(p.Apps)),
		Keep: make([]float64, len(p.Apps)), ClassOf: make([]int32, p.Servers),
	}
	merged := make(map[int32]int32) // shape -> class of its servers that need none of their own
	for j := range p.Servers {
		// A lone server must not enter merged, else later servers of its shape would join it.
		h, alone := p.ShapeOf[j], !coarse && len(p.Residents[j]) > 0
		// A server with residents starts a class of its own even where its shape has one.
		g, known := merged[h]
		if !known || alone {
			g = int32(len(d.Size))
			d.Size, d.shape = append(d.Size, 0), append(d.shape, h)
			if !alone {
				merged[h] = g
			}
		}
		d.ClassOf[j] = g
		d.Size[g]++
	}
	d.cap, d.open, d.wanted = make([]int64, len(d.Size)*len(p.Types)), make([][]int32, len(p.Types)), make([]wanted, len(p.Types))
	for t := range p.Types {
		for _, q := range p.DemandOf(int32(t)) {
			d.demand = append(d.demand, float64(q))
		}
	}
	d.Have = make([]float64, d.ceilingsAt(), d.ceilingsAt()+len(p.Ceilings))
	// Capacities may sum to float64, as they are only multiplied with prices.
	for j, g := range d.ClassOf {
		for k := range p.Kinds {
			d.Have[int(g)*p.Kinds+k] += float64(p.Capacity[j*p.Kinds+k])
		}
	}
	for _, limit := range p.Limits() {
		d.Have = append(d.Have, float64(limit))
	}
	// One slope more than there are limits: that of lambda. Nobody is decided about yet.
	d.slope, d.left = make([]float64, len(d.Have)+1), slices.Clone(d.Have)
	d.residual, d.changed, d.filled = slices.Clone(p.Residual), slices.Repeat([]int64{1}, p.Servers), make([]int64, len(p.Types))
	for j, g := range d.ClassOf {
		if d.Size[g] == 1 {
			d.single = append(d.single, int32(j))
		}
	}
	for g, size := range d.Size {
		for t := range p.Types {
			// A class of equal servers holds size times what one of them holds, each type taken
			// alone: an upper bound that ignores the other types, which their prices stand for.
			d.capOf(int32(t))[g] = problem.MulSaturated(size, p.Fits[int(d.shape[g])*len(p.Types)+t])
		}
	}
	d.turns = 1
	d.divide()
	d.limit()
	return d
}

// Decide takes over the choices of a node.
// After it Evaluate bounds only the solutions that agree with the choices: kept
// applications hold what they held, freed ones are charged to the budget already.
// One entry of choices for each application, Open where nothing is decided.
func (d *Dual) Decide(choices []problem.Choice) {
	p, budget := d.Problem, d.Budget
	if d.stale == nil {
		d.stale = make([]bool, p.Servers)
	}
	// A choice matters where its application is, and the budget everywhere.
	for i, c := range choices {
		if c != d.choice[i] {
			for _, placed := range p.Inst.Apps[i].Previous {
				d.stale[placed.Server] = true
			}
		}
	}
	d.Selection.decide(p, choices)
	d.turns++
	var left, scratch []int64
	for j, stale := range d.stale {
		if d.stale[j] = false; stale || d.Budget != budget {
			now := d.residual[j*p.Kinds : (j+1)*p.Kinds]
			left = append(left[:0], now...)
			if scratch = p.ResidualOn(now, j, choices, d.Budget, scratch); !slices.Equal(left, now) {
				d.changed[j] = d.turns
			}
		}
	}
	d.divide()
	d.limit()
}

// divide tells those that the choices keep from the others.
// What the kept ones use does not depend on the prices, so it leaves the loop over
// applications once a node instead of once an evaluation.
// It comes before limit, which fills cap for the types that it finds active.
func (d *Dual) divide() {
	p := d.Problem
	// left_gk = have_gk less what the kept use, in units of kind k.
	copy(d.left, d.Have)
	d.keptValue, d.keptLoss = 0, 0
	d.moving, d.active = d.moving[:0], d.active[:0]
	for t := range p.Types {
		before, want := len(d.moving), wanted{}
		for _, i := range p.Types[t].Members {
			a := &p.Apps[i]
			if !a.Pinnable || d.choice[i] != problem.Kept {
				d.moving = append(d.moving, i)
				want.most, want.least = max(want.most, a.Max), max(want.least, a.Min)
				continue
			}
			d.keptValue += float64(p.Types[t].Value*float64(a.Held)) + a.HeldExtra
			d.keptLoss += a.HeldLoss
			for _, placed := range p.Inst.Apps[i].Previous {
				d.use(int32(t), int(d.ClassOf[placed.Server]), placed.Count, d.left)
			}
		}
		if len(d.moving) > before {
			// A type all of whose members are kept needs no steps.
			d.active = append(d.active, int32(t))
		}
		d.wanted[t] = want
	}
}

// use takes n containers of type t on class g from from, and from the ceilings above them. from is laid out as the multipliers.
// O(kinds + ceilings of the type).
// Kept and moving applications both come through here: what a container takes is stated once.
func (d *Dual) use(t int32, g int, n int64, from []float64) {
	demand := d.demandOf(t)
	left := from[g*len(demand):][:len(demand)]
	for k, q := range demand {
		left[k] -= float64(float64(n) * q)
	}
	for _, use := range d.Problem.Types[t].Uses {
		from[d.ceilingsAt()+int(use.Ceiling)] -= float64(float64(n) * float64(use.Units))
	}
}

// limit brings cap of the active types up to date: of a single server it is known which residents stay at least.
func (d *Dual) limit() {
	p := d.Problem
	for _, t := range d.active {
		most, filled := d.capOf(t), d.filled[t]
		for _, j := range d.single {
			if d.changed[j] > filled {
				fit := apportion.Resources(p.DemandOf(t)).CountIn(d.residual[int(j)*p.Kinds : (int(j)+1)*p.Kinds])
				most[d.ClassOf[j]] = min(fit, p.Fit(int(j), t))
			}
		}
		d.filled[t], d.open[t] = d.turns, d.open[t][:0]
		for g, n := range most {
			if n > 0 {
				d.open[t] = append(d.open[t], int32(g))
			}
		}
	}
	d.evaluated = d.evaluated[:0]
}

// capOf returns cap of type t, by class.
func (d *Dual) capOf(t int32) []int64 { return d.cap[int(t)*len(d.Size):][:len(d.Size)] }

// demandOf returns what a container of type t uses, by kind.
func (d *Dual) demandOf(t int32) []float64 {
	return d.demand[int(t)*d.Problem.Kinds:][:d.Problem.Kinds]
}

// Dim is the number of multipliers.
// Prices by class and kind, one for each ceiling, and lambda.
func (d *Dual) Dim() int { return len(d.slope) }

// ceilingsAt returns where the multipliers of ceilings begin.
func (d *Dual) ceilingsAt() int { return len(d.Size) * d.Problem.Kinds }

// CeilingPrices returns the multipliers of the ceilings in x.
// It is a part of x, not a copy.
func (d *Dual) CeilingPrices(x []float64) []float64 { return x[d.ceilingsAt():len(d.Have)] }

// Refine sets x to the prices from of a coarser dual: those of each server's class there.
// The coarser dual's prices are feasible for the finer one and give the same bound there or a lower
// one, so that its descent loses nothing by beginning with them.
func (d *Dual) Refine(x []float64, coarser *Dual, from []float64) {
	k := d.Problem.Kinds
	// Servers of one fine class lie in one coarse class, so that the copies agree.
	for j, g := range d.ClassOf {
		c := int(coarser.ClassOf[j]) * k
		copy(x[int(g)*k:], from[c:c+k])
	}
	// Ceilings and loss are the same for both.
	copy(d.CeilingPrices(x), coarser.CeilingPrices(from))
	x[len(x)-1] = coarser.Lambda(from)
}

// Lambda returns the price on loss in x, that of the budget (15).
func (d *Dual) Lambda(x []float64) float64 { return x[len(x)-1] }

// lossPrice returns what a unit of loss costs at x: in the budget, and in the objective.
// The budget's price is a multiplier that moves; that of the objective is part of the instance.
func (d *Dual) lossPrice(x []float64) float64 { return d.Lambda(x) + d.Problem.Inst.LossPrice }

// othersOf returns the options beside head, which is an application without options where there are none.
func (d *Dual) othersOf(head int32) []int32 {
	if d.others == nil {
		return nil
	}
	return d.others[head]
}
