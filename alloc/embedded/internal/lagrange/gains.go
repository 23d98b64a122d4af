// This file evaluates at prices what an application brings, placed anew or kept, and what that takes, [Geoffrion74].

package lagrange

import (
	"math"
	"slices"

	"github.com/apportion/apportion/alloc/embedded/internal/problem"
)

// buildSteps lists the steps of type t, as far as any member that may move can want them.
// O(classes x (kinds + ceilings of the type) + steps x log classes). Once an evaluation for each type:
// all members share its steps.
func (d *Dual) buildSteps(x []float64, t int32) {
	// No member can take more than most; below least a member must take even what loses. Kept members take nothing anew.
	most, least := d.wanted[t].most, d.wanted[t].least
	// -lambda delta: the most that a container can save by taking an application towards its share.
	floor := -float64(d.lossPrice(x) * d.Problem.Types[t].Delta)
	if d.Problem.Types[t].Curve != nil || d.Problem.Types[t].StatesLosses() || d.choices != nil {
		floor = math.Inf(-1) // whose worth or loss may be anywhere, or one of which an option must have
	}
	// Most classes are not worth it, and their room is needed only where the others have less than a member must take.
	if d.heapOf(x, t, floor, false); !holds(d.heap, least) {
		d.heapOf(x, t, floor, true)
	}
	d.steps[t] = takeSteps(d.steps[t][:0], d.heap, least, most, floor)
}

// heapOf lists the classes that have room for type t, in no order: all of them, or those whose profit is above floor.
func (d *Dual) heapOf(x []float64, t int32, floor float64, all bool) {
	demand, most := d.demandOf(t), d.capOf(t)
	value, surcharge := d.Problem.Types[t].Value, d.Surcharge(x, t)
	// Classes that hold nothing of the type stay out: takeSteps would return empty steps, and the searches
	// rely on ends that rise.
	heap, n := slices.Grow(d.heap[:0], len(d.open[t]))[:len(d.open[t])], 0
	for _, g := range d.open[t] {
		if profit := profitAt(value, demand, x[int(g)*len(demand):]) - surcharge; all || !(profit <= floor) {
			heap[n] = step{profit: profit, class: g, end: most[g]}
			n++
		}
	}
	d.heap = heap[:n]
}

// holds reports whether the classes of heap have room for n containers together.
func holds(heap []step, n int64) bool {
	for _, s := range heap {
		if n -= min(n, s.end); n == 0 {
			return true
		}
	}
	return n <= 0
}

// profit returns v_t - p_g d_t, less what the ceilings charge.
// It may be negative: a minimum above zero or the price on loss can demand containers
// that lose utilization at these prices.
func (d *Dual) profit(x []float64, t int32, g int) float64 {
	// All containers of a type bring the same, and pay what their class of servers costs.
	return profitAt(d.Problem.Types[t].Value, d.demandOf(t), x[g*d.Problem.Kinds:]) - d.Surcharge(x, t)
}

// profitAt returns v_t - sum_k p_gk d_tk, in utilization per container.
func profitAt(value float64, demand, price []float64) float64 {
	price = price[:len(demand)]
	for k, q := range demand {
		value -= float64(price[k] * q)
	}
	return value
}

// Surcharge returns what a container of type t pays to the ceilings at x, wherever it is.
func (d *Dual) Surcharge(x []float64, t int32) float64 {
	var sum float64
	for _, use := range d.Problem.Types[t].Uses {
		sum += float64(x[d.ceilingsAt()+int(use.Ceiling)] * float64(use.Units))
	}
	return sum
}

// best returns the n in [min, max] with the largest fill(n) - lambda loss(n), and that value. Both
// terms are concave: containers are taken while they bring more than the loss they cause.
// -Inf says that the servers cannot hold its minimum: the node has no solution.
// O(log steps), unless the type has worths or losses of its own.
func (d *Dual) best(x []float64, i int32) (int64, float64) {
	// Steps end where no member can want more; what they hold is what the classes have room for.
	if d.splitsUp(i) {
		return d.bestSplit(x, i)
	}
	a := &d.Problem.Apps[i]
	steps := d.steps[a.Type]
	if held := fullest(steps); held < a.Min {
		return 0, math.Inf(-1)
	}
	if curve := d.Problem.Types[a.Type].Curve; curve != nil {
		return d.bestOf(x, i, curve)
	}
	if d.Problem.Types[a.Type].StatesLosses() {
		return d.bestStated(x, i)
	}
	// Up to fair a container saves lambda delta, so it pays while profit > -lambda delta.
	slope := float64(d.lossPrice(x) * d.Problem.Types[a.Type].Delta)
	n := worth(steps, -slope)
	if n > a.Fair {
		// The one container across the share changes the loss by a fraction of delta, and each later one
		// costs lambda delta; n = fair is right as soon as the first of these does not pay, as profits fall.
		at := stepOf(steps, a.Fair+1)
		fraction := float64(d.lossPrice(x) * (d.Problem.Loss(i, a.Fair+1) - d.Problem.Loss(i, a.Fair)))
		if at < len(steps) && steps[at].profit > fraction {
			n = max(a.Fair+1, worth(steps, slope))
		} else {
			n = a.Fair
		}
	}
	// Concavity lets the bounds cut the free maximizer off: no second search is needed.
	n = min(max(n, a.Min), a.Max)
	return n, fill(steps, n) - float64(d.lossPrice(x)*d.Problem.Loss(i, n))
}

// bestOf is best where the numbers of containers have worths of their own, w(n), of any shape: each is tried, for
// fill(n) + w(n) - lambda loss(n). O(entries of Worth x log steps).
func (d *Dual) bestOf(x []float64, i int32, curve *problem.Curve) (int64, float64) {
	steps := d.steps[d.Problem.Apps[i].Type]
	held, price := fullest(steps), d.lossPrice(x)
	at, best := int64(0), math.Inf(-1)
	for s, n := range curve.At {
		if n < d.Problem.Apps[i].Min {
			continue
		}
		// Numbers ascend: the rest does not fit either.
		if n > held {
			break
		}
		// fill(n) + w(n) - lambda loss(n). A strict comparison takes the least of equal numbers, which uses
		// least.
		if value := fill(steps, n) + curve.Extra[s] - float64(price*d.Problem.Loss(i, n)); value > best {
			at, best = n, value
		}
	}
	return at, best
}

// bestStated is best where the only member states its losses, of any shape, and no worths: fill(n) - lambda loss(n) is on a
// line between any two ends of steps and points of the losses, so that it is largest at an allowed number next to one of
// these, or at a bound. Of equal values the least number counts. O((steps + Losses) x log steps), however many containers there may be.
func (d *Dual) bestStated(x []float64, i int32) (int64, float64) {
	a, app := &d.Problem.Apps[i], &d.Problem.Inst.Apps[i]
	steps, price := d.steps[a.Type], d.lossPrice(x)
	held := min(fullest(steps), a.Max)
	at, best := int64(0), math.Inf(-1)
	// around tries the allowed numbers on either side of n; -1, where there is none, is below every minimum.
	around := func(n int64) {
		for _, n := range [...]int64{app.AtMost(n), app.AtLeast(n)} {
			if n < a.Min || n > held {
				continue
			}
			value := fill(steps, n) - float64(price*app.Loss(n))
			if value > best || value == best && n < at {
				at, best = n, value
			}
		}
	}
	around(a.Min)
	for _, s := range steps {
		around(min(s.end, held))
	}
	for _, point := range app.Losses {
		around(point.N)
	}
	return at, best
}

// keepValue returns keep_i = sum_g n_g (v - p_g d) + w(held) + Stay - lambda loss_i(held), at what application i holds. Nothing
// is chosen: it pays the prices of the servers where it is. O(placements x kinds).
func (d *Dual) keepValue(x []float64, i int32) float64 {
	a := &d.Problem.Apps[i]
	keep := a.HeldExtra - float64(d.lossPrice(x)*a.HeldLoss)
	for _, placed := range d.Problem.Inst.Apps[i].Previous {
		keep += float64(float64(placed.Count) * d.profit(x, a.Type, int(d.ClassOf[placed.Server])))
		if d.pieces != nil {
			keep -= d.piecePrice(x, a.Type, int(d.ClassOf[placed.Server]), placed.Count)
		}
	}
	return keep
}

// useFree takes what the best count of application i uses and loses from from, which is laid out as the multipliers: the
// subgradient is what is left after all. Options beside it have nothing, or are the one in use. O(steps up to its count x kinds).
func (d *Dual) useFree(i int32, from []float64) {
	for _, other := range d.othersOf(i) {
		d.useFree(other, from)
	}
	if d.splitsUp(i) {
		d.useSplit(i, from)
		return
	}
	a := &d.Problem.Apps[i]
	n := d.count[i]
	from[len(from)-1] -= d.Problem.Loss(i, n)
	var start int64
	for _, s := range d.steps[a.Type] {
		// start is the end of the step before: the first of its containers is number start + 1.
		if start >= n {
			return
		}
		// The first n containers fill the steps in order; the last step in part.
		d.use(a.Type, int(s.class), min(s.end, n)-start, from)
		start = s.end
	}
}

// useKept takes what application i holds now from from; its other options lose what having nothing loses.
// Its counterpart useFree has the other options without containers too, as counts of 0 that lose.
func (d *Dual) useKept(i int32, from []float64) {
	a := &d.Problem.Apps[i]
	from[len(from)-1] -= a.HeldLoss
	for _, other := range d.othersOf(i) {
		from[len(from)-1] -= d.Problem.Loss(other, 0)
	}
	for _, placed := range d.Problem.Inst.Apps[i].Previous {
		d.usePiece(a.Type, int(d.ClassOf[placed.Server]), placed.Count, from)
	}
}
