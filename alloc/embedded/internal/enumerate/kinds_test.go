// This file tests enumeration on instances of every kind, and what it keeps of a solution that it is given.

package enumerate

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/embedded/internal/lagrange"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/alloc/solver/solvertest"
	"github.com/apportion/apportion/internal/oracle/p2oracle"
)

// Steps, lists, limits, unequal costs, worths and losses of any shape and ceilings: the best is that of the twin, and its rank
// is what the referee says of it.
func TestEveryKindAgainstOracle(t *testing.T) {
	for name, draw := range map[string]func(uint64) *solver.Instance{
		"general": solvertest.General, "worth": solvertest.Worth, "loss": solvertest.Loss,
		"below ceilings": func(seed uint64) *solver.Instance { return solvertest.Grouped(solvertest.Loss(seed), seed) },
	} {
		solved, none := 0, 0
		for seed := range uint64(120) {
			inst := draw(seed)
			inst.Choices = nil
			if problem.New(inst).Impossible() {
				continue
			}
			want, _ := p2oracle.Best(inst)
			e, done := plain(t.Context(), inst, 1<<20)
			if !done || e.Found != (want != nil) {
				t.Errorf("%s %d: done %v, found %v, want %v", name, seed, done, e.Found, want != nil)
				continue
			}
			if want == nil {
				none++
				continue
			}
			solved++
			counts := e.Counts()
			if diff := cmp.Diff(want, counts); diff != "" {
				t.Errorf("%s %d (-want +got):\n%s", name, seed, diff)
			}
			rank := RankOf(inst, counts)
			if math.Abs(e.Best.Objective-rank.Objective) > 1e-9 || math.Abs(e.Best.Loss-rank.Loss) > 1e-9 ||
				e.Best.Adjusted != rank.Adjusted || e.Best.Moved != rank.Moved || e.Best.Cost != rank.Cost {
				t.Errorf("%s %d: %+v, the referee says %+v", name, seed, e.Best, rank)
			}
		}
		if solved < 20 {
			t.Errorf("%s: %d solved, %d without a solution", name, solved, none)
		}
	}
}

// A solution that is given is the best until another is preferred: it is found without any of its own, and at no nodes the
// rank is its rank.
func TestGivenSolutionStays(t *testing.T) {
	inst := instancetest.Worked(instancetest.LR(0.25, apportion.Placement{Server: 0, Count: 2}))
	p := problem.New(inst)
	d := lagrange.NewDual(p, false)
	x := make([]float64, d.Dim())
	d.Evaluate(x)
	best, _ := p2oracle.Best(inst)
	e, done := Run(t.Context(), d, x, best, 0)
	if done || !e.Found || e.Ordered || e.Best != RankOf(inst, best) || e.Nodes != 1 {
		t.Errorf("without nodes: done %v, found %v, met %v after %d, %+v", done, e.Found, e.Ordered, e.Nodes, e.Best)
	}
	// The limit is the last node that may be entered: with one less it is not done.
	whole, _ := Run(t.Context(), d, x, nil, math.MaxInt64)
	for limit, want := range map[int64]bool{whole.Nodes: true, whole.Nodes - 1: false} {
		if _, done := Run(t.Context(), d, x, nil, limit); done != want {
			t.Errorf("of %d nodes %d may be entered: done %v", whole.Nodes, limit, done)
		}
	}
}

// Servers are exchanged only if they are alike in capacity, class and residents, and each is linked to the nearest before it.
func TestTwins(t *testing.T) {
	inst := instancetest.Crowd(8, 2, 4, 1, 0)
	inst.Class = []int{0, 0, 1, 0, 0, 1, 0, 0}
	inst.Capacity[3] = apportion.Resources{5}
	for i := range inst.Apps {
		inst.Apps[i].Min, inst.Apps[i].Max, inst.Apps[i].Running, inst.Apps[i].Cost = 0, 2, true, 1
	}
	inst.Apps[0].Previous = []apportion.Placement{{Server: 1, Count: 1}, {Server: 4, Count: 1}}
	inst.Apps[1].Previous = []apportion.Placement{{Server: 2, Count: 2}}
	e := &Enumeration{p: problem.New(instancetest.Finish(inst))}
	e.tied = make([]bool, (len(e.p.Apps)+1)*e.p.Servers)
	e.findTwins()
	if diff := cmp.Diff([]int{-1, -1, -1, -1, 1, -1, 0, 6}, e.twin); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for j := range e.p.Servers {
		if !e.tied[j] {
			t.Errorf("above the first row the column of server %d is unlike another", j)
		}
	}
}
