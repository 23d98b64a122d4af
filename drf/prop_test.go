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
		if floors != (filling.ShortOf < 0) {
			t.Fatalf("ShortOf %d, but minima honoured is %v", filling.ShortOf, floors)
		}
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
		if floors != (filling.ShortOf < 0) {
			t.Fatalf("ShortOf %d, but minima honoured is %v", filling.ShortOf, floors)
		}
		if got := containers(filling); !slices.Equal(got, want) {
			t.Fatalf("containers %v, want %v", got, want)
		}
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
			report, err := drf.Verify(in.capacity, in.claims, containers(in.whole(t, &drf.WholeOptions{StopAtFirst: stop})))
			if err != nil {
				t.Fatal(err)
			}
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
			if a.Claims[from] != b.Claims[to] {
				t.Fatalf("%v becomes %v", a.Claims[from], b.Claims[to])
			}
			if wa.Claims[from] != wb.Claims[to] {
				t.Fatalf("whole: %v becomes %v", wa.Claims[from], wb.Claims[to])
			}
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
		drf.Explain(nil, in.claims, filling)
		in.verify(t, containers(filling))
		whole.Unused[0]++ // fresh, so capacity must not follow
		if diff := cmp.Diff(instanceView{capacity, claims}, instanceView{in.capacity, in.claims}); diff != "" {
			t.Fatal(diff)
		}
	})
}

type instanceView struct {
	Capacity apportion.Resources
	Claims   []drf.Claim
}

// Many containers for each claim, so that most are handed out by leaps.
func TestPropFillWholeLeaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := genInstance(t, limits{claims: 4, capacity: 400, demand: 5, min: 3, max: 90})
		stop := rapid.Bool().Draw(t, "stop")
		want, _ := drforacle.Whole(in.capacity, in.twin(), stop)
		if got := containers(in.whole(t, &drf.WholeOptions{StopAtFirst: stop})); !slices.Equal(got, want) {
			t.Fatalf("containers %v, want %v", got, want)
		}
	})
}

// More containers than could ever be handed out one by one.
func TestFillWholeHuge(t *testing.T) {
	claims := []drf.Claim{
		{ID: "a", Demand: apportion.Resources{1, 0}, Weight: 1, Max: drf.NoMax},
		{ID: "b", Demand: apportion.Resources{2, 3}, Weight: 2, Max: drf.NoMax, Min: 5},
		{ID: "c", Demand: apportion.Resources{1, 1}, Weight: 1e12, Max: 1 << 40},
	}
	capacity := apportion.Resources{1 << 60, 1 << 59}
	filling, err := drf.FillWhole(capacity, claims, nil)
	if err != nil {
		t.Fatal(err)
	}
	divisible, err := drf.Fill(capacity, claims)
	if err != nil {
		t.Fatal(err)
	}
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
