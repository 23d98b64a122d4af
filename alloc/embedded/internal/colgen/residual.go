// This file bounds the residual problem, P2 with the set of free applications fixed: Dantzig-Wolfe
// decomposition into patterns of servers and counts of types, [Dantzig60].

package colgen

import (
	"math"
	"slices"

	"github.com/apportion/apportion/alloc/embedded/internal/pattern"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
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

// Residual is P2 with the free applications fixed. Kept ones hold what they held; servers with the
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
//
// where y_gc counts the servers of class g with pattern c, N_t the containers of all free applications of
// type t, and G_t is the least loss with which these can share N_t. Utilization depends on N_t only, which
// is why the residual problem has no single applications. The bound follows by weak duality, for any
// prices; the whole-numbered y and N make it a relaxation.
type Residual struct {
	S        *pattern.Cells
	Types    []int32        // with free applications
	Lo, Hi   []int64        // by type: m_t and M_t, or narrower bounds
	Pools    []problem.Pool // by type
	Class    []int32        // of the cells that have servers
	Size     []float64
	Fixed    float64 // value of the kept
	KeptLoss float64
	Budget   float64 // L', with the tolerance of a solution
	// The best bound and its prices.
	Bound  float64
	Pi     []float64 // by type
	Lambda float64
	Lp     master
	// patternOf[c] is what column c stands for: class index and pattern, or type and count.
	Columns []columnOf
	column  []entry // scratch: the last one added
	// sign, cost and right are scratch of open, by row.
	sign, cost, right []float64
	Worth             []float64
	Free              []bool
	slot              []int32 // class of patterns -> index in class, or -1
}

// columnOf says what a column of the program is.
// The basic variables that the program starts with, and unused supply, have neither:
// Class and typ -1.
type columnOf struct {
	Class   int32 // index in residual.class, -1 for a count
	Pattern int32
	typ     int32
	count   int64
}

// NewResidual returns the residual problem over the cells of s; Fix must choose a set before anything else.
func NewResidual(s *pattern.Cells) *Residual {
	r := &Residual{}
	r.Over(s)
	return r
}

// Over makes r, in the memory that it has, the residual problem over the cells of s, as NewResidual does.
func (r *Residual) Over(s *pattern.Cells) {
	types := len(s.Problem.Types)
	r.S, r.Pools, r.Lo, r.Hi = s, sized(r.Pools, types), sized(r.Lo, types), sized(r.Hi, types)
	r.Pi, r.Worth = sized(r.Pi, types), sized(r.Worth, types)
	r.Free, r.slot = sized(r.Free, len(s.Problem.Apps)), sized(r.slot, len(s.Lists.Classes))
}

// sized returns a slice of n elements of any value, in the memory of s if it is large enough.
func sized[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

// Fix sets the free applications; those that cannot be kept are always free. It reports false where
// a server does not hold the kept ones.
// O(applications + cells x residents). What the last set left in Bound, Pi and Lp is
// not touched: Solve comes next.
func (r *Residual) Fix(free func(i int32) bool) bool {
	p := r.S.Problem
	r.Fixed, r.KeptLoss = 0, 0
	r.Types = r.Types[:0]
	for t := range p.Types {
		q := &r.Pools[t]
		q.Members = q.Members[:0]
		for _, i := range p.Types[t].Members {
			a := &p.Apps[i]
			r.Free[i] = !a.Pinnable || free(i)
			if r.Free[i] {
				q.Members = append(q.Members, i)
			} else {
				r.Fixed += float64(p.Types[t].Value*float64(a.Held)) + a.HeldExtra
				r.KeptLoss += a.HeldLoss
			}
		}
		if len(q.Members) > 0 {
			q.Rebuild(p)
			r.Types = append(r.Types, int32(t))
			// The tree of counts narrows these later; Fix sets them back.
			r.Lo[t], r.Hi[t] = q.Min, q.Max
		}
	}
	// It is negative where the kept ones alone lose too much: no solution, which Solve
	// shows by a bound far below any value.
	r.Budget = p.Inst.LossBudget + solver.LossTolerance - r.KeptLoss
	return r.classify()
}

// classify counts the servers of every class.
// Cells of one class are one row of the program: its size depends on classes, not on
// servers.
func (r *Residual) classify() bool {
	s := r.S
	r.Class, r.Size = r.Class[:0], r.Size[:0]
	for g := range r.slot {
		r.slot[g] = -1
	}
	for at := range s.Cells {
		g := s.ClassUnder(&s.Cells[at], r.Free)
		if g == pattern.NoClass {
			return false
		}
		// Classes come in the order of their first cell, so that results do not depend on a
		// map.
		if r.slot[g] < 0 {
			r.slot[g] = int32(len(r.Class))
			r.Class, r.Size = append(r.Class, g), append(r.Size, 0)
		}
		r.Size[r.slot[g]] += s.Cells[at].Size
	}
	return true
}

// open starts the program with every count at its minimum. Rows are, in this order, the supply of each
// type, the loss, the servers of each class, and the one count of each type; counts and losses are
// measured from the minimum, so that the minimum's own column is the last row's slack.
// As sum_n w_tn = 1 over the counts n of type t, N_t = m_t + sum_n w_tn (n - m_t), and the rows are
//
//	supply of t   sum_n w_tn (n - m_t) - sum_gc c_t y_gc <= -m_t
//	loss          sum_tn w_tn (G_t(n) - G_t(m_t)) <= L' - sum_t G_t(m_t)
//	servers of g  sum_c y_gc <= size_g
//	count of t    sum_n w_tn = 1, where the slack is the weight of n = m_t
func (r *Residual) open() {
	types, classes := len(r.Types), len(r.Class)
	rows := 2*types + 1 + classes
	r.sign, r.cost, r.right = Resize(r.sign, rows), Resize(r.cost, rows), Resize(r.right, rows)
	sign, cost, right := r.sign, r.cost, r.right
	big := float64(shortageCost * r.S.Problem.Kinds)
	right[types] = r.Budget
	for at, t := range r.Types {
		q, typ := &r.Pools[t], &r.S.Problem.Types[t]
		right[at] = -float64(r.Lo[t])
		right[types] -= q.At(typ.Delta, r.Lo[t])
		// The slack of a count row is the column of the minimum, and so has its value as cost.
		right[types+1+classes+at], cost[types+1+classes+at] = 1, float64(typ.Value*float64(r.Lo[t]))
	}
	copy(right[types+1:], r.Size)
	for row := range sign {
		sign[row] = 1
		// The row starts violated: its basic variable is artificial, the amount missing, at
		// cost big.
		if right[row] < 0 {
			sign[row], cost[row] = -1, -big
		}
	}
	r.Lp.reset(sign, cost, right)
	r.Columns = r.Columns[:0]
	for range rows {
		r.Columns = append(r.Columns, columnOf{Class: -1, typ: -1})
	}
	// A violated row has lost its slack to the artificial variable, and gets it back as a
	// column.
	for row := range types + 1 {
		if sign[row] < 0 { // supply and loss budget may be left unused
			r.addColumn(columnOf{Class: -1, typ: -1}, 0, entry{row, 1})
		}
	}
}

// addColumn appends to program and Columns alike: their numbers must agree.
func (r *Residual) addColumn(what columnOf, cost float64, column ...entry) {
	r.Columns = append(r.Columns, what)
	r.Lp.add(cost, column...)
}

// Solve improves the bound until it is proven to be that of the program, or at most cut, or mostPivots or
// mostPricings are used up. It adds at most one column a round for each class and each type.
// Every round has a valid bound, and Bound is the least: ending early is exact, if weaker. A cut of -Inf
// asks for the optimum of the program.
func (r *Residual) Solve(cut float64) {
	r.Bound = math.Inf(1)
	r.open()
	for range mostPricings {
		optimal := r.Lp.optimize()
		added := r.price()
		// Bound and program meet from above and below; then no prices prove less.
		if !optimal || !added || r.Bound <= cut || r.Bound-r.Fixed-r.Lp.objective() <= closeEnough {
			return
		}
	}
}

// price evaluates the bound at the program's prices and adds the columns that improve it.
//
//	bound = fixed + lambda L' + sum_g size_g max_c pi c + sum_t max_N [(v_t - pi_t) N - lambda G_t(N)]
func (r *Residual) price() bool {
	p, types, classes := r.S.Problem, len(r.Types), len(r.Class)
	dual := r.Lp.dual
	// Duals of <= rows are at least 0 in an optimum; before it they may not be, and prices
	// must.
	lambda := math.Max(0, dual[types])
	// Types without free applications are worth nothing: patterns may hold room for them
	// in vain.
	clear(r.Worth)
	for at, t := range r.Types {
		r.Worth[t] = math.Max(0, dual[at])
	}
	added := false
	bound := r.Fixed + float64(lambda*r.Budget)
	for g, class := range r.Class {
		// The subproblem of class g is a look through its maximal patterns: exact. Its column improves
		// where best > dual of the class.
		q, best := r.S.Lists.Best(class, r.Worth)
		bound += float64(r.Size[g] * best)
		if best-dual[types+1+g] > reducedCost {
			added = true
			r.column = r.column[:0]
			counts := r.S.Lists.Pattern(class, q)
			for at, t := range r.Types {
				if counts[t] > 0 {
					r.column = append(r.column, entry{at, -float64(counts[t])})
				}
			}
			r.column = append(r.column, entry{types + 1 + g, 1})
			r.addColumn(columnOf{Class: int32(g), Pattern: int32(q), typ: -1}, 0, r.column...)
		}
	}
	for at, t := range r.Types {
		q, typ := &r.Pools[t], &p.Types[t]
		// The subproblem of type t is concave in N, so that a greedy choice is exact.
		n := r.Wanted(t, typ.Value-r.Worth[t], lambda)
		loss := q.At(typ.Delta, n)
		value := float64(typ.Value * float64(n))
		bound += value - float64(r.Worth[t]*float64(n)) - float64(lambda*loss)
		more, dearer := float64(n-r.Lo[t]), loss-q.At(typ.Delta, r.Lo[t])
		// Reduced cost: v N - dual_t (N - m) - dual_loss (G(N) - G(m)) - dual_count. The duals here are unclipped:
		// they are the program's own.
		if value-float64(dual[at]*more)-float64(dual[types]*dearer)-dual[types+1+classes+at] > reducedCost {
			added = true
			r.addColumn(columnOf{Class: -1, typ: t, count: n}, value,
				entry{at, more}, entry{types, dearer}, entry{types + 1 + classes + at, 1})
		}
	}
	// Prices and bound are stored together: the slacks of an exact search must refer to
	// this bound.
	if bound < r.Bound {
		r.Bound, r.Lambda = bound, lambda
		copy(r.Pi, r.Worth)
	}
	return added
}

// Wanted returns the N in the bounds of type t with the largest price N - lambda G(N), which is concave.
// Cutting the maximizer off at the bounds is exact for a concave function.
func (r *Residual) Wanted(t int32, price, lambda float64) int64 {
	return min(max(r.Pools[t].Wanted(price, lambda, r.S.Problem.Types[t].Delta), r.Lo[t]), r.Hi[t])
}

// Fractional returns the type whose count in the program's solution is farthest from whole, and that
// count; -1 where all are whole.
// The mean count is m_t + sum_n w_tn (n - m_t); branching on N_t <= floor | N_t >= ceil cuts it off.
func (r *Residual) Fractional() (typ int32, count float64) {
	mean := make([]float64, len(r.Pools))
	for row, c := range r.Lp.Basic {
		if what := r.Columns[c]; what.typ >= 0 {
			mean[what.typ] += float64(r.Lp.Value[row] * float64(what.count-r.Lo[what.typ]))
		}
	}
	typ = -1
	// The margin is far above rounding of values of basic variables.
	most := 1e-6
	for _, t := range r.Types {
		if off := math.Abs(mean[t] - math.Round(mean[t])); off > most {
			typ, count, most = t, float64(r.Lo[t])+mean[t], off
		}
	}
	return typ, count
}
