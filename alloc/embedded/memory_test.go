package embedded

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/embedded/internal/tuning"
	"github.com/apportion/apportion/alloc/solver"
)

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

// At any effort the states of a leaf take no more than they may.
func TestStatesAreBounded(t *testing.T) {
	for _, demands := range []int{1, 300} {
		p := problem.New(alloctest.Sized(1, alloctest.Size{Servers: 2, Apps: 400, Kinds: 5, Demands: demands}, false))
		r := &run{p: p, opts: Options{Effort: Prove}, tune: tuning.Standard()}
		if n := r.states(r.tune.States); n > mostStates || n*(stateBytes+typeBytes*len(p.Types)) > mostStateBytes {
			t.Errorf("%d types: %d states", len(p.Types), n)
		}
	}
}

// 1,000 servers and 500 applications of which no two are equal take less than 100 MB, as doc.go promises.
func TestHeap(t *testing.T) {
	const most = 100 << 20
	if testing.Short() {
		t.Skip("takes many seconds")
	}
	for _, g := range instancetest.Generators {
		for _, size := range [][2]int{{10, 10}, {20, 17}, {18, 40}, {50, 60}, {125, 40}, {40, 125}, {125, 125}} {
			inst := g.Generate(2, size[0], size[1], false)
			if peak := peakHeap(func() { solve(t, nil, inst) }); peak > most/2 {
				t.Errorf("%s %v: %d MB", g.Name, size, peak>>20)
			}
		}
	}
	// Nothing is like anything else, in sizes up to 125 x 125: what is kept by pairs, types or shapes is largest there.
	for _, servers := range []int{5, 18, 50, 125} {
		for _, apps := range []int{16, 57, 125} {
			inst := instancetest.Unlike(1, servers, apps, 6)
			if peak := peakHeap(func() { solve(t, nil, inst) }); peak > most/2 {
				t.Errorf("%d unlike servers, %d applications: %d MB", servers, apps, peak>>20)
			}
		}
	}
	for _, previous := range []bool{false, true} {
		inst := alloctest.Nodes(1, 1000, 500, previous)
		for i := range inst.Apps {
			inst.Apps[i].Demand = inst.Apps[i].Demand.Clone()
			inst.Apps[i].Demand[2] -= int64(i)
		}
		instancetest.Finish(inst)
		peak := peakHeap(func() { solve(t, nil, inst) })
		t.Logf("previous %v: %d MB", previous, peak>>20)
		if peak > most {
			t.Errorf("previous %v: %d MB", previous, peak>>20)
		}
	}
}

// BenchmarkHeap prints the largest heap of a decision by size, for every generator.
func BenchmarkHeap(b *testing.B) {
	for _, g := range instancetest.Generators {
		for _, size := range [...][2]int{{20, 17}, {50, 60}, {125, 125}, {1000, 500}} {
			for _, previous := range []bool{false, true} {
				b.Run(fmt.Sprintf("mix=%s/servers=%d/apps=%d/previous=%v", g.Name, size[0], size[1], previous), func(b *testing.B) {
					inst := g.Generate(1, size[0], size[1], previous)
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
