package embedded

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/embedded/internal/lagrange"
	"github.com/apportion/apportion/alloc/embedded/internal/tuning"
	"github.com/apportion/apportion/alloc/solver"
)

// Numbers go where they fit: what stays is first, the largest demands next, and each on as few servers as that allows.
func TestPack(t *testing.T) {
	app := func(q int64) solver.App {
		return solver.App{Demand: apportion.Resources{q}, Delta: float64(q) / 12}
	}
	inst := &solver.Instance{
		Capacity: []apportion.Resources{{4}, {4}, {4}}, Total: apportion.Resources{12}, Class: []int{0, 0, 1},
		Apps: []solver.App{app(1), app(1), app(2), app(1)},
	}
	at := func(server int, count int64) apportion.Placement {
		return apportion.Placement{Server: server, Count: count}
	}
	inst.Apps[0].Previous = []apportion.Placement{at(1, 3)}
	for _, test := range []struct {
		name    string
		change  func(*solver.App)
		numbers []int64
		want    solver.Counts
	}{
		{"all", func(*solver.App) {}, []int64{lagrange.Stays, 1, 2, 3}, solver.Counts{{at(1, 3)}, {at(1, 1)}, {at(0, 2)}, {at(2, 3)}}},
		{"two servers", func(*solver.App) {}, []int64{lagrange.Stays, 0, 0, 6}, solver.Counts{{at(1, 3)}, nil, nil, {at(0, 4), at(2, 2)}}},
		{"one class", func(a *solver.App) { a.Classes = []int{0} }, []int64{lagrange.Stays, 0, 0, 6}, solver.Counts{{at(1, 3)}, nil, nil, {at(0, 4), at(1, 1)}}},
		{"two a server", func(a *solver.App) { a.PerServer = 2 }, []int64{lagrange.Stays, 0, 0, 5}, solver.Counts{{at(1, 3)}, nil, nil, {at(0, 2), at(1, 1), at(2, 2)}}},
	} {
		one := *inst
		one.Apps = append([]solver.App(nil), inst.Apps...)
		test.change(&one.Apps[3])
		got, all := pack(&one, test.numbers)
		if n := solver.Containers(got[3]); all != (n == test.numbers[3]) {
			t.Errorf("%s: %d of %d, all: %v", test.name, n, test.numbers[3], all)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// Jobs on GPUs with worths by number are proven by joined servers, whatever the shape of the worths; by prices and
// the search alone fewer are. So are those with options, of which there are too many ways to try.
func TestJoinedServersProve(t *testing.T) {
	proven, without := 0, 0
	for seed := range uint64(4) {
		for _, previous := range []bool{false, true} {
			inst := alloctest.GPUs(seed, 8, 12, previous)
			alloctest.AddWorths(seed, inst)
			tune := tuning.Standard()
			// Only a budget of losses that binds is priced, and leaves a gap.
			if sol := answerWith(tune, inst, true); sol.Status == solver.Optimal {
				proven++
			} else if sol.Gap() > 0.001 {
				t.Errorf("seed %d, previous %v: %g of %g", seed, previous, sol.Objective, sol.Bound)
			}
			tune.Totals = 0
			if answerWith(tune, inst, true).Status == solver.Optimal {
				without++
			}
			options := alloctest.Accelerators(seed, 8, 12, previous)
			sol := solve(t, nil, options)
			certified := certifiedOf(t, sol, options)
			if sol.Status != solver.Optimal || certified < sol.Objective-solver.ObjectiveTolerance {
				t.Errorf("options, seed %d, previous %v: %v, %g of %g, certified %g", seed, previous, sol.Status, sol.Objective, sol.Bound, certified)
			}
			// What multipliers do not prove was searched.
			if certified > sol.Bound+1e-6 && !sol.Searched {
				t.Errorf("options, seed %d, previous %v: the multipliers prove %g, the answer says %g", seed, previous, certified, sol.Bound)
			}
		}
	}
	if proven < 6 || without >= proven {
		t.Errorf("%d proven, and %d without joined servers", proven, without)
	}
}

// certifiedOf returns what the multipliers of an answer prove.
func certifiedOf(t *testing.T, sol *solver.Solution, inst *solver.Instance) float64 {
	t.Helper()
	bound, err := sol.Certified(inst)
	if err != nil {
		t.Fatal(err)
	}
	return bound
}
