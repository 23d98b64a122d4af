package ortools_test

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/milp/bb"
	"github.com/apportion/apportion/alloc/mip"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/alloc/solver/solvertest"
	"github.com/apportion/apportion/internal/must"
)

// p2Instances are small problems of the allocation of servers, of the paper's program and of the whole one, some
// of them infeasible.
func p2Instances() []*solver.Instance {
	var all []*solver.Instance
	for seed := range uint64(40) {
		all = append(all, solvertest.Medium(seed))
	}
	for seed := range uint64(4) {
		all = append(all, alloctest.Table2(seed, 3, 5, seed%2 == 1))
	}
	return append(all, alloctest.Mixed(4, 3, 4, false), alloctest.Mixed(5, 3, 4, false))
}

// TestP2 solves P2 in its three forms with the engines that can state them. The exact forms agree
// with branch and bound, and no bound of the relaxed one is below the optimum.
func TestP2(t *testing.T) {
	all := engines(t)
	statuses := map[solver.Status]int{}
	for k, inst := range p2Instances() {
		want := must.Have(mip.New(bb.Solver{}, mip.Disjunctive, nil).Solve(context.Background(), inst))(t)
		statuses[want.Status]++
		for _, form := range []mip.Form{mip.Verbatim, mip.Disjunctive, mip.Class} {
			for _, e := range all[:3] { // CP-SAT, HiGHS and SCIP
				what := fmt.Sprintf("instance %d, %s, %s", k, form, e.name)
				got, err := mip.New(e.solver, form, nil).Solve(context.Background(), inst)
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				if got.Bound < want.Objective-1e-6 && want.Status == solver.Optimal {
					t.Errorf("%s: bound %v, optimum %v", what, got.Bound, want.Objective)
				}
				if form == mip.Class {
					continue
				}
				if got.Status != want.Status || math.Abs(got.Objective-want.Objective) > 1e-6 {
					t.Errorf("%s: %v, objective %v, want %v, %v", what, got.Status, got.Objective, want.Status, want.Objective)
				}
				if got.Status == solver.Optimal && inst.Check(got.Counts) != nil {
					t.Errorf("%s: %v", what, inst.Check(got.Counts))
				}
			}
		}
	}
	if statuses[solver.Optimal] < 15 || statuses[solver.Infeasible] < 1 {
		t.Errorf("the instances are %v", statuses)
	}
}

// general is how many instances of the whole program each engine is compared with enumeration on; 0: as many as
// the suite asks for.
var general = flag.Int("general", 0, "how many general instances TestP2Conformance looks at; 0: the suite's number")

// TestP2Conformance: with CP-SAT and HiGHS behind it, each form passes the suite of solvers of P2. CP-SAT
// works with scaled numbers, and both to tolerances of their own.
func TestP2Conformance(t *testing.T) {
	for _, e := range engines(t)[:2] {
		for _, form := range mip.Forms() {
			t.Run(e.name+"/"+string(form), func(t *testing.T) {
				solvertest.Run(t, func(*testing.T) solver.Solver { return mip.New(e.solver, form, &mip.Options{Name: e.name}) },
					&solvertest.Options{Instances: 40, General: *general, Sizes: []solvertest.Size{{Servers: 3, Apps: 5}}, Relaxed: form == mip.Class, Tolerance: 1e-6})
			})
		}
	}
}

// torn is how many instances TestP2Torn looks at.
var torn = flag.Int("torn", 40, "how many instances TestP2Torn looks at")

// TestP2Torn: on a few servers of which jobs of odd sizes, rigid and elastic, use more than there is in whole ones, HiGHS finds nothing
// above the bound of the embedded solver, and nothing below its answer.
func TestP2Torn(t *testing.T) {
	highs, closed, solved := engines(t)[1], 0, 0
	for seed := range uint64(*torn) {
		inst := oddSizes(seed)
		got := must.Have(embedded.New(nil).Solve(context.Background(), inst))(t)
		certified := must.Have(got.Certificate.Certified(inst))(t)
		want := must.Have(mip.New(highs.solver, mip.Disjunctive, nil).Solve(context.Background(), inst))(t)
		// More may have to move than the budget allows.
		if want.Status == solver.Infeasible && got.Status == solver.Infeasible {
			continue
		}
		solved++
		if want.Status != solver.Optimal {
			t.Fatalf("%d: %v", seed, want.Status)
		}
		if math.Min(got.Bound, certified) < want.Objective-1e-6 || got.Objective > want.Objective+1e-6 {
			t.Errorf("%d: objective %.9g, bound %.9g, certified %.9g, optimum %.9g", seed, got.Objective, got.Bound, certified, want.Objective)
		}
		if certified < want.Objective+1e-6 {
			closed++
		}
	}
	t.Logf("prices prove the optimum of %d of %d", closed, solved)
}

// oddSizes draws such an instance.
func oddSizes(seed uint64) *solver.Instance {
	r := rand.New(rand.NewPCG(seed, 21))
	size, servers := 4+r.Int64N(6), 2+r.IntN(4)
	inst := &solver.Instance{Total: apportion.Resources{size * int64(servers)}, LossBudget: 100, AdjustBudget: r.Int64N(3)}
	left := make([]int64, servers)
	for j := range servers {
		inst.Capacity, left[j] = append(inst.Capacity, apportion.Resources{size}), size
	}
	unit := 1 / float64(inst.Total[0])
	for used := size; used < inst.Total[0]; {
		app := solver.App{Demand: apportion.Resources{1}, Min: 1 + r.Int64N(size), Value: unit, Delta: unit, Cost: 1, Elective: true,
			Spread: &solver.Spread{Part: []float64{.05, .1, .5}[r.IntN(3)], Least: unit, Rooms: []solver.Rooms{{Containers: size, Servers: int64(servers)}}}}
		app.Max = app.Min + r.Int64N(2)*r.Int64N(4)
		used += app.Min
		// Some run somewhere already.
		for j := range left {
			if n := min(left[j], app.Min-solver.Containers(app.Previous)); n > 0 && r.IntN(3) == 0 {
				app.Previous = append(app.Previous, apportion.Placement{Server: j, Count: n})
				left[j] -= n
			}
		}
		if app.Running = len(app.Previous) > 0; app.Running {
			app.Stay = unit / 2
		}
		inst.Apps = append(inst.Apps, app)
	}
	return inst
}

// TestP2References solves two instances of 20 servers and 30 applications, one of them running full, in
// three forms with three engines: nobody's bound is below anybody's allocation, nor below the one that
// is on record, and CP-SAT proves the same optimum as HiGHS.
func TestP2References(t *testing.T) {
	if testing.Short() {
		t.Skip("up to a minute")
	}
	all := engines(t)
	for _, name := range []string{"table2_20x30_prev_0", "mixed_20x30_fresh_2"} {
		ref := reference(t, name)
		best, bound := ref.Objective, math.Inf(1)
		proven := map[string]float64{}
		for _, form := range []mip.Form{mip.Disjunctive, mip.Verbatim, mip.Class} {
			for _, e := range all[:3] { // CP-SAT, HiGHS and SCIP
				opts := &mip.Options{Search: milp.Options{TimeLimit: 5 * time.Second}}
				if form == mip.Disjunctive && e.name != "scip" && ref.Instance.AdjustBudget > 0 {
					opts.Search.TimeLimit = time.Minute // to proof, in a second or two
				}
				start := time.Now()
				got, err := mip.New(e.solver, form, opts).Solve(context.Background(), ref.Instance)
				if err != nil {
					t.Fatalf("%s, %s, %s: %v", name, form, e.name, err)
				}
				t.Logf("%s, %s, %s: %s, objective %.9g, bound %.9g after %.1f s", name, form, e.name, got.Status,
					got.Objective, got.Bound, time.Since(start).Seconds())
				bound = math.Min(bound, got.Bound)
				if got.Status.HasSolution() {
					best = math.Max(best, got.Objective)
				}
				if form == mip.Disjunctive && got.Status == solver.Optimal {
					proven[e.name] = got.Objective
				}
			}
		}
		if best > bound+1e-6 {
			t.Errorf("%s: an allocation reaches %.9g, a bound is %.9g", name, best, bound)
		}
		if ref.Instance.AdjustBudget > 0 && (proven["cp-sat"] == 0 || math.Abs(proven["cp-sat"]-proven["highs"]) > 1e-6) {
			t.Errorf("%s: proven are %v", name, proven)
		}
	}
}

func reference(t testing.TB, name string) alloctest.Reference {
	t.Helper()
	for _, ref := range alloctest.References() {
		if ref.Name == name {
			return ref
		}
	}
	t.Fatalf("no reference %s", name)
	return alloctest.Reference{}
}
