package colgen

import (
	"context"
	"math"
	"testing"

	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/embedded/internal/lagrange"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
)

// On servers that all differ the program of a cluster where nothing runs ends by its own limits, and holds no
// more columns than they say; the bound is one.
func TestBlocksEnd(t *testing.T) {
	const enough = 100_000 // looks at the context: none of these programs comes near
	for seed, size := range [][2]int{{20, 17}, {35, 51}, {50, 60}, {100, 40}, {60, 100}} {
		if testing.Short() && size[0] > 50 {
			continue
		}
		p := problem.New(alloctest.Nodes(uint64(seed), size[0], size[1], false))
		desc := lagrange.NewPriceDescent(lagrange.NewDual(p, true))
		ctx := instancetest.NewFuse(enough)
		b := CloseBlocks(ctx, desc, 0)
		if b == nil {
			t.Fatalf("%v: too large for a program", size)
		}
		t.Logf("%v: %d rows, %d pivots, %d columns, %d looks", size, b.lp.rows, b.lp.pivots, len(b.lp.cost), enough-ctx.Left)
		if ctx.Left < 0 {
			t.Errorf("%v: it does not end", size)
		}
		if most := columnsPerRow*b.lp.rows + len(p.Types); len(b.lp.cost) > most || cap(b.lp.cost) > 2*most {
			t.Errorf("%v: %d columns in room for %d, want at most %d", size, len(b.lp.cost), cap(b.lp.cost), most)
		}
		if b.lp.pivots > pivotsPerRow*b.lp.rows {
			t.Errorf("%v: %d pivots for %d rows", size, b.lp.pivots, b.lp.rows)
		}
	}
}

// A program that runs out of pivots says so, and rounds end there: what more it would add changes nothing.
func TestPivotsRunOut(t *testing.T) {
	p := problem.New(alloctest.Nodes(1, 30, 30, false))
	desc := lagrange.NewPriceDescent(lagrange.NewDual(p, true))
	b := &blocks{d: desc.F.(*lagrange.Dual), row: make([]int, len(desc.Scale)-1), chose: make([]float64, len(desc.Scale))}
	if !b.open() {
		t.Fatal("too large")
	}
	b.lp.most = 3
	for range 4 {
		b.price(desc)
		if b.lp.optimize() {
			t.Fatal("three pivots were enough")
		}
	}
	if b.lp.pivots != 3 {
		t.Errorf("%d pivots, want 3", b.lp.pivots)
	}
	ctx := instancetest.NewFuse(100)
	if b.run(ctx, desc, 0); ctx.Left != 99 {
		t.Errorf("%d rounds, want one", 100-ctx.Left)
	}
}

// What a program forgets is not in its solution, and does not change it.
func TestForget(t *testing.T) {
	p := problem.New(alloctest.Nodes(2, 12, 30, false))
	desc := lagrange.NewPriceDescent(lagrange.NewDual(p, true))
	b := CloseBlocks(context.Background(), desc, 0)
	before, columns := b.lp.objective(), len(b.lp.cost)
	dual := append([]float64(nil), b.lp.dual...)
	b.lp.forget(10)
	if len(b.lp.cost) != min(columns, b.lp.rows+10) || math.Abs(b.lp.objective()-before) > 1e-12 {
		t.Errorf("%d of %d columns, worth %g, were worth %g", len(b.lp.cost), columns, b.lp.objective(), before)
	}
	if b.lp.refreshDuals(); !near(b.lp.dual, dual) {
		t.Errorf("prices %v, were %v", b.lp.dual, dual)
	}
	if !b.lp.optimize() || math.Abs(b.lp.objective()-before) > 1e-9 {
		t.Errorf("worth %g, was %g", b.lp.objective(), before)
	}
}

// near reports whether two vectors are equal but for rounding.
func near(a, b []float64) bool {
	for at := range a {
		if math.Abs(a[at]-b[at]) > 1e-6 {
			return false
		}
	}
	return true
}
