package embedded

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/embedded/internal/lagrange"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/embedded/internal/tuning"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/oracle/p2oracle"
)

// relaxations are the optima of the linear relaxation of mip.Disjunctive, by HiGHS 1.15.
var relaxations = map[string]float64{
	"half_mixed_20x30_0": 2.84178528, "half_mixed_50x50_2": 2.39160915, "half_table2_20x30_2": 2.35622633,
	"half_table2_50x50_2": 2.2039158, "half_table2_100x100_2": 1.785625, "grown_mixed_20x30_0": 2.66453668,
	"grown_mixed_50x50_0": 2.79420391, "grown_mixed_50x50_2": 2.70044443, "primes_20x20_2": 2.72292601,
	"tight_mixed_20x30_0": 1.83134939, "tight_table2_50x50_0": 1.30496467, "tight_grown_20x30_0": 2.34295939,
	"half_100x100": 2.26947412, "mixed_100x100_fresh_0": 2.97741131, "mixed_100x100_fresh_2": 2.99497283,
	"mixed_100x100_prev_0": 2.83020162, "mixed_100x100_prev_2": 2.67321502,
	"mixed_20x30_fresh_0": 2.91564736, "mixed_20x30_fresh_2": 2.07345679, "mixed_20x30_fresh_4": 2.99647887,
	"mixed_20x30_fresh_6": 2.99813433, "mixed_20x30_prev_0": 2.81998616, "mixed_20x30_prev_2": 2.07004876,
	"mixed_20x30_prev_4": 2.80067886, "mixed_20x30_prev_6": 2.94062174, "mixed_50x60_fresh_0": 2.98960423,
	"mixed_50x60_fresh_2": 3, "mixed_50x60_fresh_4": 3, "mixed_50x60_prev_0": 2.75511321,
	"mixed_50x60_prev_2": 2.92682731, "mixed_50x60_prev_4": 2.93417224, "table2_100x100_fresh_0": 1.90181153,
	"table2_100x100_prev_0": 1.80925223, "table2_100x100_prev_2": 1.97346615,
	"table2_200x200_fresh_0": 2.34223548, "table2_20x30_fresh_0": 2.32352273,
	"table2_20x30_fresh_2": 2.33467134, "table2_20x30_fresh_4": 2.34923407, "table2_20x30_prev_0": 2.1234375,
	"table2_20x30_prev_10": 1.90742188, "table2_20x30_prev_2": 2.28300781, "table2_20x30_prev_4": 2.12734375,
	"table2_20x30_prev_6": 2.34375, "table2_20x30_prev_8": 2.22455019, "table2_50x30_fresh_0": 1.71540759,
	"table2_50x30_fresh_2": 1.71059409, "table2_50x30_prev_0": 1.69304888, "table2_50x30_prev_2": 1.6222476,
	"table2_50x30_prev_4": 1.97939685, "table2_50x30_prev_6": 1.70570913,
}

// The bound of the root comes within half a percent of the linear relaxation of the best model, or below it, as
// counts are whole here.
func TestRootReachesRelaxation(t *testing.T) {
	const over = 0.005
	known := instancetest.HalfEmpty()
	for _, ref := range alloctest.References() {
		known = append(known, instancetest.Known{Name: ref.Name, Instance: ref.Instance, Objective: ref.Objective})
	}
	met, worst := 0, 0.0
	for _, k := range known {
		relaxed, isKnown := relaxations[k.Name]
		if !isKnown || testing.Short() && len(k.Instance.Capacity) > 50 {
			continue
		}
		met++
		bound := newRoot(t.Context(), problem.New(k.Instance), rootOptions{tuning.Standard(), Default, true, math.Inf(-1), nil}).bound()
		if worst = math.Max(worst, bound/relaxed-1); bound > relaxed*(1+over) {
			t.Errorf("%s: bound %.6f, relaxed %.6f", k.Name, bound, relaxed)
		}
	}
	t.Logf("%d bounds at most %.3f %% above the relaxation", met, 100*worst)
	if met < len(relaxations)/2 {
		t.Errorf("%d of %d instances met", met, len(relaxations))
	}
}

// At every effort the bound of the root is one, and so are the prices that it comes with.
func TestRootIsBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inst := instancetest.Tiny(draws(t))
		best, _ := p2oracle.Best(inst)
		p := problem.New(inst)
		if best == nil || p.Impossible() {
			t.Skip("no solution")
		}
		optimum := inst.Objective(best)
		for _, effort := range []Effort{0, 1, Default} {
			r := newRoot(context.Background(), p, rootOptions{tuning.Standard(), effort, true, math.Inf(-1), nil})
			proven, err := solver.DualBound(inst, r.multipliers())
			if err != nil || r.bound() < optimum-solver.ObjectiveTolerance || proven < optimum-solver.ObjectiveTolerance {
				t.Fatalf("bound %.12g, by the prices %.12g, optimum %.12g, %v", r.bound(), proven, optimum, err)
			}
		}
	})
}

// The prices by server prove more than those by shape, and are the best where the bound says so.
func TestRootComesDown(t *testing.T) {
	lower := 0
	for seed := range uint64(5) {
		for _, inst := range []*problem.Problem{problem.New(alloctest.Table2(seed, 12, 15, true)), problem.New(alloctest.Mixed(seed, 12, 15, true))} {
			coarse := newRoot(t.Context(), inst, rootOptions{tuning.Standard(), Default, false, math.Inf(-1), nil})
			r := newRoot(t.Context(), inst, rootOptions{tuning.Standard(), Default, true, math.Inf(-1), nil})
			if r.bound() < coarse.bound() {
				lower++
			}
			if r.bound() > coarse.bound() || r.coarse.Bound != coarse.bound() || coarse.coarse != nil {
				t.Errorf("seed %d: %g by shape, %g by server from %g", seed, coarse.bound(), r.bound(), r.coarse.Bound)
			}
			if r.taken() > 2*int64(tuning.Standard().MostRounds) || r.taken() < coarse.taken() {
				t.Errorf("seed %d: %d rounds by shape, %d in all", seed, coarse.taken(), r.taken())
			}
			if at := r.d.Evaluate(r.descent.Best); math.Abs(at-r.descent.Bound) > 1e-12 {
				t.Errorf("seed %d: bound %.15g, its prices give %.15g", seed, r.descent.Bound, at)
			}
		}
	}
	if lower < 5 {
		t.Errorf("the prices by server proved more only %d times", lower)
	}
}

// More effort never makes the bound of the root worse, and brings it down where it can.
func TestRootMonotone(t *testing.T) {
	better := 0
	for seed := range uint64(2) {
		for _, g := range instancetest.Generators {
			p := problem.New(g.Generate(seed, 20, 25, true))
			last := math.Inf(1)
			for _, effort := range []Effort{1, 3, Quick, Default, 2 * Default} {
				bound := newRoot(t.Context(), p, rootOptions{tuning.Standard(), effort, true, math.Inf(-1), nil}).bound()
				if bound > last {
					t.Errorf("%s %d: effort %d proves %.12g, less of it %.12g", g.Name, seed, effort, bound, last)
				}
				if bound < last {
					better++
				}
				last = bound
			}
		}
	}
	if better < 8 {
		t.Errorf("more effort was better only %d times", better)
	}
}

// A context that ends leaves the bound that there is, of one evaluation at least.
func TestRootInterrupted(t *testing.T) {
	p := problem.New(alloctest.Mixed(1, 20, 25, true))
	whole := newRoot(t.Context(), p, rootOptions{tuning.Standard(), Default, true, math.Inf(-1), nil}).bound()
	last := math.Inf(1)
	for _, looks := range []int{0, 1, 10, 100} {
		r := newRoot(instancetest.NewFuse(looks), p, rootOptions{tuning.Standard(), Default, true, math.Inf(-1), nil})
		if bound := r.bound(); math.IsInf(bound, 0) || bound < whole || bound > last {
			t.Errorf("%d looks: bound %g, before %g, in the end %g", looks, bound, last, whole)
		}
		last = r.bound()
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if r := newRoot(ended, p, rootOptions{tuning.Standard(), Default, true, math.Inf(-1), nil}); r.taken() != 0 || r.coarse != nil {
		t.Errorf("%d rounds after the end, prices by server: %v", r.taken(), r.coarse != nil)
	}
}

// An incumbent that attains the bound ends the descent.
func TestRootStops(t *testing.T) {
	p := problem.New(alloctest.Mixed(1, 20, 25, true))
	whole := newRoot(t.Context(), p, rootOptions{tuning.Standard(), Default, true, math.Inf(-1), nil})
	short := newRoot(t.Context(), p, rootOptions{tuning.Standard(), Default, true, 1.001 * whole.bound(), nil})
	if short.taken() >= whole.taken() || short.bound() > 1.001*whole.bound()+lastGain {
		t.Errorf("%d rounds to %g, %d without an incumbent", short.taken(), short.bound(), whole.taken())
	}
}

// Rounds are in proportion to the effort between the fewest and the most, and beyond the default the most are too.
func TestRootRounds(t *testing.T) {
	d := lagrange.NewDual(problem.New(alloctest.Table2(1, 20, 30, true)), true)
	tune := tuning.Standard()
	for effort, want := range map[Effort]float64{0: tune.FewestRounds, Default: tune.MostRounds, 3 * Default: 3 * tune.MostRounds} {
		if got := (&rootOptions{tune: tune, effort: effort}).rounds(d); got != int(want) {
			t.Errorf("effort %d: %d rounds, want %g", effort, got, want)
		}
	}
}
