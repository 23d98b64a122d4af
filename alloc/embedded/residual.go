// This file bounds the residual problem, P2 with the set of free applications fixed: Dantzig-Wolfe
// decomposition into patterns of servers and counts of types, [Dantzig60].

package embedded

import (
	"math"

	"github.com/apportion/apportion/alloc/solver"
)

const (
	// mostPricings bounds the pricing rounds of one residual program.
	mostPricings = 60
	// shortageCost is the cost of a missing container or a unit of loss too much, in kinds: far above
	// what either can be worth.
	shortageCost = 100
	// closeEnough is the relative distance between bound and value of the program that ends it.
	closeEnough = 1e-9
)

// residual is P2 with the free applications fixed. Kept ones hold what they held; servers with the
// same patterns for what is left are one class; free applications of one type are a pool:
//
//	maximize   fixed + sum_t v_t N_t
//	subject to N_t <= sum_gc c_t y_gc         every type t, price pi_t >= 0
//	           sum_t G_t(N_t) <= L'           price lambda >= 0
//	           sum_c y_gc <= size_g           every class g
//	           m_t <= N_t <= M_t
//
// Its linear relaxation over the convex hulls has the columns (g, c) and (t, N). At any prices
//
//	bound = fixed + lambda L' + sum_g size_g max_c pi c + sum_t max_N (v_t - pi_t) N - lambda G_t(N)
type residual struct {
	s        *split
	types    []int32 // with free applications
	lo, hi   []int64 // by type: m_t and M_t, or a narrower box
	pools    []pool  // by type
	class    []int32 // of the cells that have servers
	size     []float64
	fixed    float64 // value of the kept
	keptLoss float64
	budget   float64 // L', with the tolerance of a solution
	// The best bound and its prices.
	bound  float64
	pi     []float64 // by type
	lambda float64
	lp     master
	// patternOf[c] is what column c stands for: class index and pattern, or type and count.
	columns []columnOf
	column  []entry // scratch: the last one added
	worth   []float64
	free    []bool
	slot    []int32 // class of patterns -> index in class, or -1
}

// columnOf says what a column of the program is.
type columnOf struct {
	class   int32 // index in residual.class, -1 for a count
	pattern int32
	typ     int32
	count   int64
}

func newResidual(s *split) *residual {
	r := &residual{s: s, pools: make([]pool, len(s.p.types)), pi: make([]float64, len(s.p.types)),
		worth: make([]float64, len(s.p.types)), lo: make([]int64, len(s.p.types)), hi: make([]int64, len(s.p.types)), free: make([]bool, len(s.p.apps)), slot: make([]int32, len(s.ps.classes))}
	return r
}

// fix sets the free applications; those that cannot be kept are always free. It reports false where
// a server does not hold the kept ones.
func (r *residual) fix(free func(i int32) bool) bool {
	p := r.s.p
	r.fixed, r.keptLoss = 0, 0
	r.types = r.types[:0]
	for t := range p.types {
		q := &r.pools[t]
		q.members = q.members[:0]
		for _, i := range p.types[t].members {
			a := &p.apps[i]
			r.free[i] = !a.keepable || free(i)
			if r.free[i] {
				q.members = append(q.members, i)
			} else {
				r.fixed += float64(p.types[t].value * float64(a.held))
				r.keptLoss += a.heldLoss
			}
		}
		if len(q.members) > 0 {
			q.rebuild(p)
			r.types = append(r.types, int32(t))
			r.lo[t], r.hi[t] = q.min, q.max
		}
	}
	r.budget = p.inst.LossBudget + solver.LossTolerance - r.keptLoss
	return r.classify()
}

// classify counts the servers of every class.
func (r *residual) classify() bool {
	s := r.s
	r.class, r.size = r.class[:0], r.size[:0]
	for g := range r.slot {
		r.slot[g] = -1
	}
	for at := range s.cells {
		g := s.classUnder(&s.cells[at], r.free)
		if g == noClass {
			return false
		}
		if r.slot[g] < 0 {
			r.slot[g] = int32(len(r.class))
			r.class, r.size = append(r.class, g), append(r.size, 0)
		}
		r.size[r.slot[g]] += s.cells[at].size
	}
	return true
}

// open starts the program with every count at its minimum. Rows are, in this order, the supply of each
// type, the loss, the servers of each class, and the one count of each type; counts and losses are
// measured from the minimum, so that the minimum's own column is the last row's slack.
func (r *residual) open() {
	types, classes := len(r.types), len(r.class)
	rows := 2*types + 1 + classes
	sign, cost, right := make([]float64, rows), make([]float64, rows), make([]float64, rows)
	big := float64(shortageCost * r.s.p.kinds)
	right[types] = r.budget
	for at, t := range r.types {
		q, typ := &r.pools[t], &r.s.p.types[t]
		right[at] = -float64(r.lo[t])
		right[types] -= q.at(typ.delta, r.lo[t])
		right[types+1+classes+at], cost[types+1+classes+at] = 1, float64(typ.value*float64(r.lo[t]))
	}
	copy(right[types+1:], r.size)
	for row := range sign {
		sign[row] = 1
		if right[row] < 0 {
			sign[row], cost[row] = -1, -big
		}
	}
	r.lp.reset(sign, cost, right)
	r.columns = r.columns[:0]
	for range rows {
		r.columns = append(r.columns, columnOf{class: -1, typ: -1})
	}
	for row := range types + 1 {
		if sign[row] < 0 { // supply and loss budget may be left unused
			r.addColumn(columnOf{class: -1, typ: -1}, 0, entry{row, 1})
		}
	}
}

func (r *residual) addColumn(what columnOf, cost float64, column ...entry) {
	r.columns = append(r.columns, what)
	r.lp.add(cost, column...)
}

// solve improves the bound until it is proven to be that of the program, or at most cut, or mostPivots or
// mostPricings are used up. It adds at most one column a round for each class and each type.
func (r *residual) solve(cut float64) {
	r.bound = math.Inf(1)
	r.open()
	for range mostPricings {
		optimal := r.lp.optimize()
		added := r.price()
		if !optimal || !added || r.bound <= cut || r.bound-r.fixed-r.lp.objective() <= closeEnough {
			return
		}
	}
}

// price evaluates the bound at the program's prices and adds the columns that improve it.
func (r *residual) price() bool {
	p, types, classes := r.s.p, len(r.types), len(r.class)
	dual := r.lp.dual
	lambda := math.Max(0, dual[types])
	clear(r.worth)
	for at, t := range r.types {
		r.worth[t] = math.Max(0, dual[at])
	}
	added := false
	bound := r.fixed + float64(lambda*r.budget)
	for g, class := range r.class {
		q, best := r.s.ps.best(class, r.worth)
		bound += float64(r.size[g] * best)
		if best-dual[types+1+g] > reducedCost {
			added = true
			r.column = r.column[:0]
			counts := r.s.ps.pattern(class, q)
			for at, t := range r.types {
				if counts[t] > 0 {
					r.column = append(r.column, entry{at, -float64(counts[t])})
				}
			}
			r.column = append(r.column, entry{types + 1 + g, 1})
			r.addColumn(columnOf{class: int32(g), pattern: int32(q), typ: -1}, 0, r.column...)
		}
	}
	for at, t := range r.types {
		q, typ := &r.pools[t], &p.types[t]
		n := r.wanted(t, typ.value-r.worth[t], lambda)
		loss := q.at(typ.delta, n)
		value := float64(typ.value * float64(n))
		bound += value - float64(r.worth[t]*float64(n)) - float64(lambda*loss)
		more, dearer := float64(n-r.lo[t]), loss-q.at(typ.delta, r.lo[t])
		if value-float64(dual[at]*more)-float64(dual[types]*dearer)-dual[types+1+classes+at] > reducedCost {
			added = true
			r.addColumn(columnOf{class: -1, typ: t, count: n}, value,
				entry{at, more}, entry{types, dearer}, entry{types + 1 + classes + at, 1})
		}
	}
	if bound < r.bound {
		r.bound, r.lambda = bound, lambda
		copy(r.pi, r.worth)
	}
	return added
}

// wanted returns the N in the box of type t with the largest price N - lambda G(N), which is concave.
func (r *residual) wanted(t int32, price, lambda float64) int64 {
	return min(max(r.pools[t].wanted(price, lambda, r.s.p.types[t].delta), r.lo[t]), r.hi[t])
}

// fractional returns the type whose count in the program's solution is farthest from whole, and that
// count; -1 where all are whole.
func (r *residual) fractional() (typ int32, count float64) {
	mean := make([]float64, len(r.pools))
	for row, c := range r.lp.basic {
		if what := r.columns[c]; what.typ >= 0 {
			mean[what.typ] += float64(r.lp.value[row] * float64(what.count-r.lo[what.typ]))
		}
	}
	typ = -1
	most := 1e-6
	for _, t := range r.types {
		if off := math.Abs(mean[t] - math.Round(mean[t])); off > most {
			typ, count, most = t, float64(r.lo[t])+mean[t], off
		}
	}
	return typ, count
}
