package alloc_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/solver"
)

// Each constraint that can stop LR on the tiny cluster, in answers that a fake solver gives.
func TestExplainStops(t *testing.T) {
	prices := &solver.Multipliers{Server: [][]float64{{.1, .5, .01}, {.2, 0, .01}}, Loss: .3, Adjust: .25}
	for _, c := range []struct {
		name       string
		theta1     float64
		previous   alloc.Allocation
		apps       []string
		counts     solver.Counts
		stopped    string // the application looked at
		constraint solver.Constraint
		kind       string
		price      float64
		text       string
	}{
		{"its maximum", 1, nil, []string{"LR"}, solver.Counts{{{Server: 0, Count: 4}, {Server: 1, Count: 2}}},
			"LR", alloc.Maximum, "", 0, "maximum of 6"},
		{"capacity, the cheapest server counts", 1, nil, []string{"LR", "MF"},
			solver.Counts{{{Server: 0, Count: 2}}, {{Server: 0, Count: 1}, {Server: 1, Count: 2}}},
			"LR", solver.Capacity, "cpu", .1 + .02, "Both servers have no cpu free"},
		{"of two kinds that are short the dearer", 1, nil, []string{"LR", "MF", "NN"},
			solver.Counts{{{Server: 0, Count: 1}}, {{Server: 0, Count: 1}, {Server: 1, Count: 2}}, {{Server: 0, Count: 1}}},
			"NN", alloc.Maximum, "", 0, "maximum of 1"},
		{"the adjustment budget", 1, alloc.Allocation{"LR": {"s0": 2}, "MF": {"s1": 1}}, []string{"LR", "MF"},
			solver.Counts{{{Server: 0, Count: 2}}, {{Server: 1, Count: 2}}},
			"LR", solver.Adjust, "", .25, "the budget is 1, used 1"},
		{"the fairness budget", 0.01, nil, []string{"LR"}, solver.Counts{{{Server: 0, Count: 2}, {Server: 1, Count: 3}}},
			"LR", "", "", 0, "the search ended"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := tiny(c.previous, c.apps...)
			p.Theta1 = c.theta1
			answer := answering{c.counts, prices}
			d, err := recorded(t, context.Background(), p, answer)
			if err != nil || d.Status != alloc.Decided {
				t.Fatalf("%v, %+v", err, d)
			}
			for _, s := range explain(t, p, d).Applications {
				if s.ID != c.stopped {
					continue
				}
				if s.Constraint != c.constraint || s.Kind != c.kind || math.Abs(s.Price-c.price) > 1e-12 || !strings.Contains(s.Text, c.text) {
					t.Errorf("%+v, want %q in %q at %g: %q", s, c.constraint, c.kind, c.price, c.text)
				}
			}
		})
	}
}

// LR may exceed its share by no more than the loss budget.
func TestExplainFairness(t *testing.T) {
	p := tiny(nil, "LR", "MF")
	p.Options.NoCeil15 = true
	p.Theta1 = .26 / 6
	p.Applications[0].Weight, p.Applications[1].Weight = 1, 2
	p.Applications[0].Max, p.Applications[1].Max = 6, 2
	// Shares: MF is capped at 2 of 4 containers, 0.5; LR has the other 4 CPUs, 0.5.
	d, err := recorded(t, context.Background(), p, answering{
		solver.Counts{{{Server: 0, Count: 4}}, {{Server: 1, Count: 1}}}, &solver.Multipliers{Server: [][]float64{{0, 0, 0}, {0, 0, 0}}, Loss: 2},
	})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "loss", d.Metrics.FairnessLoss, .25)
	s := explain(t, p, d).Applications[0]
	if s.Constraint != solver.Fairness || !strings.Contains(s.Text, "0.375 of 0.26") {
		t.Errorf("%+v, want stopped by %s", s, solver.Fairness)
	}
	near(t, "price", s.Price, 2*.125)
}

// Two kinds are short on as many servers: the dearer one is named.
func TestExplainDearer(t *testing.T) {
	p := tiny(nil, "LR", "NN")
	p.Applications[1].Max = 3
	counts := solver.Counts{{{Server: 0, Count: 3}, {Server: 1, Count: 3}}, {{Server: 0, Count: 1}}}
	for _, c := range []struct {
		cpu, gpu float64
		want     string
	}{{.1, .5, "gpu"}, {.5, .1, "cpu"}, {.5, .5, "cpu"}} {
		d, err := recorded(t, context.Background(), p, answering{counts, &solver.Multipliers{Server: [][]float64{{c.cpu, c.gpu, 0}, {0, 0, 0}}}})
		if err != nil {
			t.Fatal(err)
		}
		if s := explain(t, p, d).Applications[1]; s.Kind != c.want || math.Abs(s.Price-c.cpu-c.gpu) > 1e-12 {
			t.Errorf("at prices %g and %g: %+v, want %s", c.cpu, c.gpu, s, c.want)
		}
	}
}

// answering is a solver that knows its answer before it is asked.
type answering struct {
	counts solver.Counts
	prices *solver.Multipliers
}

func (a answering) Solve(_ context.Context, inst *solver.Instance) (*solver.Solution, error) {
	return &solver.Solution{Status: solver.Feasible, Counts: a.counts, Objective: inst.Objective(a.counts), Bound: 9, Certificate: solver.Certificate{Multipliers: a.prices}}, nil
}

func explain(t testing.TB, p *alloc.Problem, d *alloc.Decision) *alloc.Explanation {
	t.Helper()
	explanation, err := alloc.Explain(p, d)
	if err != nil {
		t.Fatal(err)
	}
	return explanation
}
