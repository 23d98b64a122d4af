// This file draws the vectors of shares, decisions and plans.

package main

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/problemtest"
	"github.com/apportion/apportion/drf"
)

// pool is the question of a vector of shares.
type pool struct {
	Capacity apportion.Resources `json:"capacity"`
	Claims   []drf.Claim         `json:"claims"`
	Whole    bool                `json:"whole"`
}

// filled is what a claim gets.
type filled struct {
	Containers any     `json:"containers"`
	Share      float64 `json:"share"`
}

// random is the source of all draws of a kind.
func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// shares are the example of [Ghodsi11] and random pools, with weights, bounds and demands of zero.
func shares() ([]vector, error) {
	r := random(1)
	pools := []pool{{apportion.Resources{9, 18}, []drf.Claim{
		{ID: "A", Demand: apportion.Resources{1, 4}, Weight: 1, Max: drf.NoMax}, {ID: "B", Demand: apportion.Resources{3, 1}, Weight: 1, Max: drf.NoMax}}, false}}
	for range 30 {
		p := pool{Capacity: apportion.Resources{10 + r.Int64N(90), 10 + r.Int64N(90), 10 + r.Int64N(90)}}
		for i := range 2 + r.IntN(5) {
			c := drf.Claim{ID: fmt.Sprint("c", i), Weight: float64(1 + r.IntN(4)), Max: 1 + r.Int64N(30),
				Demand: apportion.Resources{1 + r.Int64N(4), r.Int64N(4), r.Int64N(4)}}
			p.Claims = append(p.Claims, c)
		}
		pools = append(pools, p)
	}
	var vectors []vector
	for i, p := range pools {
		for _, whole := range []bool{false, true} {
			p.Whole = whole
			answer, err := fill(p)
			if err != nil {
				return nil, err
			}
			vectors = append(vectors, vector{fmt.Sprintf("%d, whole %t", i, whole), p, answer})
		}
	}
	return vectors, nil
}

func fill(p pool) (answer []filled, err error) {
	if p.Whole {
		filling, err := drf.FillWhole(p.Capacity, p.Claims, nil)
		if err != nil {
			return nil, err
		}
		for _, c := range filling.Claims {
			answer = append(answer, filled{c.Containers, c.Share})
		}
		return answer, nil
	}
	filling, err := drf.Fill(p.Capacity, p.Claims)
	if err != nil {
		return nil, err
	}
	for _, c := range filling.Claims {
		answer = append(answer, filled{c.Containers, c.Share})
	}
	return answer, nil
}

// decided is the answer of a vector of decisions: all that another solver needs to state the program, and what it must find.
type decided struct {
	// Fair are the theoretical shares, in the order of applications; LossBudget and AdjustBudget the right sides of (15) and (16).
	Fair         []float64 `json:"fair"`
	LossBudget   float64   `json:"loss_budget"`
	AdjustBudget int64     `json:"adjust_budget"`
	// RestartCost is what an adjustment takes, in parts of the worth of what an application had.
	RestartCost float64 `json:"restart_cost"`
	// Best is the best value, and Bound what was proven; Allocation reaches Best, and others may as well.
	Best       float64          `json:"best"`
	Bound      float64          `json:"bound"`
	Allocation alloc.Allocation `json:"allocation"`
}

// problems are those of decisions and plans: [Dorm] Fig. 5 and small clusters of three families, empty and full.
func problems() []*alloc.Problem {
	app := func(id string, weight float64, gpu, most int64) alloc.Application {
		return alloc.Application{ID: id, Weight: weight, Form: alloc.Form{Demand: apportion.Resources{1, gpu, 8}, Min: 1, Max: most}}
	}
	list := []*alloc.Problem{{
		Kinds: apportion.Kinds{"cpu", "gpu", "memory"},
		Servers: []apportion.Server{{ID: "slave-1", Capacity: apportion.Resources{6, 2, 48}}, {ID: "slave-2", Capacity: apportion.Resources{4, 0, 32}},
			{ID: "slave-3", Capacity: apportion.Resources{4, 0, 32}}},
		Applications: []alloc.Application{app("app-1", 1, 0, 6), app("app-2", 1, 0, 8), app("app-3", 2, 1, 5)},
		Previous:     alloc.Allocation{"app-1": {"slave-1": 2, "slave-2": 4}, "app-2": {"slave-1": 4, "slave-3": 4}},
		Theta1:       0.1, Theta2: 0.1,
	}}
	for _, family := range alloctest.Families() {
		for seed := range uint64(6) {
			p := problemtest.Draw(family, seed, 3, 4+int(seed%3), seed%2 == 1)
			p.Options.RestartCost = nil // as recommended
			list = append(list, p)
		}
	}
	return list
}

// decisions are those that are proven and leave nobody out: then the program is what the input says.
func decisions() ([]vector, error) {
	var vectors []vector
	for i, p := range problems() {
		d, err := alloc.Reallocate(context.Background(), p, nil)
		if err != nil {
			return nil, err
		}
		if d.Gap != 0 || len(d.Waiting) > 0 || len(d.Suspended) > 0 || d.Metrics.Forced > 0 {
			continue
		}
		answer := decided{LossBudget: d.Metrics.LossBudget, AdjustBudget: d.Metrics.AdjustBudget, RestartCost: 1. / 8, Best: d.Objective, Bound: d.Bound, Allocation: d.Allocation}
		for _, s := range d.Shares {
			answer.Fair = append(answer.Fair, s.Theoretical)
		}
		vectors = append(vectors, vector{fmt.Sprint("cluster ", i), p, answer})
	}
	return vectors, nil
}

// change is the question of a vector of plans.
type change struct {
	Applications []string         `json:"applications"`
	Previous     alloc.Allocation `json:"previous"`
	Next         alloc.Allocation `json:"next"`
}

// plans are those of the decisions, and of random changes in which applications end, too.
func plans() ([]vector, error) {
	r := random(2)
	draw := func() alloc.Allocation {
		a := alloc.Allocation{}
		for _, id := range []string{"a", "b", "c", "d"} {
			for _, server := range []string{"s1", "s2", "s3"} {
				if r.IntN(2) == 0 {
					if a[id] == nil {
						a[id] = map[string]int64{}
					}
					a[id][server] = 1 + r.Int64N(3)
				}
			}
		}
		return a
	}
	var vectors []vector
	for i := range 20 {
		c := change{[]string{"a", "b", "c", "d"}[r.IntN(2):], draw(), draw()}
		p := &alloc.Problem{Previous: c.Previous}
		for _, id := range c.Applications {
			p.Applications = append(p.Applications, alloc.Application{ID: id})
		}
		if len(c.Applications) < 4 { // a has ended
			delete(c.Next, "a")
		}
		vectors = append(vectors, vector{fmt.Sprint("change ", i), c, alloc.NewPlan(p, c.Next).Steps})
	}
	return vectors, nil
}
