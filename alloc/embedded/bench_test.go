package embedded

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/solver"
)

// benchmark reports time, allocations, and how far bound and utilization are apart in percent.
func benchmark(b *testing.B, opts *Options, inst *solver.Instance) *solver.Solution {
	b.ReportAllocs()
	var sol *solver.Solution
	for b.Loop() {
		sol = solve(b, opts, inst)
	}
	b.ReportMetric(100*sol.Gap(), "gap%")
	return sol
}

// The reference instances at every effort: short% is by how much of the reference's utilization the
// answer falls short.
func BenchmarkSolve(b *testing.B) {
	efforts := []struct {
		name   string
		effort Effort
	}{{"quick", Quick}, {"default", Default}, {"thorough", Thorough}}
	for _, ref := range alloctest.References() {
		for _, e := range efforts {
			b.Run(fmt.Sprintf("instance=%s/effort=%s", ref.Name, e.name), func(b *testing.B) {
				sol := benchmark(b, &Options{Effort: e.effort}, ref.Instance)
				b.ReportMetric(100*(1-sol.Objective/ref.Objective), "short%")
			})
		}
	}
}

// The paper's cluster, and how time grows from there.
func BenchmarkSize(b *testing.B) {
	mixes := []struct {
		name     string
		generate func(uint64, int, int, bool) *solver.Instance
	}{{"table2", alloctest.Table2}, {"mixed", alloctest.Mixed}}
	for _, mix := range mixes {
		for _, size := range [...][2]int{{20, 50}, {100, 100}, {1000, 500}, {10_000, 5000}} {
			if mix.name == "mixed" && size[0] > 1000 {
				continue
			}
			for _, previous := range []bool{false, true} {
				name := fmt.Sprintf("mix=%s/servers=%d/apps=%d/previous=%v", mix.name, size[0], size[1], previous)
				b.Run(name, func(b *testing.B) {
					benchmark(b, nil, mix.generate(1, size[0], size[1], previous))
				})
			}
		}
	}
}

// Jobs that may use either of two kinds of accelerators, 16 options or more together: the mean over eight instances of the time
// of one, and of its gap.
func BenchmarkOptions(b *testing.B) {
	const seeds = 8
	for _, size := range [...][2]int{{20, 30}, {100, 100}} {
		for _, previous := range []bool{false, true} {
			b.Run(fmt.Sprintf("servers=%d/apps=%d/previous=%v", size[0], size[1], previous), func(b *testing.B) {
				b.ReportAllocs()
				gap, n := 0.0, uint64(0)
				for b.Loop() {
					sol := solve(b, nil, alloctest.Accelerators(n%seeds, size[0], size[1], previous))
					gap, n = gap+100*sol.Gap(), n+1
				}
				b.ReportMetric(gap/float64(n), "gap%")
			})
		}
	}
}

// crowded draws 500 servers and 2,000 applications, for which there is no room: nobody has to run who does not now, and
// the loss is not limited.
func crowded(family alloctest.Family, previous bool) *solver.Instance {
	inst, _ := family.Draw(1, 500, 2000, previous)
	inst.LossBudget = float64(len(inst.Apps))
	for i := range inst.Apps {
		inst.Apps[i].Elective = !inst.Apps[i].Running
	}
	return inst
}

// Crowded clusters at Quick and at the usual effort.
func BenchmarkCrowded(b *testing.B) {
	for _, family := range alloctest.Families() {
		for _, previous := range []bool{false, true} {
			for _, effort := range []Effort{Quick, Default} {
				b.Run(fmt.Sprintf("mix=%s/previous=%v/effort=%d", family.Name, previous, effort), func(b *testing.B) {
					sol := benchmark(b, &Options{Effort: effort}, crowded(family, previous))
					b.ReportMetric(sol.Objective, "utilization")
				})
			}
		}
	}
}

// Whoever has a millisecond on a crowded cluster gets an answer soon after.
func BenchmarkHurry(b *testing.B) {
	for _, family := range alloctest.Families() {
		for _, previous := range []bool{false, true} {
			b.Run(fmt.Sprintf("mix=%s/previous=%v", family.Name, previous), func(b *testing.B) {
				inst := crowded(family, previous)
				found := 0.0
				for b.Loop() {
					ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
					sol, err := New(nil).Solve(ctx, inst)
					cancel()
					if err != nil {
						b.Fatal(err)
					}
					if found = 0; sol.Status.HasSolution() {
						found = 1
					}
				}
				b.ReportMetric(found, "found")
			})
		}
	}
}

// knapsacks are ways to draw demands of one kind that fill a server of 1,000 units by their numbers alone: each of 60
// applications may run or not.
var knapsacks = map[string]func(r *rand.Rand, inst *solver.Instance){
	"subset sums": func(r *rand.Rand, inst *solver.Instance) {
		for range 60 {
			addSack(inst, 150+r.Int64N(400), 1)
		}
	},
	// Three and three fill a server each, and nothing else does.
	"triplets": func(r *rand.Rand, inst *solver.Instance) {
		for range 20 {
			a := 251 + r.Int64N(120)
			b := 251 + r.Int64N(240)
			b = min(b, 1000-a-251)
			addSack(inst, a, 1)
			addSack(inst, b, 1)
			addSack(inst, 1000-a-b, 1)
		}
	},
	// All four containers of an application or none.
	"gangs": func(r *rand.Rand, inst *solver.Instance) {
		for range 60 {
			addSack(inst, 60+r.Int64N(200), 4)
		}
	},
}

// addSack adds an application that has n containers of that demand, or none.
func addSack(inst *solver.Instance, demand, n int64) {
	part := float64(demand) / float64(inst.Total[0])
	inst.Apps = append(inst.Apps, solver.App{Demand: apportion.Resources{demand}, Min: n, Max: n, Elective: true, Value: part, Delta: part, Cost: 1})
}

// BenchmarkKnapsacks takes 20 servers and demands that fill them by their numbers alone, eight clusters each: the mean
// time and gap.
func BenchmarkKnapsacks(b *testing.B) {
	for _, sort := range slices.Sorted(maps.Keys(knapsacks)) {
		b.Run(strings.ReplaceAll(sort, " ", "-"), func(b *testing.B) {
			const seeds = 8
			gap, n, worst := 0.0, uint64(0), time.Duration(0)
			for b.Loop() {
				inst := &solver.Instance{Total: apportion.Resources{20_000}, LossBudget: 60}
				for range 20 {
					inst.Capacity = append(inst.Capacity, apportion.Resources{1000})
				}
				knapsacks[sort](rand.New(rand.NewPCG(n%seeds, 10)), inst)
				start := time.Now()
				sol := solve(b, nil, inst)
				worst = max(worst, time.Since(start))
				gap, n = gap+100*sol.Gap(), n+1
			}
			b.ReportMetric(gap/float64(n), "gap%")
			b.ReportMetric(worst.Seconds(), "worst-s")
		})
	}
}
