// This file checks the fillings against the exhaustive twin and against the theory.

package drf_test

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/oracle/drforacle"
)

// close is the relative distance allowed between a filling and its rational twin.
const closeTo = 1e-9

func isClose(a, b float64) bool { return math.Abs(a-b) <= closeTo*max(1, math.Abs(a), math.Abs(b)) }

func TestPropFillEqualsOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := genInstance(t, limits{claims: 7, capacity: 60, demand: 9, min: 2, max: 12, empty: true})
		filling := in.fill(t)
		want, floors := drforacle.Fill(in.capacity, in.twin())
		must.Equal(t, floors, (filling.ShortOf < 0), "ShortOf", filling.ShortOf, "but minima honoured")
		for i, got := range filling.Claims {
			if exact, _ := want[i].Float64(); !isClose(got.Containers, exact) {
				t.Fatalf("%s has %.17g containers, want %.17g", got.ID, got.Containers, exact)
			}
		}
	})
}

func TestPropFillEqualsOracleLarge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := genInstance(t, limits{claims: 5, capacity: math.MaxInt64, demand: math.MaxInt64, max: math.MaxInt64})
		filling := in.fill(t)
		want, _ := drforacle.Fill(in.capacity, in.twin())
		for i, got := range filling.Claims {
			if exact, _ := want[i].Float64(); !isClose(got.Containers, exact) {
				t.Fatalf("%s has %.17g containers, want %.17g", got.ID, got.Containers, exact)
			}
		}
	})
}

func TestPropFillWholeEqualsOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := genInstance(t, limits{claims: 7, capacity: 60, demand: 9, min: 2, max: 12, empty: true})
		stop := rapid.Bool().Draw(t, "stop")
		filling := in.whole(t, &drf.WholeOptions{StopAtFirst: stop})
		want, floors := drforacle.Whole(in.capacity, in.twin(), stop)
		must.Equal(t, floors, (filling.ShortOf < 0), "ShortOf", filling.ShortOf, "but minima honoured")
		must.Same(t, containers(filling), want, "containers")
	})
}

// Reference: [Ghodsi11] §3: what DRF promises, without minima.
func TestPropFillIsFair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := genInstance(t, limits{claims: 12, capacity: 1000, demand: 20, max: 40, empty: true})
		if report := in.verify(t, containers(in.fill(t))); len(report) > 0 {
			t.Fatalf("%v", report)
		}
	})
}

// With minima only the sharing incentive is lost.
func TestPropFillWithMinima(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := genInstance(t, limits{claims: 12, capacity: 1000, demand: 20, min: 4, max: 40, empty: true})
		filling := in.fill(t)
		for _, v := range in.verify(t, containers(filling)) {
			if v.Property != drf.SharingIncentive && (v.Property != drf.WithinBounds || filling.ShortOf < 0) {
				t.Fatalf("%v", v)
			}
		}
	})
}

// Algorithm 1 as printed is envy-free up to one container.
func TestPropFillWholeIsFair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := genInstance(t, limits{claims: 8, capacity: 300, demand: 20, empty: true})
		for _, stop := range []bool{false, true} {
			report := must.Have(drf.Verify(in.capacity, in.claims, containers(in.whole(t, &drf.WholeOptions{StopAtFirst: stop}))))(t)
			broken := !report.Holds(drf.WithinCapacity) || !report.Holds(drf.WithinBounds)
			broken = broken || stop && !report.Holds(drf.EnvyFree) || !stop && !report.Holds(drf.ParetoEfficient)
			if broken {
				t.Fatalf("StopAtFirst %v: %v", stop, report)
			}
		}
	})
}

// The units of a kind do not matter.
func TestPropFillScaleInvariant(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := genInstance(t, limits{claims: 9, capacity: 1000, demand: 20, min: 2, max: 40, empty: true})
		scaled := instance{in.capacity.Clone(), slices.Clone(in.claims)}
		k := rapid.IntRange(0, len(in.capacity)-1).Draw(t, "kind")
		factor := rapid.Int64Range(2, 1<<40).Draw(t, "factor")
		scaled.capacity[k] *= factor
		for i := range scaled.claims {
			scaled.claims[i].Demand = scaled.claims[i].Demand.Clone()
			scaled.claims[i].Demand[k] *= factor
		}
		before, after := in.fill(t), scaled.fill(t)
		for i := range before.Claims {
			if !isClose(before.Claims[i].Containers, after.Claims[i].Containers) {
				t.Fatalf("%v becomes %v", before.Claims[i], after.Claims[i])
			}
		}
	})
}

// A claim whose weight grows does not lose.
func TestPropFillWeightMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := genInstance(t, limits{claims: 9, capacity: 1000, demand: 20, max: 40, empty: true})
		before := in.fill(t)
		i := rapid.IntRange(0, len(in.claims)-1).Draw(t, "claim")
		in.claims[i].Weight *= rapid.Float64Range(1, 10).Draw(t, "factor")
		after := in.fill(t)
		if got, was := after.Claims[i].Containers, before.Claims[i].Containers; got < was && !isClose(got, was) {
			t.Fatalf("%s falls from %.17g to %.17g", in.claims[i].ID, was, got)
		}
	})
}

// Reference: [Ghodsi11] §3: population monotonicity holds where everybody demands every kind.
func TestPropFillPopulationMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := genInstance(t, limits{claims: 9, capacity: 1000, demand: 20})
		for i := range in.claims {
			for k := range in.claims[i].Demand {
				in.claims[i].Demand[k]++
			}
		}
		before := in.fill(t)
		leaver := rapid.IntRange(0, len(in.claims)-1).Draw(t, "leaver")
		in.claims = slices.Delete(in.claims, leaver, leaver+1)
		after := in.fill(t)
		was := slices.Delete(before.Claims, leaver, leaver+1)
		for i := range after.Claims {
			if got := after.Claims[i].Containers; got < was[i].Containers && !isClose(got, was[i].Containers) {
				t.Fatalf("%s falls from %.17g to %.17g", was[i].ID, was[i].Containers, got)
			}
		}
	})
}

// The order of the claims has no influence, not on a single bit.
func TestPropOrderIndependent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := genInstance(t, limits{claims: 12, capacity: 1000, demand: 20, min: 2, max: 40, empty: true})
		order := rapid.Permutation(indices(len(in.claims))).Draw(t, "order")
		moved := instance{in.capacity, make([]drf.Claim, len(order))}
		for to, from := range order {
			moved.claims[to] = in.claims[from]
		}
		a, b, wa, wb := in.fill(t), moved.fill(t), in.whole(t, nil), moved.whole(t, nil)
		for to, from := range order {
			must.Equal(t, a.Claims[from], b.Claims[to], "becomes")
			must.Equal(t, wa.Claims[from], wb.Claims[to], "whole", "becomes")
		}
		if !slices.Equal(a.Unused, b.Unused) || !slices.Equal(wa.Unused, wb.Unused) {
			t.Fatalf("unused %v becomes %v, %v becomes %v", a.Unused, b.Unused, wa.Unused, wb.Unused)
		}
	})
}

func indices(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// Inputs are left as they were.
func TestPropInputsUntouched(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := genInstance(t, limits{claims: 5, capacity: 100, demand: 9, min: 2, max: 9, empty: true})
		capacity, claims := in.capacity.Clone(), slices.Clone(in.claims)
		for i := range claims {
			claims[i].Demand = claims[i].Demand.Clone()
		}
		filling, whole := in.fill(t), in.whole(t, nil)
		must.Have(drf.Explain(nil, in.claims, filling))(t)
		in.verify(t, containers(filling))
		whole.Unused[0]++ // fresh, so capacity must not follow
		must.Equal(t, cmp.Diff(instanceView{capacity, claims}, instanceView{in.capacity, in.claims}), "")
	})
}

type instanceView struct {
	Capacity apportion.Resources
	Claims   []drf.Claim
}

// Many containers for each claim, so that most are handed out by leaps. Both twins are asked.
func TestPropFillWholeLeaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := genInstance(t, limits{claims: 4, capacity: 250, demand: 5, min: 3, max: 60})
		stop := rapid.Bool().Draw(t, "stop")
		want, _ := drforacle.Whole(in.capacity, in.twin(), stop)
		must.Same(t, containers(in.whole(t, &drf.WholeOptions{StopAtFirst: stop})), want, "containers")
		if bulk, _ := drforacle.WholeInBulk(in.capacity, in.twin(), stop); !slices.Equal(bulk, want) {
			t.Fatalf("the twin in bulk has %v, one by one %v", bulk, want)
		}
	})
}

// Containers of one claim are many times as large as those of another, and quantities reach 2^63.
func TestPropFillWholeRatios(t *testing.T) {
	quantity := rapid.OneOf(rapid.Int64Range(1, 9), rapid.Int64Range(1e8, 4e8), rapid.Int64Range(1<<53-2, 1<<53+2), rapid.Int64Range(1, math.MaxInt64/3))
	rapid.Check(t, func(t *rapid.T) {
		in := genInstance(t, limits{claims: 3, capacity: 1, demand: 1, min: 3, max: math.MaxInt64 - 3})
		for k := range in.capacity {
			in.capacity[k] = rapid.OneOf(rapid.Int64Range(1, 9), rapid.Just(int64(4_200_000_000)), rapid.Int64Range(1<<55, math.MaxInt64)).Draw(t, "room")
			for i := range in.claims {
				if in.claims[i].Demand[k] > 0 {
					in.claims[i].Demand[k] = quantity.Draw(t, "quantity")
				}
			}
		}
		stop := rapid.Bool().Draw(t, "stop")
		want, floors := drforacle.WholeInBulk(in.capacity, in.twin(), stop)
		filling := in.whole(t, &drf.WholeOptions{StopAtFirst: stop})
		must.Equal(t, floors, (filling.ShortOf < 0), "ShortOf", filling.ShortOf, "but minima honoured")
		must.Same(t, containers(filling), want, "containers")
	})
}

// Over all weights and quantities a filling is exact for capacities that differ by a relative
// bottleneckTolerance: nobody uses more, and each claim that is not at a bound is stopped by a kind
// that is used up and of which nobody has more for its weight, except by its Min.
func TestPropFillHasBottlenecks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]int64{6, 60, 1 << 30, math.MaxInt64}).Draw(t, "size")
		in := genInstance(t, limits{claims: 6, capacity: size, demand: max(5, size/8), min: 2, max: 12, empty: true})
		for i := range in.claims {
			in.claims[i].Weight = math.Ldexp(rapid.Float64Range(.5, 1).Draw(t, "fraction"), rapid.SampledFrom([]int{-199, -40, 0, 40, 200}).Draw(t, "exponent"))
		}
		checkBottlenecks(t, in)
	})
}

const bottleneckTolerance = 1e-12

func checkBottlenecks(t fatal, in instance) {
	filling := in.fill(t)
	used := make([]float64, len(in.capacity))
	for i, claim := range in.claims {
		for k, q := range claim.Demand {
			used[k] += filling.Claims[i].Containers * float64(q)
		}
	}
	for k, c := range in.capacity {
		if used[k] > float64(c)*(1+bottleneckTolerance) {
			t.Fatalf("%.17g of kind %d are used, capacity %d", used[k], k, c)
		}
	}
	for _, got := range filling.Claims {
		k := got.StoppedBy.Kind
		if got.StoppedBy.Cause != drf.Exhausted {
			continue
		}
		if used[k] < float64(in.capacity[k])*(1-bottleneckTolerance) {
			t.Fatalf("%s is stopped by kind %d, of which %.17g of %d are used", got.ID, k, used[k], in.capacity[k])
		}
		for j, other := range filling.Claims {
			atMin := filling.ShortOf < 0 && other.Containers <= float64(in.claims[j].Min)
			if level := other.Share / in.claims[j].Weight; in.claims[j].Demand[k] > 0 && !atMin && level > got.Level*(1+bottleneckTolerance) {
				t.Fatalf("%s is stopped at level %g by kind %d, of which %s has some at level %g", got.ID, got.Level, k, other.ID, level)
			}
		}
	}
}

// More containers than could ever be handed out one by one.
func TestFillWholeHuge(t *testing.T) {
	claims := []drf.Claim{
		{ID: "a", Demand: apportion.Resources{1, 0}, Weight: 1, Max: drf.NoMax},
		{ID: "b", Demand: apportion.Resources{2, 3}, Weight: 2, Max: drf.NoMax, Min: 5},
		{ID: "c", Demand: apportion.Resources{1, 1}, Weight: 1e12, Max: 1 << 40},
	}
	capacity := apportion.Resources{1 << 60, 1 << 59}
	filling := must.Have(drf.FillWhole(capacity, claims, nil))(t)
	divisible := must.Have(drf.Fill(capacity, claims))(t)
	for i, got := range filling.Claims {
		if want := divisible.Claims[i].Containers; math.Abs(float64(got.Containers)-want) > 2+1e-12*want {
			t.Errorf("%s has %d containers, divisible ones would be %.17g", got.ID, got.Containers, want)
		}
	}
	report, err := drf.Verify(capacity, claims, containers(filling))
	if err != nil || !report.Holds(drf.WithinCapacity) || !report.Holds(drf.ParetoEfficient) || !report.Holds(drf.WithinBounds) {
		t.Errorf("%v, %v", report, err)
	}
}
