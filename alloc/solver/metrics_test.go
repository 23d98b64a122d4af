package solver_test

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/alloc/solver/solvertest"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/oracle/p2oracle"
)

// dense writes counts as the matrix x[i][j] of the paper.
func dense(inst *solver.Instance, counts solver.Counts) [][]int64 {
	x := make([][]int64, len(inst.Apps))
	for i := range x {
		x[i] = make([]int64, len(inst.Capacity))
		for _, p := range counts[i] {
			x[i][p.Server] += p.Count
		}
	}
	return x
}

// held is what runs now, as counts.
func held(inst *solver.Instance) solver.Counts {
	counts := make(solver.Counts, len(inst.Apps))
	for i := range inst.Apps {
		counts[i] = inst.Apps[i].Previous
	}
	return counts
}

// genCounts draws counts of the right shape that need not be a solution; often an application stays.
func genCounts(t *rapid.T, inst *solver.Instance) solver.Counts {
	counts := make(solver.Counts, len(inst.Apps))
	for i := range counts {
		if rapid.Bool().Draw(t, "stays") {
			counts[i] = inst.Apps[i].Previous
			continue
		}
		for j := range inst.Capacity {
			if n := rapid.Int64Range(0, 3).Draw(t, "count"); n > 0 {
				counts[i] = append(counts[i], apportion.Placement{Server: j, Count: n})
			}
		}
	}
	return counts
}

// The metrics of sparse counts are those of the paper's matrix, summed in the plainest way.
// Reference: [Dorm (1)-(4), (10)].
func TestMetricsAgainstMatrix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inst := solvertest.Small(rapid.Uint64Range(0, 5000).Draw(t, "instance"))
		counts := genCounts(t, inst)
		x, was := dense(inst, counts), dense(inst, held(inst))
		var objective, loss float64
		var adjusted, moved int64
		used := make([]apportion.Resources, len(inst.Capacity))
		for j := range used {
			used[j] = make(apportion.Resources, len(inst.Total))
		}
		for i := range inst.Apps {
			app, n, changed := &inst.Apps[i], int64(0), inst.Apps[i].Displaced
			for j := range used {
				n += x[i][j]
				changed = changed || x[i][j] != was[i][j]
				if app.Running {
					moved += max(x[i][j]-was[i][j], was[i][j]-x[i][j])
				}
				for k, d := range app.Demand {
					used[j][k] += d * x[i][j]
				}
			}
			objective += app.Value * float64(n)
			loss += math.Abs(app.Delta*float64(n) - app.Share)
			if app.Running && changed {
				adjusted++
			}
		}
		if got := inst.Objective(counts); math.Abs(got-objective) > 1e-12 {
			t.Errorf("objective %g, want %g", got, objective)
		}
		if got := inst.FairnessLoss(counts); math.Abs(got-loss) > 1e-12 {
			t.Errorf("loss %g, want %g", got, loss)
		}
		if a, m := inst.AdjustedApps(counts), inst.Moved(counts); a != adjusted || m != moved {
			t.Errorf("%d adjusted and %d moved, want %d and %d", a, m, adjusted, moved)
		}
		got, err := inst.Used(counts)
		for j := range used {
			if err != nil || !got[j].Equal(used[j]) {
				t.Errorf("server %d uses %v, %v; want %v", j, got, err, used[j])
			}
		}
	})
}

// holds says whether the matrix x satisfies every constraint, each written out once more.
func holds(inst *solver.Instance, x [][]int64, counts solver.Counts) bool {
	ok := inst.FairnessLoss(counts) <= inst.LossBudget+solver.LossTolerance && inst.AdjustedApps(counts) <= inst.AdjustBudget
	for j, capacity := range inst.Capacity {
		for k, c := range capacity {
			used := int64(0)
			for i := range inst.Apps {
				used += x[i][j] * inst.Apps[i].Demand[k]
			}
			ok = ok && used <= c
		}
	}
	for i := range inst.Apps {
		n := int64(0)
		for _, count := range x[i] {
			n += count
		}
		ok = ok && inst.Apps[i].Min <= n && n <= inst.Apps[i].Max
	}
	return ok
}

// sparse is the inverse of dense.
func sparse(x [][]int64) solver.Counts {
	counts := make(solver.Counts, len(x))
	for i, row := range x {
		for j, n := range row {
			if n > 0 {
				counts[i] = append(counts[i], apportion.Placement{Server: j, Count: n})
			}
		}
	}
	return counts
}

// Check says yes to just those counts that hold every constraint: asked about the best solution of many
// instances, and about all its neighbours, one container more or less.
// Reference: [Dorm (6)-(9), (15), (16)].
func TestCheckAgainstMatrix(t *testing.T) {
	yes, no := 0, 0
	ask := func(inst *solver.Instance, x [][]int64) {
		counts := sparse(x)
		want := holds(inst, x, counts)
		if err := inst.Check(counts); (err == nil) != want || err != nil && !errors.Is(err, solver.ErrViolated) {
			t.Errorf("%+v: %v: %v; want holding %v", inst, counts, err, want)
		}
		if want {
			yes++
		} else {
			no++
		}
	}
	for seed := range uint64(150) {
		inst := solvertest.Small(seed)
		solution, _ := p2oracle.Best(inst)
		if solution == nil {
			continue
		}
		x := dense(inst, solution)
		ask(inst, x)
		for i := range x {
			for j := range x[i] {
				x[i][j]++
				ask(inst, x)
				if x[i][j] -= 2; x[i][j] >= 0 {
					ask(inst, x)
				}
				x[i][j]++
			}
		}
	}
	if yes < 50 || no < 50 {
		t.Errorf("%d held and %d did not: the test sees too little of one side", yes, no)
	}
}

// Quantities that leave int64 are an error, not a wrapped sum.
func TestUsedOverflows(t *testing.T) {
	inst := tiny()
	for _, counts := range []solver.Counts{
		{nil, {{Server: 0, Count: math.MaxInt64}}, nil},
		{{{Server: 0, Count: math.MaxInt64/2 + 1}}, nil, {{Server: 0, Count: math.MaxInt64/2 + 1}}},
	} {
		if used, err := inst.Used(counts); !errors.Is(err, apportion.ErrOverflow) {
			t.Errorf("%v uses %v, %v", counts, used, err)
		}
	}
}

// Results are the caller's: writing into them leaves the instance alone, and the next result too.
func TestUsedIsFresh(t *testing.T) {
	inst := tiny()
	first := must.Have(inst.Used(best()))(t)
	first[0][0] = 99
	second, err := inst.Used(best())
	if err != nil || !second[0].Equal(apportion.Resources{4, 1, 8}) || !second[1].Equal(apportion.Resources{4, 0, 4}) {
		t.Errorf("%v, %v", second, err)
	}
}
