// This file evaluates the Lagrangian root bound of P2 and its subgradient: capacities (6) and the
// fairness budget (15) priced, the adjustment budget (16) kept exactly, [Geoffrion74].

package embedded

import (
	"cmp"
	"math"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// step is a run of containers with equal profit: those that the servers of one class hold.
type step struct {
	profit float64
	class  int32
	end    int64   // containers up to the end of this step
	filled float64 // their profit together
}

// dual evaluates, for prices p_gk of kind k on the servers of class g and lambda on loss, all of them
// at least 0,
//
//	bound = sum_j p_j c_j + lambda L + sum_new free_i + sum_running keep_i
//	        + the budget largest positive scores free_i - keep_i
//
// as solver.DualBound states it, type by type. Servers of one class hold as much of each type and nothing that
// could stay, so they share a price. The multipliers are one vector: p_gk at g*kinds+k, then lambda.
type dual struct {
	selection
	p       *problem
	classOf []int32 // of a server
	size    []int64 // servers in class g
	shape   []int32 // of class g
	allowed float64 // L, with the tolerance of a solution
	steps   [][]step
	heap    []step
	free    []float64 // free_i
	count   []int64   // the n that attains it
	keep    []float64
	have    []float64 // class g, kind k: the capacity of its servers together
	// cap[g*types+t] is the most containers of type t that the servers of class g can hold: an
	// application is kept unless the budget allows to free it.
	cap    []int64
	beside []int64 // under the choices of a node
	// What the applications use and are worth that the choices keep is the same at all prices: left is
	// have without them. moving are the others, and active their types.
	left                []float64
	keptValue, keptLoss float64
	moving, active      []int32
	// slope is the subgradient that evaluate leaves behind: of each price, what there is less what the
	// chosen containers use; of lambda, the budget less the loss of the chosen counts.
	slope []float64
}

// score is what freeing a keepable application is worth at the prices.
type score struct {
	gain float64
	app  int32
}

// newDual classes the servers by what they hold: all of them if coarse, else those without lodgers, while
// each server with lodgers is a class of its own. Both give valid bounds; coarse ones are cheap.
func newDual(p *problem, coarse bool) *dual {
	d := &dual{
		selection: newSelection(p), p: p, allowed: p.inst.LossBudget + solver.LossTolerance, steps: make([][]step, len(p.types)),
		free: make([]float64, len(p.apps)), count: make([]int64, len(p.apps)),
		keep: make([]float64, len(p.apps)), classOf: make([]int32, p.servers),
	}
	merged := make(map[int32]int32) // shape -> class of its servers that need none of their own
	for j := range p.servers {
		h, alone := p.shapeOf[j], !coarse && len(p.lodgers[j]) > 0
		g, known := merged[h]
		if !known || alone {
			g = int32(len(d.size))
			d.size, d.shape = append(d.size, 0), append(d.shape, h)
			if !alone {
				merged[h] = g
			}
		}
		d.classOf[j] = g
		d.size[g]++
	}
	d.cap = make([]int64, len(d.size)*len(p.types))
	d.have, d.slope = make([]float64, len(d.size)*p.kinds), make([]float64, len(d.size)*p.kinds+1)
	for j, g := range d.classOf {
		for k := range p.kinds {
			d.have[int(g)*p.kinds+k] += float64(p.capacity[j*p.kinds+k])
		}
	}
	d.left = slices.Clone(d.have)
	d.divide()
	d.limit(p.beside)
	return d
}

// decide takes over the choices of a node.
func (d *dual) decide(choices []choice) {
	d.selection.decide(d.p, choices)
	if d.beside == nil {
		d.beside = make([]int64, len(d.p.capacity))
	}
	d.divide()
	d.p.measureBeside(d.beside, choices, d.budget)
	d.limit(d.beside)
}

// divide tells those that the choices keep from the others.
func (d *dual) divide() {
	p := d.p
	copy(d.left, d.have)
	d.keptValue, d.keptLoss = 0, 0
	d.moving, d.active = d.moving[:0], d.active[:0]
	for t := range p.types {
		before := len(d.moving)
		for _, i := range p.types[t].members {
			a := &p.apps[i]
			if !a.keepable || d.choice[i] != kept {
				d.moving = append(d.moving, i)
				continue
			}
			d.keptValue += float64(p.types[t].value * float64(a.held))
			d.keptLoss += a.heldLoss
			for _, placed := range p.inst.Apps[i].Previous {
				d.use(int32(t), int(d.classOf[placed.Server]), placed.Count, d.left)
			}
		}
		if len(d.moving) > before {
			d.active = append(d.active, int32(t))
		}
	}
}

// limit fills cap for the active types; a server of its own has beside for applications that do not stay.
func (d *dual) limit(beside []int64) {
	p := d.p
	types := len(p.types)
	for g, size := range d.size {
		for _, t := range d.active {
			d.cap[g*types+int(t)] = mulSaturated(size, p.fits[int(d.shape[g])*types+int(t)])
		}
	}
	for j, g := range d.classOf {
		if d.size[g] == 1 {
			for _, t := range d.active {
				d.cap[int(g)*types+int(t)] = apportion.Resources(p.demandOf(t)).CountIn(beside[j*p.kinds : (j+1)*p.kinds])
			}
		}
	}
}

// dim is the number of multipliers.
func (d *dual) dim() int { return len(d.slope) }

// lambda returns the price on loss in x.
func (d *dual) lambda(x []float64) float64 { return x[len(x)-1] }

func (d *dual) gradient() []float64 { return d.slope }

// evaluate returns the bound at x and leaves scores and slope. O(types x classes x kinds +
// applications x log steps) plus the steps that are worth taking, of those that are not kept.
func (d *dual) evaluate(x []float64) float64 {
	p, last := d.p, len(x)-1
	d.slope[last] = d.allowed - d.keptLoss
	bound := d.keptValue + float64(x[last]*d.slope[last])
	for gk, left := range d.left {
		bound += float64(x[gk] * left)
		d.slope[gk] = left
	}
	for _, t := range d.active {
		d.buildSteps(x, t)
	}
	d.clear()
	for _, i := range d.moving {
		d.count[i], d.free[i] = d.best(x, i)
		if !p.apps[i].keepable || d.choice[i] == freed {
			bound += d.free[i]
			d.useFree(i, d.slope)
			continue
		}
		d.keep[i] = d.keepValue(x, i)
		bound += d.keep[i]
		d.add(i, d.free[i]-d.keep[i])
	}
	d.choose()
	for at, sc := range d.all {
		if at < len(d.chosen) {
			bound += sc.gain
			d.useFree(sc.app, d.slope)
		} else {
			d.useKept(sc.app, d.slope)
		}
	}
	return bound
}

// sortScores orders by gain, largest first, then by application.
func sortScores(scores []score) {
	slices.SortFunc(scores, func(a, b score) int {
		if a.gain != b.gain {
			return cmp.Compare(b.gain, a.gain)
		}
		return int(a.app) - int(b.app)
	})
}

// profit returns v_t - p_g d_t.
func (d *dual) profit(x []float64, t int32, g int) float64 {
	profit := d.p.types[t].value
	price := x[g*d.p.kinds : (g+1)*d.p.kinds]
	for k, q := range d.p.demandOf(t) {
		profit -= float64(price[k] * float64(q))
	}
	return profit
}

// buildSteps lists the classes in the order of their profit for type t, as far as any member may
// want them: until its largest maximum is reached, or a container costs more than it can save.
func (d *dual) buildSteps(x []float64, t int32) {
	var most, least int64
	for _, i := range d.p.types[t].members {
		if a := &d.p.apps[i]; !a.keepable || d.choice[i] != kept {
			most, least = max(most, a.max), max(least, a.min)
		}
	}
	d.heap = d.heap[:0]
	for g := range d.size {
		if n := d.cap[g*len(d.p.types)+int(t)]; n > 0 {
			d.heap = append(d.heap, step{profit: d.profit(x, t, g), class: int32(g), end: n})
		}
	}
	for s := len(d.heap)/2 - 1; s >= 0; s-- {
		siftDown(d.heap, s)
	}
	floor := -float64(d.lambda(x) * d.p.types[t].delta)
	steps := d.steps[t][:0]
	var end int64
	var filled float64
	for heap := d.heap; len(heap) > 0 && end < most && (heap[0].profit > floor || end < least); {
		next := heap[0]
		n := min(next.end, most-end)
		end += n
		filled += float64(float64(n) * next.profit)
		steps = append(steps, step{next.profit, next.class, end, filled})
		last := len(heap) - 1
		heap[0] = heap[last]
		heap = heap[:last]
		siftDown(heap, 0)
	}
	d.steps[t] = steps
}

// siftDown restores the heap below s: the largest profit on top, ties to the lower class.
func siftDown(heap []step, s int) {
	for {
		child := 2*s + 1
		if child >= len(heap) {
			return
		}
		if child+1 < len(heap) && before(&heap[child+1], &heap[child]) {
			child++
		}
		if !before(&heap[child], &heap[s]) {
			return
		}
		heap[s], heap[child] = heap[child], heap[s]
		s = child
	}
}

func before(a, b *step) bool {
	return a.profit > b.profit || a.profit == b.profit && a.class < b.class
}

// best returns the n in [min, max] with the largest fill(n) - lambda loss(n), and that value. Both
// terms are concave: containers are taken while they bring more than the loss they cause.
func (d *dual) best(x []float64, i int32) (int64, float64) {
	a := &d.p.apps[i]
	steps := d.steps[a.typ]
	if held := fullest(steps); held < a.min {
		return 0, math.Inf(-1)
	}
	slope := float64(d.lambda(x) * d.p.types[a.typ].delta)
	n := worth(steps, -slope)
	if n > a.fair {
		at := stepOf(steps, a.fair+1)
		fraction := float64(d.lambda(x) * (d.p.loss(i, a.fair+1) - d.p.loss(i, a.fair)))
		if at < len(steps) && steps[at].profit > fraction {
			n = max(a.fair+1, worth(steps, slope))
		} else {
			n = a.fair
		}
	}
	n = min(max(n, a.min), a.max)
	return n, fill(steps, n) - float64(d.lambda(x)*d.p.loss(i, n))
}

// fullest returns how many containers the steps hold.
func fullest(steps []step) int64 {
	if len(steps) == 0 {
		return 0
	}
	return steps[len(steps)-1].end
}

// worth returns how many containers have a profit above least.
func worth(steps []step, least float64) int64 {
	at, _ := slices.BinarySearchFunc(steps, least, func(s step, least float64) int {
		if s.profit > least {
			return -1
		}
		return 1
	})
	if at == 0 {
		return 0
	}
	return steps[at-1].end
}

// stepOf returns the step that holds the n-th container, counted from 1.
func stepOf(steps []step, n int64) int {
	at, _ := slices.BinarySearchFunc(steps, n, func(s step, n int64) int {
		if s.end < n {
			return -1
		}
		return 1
	})
	return at
}

// fill returns the profit of the first n containers.
func fill(steps []step, n int64) float64 {
	if n == 0 {
		return 0
	}
	s := steps[stepOf(steps, n)]
	return s.filled - float64(float64(s.end-n)*s.profit)
}

func (d *dual) keepValue(x []float64, i int32) float64 {
	a := &d.p.apps[i]
	keep := -float64(d.lambda(x) * a.heldLoss)
	for _, placed := range d.p.inst.Apps[i].Previous {
		keep += float64(float64(placed.Count) * d.profit(x, a.typ, int(d.classOf[placed.Server])))
	}
	return keep
}

// useFree takes what the best count of application i uses and loses from from; useKept what it holds
// now.
func (d *dual) useFree(i int32, from []float64) {
	a := &d.p.apps[i]
	n := d.count[i]
	from[len(from)-1] -= d.p.loss(i, n)
	var start int64
	for _, s := range d.steps[a.typ] {
		if start >= n {
			return
		}
		d.use(a.typ, int(s.class), min(s.end, n)-start, from)
		start = s.end
	}
}

func (d *dual) useKept(i int32, from []float64) {
	a := &d.p.apps[i]
	from[len(from)-1] -= a.heldLoss
	for _, placed := range d.p.inst.Apps[i].Previous {
		d.use(a.typ, int(d.classOf[placed.Server]), placed.Count, from)
	}
}

func (d *dual) use(t int32, g int, n int64, from []float64) {
	left := from[g*d.p.kinds : (g+1)*d.p.kinds]
	for k, q := range d.p.demandOf(t) {
		left[k] -= float64(float64(n) * float64(q))
	}
}

// multipliers spells x out for solver.DualBound, at which d must have been evaluated last, without choices.
// Adjust is the score that just misses the budget.
func (d *dual) multipliers(x []float64) *solver.Multipliers {
	m := &solver.Multipliers{Loss: d.lambda(x), Adjust: d.next, Server: make([][]float64, d.p.servers)}
	for j := range m.Server {
		g := int(d.classOf[j])
		m.Server[j] = slices.Clone(x[g*d.p.kinds : (g+1)*d.p.kinds])
	}
	return m
}
