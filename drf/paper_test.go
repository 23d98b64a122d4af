// This file checks the worked examples of the papers, number by number.

package drf_test

import (
	"math"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/must"
)

// near is how closely a computed number must meet one that is printed with seven digits, coarse one
// that is printed with three decimals.
const (
	near   = 1e-6
	coarse = 1e-3
)

// testbed is the cluster of [Dorm] §V-A: 240 CPUs, 5 GPUs, 2.5 TB.
var testbed = apportion.Resources{240, 5, 2560}

// tableII is one application of each type of [Dorm] Table II, with its bounds or without.
func tableII(bounds bool) []drf.Claim {
	claims := []drf.Claim{
		{ID: "LR", Demand: apportion.Resources{2, 0, 8}, Weight: 1, Min: 1, Max: 32},
		{ID: "MF", Demand: apportion.Resources{2, 0, 6}, Weight: 2, Min: 1, Max: 32},
		{ID: "CaffeNet", Demand: apportion.Resources{4, 0, 6}, Weight: 4, Min: 1, Max: 8},
		{ID: "VGG-16", Demand: apportion.Resources{4, 1, 32}, Weight: 1, Min: 1, Max: 5},
		{ID: "GoogLeNet", Demand: apportion.Resources{6, 1, 16}, Weight: 1, Min: 1, Max: 5},
		{ID: "AlexNet", Demand: apportion.Resources{6, 1, 16}, Weight: 2, Min: 1, Max: 5},
		{ID: "ResNet-50", Demand: apportion.Resources{4, 1, 32}, Weight: 4, Min: 1, Max: 5},
	}
	if !bounds {
		for i := range claims {
			claims[i].Min, claims[i].Max = 0, drf.NoMax
		}
	}
	return claims
}

func TestFillPaper(t *testing.T) {
	claim := func(id string, weight float64, demand ...int64) drf.Claim {
		return drf.Claim{ID: id, Demand: demand, Weight: weight, Max: drf.NoMax}
	}
	bounded := func(c drf.Claim, low, high int64) drf.Claim {
		c.Min, c.Max = low, high
		return c
	}
	a, b := claim("a", 1, 1, 4), claim("b", 1, 3, 1)
	flat, cpuOnly := claim("a", 1, 1, 1), claim("b", 1, 1, 0)
	for _, test := range []struct {
		name     string
		capacity apportion.Resources
		claims   []drf.Claim
		counts   []float64
		shares   []float64
		within   float64
	}{
		// Reference: [Ghodsi11] §4.1, figure 3: users <1 CPU, 4 GB> and <3 CPU, 1 GB>.
		{"figure 3", apportion.Resources{9, 18}, []drf.Claim{a, b}, []float64{3, 2}, []float64{2. / 3, 2. / 3}, near},
		// Reference: [Ghodsi11] §4.3, weights 1 and 2 on the same users.
		{"weights", apportion.Resources{9, 18}, []drf.Claim{a, claim("b", 2, 3, 1)}, []float64{1.8, 2.4}, []float64{.4, .8}, near},
		// Reference: [Parkes15], a demand of zero: b goes on where a could.
		{"zero demand", apportion.Resources{10, 4}, []drf.Claim{flat, cpuOnly}, []float64{2.857143, 7.142857}, []float64{.7142857, .7142857}, near},
		{"cap", apportion.Resources{10, 4}, []drf.Claim{bounded(flat, 0, 2), cpuOnly}, []float64{2, 8}, []float64{.5, .8}, near},
		{"floor", apportion.Resources{10, 4}, []drf.Claim{flat, bounded(cpuOnly, 8, drf.NoMax)}, []float64{2, 8}, []float64{.5, .8}, near},
		// Reference: [Dorm] §V-A: the testbed, one application of each type of Table II.
		{"Table II", testbed, tableII(true), []float64{32, 32, 8, 1, 1, 1, 2}, []float64{.2666667, .2666667, .1333333, .2, .2, .2, .4}, near},
		{
			"Table II without bounds", testbed, tableII(false),
			[]float64{15.446, 30.893, 30.893, .625, .625, 1.25, 2.5},
			[]float64{.128720, .257440, .514881, .125, .125, .25, .5}, coarse,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			filling := must.Have(drf.Fill(test.capacity, test.claims))(t)
			for i, got := range filling.Claims {
				if d := math.Abs(got.Containers - test.counts[i]); d > test.within {
					t.Errorf("%s has %.8g containers, want %.8g", got.ID, got.Containers, test.counts[i])
				}
				if d := math.Abs(got.Share - test.shares[i]); d > near {
					t.Errorf("%s has share %.8g, want %.8g", got.ID, got.Share, test.shares[i])
				}
			}
		})
	}
}

// Reference: [Ghodsi11] Algorithm 1 on figure 3, with the ties of table 1: b first, then a, a, b,
// a. The IDs are chosen so that b precedes.
func TestFillWholePaper(t *testing.T) {
	claims := []drf.Claim{
		{ID: "user-2", Demand: apportion.Resources{1, 4}, Weight: 1, Max: drf.NoMax},
		{ID: "user-1", Demand: apportion.Resources{3, 1}, Weight: 1, Max: drf.NoMax},
	}
	for _, stop := range []bool{false, true} {
		filling := must.Have(drf.FillWhole(apportion.Resources{9, 18}, claims, &drf.WholeOptions{StopAtFirst: stop}))(t)
		if got := [2]int64{filling.Claims[0].Containers, filling.Claims[1].Containers}; got != [2]int64{3, 2} {
			t.Errorf("StopAtFirst %v: containers %v, want [3 2]", stop, got)
		}
	}
}

func TestSorterPaper(t *testing.T) {
	sorter := newSorter(t, 9, 18)
	demand := map[string]apportion.Resources{"user-2": {1, 4}, "user-1": {3, 1}}
	for id := range demand {
		must.Have(sorter.Add(drf.Claim{ID: id, Weight: 1}))(t)
	}
	// Reference: [Ghodsi11] §4.1, table 1: the schedule and both dominant shares after each row.
	for row, want := range []struct {
		id            string
		first, second float64
	}{{"user-1", 1. / 3, 0}, {"user-2", 1. / 3, 2. / 9}, {"user-2", 1. / 3, 4. / 9}, {"user-1", 2. / 3, 4. / 9}, {"user-2", 2. / 3, 2. / 3}} {
		next := sorter.Next()
		must.Equal(t, next.ID(), want.id, "row", row, "next")
		must.Do(t, sorter.Allocate(next, demand[next.ID()]))
		first, _ := sorter.Lookup("user-1").Share()
		second, _ := sorter.Lookup("user-2").Share()
		if math.Abs(first-want.first) > near || math.Abs(second-want.second) > near {
			t.Errorf("row %d: shares %.6g and %.6g, want %.6g and %.6g", row, first, second, want.first, want.second)
		}
	}
}
