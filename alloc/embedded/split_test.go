package embedded

import (
	"context"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/oracle/p2oracle"
)

// skipper is the part of a test that splittable needs.
type skipper interface {
	Skip(args ...any)
	Fatal(args ...any)
}

// splittable draws a tiny instance and its split, or skips what counting already decides.
func splittable(t skipper, draw drawer) (*solver.Instance, *split) {
	inst := tiny(draw)
	p := newProblem(inst)
	if plainConflict(p) != nil {
		t.Skip("nothing to split")
	}
	s := newSplit(p, mostPatterns)
	if s == nil {
		t.Fatal("too large for patterns")
	}
	return inst, s
}

// patternsByTrial lists the maximal patterns of left, with at most most of a type, by trying everything.
func patternsByTrial(p *problem, left, most []int64) [][]int32 {
	var all, maximal [][]int32
	var try func(t int, left []int64, count []int32)
	try = func(t int, left []int64, count []int32) {
		if t == len(p.types) {
			all = append(all, slices.Clone(count))
			return
		}
		rest := slices.Clone(left)
		for n := int32(0); slices.Min(append(rest, 0)) >= 0 && int64(n) <= most[t]; n++ {
			try(t+1, rest, append(count, n))
			for k, q := range p.demandOf(int32(t)) {
				rest[k] -= q
			}
		}
	}
	try(0, left, nil)
	for _, c := range all {
		within := func(o []int32) bool {
			for t := range c {
				if o[t] < c[t] {
					return false
				}
			}
			return !slices.Equal(o, c)
		}
		if !slices.ContainsFunc(all, within) {
			maximal = append(maximal, c)
		}
	}
	return maximal
}

// The patterns of a class are all maximal ones, each once, whatever residual came first.
func TestPatternsAgainstTrial(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newProblem(tiny(draws(t)))
		ps := newPatterns(p, mostPatterns)
		most := make([]int64, len(p.types))
		capped := rapid.Bool().Draw(t, "capped")
		if capped {
			ps = ps.capped()
		}
		for at := range most {
			most[at] = math.MaxInt64
			if capped {
				most[at] = 0
				for _, i := range p.types[at].members {
					most[at] += p.apps[i].max
				}
			}
		}
		for range 5 {
			left := make([]int64, p.kinds)
			for k := range left {
				left[k] = rapid.Int64Range(0, 7).Draw(t, "left")
			}
			g := ps.classOf(left)
			var got [][]int32
			for q := range ps.classes[g].size {
				got = append(got, ps.pattern(g, q))
			}
			want := patternsByTrial(p, left, most)
			if len(p.types) == 0 {
				continue
			}
			slices.SortFunc(got, slices.Compare)
			slices.SortFunc(want, slices.Compare)
			if !slices.EqualFunc(got, want, slices.Equal) {
				t.Fatalf("left %v: patterns %v, want %v", left, got, want)
			}
		}
		if ps.classOf([]int64{-1, 0, 0}[:p.kinds]) != noClass {
			t.Fatal("a negative residual has a class")
		}
	})
}

// drawPoint draws multipliers for s, but none on limits.
func drawPoint(t *rapid.T, s *split) []float64 {
	x := make([]float64, splitDim(s))
	for c := range x[:limitsAt(s)] {
		least := 0.0
		if c < len(s.p.types) {
			least = -1
		}
		x[c] = rapid.Float64Range(least, 2).Draw(t, "multiplier")
	}
	return x
}

// At any multipliers the evaluation is a bound, solver.CopyBound recomputes it, and the slope is a
// subgradient: the bound at any other point lies above the tangent.
func TestSplitBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inst, s := splittable(t, draws(t))
		ev := newEval(s)
		ev.decide(make([]choice, len(s.p.apps)))
		x := drawPoint(t, s)
		bound := ev.evaluate(x)
		if want, _ := p2oracle.Best(inst); want != nil && bound < inst.Objective(want)-solver.ObjectiveTolerance {
			t.Fatalf("bound %.12g below %.12g, which is attained", bound, inst.Objective(want))
		}
		recomputed, err := solver.CopyBound(inst, copyPrices(s, x))
		if err != nil || recomputed != bound && math.Abs(recomputed-bound) > 1e-9 {
			t.Fatalf("bound %.12g, recomputed %.12g, %v", bound, recomputed, err)
		}
		if math.IsInf(bound, -1) {
			return
		}
		slope := slices.Clone(ev.gradient())
		y := drawPoint(t, s)
		tangent := bound
		for c := range x {
			tangent += slope[c] * (y[c] - x[c])
		}
		if at := ev.evaluate(y); at < tangent-1e-9 {
			t.Fatalf("bound %.12g at another point, the tangent says %.12g", at, tangent)
		}
	})
}

// With choices made, the evaluation bounds every solution that agrees with them.
func TestSplitBoundOfNode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inst, s := splittable(t, draws(t))
		best, _ := p2oracle.Best(inst)
		if best == nil {
			t.Skip("no solution")
		}
		choices := make([]choice, len(s.p.apps))
		for i := range choices {
			if s.p.apps[i].keepable && rapid.Bool().Draw(t, "decided") {
				choices[i] = kept
				if inst.Apps[i].Adjusted(best[i]) {
					choices[i] = freed
				}
			}
		}
		ev := newEval(s)
		ev.decide(choices)
		if bound := ev.evaluate(drawPoint(t, s)); bound < inst.Objective(best)-solver.ObjectiveTolerance {
			t.Fatalf("choices %v: bound %.12g below %.12g", choices, bound, inst.Objective(best))
		}
	})
}

// residualInstance is what is left of inst when exactly the applications of free are: the others hold
// their containers and loss for ever.
func residualInstance(inst *solver.Instance, free []bool) *solver.Instance {
	rest := clone(inst)
	rest.Apps = nil
	for i := range inst.Apps {
		app := inst.Apps[i]
		if free[i] {
			app.Running, app.Previous = false, nil
			rest.Apps = append(rest.Apps, app)
			continue
		}
		rest.LossBudget -= app.Loss(solver.Containers(app.Previous))
		for _, placed := range app.Previous {
			for k, q := range app.Demand {
				rest.Capacity[placed.Server][k] -= placed.Count * q
			}
		}
	}
	return rest
}

// For any set the residual bound is a bound, what is packed is a solution, and the exact answer is the
// exhaustive twin's.
func TestResidualAgainstOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inst, s := splittable(t, draws(t))
		free := make([]bool, len(s.p.apps))
		var fixed float64
		for i := range free {
			a := &s.p.apps[i]
			free[i] = !a.keepable || rapid.Bool().Draw(t, "free")
			if !free[i] {
				fixed += s.p.types[a.typ].value * float64(a.held)
			}
		}
		l := newLeaves(s)
		if !l.r.fix(func(i int32) bool { return free[i] }) {
			return
		}
		rest := residualInstance(inst, free)
		want, _ := p2oracle.Best(rest)
		l.r.solve(math.Inf(-1))
		l.k.pack(math.Inf(1))
		packed, value := l.k.found, l.k.bestValue
		if want == nil {
			if packed {
				t.Fatalf("packed %v where nothing fits", l.k.bestCount)
			}
			return
		}
		optimum := fixed + rest.Objective(want)
		if l.r.bound < optimum-solver.ObjectiveTolerance || packed && value > optimum+solver.ObjectiveTolerance {
			t.Fatalf("bound %.12g, packed %v worth %.12g, the optimum is %.12g", l.r.bound, packed, value, optimum)
		}
		l.k.found = false
		cut := optimum - rapid.SampledFrom([]float64{1e-6, 0.01, 1}).Draw(t, "cut")
		if !l.k.settleExactly(context.Background(), cut, 1<<20) || !l.k.found || math.Abs(l.k.bestValue-optimum) > solver.ObjectiveTolerance {
			t.Fatalf("exactly: found %v worth %.12g, the optimum is %.12g", l.k.found, l.k.bestValue, optimum)
		}
		l.k.found = false
		if !l.k.settleExactly(context.Background(), optimum+1e-9, 1<<20) || l.k.found {
			t.Fatalf("exactly: found %v, more than the optimum %.12g", l.k.bestValue, optimum)
		}
		l.best.keep(l.k, 0)
	})
}

// The local search over sets keeps its bookkeeping: what a toggle changes of U is what U computed afresh
// says.
func TestSetsChange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newProblem(alloctest.Table2(rapid.Uint64Range(0, 50).Draw(t, "seed"), 8, 12, true))
		s := newSplit(p, mostPatterns)
		x := make([]float64, splitDim(s))
		for c := range p.types {
			x[c] = rapid.Float64Range(-1, 2).Draw(t, "price")
		}
		x[len(p.types)] = rapid.Float64Range(0, 2).Draw(t, "lambda")
		q := newSetSearch(newLeaves(s), x, 1)
		u := func() float64 {
			var sum float64
			for i := range p.apps {
				if q.free[i] {
					sum += q.root.gain[i]
				}
			}
			for c := range s.cells {
				sum += s.cells[c].size * q.root.best[s.classOfMask[s.cells[c].table+q.mask[c]]]
			}
			return sum
		}
		for range 10 {
			i := int32(rapid.IntRange(0, len(p.apps)-1).Draw(t, "application"))
			if !p.apps[i].keepable || !q.free[i] && int64(len(q.members)) >= p.budget {
				continue
			}
			before, change := u(), q.change(&q.root, i)
			q.toggle(i)
			if after := u(); math.Abs(before+change-after) > 1e-9 {
				t.Fatalf("U goes from %g to %g, the change is %g", before, after, change)
			}
		}
	})
}

// The lattice step divides every utilization: values are whole multiples of it, and there is no larger
// one.
func TestLatticeStep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newProblem(tiny(draws(t)))
		if len(p.types) == 0 {
			t.Skip("no types")
		}
		step := p.latticeStep()
		all := int64(0)
		for _, typ := range p.types {
			if typ.value == 0 {
				continue
			}
			n := math.Round(typ.value / step)
			if math.Abs(n*step-typ.value) > 1e-9 {
				t.Fatalf("step %g, value %g", step, typ.value)
			}
			all = gcd(all, int64(n))
		}
		if all > 1 {
			t.Fatalf("step %g could be %d times as large", step, all)
		}
	})
	inst := worked(lr(0.75))
	inst.Apps[0].Value = math.Pi / 30
	if step := newProblem(inst).latticeStep(); step != 0 {
		t.Errorf("values that follow from no demand have step %g", step)
	}
}
