package embedded

import (
	"context"
	"flag"
	"fmt"
	rand "math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/solver"
)

var studied = flag.Int("study", 40, "how many random instances BenchmarkStudy looks at")

// studyInstance draws an instance of up to 50 servers and 60 applications: half of them with a previous
// allocation, half mixed, with budgets from nothing to everything.
func studyInstance(seed uint64) *solver.Instance {
	r := rand.New(rand.NewPCG(seed, 77))
	generate := alloctest.Table2
	if seed/2%2 == 1 {
		generate = alloctest.Mixed
	}
	inst := generate(seed, 5+r.IntN(46), 8+r.IntN(53), seed%2 == 1)
	inst.LossBudget *= []float64{0.5, 1, 1, 2, 4}[r.IntN(5)]
	inst.AdjustBudget = int64(float64(len(inst.Apps)) * []float64{0, 0.05, 0.1, 0.1, 0.2, 1}[r.IntN(6)])
	return inst
}

// study is how an effort did on one kind of instance.
type study struct {
	short         []float64 // by how much of the best known each fell short
	millis, gap   []float64
	proven, empty int // empty: no solution found where one is known
}

// within returns the share of instances that fall short by at most part.
func (s *study) within(part float64) float64 {
	n := 0
	for _, short := range s.short {
		if short <= part {
			n++
		}
	}
	return float64(n) / float64(len(s.short)+s.empty)
}

func (s *study) String() string {
	slices.Sort(s.short)
	slices.Sort(s.millis)
	slices.Sort(s.gap)
	at := func(x []float64, q float64) float64 { return x[int(q*float64(len(x)-1))] }
	return fmt.Sprintf("within 0.1 %%: %5.1f %%  0.5 %%: %5.1f %%  1 %%: %5.1f %%  worst %.2f %%  none %d  proven %5.1f %%  gap median %.3f %% p90 %.3f %%  ms median %.2f p99 %.1f",
		100*s.within(0.001), 100*s.within(0.005), 100*s.within(0.01), 100*at(s.short, 1), s.empty,
		100*float64(s.proven)/float64(len(s.short)), 100*at(s.gap, 0.5), 100*at(s.gap, 0.9), at(s.millis, 0.5), at(s.millis, 0.99))
}

// BenchmarkStudy compares efforts on random instances and prints a table; run it with
//
//	go test -run NONE -bench Study -benchtime 1x -v -study 500
//
// It fails on an answer that is no solution, and on a bound below what another effort attains.
func BenchmarkStudy(b *testing.B) {
	efforts := []Effort{Quick, Default, Thorough}
	names := []string{"quick", "default", "thorough"}
	kinds := []string{"table2/fresh", "table2/previous", "mixed/fresh", "mixed/previous"}
	for b.Loop() {
		table := make([][]study, len(kinds))
		for k := range table {
			table[k] = make([]study, len(efforts))
		}
		infeasible := 0
		for seed := range uint64(*studied) {
			inst := studyInstance(seed)
			var sols [3]*solver.Solution
			var millis [3]float64
			best := 0.0
			for e, effort := range efforts {
				start := time.Now()
				sols[e] = solve(b, &Options{Effort: effort}, inst)
				millis[e] = float64(time.Since(start).Microseconds()) / 1000
				best = max(best, sols[e].Objective)
			}
			if best == 0 {
				infeasible++
				continue
			}
			for e, sol := range sols {
				if sol.Bound < best-solver.ObjectiveTolerance || sol.Status.HasSolution() && inst.Check(sol.Counts) != nil {
					b.Errorf("seed %d, %s: bound %g, best %g, check %v", seed, names[e], sol.Bound, best, inst.Check(sol.Counts))
				}
				row := &table[seed%4][e]
				if !sol.Status.HasSolution() {
					row.empty++
					continue
				}
				row.short = append(row.short, 1-sol.Objective/best)
				row.millis, row.gap = append(row.millis, millis[e]), append(row.gap, sol.Gap())
				if sol.Status == solver.Optimal {
					row.proven++
				}
			}
		}
		for k, kind := range kinds {
			for e := range efforts {
				if len(table[k][e].short) > 0 {
					b.Logf("%-16s %-8s %v", kind, names[e], &table[k][e])
				}
			}
		}
		b.Logf("%d of %d have no solution", infeasible, *studied)
	}
}

// The budget is of steps, not of time: a context without an end changes nothing about an answer.
func TestStudyInstances(t *testing.T) {
	for seed := range uint64(8) {
		inst := studyInstance(seed)
		if err := inst.Validate(); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		got, err := New(&Options{Effort: 2}).Solve(ctx, inst)
		cancel()
		if want := solve(t, &Options{Effort: 2}, inst); err != nil || got.Objective != want.Objective || got.Effort != want.Effort {
			t.Errorf("seed %d: %v, %g after %d steps; want %g after %d", seed, err, got.Objective, got.Effort, want.Objective, want.Effort)
		}
	}
}
