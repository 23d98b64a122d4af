// This file tests that prices and a solution to start from change how much is visited, and nothing else.

package enumerate

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/embedded/internal/lagrange"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/solver/solvertest"
	"github.com/apportion/apportion/internal/oracle/p2oracle"
)

// At any prices, from any solution, the best is that of the twin: if it is not visited it was there before.
func TestRunAgainstOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inst := instancetest.Tiny(draws(t))
		p := problem.New(inst)
		want, _ := p2oracle.Best(inst)
		if want == nil || p.Impossible() {
			t.Skip("no solution")
		}
		d := lagrange.NewDual(p, rapid.Bool().Draw(t, "coarse"))
		x := make([]float64, d.Dim())
		for c := range x {
			x[c] = rapid.Float64Range(0, 1).Draw(t, "price")
		}
		d.Evaluate(x)
		plain, _ := Run(t.Context(), d, x, nil, 1<<20)
		if diff := cmp.Diff(want, plain.Counts()); diff != "" {
			t.Fatalf("at prices (-want +got):\n%s", diff)
		}
		e, done := Run(t.Context(), d, x, want, 1<<20)
		if !done || !e.Found || !e.Ordered {
			t.Fatalf("from the best: done %v, found %v, met %v", done, e.Found, e.Ordered)
		}
		if diff := cmp.Diff(want, e.Counts()); diff != "" {
			t.Fatalf("from the best (-want +got):\n%s", diff)
		}
		if e.Nodes > plain.Nodes {
			t.Fatalf("%d nodes from the best, %d from nothing", e.Nodes, plain.Nodes)
		}
	})
}

// Nor is more visited than ceilings allow, nor less than a bound at their prices.
func TestRunBelowCeilings(t *testing.T) {
	binding := 0
	for seed := range uint64(600) {
		inst := solvertest.Grouped(solvertest.General(seed), seed)
		p := problem.New(inst)
		want, _ := p2oracle.Best(inst)
		if want == nil || p.Impossible() || len(p.Ceilings) == 0 {
			continue
		}
		binding++
		d := lagrange.NewDual(p, false)
		x := make([]float64, d.Dim())
		// With no price but theirs a bound is the closest to what the ceilings leave.
		for c := range d.CeilingPrices(x) {
			d.CeilingPrices(x)[c] = float64(1+seed%7) / 7
		}
		d.Evaluate(x)
		e, done := Run(t.Context(), d, x, nil, 1<<22)
		if diff := cmp.Diff(want, e.Counts()); !done || diff != "" {
			t.Errorf("%d: done %v (-want +got):\n%s", seed, done, diff)
		}
	}
	if binding < 50 {
		t.Errorf("only %d of the instances have ceilings that matter", binding)
	}
}

// Everything that is visited is given back: the servers are empty at the end, and so is x.
func TestEnumerationRestores(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inst := instancetest.Tiny(draws(t))
		p := problem.New(inst)
		if p.Impossible() {
			t.Skip("not reached")
		}
		e, _ := plain(t.Context(), inst, rapid.Int64Range(1, 200).Draw(t, "limit"))
		if diff := cmp.Diff(p.Capacity, e.left); diff != "" {
			t.Fatalf("left (-want +got):\n%s", diff)
		}
		for _, n := range e.x {
			if n != 0 {
				t.Fatalf("x is %v", e.x)
			}
		}
	})
}
