// This file generates inputs for the properties.

package drf_test

import (
	"fmt"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/oracle/drforacle"
)

// instance is one cluster and its claims.
type instance struct {
	capacity apportion.Resources
	claims   []drf.Claim
}

// limits bounds what genInstance draws.
type limits struct {
	claims   int
	capacity int64
	demand   int64
	min      int64 // 0: no minima
	max      int64 // 0: no maxima
	empty    bool  // kinds with capacity zero may occur
}

func genInstance(t *rapid.T, l limits) instance {
	kinds := rapid.IntRange(1, 4).Draw(t, "kinds")
	low := int64(1)
	if l.empty {
		low = 0
	}
	in := instance{capacity: rapid.SliceOfN(rapid.Int64Range(low, l.capacity), kinds, kinds).Draw(t, "capacity")}
	n := rapid.IntRange(1, l.claims).Draw(t, "claims")
	for i := range n {
		claim := drf.Claim{
			ID:     fmt.Sprintf("claim-%d", (i*7+3)%n*n+i), // the order of IDs is not that of the list
			Demand: genDemand(t, kinds, l.demand),
			Weight: rapid.OneOf(rapid.SampledFrom([]float64{1, 2, 3, .5, .1, 1e-12, 1e12}), rapid.Float64Range(.01, 100)).Draw(t, "weight"),
			Max:    drf.NoMax,
		}
		if l.min > 0 {
			claim.Min = rapid.Int64Range(0, l.min).Draw(t, "min")
		}
		if l.max > 0 && rapid.Bool().Draw(t, "capped") {
			claim.Max = claim.Min + rapid.Int64Range(0, l.max).Draw(t, "max")
		}
		in.claims = append(in.claims, claim)
	}
	return in
}

func genDemand(t *rapid.T, kinds int, most int64) apportion.Resources {
	demand := apportion.Resources(rapid.SliceOfN(rapid.Int64Range(0, most), kinds, kinds).Draw(t, "demand"))
	if demand.IsZero() {
		demand[rapid.IntRange(0, kinds-1).Draw(t, "kind")] = 1
	}
	return demand
}

// twin returns the claims as the oracle takes them.
func (in instance) twin() []drforacle.Claim {
	claims := make([]drforacle.Claim, len(in.claims))
	for i, c := range in.claims {
		claims[i] = drforacle.Claim{ID: c.ID, Demand: c.Demand, Weight: c.Weight, Min: c.Min, Max: c.Max}
	}
	return claims
}

// fill and whole fill an instance that is known to be valid.
func (in instance) fill(t fatal) *drf.Filling[float64] {
	return must.Have(drf.Fill(in.capacity, in.claims))(t)
}

func (in instance) whole(t fatal, options *drf.WholeOptions) *drf.Filling[int64] {
	return must.Have(drf.FillWhole(in.capacity, in.claims, options))(t)
}

func (in instance) verify(t fatal, containers []float64) drf.Report {
	return must.Have(drf.Verify(in.capacity, in.claims, containers))(t)
}

// fatal is what a test, a benchmark and a property have in common.
type fatal interface {
	must.TB
	Fatalf(string, ...any)
}

// containers returns the number of containers of each claim.
func containers[N drf.Amount](filling *drf.Filling[N]) []N {
	counts := make([]N, len(filling.Claims))
	for i := range filling.Claims {
		counts[i] = filling.Claims[i].Containers
	}
	return counts
}
