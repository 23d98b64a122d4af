package embedded

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/solver"
)

// generators draw instances by servers and applications.
var generators = []struct {
	name     string
	generate func(seed uint64, servers, apps int, previous bool) *solver.Instance
}{
	{"table2", alloctest.Table2}, {"mixed", alloctest.Mixed}, {"nodes", alloctest.Nodes},
	{"sized", func(seed uint64, servers, apps int, previous bool) *solver.Instance {
		return alloctest.Sized(seed, alloctest.Size{Servers: servers, Apps: apps, Kinds: 6, Demands: apps}, previous)
	}},
}

// peakHeap returns the largest heap that was seen while f ran, with the garbage collector at its keenest.
func peakHeap(f func()) uint64 {
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	runtime.GC()
	live := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	read := func() uint64 {
		metrics.Read(live)
		return live[0].Value.Uint64()
	}
	before, peak := read(), uint64(0)
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	for {
		peak = max(peak, read())
		select {
		case <-done:
			return peak - min(peak, before)
		case <-time.After(time.Millisecond):
		}
	}
}

// On servers that all differ the program of a cluster where nothing runs ends by its own limits, and holds no
// more columns than they say; the bound is one.
func TestBlocksEnd(t *testing.T) {
	const enough = 100_000 // looks at the context: none of these programs comes near
	for seed, size := range [][2]int{{20, 17}, {35, 51}, {50, 60}, {100, 40}, {60, 100}} {
		if testing.Short() && size[0] > 50 {
			continue
		}
		p := newProblem(alloctest.Nodes(uint64(seed), size[0], size[1], false))
		desc := newPriceDescent(newDual(p, true))
		ctx := newFuse(enough)
		b := closeBlocks(ctx, desc, 0)
		if b == nil {
			t.Fatalf("%v: too large for a program", size)
		}
		t.Logf("%v: %d rows, %d pivots, %d columns, %d looks", size, b.lp.rows, b.lp.pivots, len(b.lp.cost), enough-ctx.left)
		if ctx.left < 0 {
			t.Errorf("%v: it does not end", size)
		}
		if most := columnsPerRow*b.lp.rows + len(p.types); len(b.lp.cost) > most || cap(b.lp.cost) > 2*most {
			t.Errorf("%v: %d columns in room for %d, want at most %d", size, len(b.lp.cost), cap(b.lp.cost), most)
		}
		if b.lp.pivots > pivotsPerRow*b.lp.rows {
			t.Errorf("%v: %d pivots for %d rows", size, b.lp.pivots, b.lp.rows)
		}
	}
}

// A program that runs out of pivots says so, and rounds end there: what more it would add changes nothing.
func TestPivotsRunOut(t *testing.T) {
	p := newProblem(alloctest.Nodes(1, 30, 30, false))
	desc := newPriceDescent(newDual(p, true))
	b := &blocks{d: desc.f.(*dual), row: make([]int, len(desc.scale)-1), chose: make([]float64, len(desc.scale))}
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
	ctx := newFuse(100)
	if b.run(ctx, desc, 0); ctx.left != 99 {
		t.Errorf("%d rounds, want one", 100-ctx.left)
	}
}

// What a program forgets is not in its solution, and does not change it.
func TestForget(t *testing.T) {
	p := newProblem(alloctest.Nodes(2, 12, 30, false))
	desc := newPriceDescent(newDual(p, true))
	b := closeBlocks(context.Background(), desc, 0)
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

// The judgements remembered are bounded in bytes.
func TestSeenIsBounded(t *testing.T) {
	l := newAnswers(newProblem(alloctest.Table2(1, 2, 3, false)))
	const size = 1 << 16
	for n := range 2 * mostSeenBytes / size {
		l.note(fmt.Sprintf("%0*d", size, n), judgement{})
		if held := len(l.seen) * size; held > mostSeenBytes {
			t.Fatalf("%d bytes after %d judgements", held, n)
		}
	}
	if len(l.seen) == 0 {
		t.Error("nothing is remembered")
	}
}

// Servers so different that a program over their classes would have too many rows have no lists: each of
// these holds another number of containers.
func TestSplitIsBounded(t *testing.T) {
	for servers, want := range map[int]bool{mostRows - 3: true, mostRows - 2: false} {
		inst := crowd(servers, 1, 1, 1, 0)
		for j := range inst.Capacity {
			inst.Capacity[j][0] = int64(1 + j)
		}
		if got := newSplit(newProblem(finish(inst)), mostPatterns) != nil; got != want {
			t.Errorf("%d classes: lists %v, want %v", servers, got, want)
		}
	}
	if newSplit(newProblem(alloctest.Table2(1, 1000, 500, true)), mostPatterns) == nil {
		t.Error("the paper's servers have none")
	}
}

// recorded returns a decision of the paper's evaluation.
func recorded(name string) *solver.Instance {
	data, err := os.ReadFile("testdata/" + name + ".json")
	inst := &solver.Instance{}
	if err != nil || json.Unmarshal(data, inst) != nil {
		panic(name)
	}
	return inst
}

// Servers that hold as much of each type are one shape, however they differ in what nobody can use.
func TestShapes(t *testing.T) {
	inst := worked(lr(0.5), nn(0.5))
	inst.Capacity = append(inst.Capacity, apportion.Resources{4, 0, 17}, apportion.Resources{4, 0, 7}, apportion.Resources{4, 0, 17})
	p := newProblem(finish(inst))
	if diff := cmp.Diff([]int32{0, 1, 1, 2, 1}, p.shapeOf); diff != "" || p.shapes != 3 || len(p.fits) != 3*len(p.types) {
		t.Errorf("%d shapes, %d fits (-want +got):\n%s", p.shapes, len(p.fits), diff)
	}
	for j := range inst.Capacity {
		for at := range p.types {
			if want := apportion.Resources(p.demandOf(int32(at))).CountIn(inst.Capacity[j]); p.fit(j, int32(at)) != want {
				t.Errorf("server %d holds %d of type %d, want %d", j, p.fit(j, int32(at)), at, want)
			}
		}
	}
}

// A tree whose nodes take all the memory they may looks at none of them.
func TestOpenIsBounded(t *testing.T) {
	tree := newTree(t.Context(), newLeaves(newSplit(newProblem(recorded("fifth")), mostPatterns)), nil)
	root := tree.open[0]
	for len(tree.open) < tree.mostOpen() {
		tree.open = append(tree.open, root)
	}
	if tree.run(t.Context(), 1, math.MaxInt64); tree.nodes != 0 {
		t.Errorf("%d nodes beyond the limit", tree.nodes)
	}
	if each := cap(root.choices) + 8*cap(root.x)/2; each*tree.mostOpen() > mostOpenBytes {
		t.Errorf("%d nodes of %d bytes", tree.mostOpen(), each)
	}
	tree.open = tree.open[:1]
	if tree.run(t.Context(), 1, math.MaxInt64); tree.nodes != 1 {
		t.Errorf("%d nodes below it", tree.nodes)
	}
}

// At any effort the states of a leaf take no more than they may.
func TestStatesAreBounded(t *testing.T) {
	for _, demands := range []int{1, 300} {
		p := newProblem(alloctest.Sized(1, alloctest.Size{Servers: 2, Apps: 400, Kinds: 5, Demands: demands}, false))
		r := &run{p: p, opts: Options{Effort: Prove}}
		if n := r.states(stateUnit); n > mostStates || n*(stateBytes+typeBytes*len(p.types)) > mostStateBytes {
			t.Errorf("%d types: %d states", len(p.types), n)
		}
	}
}

// 1,000 servers and 500 applications of which no two are equal take less than 100 MB, as doc.go promises.
func TestHeap(t *testing.T) {
	const most = 100 << 20
	if testing.Short() {
		t.Skip("takes many seconds")
	}
	for _, g := range generators {
		for _, size := range [][2]int{{10, 10}, {20, 17}, {18, 40}, {50, 60}, {125, 40}, {40, 125}, {125, 125}} {
			inst := g.generate(2, size[0], size[1], false)
			if peak := peakHeap(func() { solve(t, nil, inst) }); peak > most/2 {
				t.Errorf("%s %v: %d MB", g.name, size, peak>>20)
			}
		}
	}
	for _, previous := range []bool{false, true} {
		inst := alloctest.Nodes(1, 1000, 500, previous)
		for i := range inst.Apps {
			inst.Apps[i].Demand = inst.Apps[i].Demand.Clone()
			inst.Apps[i].Demand[2] -= int64(i)
		}
		finish(inst)
		peak := peakHeap(func() { solve(t, nil, inst) })
		t.Logf("previous %v: %d MB", previous, peak>>20)
		if peak > most {
			t.Errorf("previous %v: %d MB", previous, peak>>20)
		}
	}
}

// BenchmarkHeap prints the largest heap of a decision by size, for every generator.
func BenchmarkHeap(b *testing.B) {
	for _, g := range generators {
		for _, size := range [...][2]int{{20, 17}, {50, 60}, {125, 125}, {1000, 500}} {
			for _, previous := range []bool{false, true} {
				b.Run(fmt.Sprintf("mix=%s/servers=%d/apps=%d/previous=%v", g.name, size[0], size[1], previous), func(b *testing.B) {
					inst := g.generate(1, size[0], size[1], previous)
					var peak uint64
					var sol *solver.Solution
					for b.Loop() {
						peak = max(peak, peakHeap(func() { sol = solve(b, nil, inst) }))
					}
					b.ReportMetric(float64(peak)/(1<<20), "MB")
					b.ReportMetric(100*sol.Gap(), "gap%")
				})
			}
		}
	}
}
