package embedded

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/solver"
)

// The prices by server prove more than those by shape, and the bound only comes down.
func TestRootComesDown(t *testing.T) {
	for seed := range uint64(5) {
		for _, inst := range []*solver.Instance{alloctest.Table2(seed, 12, 15, true), alloctest.Mixed(seed, 12, 15, true)} {
			p := newProblem(inst)
			r := newRoot(context.Background(), p, Default, 2)
			coarse := r.bound()
			r.refine()
			if r.bound() > coarse {
				t.Errorf("seed %d: %g by shape, %g to start with by server", seed, coarse, r.bound())
			}
			r.improve(context.Background(), 2)
			if r.bound() > coarse || r.taken() > 2*mostRounds || r.taken() <= 0 {
				t.Errorf("seed %d: from %g to %g in %d rounds", seed, coarse, r.bound(), r.taken())
			}
			if at := r.d.evaluate(r.descent.best); math.Abs(at-r.descent.bound) > 1e-12 {
				t.Errorf("seed %d: bound %.15g, its prices give %.15g", seed, r.descent.bound, at)
			}
		}
	}
}

// Classes: servers without lodgers that hold as much of each type are one, one with lodgers is alone, coarse
// ones go by what they hold only; together they are all servers.
func TestDualClasses(t *testing.T) {
	inst := alloctest.Table2(1, 8, 3, true)
	for i := range inst.Apps {
		inst.Apps[i].Running, inst.Apps[i].Previous = false, nil
	}
	inst.Apps[0].Running = true
	inst.Apps[0].Previous = []apportion.Placement{{Server: 3, Count: 1}}
	inst.Apps[1].Demand = apportion.Resources{4, 1, 32}
	p := newProblem(finish(inst))
	for coarse, want := range map[bool]int{true: 2, false: 3} {
		d := newDual(p, coarse)
		var servers int64
		for _, size := range d.size {
			servers += size
		}
		if len(d.size) != want || servers != 8 {
			t.Errorf("coarse %v: classes %v, want %d of 8 servers", coarse, d.size, want)
		}
		if alone := d.size[d.classOf[3]] == 1; alone == coarse {
			t.Errorf("coarse %v: the server with a lodger is alone: %v", coarse, alone)
		}
	}
}

// Steps come in the order of profit, hold what the classes hold, and end where nothing is gained.
func TestDualSteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newProblem(alloctest.Mixed(rapid.Uint64Range(0, 100).Draw(t, "seed"), 10, 8, false))
		d := newDual(p, true)
		x := make([]float64, d.dim())
		for gk := range d.have {
			x[gk] = rapid.Float64Range(0, 0.01).Draw(t, "price")
		}
		x[d.dim()-1] = rapid.Float64Range(0, 1).Draw(t, "lambda")
		d.evaluate(x)
		for typ := range p.types {
			var end int64
			var filled float64
			for s, st := range d.steps[typ] {
				if s > 0 && st.profit > d.steps[typ][s-1].profit {
					t.Fatalf("type %d: profit rises at step %d", typ, s)
				}
				holds := d.size[st.class] * p.fits[int(d.shape[st.class])*len(p.types)+typ]
				if n := st.end - end; n < 1 || n > holds {
					t.Fatalf("type %d: step %d has %d, the class holds %d", typ, s, n, holds)
				}
				filled += float64(st.end-end) * st.profit
				end = st.end
				if math.Abs(filled-st.filled) > 1e-9 || math.Abs(fill(d.steps[typ], end)-filled) > 1e-9 {
					t.Fatalf("type %d: filled %g, want %g", typ, st.filled, filled)
				}
			}
		}
	})
}

// The preference is an order: compare is antisymmetric and finds the first level that differs.
func TestRankCompare(t *testing.T) {
	ranks := []rank{ // from best to worst
		{2, 0.5, 1, 3}, {2, 0.5, 1, 4}, {2, 0.5, 2, 0}, {2, 0.6, 0, 0}, {1.9, 0, 0, 0}, {1.9, 0.1, 0, 0},
	}
	for a := range ranks {
		for b := range ranks {
			if got, want := ranks[a].compare(&ranks[b]), a-b; (got > 0) != (want > 0) || (got < 0) != (want < 0) {
				t.Errorf("compare(%v, %v) = %d", ranks[a], ranks[b], got)
			}
		}
	}
	near := rank{2 + solver.ObjectiveTolerance/2, 0.5 - solver.LossTolerance/2, 1, 3}
	if near.compare(&ranks[0]) != 0 {
		t.Error("rounding decides")
	}
}

// Enumeration stops at its limit and at the end of the context, and then proves nothing.
func TestEnumerationStops(t *testing.T) {
	inst := alloctest.Table2(1, 4, 5, false)
	if e, done := enumeratePlain(context.Background(), inst, 5000); done || e.nodes != 5001 {
		t.Errorf("done %v after %d nodes", done, e.nodes)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if e, done := enumeratePlain(ctx, inst, 1<<40); done || e.nodes > lookEvery {
		t.Errorf("done %v after %d nodes", done, e.nodes)
	}
}
