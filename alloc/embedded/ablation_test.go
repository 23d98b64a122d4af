package embedded

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/embedded/internal/leaf"
	"github.com/apportion/apportion/alloc/embedded/internal/pattern"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/embedded/internal/tree"
	"github.com/apportion/apportion/alloc/solver"
)

// The parts of a search that can be left out, by what the others then do without: what knows the sets of
// freed applications, and what knows containers.
var setParts = []string{"nothing", "local search", "branch and bound", "decomposition"}

var containerParts = []string{"nothing", "prices", "mending", "starts", "annealing", "branch and bound", "polish"}

// searchWithout is run.search at the usual effort without one of its parts.
func searchWithout(part string, inst *solver.Instance) *solver.Solution {
	ctx := context.Background()
	r := newRun(problem.New(inst), &Options{Effort: Default})
	do := func(name string, step func()) {
		if name != part {
			step()
		}
	}
	r.a.Construct()
	moves := r.moves()
	if s := pattern.New(r.p, pattern.MostPatterns); s != nil && part != "decomposition" {
		l := leaf.NewLeaves(s)
		r.split, l.States = s, r.states(stateUnit)
		r.tree = tree.New(ctx, l, nil)
		e := r.setEffort(s)
		switch part {
		case "local search":
			e.tries = 0
		case "branch and bound":
			e.rounds, e.work = 0, 0
		}
		r.improveSets(ctx, l, e)
		if l.Found {
			r.a.Adopt(leaf.Unpack(s, &l.Best))
		}
		r.root = newRoot(ctx, r.p, 0, r.target())
		return r.solution()
	}
	r.warmUp(ctx)
	if part == "mending" {
		r.a.Hope = 0
	}
	r.root = newRoot(ctx, r.p, r.opts.Effort, r.target())
	r.root.refine()
	r.root.improve(ctx, r.target())
	do("prices", func() { r.a.Guide(r.root.d, r.root.descent.Best) })
	starts := r.newStarts()
	switch part {
	case "annealing":
		starts.count = 0
	case "starts":
		starts.count, starts.moves = 1, int64(moves)
	}
	starts.next(ctx)
	r.root.improve(ctx, r.target())
	for starts.next(ctx) {
	}
	do("branch and bound", func() { r.branch(ctx) })
	r.a.Restore()
	do("polish", func() { r.a.Run(ctx, int64(polishing*moves), 0, math.Inf(1)) })
	return r.solution()
}

// BenchmarkAblation prints what each part of the search brings on the references with a previous
// allocation: by how much of the reference the answer falls short without it, the gap that is left and
// the time. Run it with
//
//	go test -run NONE -bench Ablation -benchtime 1x -v ./alloc/embedded
func BenchmarkAblation(b *testing.B) {
	for b.Loop() {
		for _, mix := range []struct {
			prefix string
			parts  []string
		}{{"table2", setParts}, {"mixed", containerParts}} {
			for _, part := range mix.parts {
				var row study
				for _, ref := range alloctest.References() {
					if !strings.HasPrefix(ref.Name, mix.prefix) || !strings.Contains(ref.Name, "prev") {
						continue
					}
					start := time.Now()
					sol := searchWithout(part, ref.Instance)
					row.millis = append(row.millis, float64(time.Since(start).Microseconds())/1000)
					if !sol.Status.HasSolution() {
						row.empty++
						continue
					}
					row.short = append(row.short, 1-sol.Objective/ref.Objective)
					row.gap = append(row.gap, sol.Gap())
					if sol.Status == solver.Optimal {
						row.proven++
					}
				}
				slices.Sort(row.short)
				b.Logf("%-7s without %-17s %v", mix.prefix, part, &row)
			}
		}
	}
}

// Left out nothing, it is the search itself.
func TestSearchWithoutNothing(t *testing.T) {
	for seed := range uint64(2) {
		for _, inst := range []*solver.Instance{alloctest.Table2(seed, 12, 15, true), alloctest.Mixed(seed, 12, 15, true)} {
			want, got := solve(t, nil, inst), searchWithout("nothing", inst)
			if got.Status != want.Status || math.Abs(got.Objective-want.Objective) > solver.ObjectiveTolerance || math.Abs(got.Bound-want.Bound) > solver.ObjectiveTolerance {
				t.Errorf("seed %d: %v %g with bound %g, want %v %g with bound %g", seed, got.Status, got.Objective, got.Bound, want.Status, want.Objective, want.Bound)
			}
		}
	}
}
