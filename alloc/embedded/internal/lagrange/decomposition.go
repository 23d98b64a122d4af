// This file evaluates the Lagrangean decomposition at given multipliers and choices, with its subgradient,
// [Guignard87], [Geoffrion74].

package lagrange

import (
	"math"

	"github.com/apportion/apportion/alloc/embedded/internal/pattern"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/solver"
)

// The multipliers are one vector: types prices, then lambda, then mu by entry, then one by
// kind, of any sign, for the limits.
// Units: a price on containers is utilization per container, lambda utilization per
// unit of fairness loss, mu utilization, and sigma utilization per unit of a kind.
func Dim(s *pattern.Cells) int { return LimitsAt(s) + s.Problem.Kinds }

// LimitsAt returns where the multipliers of limits start in a vector of multipliers.
func LimitsAt(s *pattern.Cells) int { return len(s.Problem.Types) + 1 + len(s.EntryApp) }

// CopyPrices spells x out for solver.CopyBound.
// The certificate has one price per application where x has one per type: the referee
// knows no types. The multipliers of limits are left out, since a reported bound has
// none.
func CopyPrices(s *pattern.Cells, x []float64) *solver.CopyPrices {
	p, types := s.Problem, len(s.Problem.Types)
	m := &solver.CopyPrices{Container: make([]float64, len(p.Apps)), Loss: x[types], Room: make([][]float64, len(p.Apps))}
	for i := range p.Apps {
		m.Container[i] = x[p.Apps[i].Type]
		// Entries come in the order of the servers, as those of Previous.
		for _, e := range s.EntriesOf[s.FirstEntry[i]:s.FirstEntry[i+1]] {
			m.Room[i] = append(m.Room[i], x[types+1+int(e)])
		}
	}
	return m
}

// Decomposition is one evaluation of a split and what it leaves behind.
//
// It holds no result of its own beyond the last Evaluate; the slices are scratch that is reused, so
// that an evaluation allocates nothing. One Decomposition serves one goroutine.
type Decomposition struct {
	Selection
	s         *pattern.Cells
	bound     float64
	slope     []float64 // the subgradient of the bound
	worth     []float64 // of a container by type, in patterns
	bestAt    []int     // by class: its best pattern
	bestOf    []float64
	available []bool    // by type: some application of it may be free
	surcharge []float64 // by type: what the limits charge for a container
	total     []int64   // by type: containers of the choices
}

// NewDecomposition returns an evaluation over the cells of s in which every choice is open.
func NewDecomposition(s *pattern.Cells) *Decomposition {
	return &Decomposition{
		Selection: newSelection(s.Problem), s: s, slope: make([]float64, Dim(s)),
		worth: make([]float64, len(s.Problem.Types)), bestAt: make([]int, len(s.Lists.Classes)),
		bestOf: make([]float64, len(s.Lists.Classes)), available: make([]bool, len(s.Problem.Types)),
		surcharge: make([]float64, len(s.Problem.Types)), total: make([]int64, len(s.Problem.Types)),
	}
}

// Decide takes over the choices of a node.
// It is called once a node, before the descent starts there. O(applications).
func (ev *Decomposition) Decide(choices []problem.Choice) {
	ev.Selection.decide(ev.s.Problem, choices)
	// The budget of the node is that of Selection by now.
	clear(ev.available)
	for i := range ev.s.Problem.Apps {
		// A type none of whose applications can change gets no new container, whatever its
		// price: its patterns are worth nothing, which sharpens the bound. Open needs an
		// adjustment to become free.
		a := &ev.s.Problem.Apps[i]
		if !a.Pinnable || ev.choice[i] == problem.Freed || ev.choice[i] == problem.Open && ev.Budget > 0 {
			ev.available[a.Type] = true
		}
	}
}

// Evaluate returns the bound at x for the choices last decided; -Inf where some server cannot hold
// those that must stay. O(patterns x types + subsets + applications log applications).
// The steps: 1. lambda L; 2. worth of a container in patterns, v_t - p_t; 3. the best pattern of
// every class; 4. the servers' subproblems a_j; 5. the applications' subproblems; 6. the limits.
func (ev *Decomposition) Evaluate(x []float64) float64 {
	s, p := ev.s, ev.s.Problem
	types := len(p.Types)
	clear(ev.slope)
	lambda := x[types]
	// The bound has to hold for solutions that use the tolerance on loss up.
	ev.slope[types] = p.Inst.LossBudget + solver.LossTolerance
	ev.bound = float64(lambda * ev.slope[types])
	// worth_t = max(0, v_t - p_t): nobody must fill a pattern, so a loss is never taken.
	for t := range p.Types {
		ev.worth[t] = 0
		if ev.available[t] {
			ev.worth[t] = math.Max(0, p.Types[t].Value-x[t])
		}
	}
	// Cells share classes: one pass over the patterns answers all of their subsets.
	for g := range ev.bestOf {
		ev.bestAt[g], ev.bestOf[g] = s.Lists.Best(int32(g), ev.worth)
	}
	if !ev.servers(x[types+1:]) {
		ev.bound = math.Inf(-1)
		return ev.bound
	}
	// Applications are charged for what the limits price, and counted for what they use of it.
	clear(ev.total)
	surcharges(p, x[LimitsAt(s):], ev.surcharge)
	ev.applications(x)
	ev.respectLimits(x[LimitsAt(s):], ev.slope[LimitsAt(s):])
	return ev.bound
}

// servers adds sum_j a_j.
//
//	a_j = max over S of best(class that S leaves) - sum_{i in S} mu_ij
//
// by running through the subsets listed for each cell: exact, at most 2^10 of them. It reports false
// where no subset is allowed.
func (ev *Decomposition) servers(mu []float64) bool {
	s, types := ev.s, len(ev.s.Problem.Types)
	for at := range s.Cells {
		c := &s.Cells[at]
		// never marks residents that the choices, or a budget that is used up, keep in place.
		var never uint32
		for b := range c.Residents {
			i := s.EntryApp[c.Entry+b]
			if ev.choice[i] == problem.Kept || ev.choice[i] == problem.Open && ev.Budget <= 0 {
				never |= 1 << b
			}
		}
		best, most := int32(-1), math.Inf(-1)
		for n := c.First; n < c.Last; n++ {
			sub := s.Subsets[n]
			if sub.Mask&never != 0 {
				continue
			}
			// Only open residents have their multiplier: whether a freed one leaves is decided,
			// and no copy of that decision has to be relaxed.
			value := ev.bestOf[sub.Class]
			for mask, e := sub.Mask, c.Entry; mask != 0; mask, e = mask>>1, e+1 {
				if mask&1 != 0 && ev.choice[s.EntryApp[e]] == problem.Open {
					value -= mu[e]
				}
			}
			if value > most {
				best, most = n, value
			}
		}
		// Those that must stay do not fit, or nothing fits beside them: the node has no solution.
		if best < 0 {
			return false
		}
		// A cell without residents stands for Size equal servers, whose subproblems are one.
		ev.bound += float64(c.Size * most)
		sub := s.Subsets[best]
		for mask, e := sub.Mask, c.Entry; mask != 0; mask, e = mask>>1, e+1 {
			if mask&1 != 0 && ev.choice[s.EntryApp[e]] == problem.Open {
				ev.slope[types+1+int(e)]--
			}
		}
		// d a_j / d p_t = -c_t; 0 where worth_t is cut off at 0.
		for t, n := range s.Lists.Pattern(sub.Class, ev.bestAt[sub.Class]) {
			if ev.worth[t] > 0 {
				ev.slope[t] -= float64(c.Size * float64(n))
			}
		}
	}
	return true
}

// applications adds phi, keep and the best scores.
// Each is evaluated as kept first; then those of F* move from keep_i to phi_i. A freed
// one is not offered to F*, as the budget is charged for it already.
func (ev *Decomposition) applications(x []float64) {
	s, p := ev.s, ev.s.Problem
	types := len(p.Types)
	lambda, mu := x[types], x[types+1:]
	ev.clear()
	for i := range p.Apps {
		a := &p.Apps[i]
		if !a.Pinnable || ev.choice[i] == problem.Freed {
			// phi_i = max over n of (p_t - surcharge_t) n - lambda loss_i(n); the surcharge makes the use of
			// scarce kinds dearer for whoever it is.
			n, phi := p.Wanted(int32(i), x[a.Type]-ev.surcharge[a.Type], lambda)
			ev.bound += phi
			ev.want(int32(i), n)
			continue
		}
		// What is kept counts towards the limits too.
		keep := p.KeepWorth(int32(i), lambda) - float64(ev.surcharge[a.Type]*float64(a.Held))
		ev.bound += keep
		ev.total[a.Type] += a.Held
		ev.slope[types] -= a.HeldLoss
		if ev.choice[i] == problem.Kept {
			continue
		}
		// score_i = phi_i - keep_i + sum_j mu_ij: the servers paid mu_ij for the right to its room.
		_, phi := p.Wanted(int32(i), x[a.Type]-ev.surcharge[a.Type], lambda)
		gain := phi - keep
		for _, e := range s.EntriesOf[s.FirstEntry[i]:s.FirstEntry[i+1]] {
			gain += mu[e]
		}
		ev.add(int32(i), gain)
	}
	ev.choose()
	// The keep part of the members of F* comes out again, term by term, so that bound and
	// subgradient stay those of one and the same maximizer.
	for _, sc := range ev.Chosen {
		a := &p.Apps[sc.App]
		n, _ := p.Wanted(sc.App, x[a.Type]-ev.surcharge[a.Type], lambda)
		ev.bound += sc.Gain
		ev.total[a.Type] -= a.Held
		ev.slope[types] += a.HeldLoss
		ev.want(sc.App, n)
		for _, e := range s.EntriesOf[s.FirstEntry[sc.App]:s.FirstEntry[sc.App+1]] {
			ev.slope[types+1+int(e)]++
		}
	}
}

// respectLimits adds the limits' part to the bound, and sets that of the subgradient. It must come after the
// applications, which count the containers of each type.
func (ev *Decomposition) respectLimits(sigma, slope []float64) {
	p := ev.s.Problem
	for k := range p.Kinds {
		var used float64
		for t, n := range ev.total {
			used += float64(float64(p.DemandOf(int32(t))[k]) * float64(n))
		}
		// Over the rounds this mean tells the tree near which use to branch.
		ev.Used[k] += used
		var part float64
		part, slope[k] = ev.Limits.price(k, sigma[k], used)
		ev.bound += part
	}
}

// want enters n containers of application i into the subgradient: they are wanted (+n
// in p_t), and their loss uses the budget (-loss in lambda).
// Of a member of F* the kept part must be taken out as well, by the caller.
func (ev *Decomposition) want(i int32, n int64) {
	p := ev.s.Problem
	t := p.Apps[i].Type
	ev.slope[t] += float64(n)
	ev.total[t] += n
	ev.slope[len(p.Types)] -= p.Loss(i, n)
}

// gradient returns the subgradient that Evaluate has left behind.
// It is the same slice each time, which the next evaluation overwrites.
func (ev *Decomposition) gradient() []float64 { return ev.slope }
