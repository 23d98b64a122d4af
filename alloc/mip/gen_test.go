package mip_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/solver"
)

// tinyProblem is Dorm's P2 on two servers, LR and MF running, NN new.
func tinyProblem() *alloc.Problem {
	return &alloc.Problem{
		Kinds: apportion.Kinds{"cpu", "gpu", "memory"},
		Servers: []apportion.Server{
			{ID: "s0", Capacity: apportion.Resources{4, 1, 16}},
			{ID: "s1", Capacity: apportion.Resources{4, 0, 16}},
		},
		Applications: []alloc.Application{
			{ID: "LR", Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1, 0, 2}, Min: 1, Max: 6}},
			{ID: "MF", Weight: 2, Form: alloc.Form{Demand: apportion.Resources{2, 0, 2}, Min: 1, Max: 4}},
			{ID: "NN", Weight: 4, Form: alloc.Form{Demand: apportion.Resources{1, 1, 4}, Min: 1, Max: 1}},
		},
		Previous: alloc.Allocation{"LR": {"s0": 2}, "MF": {"s0": 1, "s1": 2}},
		Theta1:   0.1,
		Theta2:   0.1,
		Options:  alloc.Options{Rule: alloc.Rule{Paper: true}},
	}
}

// wholeProblem has what the paper's problems have not: labels, a cordoned server, lists and steps of counts, limits,
// costs of adjustments, and an application that must stay.
func wholeProblem() *alloc.Problem {
	three := int64(3)
	return &alloc.Problem{
		Kinds: apportion.Kinds{"cpu", "gpu"},
		Servers: []apportion.Server{
			{ID: "g0", Capacity: apportion.Resources{8, 4}, Labels: map[string]string{"gpu": "a100"}},
			{ID: "g1", Capacity: apportion.Resources{8, 4}, Labels: map[string]string{"gpu": "v100"}},
			{ID: "c0", Capacity: apportion.Resources{16, 0}},
			{ID: "c1", Capacity: apportion.Resources{16, 0}, Cordoned: true},
		},
		Applications: []alloc.Application{
			{ID: "net", Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1, 1}, Min: 1, Max: 8, Counts: []int64{1, 2, 4, 8}}, MaxServers: 1},
			{ID: "forest", Weight: 1, Form: alloc.Form{Demand: apportion.Resources{2, 0}, Min: 2, Max: 9, Step: 2}},
			{ID: "web", Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1, 0}, Min: 2, Max: 4}, PerServer: 1, AdjustCost: &three},
			{ID: "held", Weight: 1, Form: alloc.Form{Demand: apportion.Resources{2, 0}, Min: 1, Max: 6}, Pinned: true},
			{ID: "picky", Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1, 1}, Min: 1, Max: 4,
				Requires: []apportion.Requirement{{Key: "gpu", Op: apportion.In, Values: []string{"v100"}}}}},
		},
		Previous: alloc.Allocation{"forest": {"c1": 2}, "web": {"c0": 1, "g0": 1}, "held": {"c1": 3}},
		Theta1:   .5, Theta2: .5,
	}
}

// instanceOf returns the dense form of a problem.
func instanceOf(t testing.TB, p *alloc.Problem) *solver.Instance {
	t.Helper()
	inst, _, err := p.Instance()
	if err != nil {
		t.Fatal(err)
	}
	return inst
}

// genInstance draws a P2 of one or two servers, up to three applications of up to three containers and
// up to three kinds; some run where there was room once, so that a server may hold too much of them.
func genInstance(t *rapid.T) *solver.Instance {
	kinds := rapid.IntRange(1, 3).Draw(t, "kinds")
	p := &alloc.Problem{
		Kinds:    apportion.Kinds{"cpu", "gpu", "memory"}[:kinds],
		Previous: alloc.Allocation{},
		Theta1:   rapid.SampledFrom([]float64{0, .1, .3, 1}).Draw(t, "theta1"),
		Theta2:   rapid.SampledFrom([]float64{0, .5, 1}).Draw(t, "theta2"),
		Options:  alloc.Options{Rule: alloc.Rule{Paper: true, Displace: true, NoCeil15: rapid.Bool().Draw(t, "no ceil 15")}},
	}
	for j := range rapid.IntRange(1, 2).Draw(t, "servers") {
		capacity := rapid.SliceOfN(rapid.Int64Range(0, 8), kinds, kinds).Draw(t, "capacity")
		p.Servers = append(p.Servers, apportion.Server{ID: fmt.Sprint("s", j), Capacity: capacity})
	}
	for i := range rapid.IntRange(1, 3).Draw(t, "applications") {
		demand := rapid.SliceOfN(rapid.Int64Range(0, 3), kinds, kinds).Draw(t, "demand")
		demand[0] = max(demand[0], 1)
		id, least := fmt.Sprint("a", i), rapid.Int64Range(0, 2).Draw(t, "min")
		p.Applications = append(p.Applications, alloc.Application{ID: id, Weight: rapid.SampledFrom([]float64{.5, 1, 4}).Draw(t, "weight"), Form: alloc.Form{Demand: demand,
			Min: least, Max: max(1, least) + rapid.Int64Range(0, 1).Draw(t, "max")}})
		places := map[string]int64{}
		for _, server := range []string{"s0", "s1", "gone"} {
			if rapid.IntRange(0, 3).Draw(t, "runs here") == 0 {
				places[server] = rapid.Int64Range(1, 2).Draw(t, "runs")
			}
		}
		p.Previous[id] = places
	}
	inst, _, err := p.Instance()
	if err != nil {
		t.Fatal(err)
	}
	return inst
}
