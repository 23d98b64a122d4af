// This file evaluates the Lagrangian root bound of P2 and its subgradient: capacities (6) and the
// fairness budget (15) priced, the adjustment budget (16) kept exactly, [Geoffrion74].

package embedded

import (
	"math"
	"slices"

	"github.com/apportion/apportion/alloc/p2"
)

// prices are the multipliers. Servers of one class are equal and hold nothing that could stay, so
// they share a price.
type prices struct {
	server []float64 // class g, kind k at g*kinds+k
	loss   float64   // lambda
}

func (pr *prices) clone() *prices {
	return &prices{server: slices.Clone(pr.server), loss: pr.loss}
}

// step is a run of containers with equal profit: those that the servers of one class hold.
type step struct {
	profit float64
	class  int32
	end    int64   // containers up to the end of this step
	filled float64 // their profit together
}

// dual evaluates
//
//	bound = sum_j p_j c_j + lambda L + sum_new free_i + sum_running keep_i
//	        + the budget largest positive scores free_i - keep_i
//
// as p2.DualBound states it, type by type.
type dual struct {
	p       *problem
	classOf []int32 // of a server
	size    []int64 // servers in class g
	shape   []int32 // of class g
	budget  float64 // L
	steps   [][]step
	heap    []step
	free    []float64 // free_i
	count   []int64   // the n that attains it
	keep    []float64
	scores  []score
	// What evaluate leaves behind: the subgradient's parts.
	used []float64 // class g, kind k: what the chosen containers use
	loss float64   // of the chosen counts
}

// score is what freeing a keepable application is worth at the prices.
type score struct {
	gain float64
	app  int32
}

// newDual classes the servers by capacity: all of them if coarse, else those without lodgers, while
// each server with lodgers is a class of its own. Both give valid bounds; coarse ones are cheap.
func newDual(p *problem, coarse bool) *dual {
	d := &dual{
		p: p, budget: p.inst.LossBudget, steps: make([][]step, len(p.types)),
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
	d.used = make([]float64, len(d.size)*p.kinds)
	return d
}

// evaluate returns the bound at pr and leaves scores, used and loss. O(types x classes x kinds +
// applications x log steps) plus the steps that are worth taking.
func (d *dual) evaluate(pr *prices) float64 {
	p := d.p
	bound := float64(pr.loss * d.budget)
	for j := range p.servers {
		g := int(d.classOf[j])
		for k := range p.kinds {
			bound += float64(pr.server[g*p.kinds+k] * float64(p.capacity[j*p.kinds+k]))
		}
	}
	for t := range p.types {
		d.buildSteps(pr, int32(t))
		for _, i := range p.types[t].members {
			d.count[i], d.free[i] = d.best(pr, i)
		}
	}
	d.loss = 0
	clear(d.used)
	d.scores = d.scores[:0]
	for i := range p.apps {
		if !p.apps[i].keepable {
			bound += d.free[i]
			d.useFree(int32(i))
			continue
		}
		d.keep[i] = d.keepValue(pr, int32(i))
		bound += d.keep[i]
		d.scores = append(d.scores, score{d.free[i] - d.keep[i], int32(i)})
	}
	sortScores(d.scores)
	for s, sc := range d.scores {
		if int64(s) < p.budget && sc.gain > 0 {
			bound += sc.gain
			d.useFree(sc.app)
		} else {
			d.useKept(sc.app)
		}
	}
	return bound
}

// sortScores orders by gain, largest first, then by application.
func sortScores(scores []score) {
	slices.SortFunc(scores, func(a, b score) int {
		if a.gain != b.gain {
			return sign(b.gain - a.gain)
		}
		return int(a.app) - int(b.app)
	})
}

// profit returns v_t - p_g d_t.
func (d *dual) profit(pr *prices, t int32, g int) float64 {
	profit := d.p.types[t].value
	price := pr.server[g*d.p.kinds : (g+1)*d.p.kinds]
	for k, q := range d.p.demandOf(t) {
		profit -= float64(price[k] * float64(q))
	}
	return profit
}

// buildSteps lists the classes in the order of their profit for type t, as far as any member may
// want them: until its largest maximum is reached, or a container costs more than it can save.
func (d *dual) buildSteps(pr *prices, t int32) {
	var most, least int64
	for _, i := range d.p.types[t].members {
		most, least = max(most, d.p.apps[i].max), max(least, d.p.apps[i].min)
	}
	d.heap = d.heap[:0]
	for g := range d.size {
		if n := mulSaturated(d.size[g], d.p.fits[int(d.shape[g])*len(d.p.types)+int(t)]); n > 0 {
			d.heap = append(d.heap, step{profit: d.profit(pr, t, g), class: int32(g), end: n})
		}
	}
	for s := len(d.heap)/2 - 1; s >= 0; s-- {
		siftDown(d.heap, s)
	}
	floor := -float64(pr.loss * d.p.types[t].delta)
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
func (d *dual) best(pr *prices, i int32) (int64, float64) {
	a := &d.p.apps[i]
	if a.max < a.min {
		return 0, math.Inf(-1)
	}
	steps := d.steps[a.typ]
	slope := float64(pr.loss * d.p.types[a.typ].delta)
	n := worth(steps, -slope)
	if n > a.fair {
		at := stepOf(steps, a.fair+1)
		fraction := float64(pr.loss * (d.p.loss(i, a.fair+1) - d.p.loss(i, a.fair)))
		if at < len(steps) && steps[at].profit > fraction {
			n = max(a.fair+1, worth(steps, slope))
		} else {
			n = a.fair
		}
	}
	n = min(max(n, a.min), a.max)
	return n, fill(steps, n) - float64(pr.loss*d.p.loss(i, n))
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

func (d *dual) keepValue(pr *prices, i int32) float64 {
	a := &d.p.apps[i]
	keep := -float64(pr.loss * a.heldLoss)
	for _, placed := range d.p.inst.Apps[i].Previous {
		keep += float64(float64(placed.Count) * d.profit(pr, a.typ, int(d.classOf[placed.Server])))
	}
	return keep
}

// useFree adds what the best count of application i uses; useKept what it holds now.
func (d *dual) useFree(i int32) {
	a := &d.p.apps[i]
	n := d.count[i]
	d.loss += d.p.loss(i, n)
	var from int64
	for _, s := range d.steps[a.typ] {
		if from >= n {
			return
		}
		d.use(a.typ, int(s.class), min(s.end, n)-from)
		from = s.end
	}
}

func (d *dual) useKept(i int32) {
	a := &d.p.apps[i]
	d.loss += a.heldLoss
	for _, placed := range d.p.inst.Apps[i].Previous {
		d.use(a.typ, int(d.classOf[placed.Server]), placed.Count)
	}
}

func (d *dual) use(t int32, g int, n int64) {
	used := d.used[g*d.p.kinds : (g+1)*d.p.kinds]
	for k, q := range d.p.demandOf(t) {
		used[k] += float64(float64(n) * float64(q))
	}
}

// multipliers spells pr out for p2.DualBound, at which d must have been evaluated last. Adjust is the score that just misses the budget.
func (d *dual) multipliers(pr *prices) *p2.Multipliers {
	m := &p2.Multipliers{Loss: pr.loss, Server: make([][]float64, d.p.servers)}
	for j := range m.Server {
		g := int(d.classOf[j])
		m.Server[j] = slices.Clone(pr.server[g*d.p.kinds : (g+1)*d.p.kinds])
	}
	if next := max(0, d.p.budget); next < int64(len(d.scores)) {
		m.Adjust = math.Max(0, d.scores[next].gain)
	}
	return m
}
