package alloc_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/solver"
)

// A newcomer that the empty cluster could not hold waits, with that reason, and blocks nobody.
func TestUnservable(t *testing.T) {
	for _, c := range []struct {
		name   string
		app    alloc.Application
		reason string
		kind   string
	}{
		{"a kind of which there is none", alloc.Application{Form: alloc.Form{Demand: apportion.Resources{1, 1, 1}, Min: 1, Max: 2}}, "of which the cluster has none", "gpu"},
		{"larger than any server", alloc.Application{Form: alloc.Form{Demand: apportion.Resources{5, 0, 1}, Min: 1, Max: 2}}, "0 fit the empty cluster", ""},
		{"a minimum above what fits", alloc.Application{Form: alloc.Form{Demand: apportion.Resources{2, 0, 1}, Min: 5, Max: 9}}, "needs 5 containers, and 4 fit", ""},
		{"nothing fits and nothing is asked", alloc.Application{Form: alloc.Form{Demand: apportion.Resources{5, 0, 1}, Min: 0, Max: 2}}, "needs 1 container, and 0 fit", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := tiny(nil, "LR")
			p.Servers[0].Capacity[1] = 0
			c.app.ID, c.app.Weight = "giant", 1
			p.Applications = append([]alloc.Application{c.app}, p.Applications...)
			d := reallocate(t, p)
			if d.Status != alloc.Decided || d.Allocation.Containers("LR") != 6 || len(d.Waiting) != 1 {
				t.Fatalf("%s, allocation %v, waiting %+v", d.Status, d.Allocation, d.Waiting)
			}
			w := d.Waiting[0]
			if w.ID != "giant" || !strings.Contains(w.Reason.Text, c.reason) || w.Reason.Kind != c.kind {
				t.Errorf("%s waits because of %+v, want %q", w.ID, w.Reason, c.reason)
			}
			if s := d.Shares[0]; s.Theoretical != 0 || s.Loss != 0 || math.IsNaN(s.Actual) {
				t.Errorf("share %+v, want nothing", s)
			}
			if text := explain(t, p, d).Applications[0].Text; !strings.Contains(text, c.reason) {
				t.Errorf("explained as %q", text)
			}
		})
	}
}

// Two newcomers wait; only the first fits beside what runs.
func TestAdmitPrefix(t *testing.T) {
	p := tiny(alloc.Allocation{"LR": {"s0": 4, "s1": 2}}, "LR", "MF")
	p.Applications[1].Min = 1
	p.Applications = append(p.Applications,
		alloc.Application{ID: "late", Weight: 1, Form: alloc.Form{Demand: apportion.Resources{2, 0, 2}, Min: 2, Max: 2}},
		alloc.Application{ID: "tiny", Weight: 1, Form: alloc.Form{Demand: apportion.Resources{0, 0, 1}, Min: 1, Max: 1}})
	p.Theta1, p.Theta2 = 1, 0
	if d := reallocate(t, p); d.Status != alloc.Kept || len(d.Waiting) != 3 {
		t.Fatalf("without AdmitPrefix: %s, waiting %+v", d.Status, d.Waiting)
	}
	p.Options.AdmitPrefix = true
	d := reallocate(t, p)
	if d.Status != alloc.Decided || d.Allocation.Containers("MF") != 1 || d.Allocation.Containers("LR") != 6 {
		t.Fatalf("with AdmitPrefix: %s, %v", d.Status, d.Allocation)
	}
	// "tiny" would fit, but stands behind "late" in the queue.
	if len(d.Waiting) != 2 || d.Waiting[0].ID != "late" || d.Waiting[1].ID != "tiny" || !d.Waiting[0].LeftOut || !d.Waiting[1].LeftOut {
		t.Fatalf("waiting %+v, want late and tiny left out", d.Waiting)
	}
	if first := d.Waiting[0].Reason; first.Text != "P2 has no solution" || !cmp.Equal(first.Applications, []string{"late"}) {
		t.Errorf("late waits because of %+v, which does not name it", first)
	}
	if second := d.Waiting[1].Reason; second.Kind != "" || !cmp.Equal(second.Applications, []string{"late"}) || !strings.Contains(second.Text, `behind "late"`) {
		t.Errorf("tiny waits because of %+v, want behind late", second)
	}
	// Those left out lose their shares, here as in Measure.
	if m, err := alloc.Measure(p, d.Allocation); err != nil || !cmp.Equal(m, d.Metrics) || m.FairnessLoss < d.Shares[2].Theoretical {
		t.Errorf("measured %+v, %v; the decision says %+v", m, err, d.Metrics)
	}
}

// An application with a minimum of 0 that gets nothing is told what stops its first container.
func TestWaitingWithoutMinimum(t *testing.T) {
	p := tiny(alloc.Allocation{"LR": {"s0": 4, "s1": 2}}, "LR", "MF", "NN")
	p.Applications[1].Min, p.Applications[2].Min, p.Theta1, p.Theta2 = 0, 0, 1, 0
	d := reallocate(t, p)
	if d.Status != alloc.Decided || d.Allocation.Containers("MF") != 1 || len(d.Waiting) != 1 {
		t.Fatalf("%s, %v, waiting %+v", d.Status, d.Allocation, d.Waiting)
	}
	w := d.Waiting[0]
	if w.ID != "NN" || w.LeftOut || w.Reason.Constraint != solver.Capacity || w.Reason.Kind != "cpu" || w.Reason.Need != 1 || w.Reason.Have != 0 {
		t.Errorf("%+v, want NN short of 1 cpu with 0 left", w)
	}
	p.Applications[1].Min = 4 // MF cannot have four: all is kept, and NN waits for the same reason
	if d = reallocate(t, p); d.Status != alloc.Kept || len(d.Waiting) != 2 || d.Waiting[1].Reason.Text != d.Reason.Text {
		t.Errorf("%s, waiting %+v", d.Status, d.Waiting)
	}
}

// A server fails, another shrinks: what stood there must move, and is charged to the budget.
func TestDisplaced(t *testing.T) {
	p := tiny(alloc.Allocation{"LR": {"s0": 1, "gone": 3}, "MF": {"s1": 2}}, "LR", "MF")
	p.Servers[1].Capacity = apportion.Resources{2, 0, 4} // MF's two containers no longer fit
	p.Options.Displace = true
	p.Theta1, p.Theta2 = 1, 1
	d := reallocate(t, p)
	if d.Status != alloc.Decided || d.Metrics.Adjusted != 2 {
		t.Errorf("%s with %d adjusted, want 2", d.Status, d.Metrics.Adjusted)
	}
	if server := exceeds(p, d.Allocation); server != "" {
		t.Errorf("server %s is overfilled", server)
	}
	p.Theta2 = .5 // one of the two may move
	d = reallocate(t, p)
	if d.Status != alloc.Kept || d.Reason.Text != "P2 has no solution" {
		t.Fatalf("%s because of %+v, want kept: two must move", d.Status, d.Reason)
	}
	want := alloc.Allocation{"LR": {"s0": 1}, "MF": {"s1": 2}}
	if diff := cmp.Diff(want, d.Allocation); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	d, err := recorded(t, ctx, testbed(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if !d.Interrupted {
		t.Error("not marked as interrupted")
	}
	if d.Status == alloc.Decided && d.Objective > d.Bound {
		t.Errorf("objective %g above the bound %g", d.Objective, d.Bound)
	}
}

// fake answers with whatever it holds.
type fake struct {
	solution *solver.Solution
	err      error
}

func (f fake) Solve(context.Context, *solver.Instance) (*solver.Solution, error) {
	return f.solution, f.err
}

// The referee believes no solver.
func TestWrongSolver(t *testing.T) {
	right := solver.Counts{{{Server: 0, Count: 2}, {Server: 1, Count: 4}}}
	broken := errors.New("broken")
	for _, c := range []struct {
		name string
		f    fake
		want error
	}{
		{"right", fake{&solver.Solution{Status: solver.Optimal, Counts: right, Objective: 1.125, Bound: 1.125}, nil}, nil},
		{"an error", fake{nil, broken}, broken},
		{"overfilled", fake{&solver.Solution{Status: solver.Optimal, Counts: solver.Counts{{{Server: 0, Count: 5}}}, Objective: .9375, Bound: 2}, nil}, alloc.ErrSolver},
		{"another objective", fake{&solver.Solution{Status: solver.Optimal, Counts: right, Objective: 1.2, Bound: 1.2}, nil}, alloc.ErrSolver},
		{"a bound below", fake{&solver.Solution{Status: solver.Optimal, Counts: right, Objective: 1.125, Bound: 1}, nil}, alloc.ErrSolver},
		{"nothing at all", fake{nil, nil}, alloc.ErrSolver},
		{"a bound that is no number", fake{&solver.Solution{Status: solver.Optimal, Counts: right, Objective: 1.125, Bound: math.NaN()}, nil}, alloc.ErrSolver},
		{"no counts", fake{&solver.Solution{Status: solver.Optimal, Objective: 1.125, Bound: 1.125}, nil}, alloc.ErrSolver},
	} {
		if _, err := alloc.Reallocate(context.Background(), tiny(nil, "LR"), c.f); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

// panicking is a solver with a bug.
type panicking struct{}

func (panicking) Solve(context.Context, *solver.Instance) (*solver.Solution, error) {
	panic("slice bounds out of range")
}

// A solver's bug is an error, and does not end the scheduler.
func TestSolverPanics(t *testing.T) {
	for _, paper := range []bool{false, true} {
		p := tiny(nil, "LR")
		p.Options.Paper = paper
		if _, err := alloc.Reallocate(t.Context(), p, panicking{}); !errors.Is(err, alloc.ErrSolver) || !strings.Contains(err.Error(), "slice bounds") {
			t.Errorf("%v, want ErrSolver", err)
		}
	}
}

// A solver without a solution or a proof leaves things as they are, and says so.
func TestUnknownKeeps(t *testing.T) {
	p := tiny(alloc.Allocation{"LR": {"s0": 3}}, "LR", "NN")
	for _, c := range []struct {
		solution solver.Solution
		text     string
	}{
		{solver.Solution{Status: solver.Unknown, Bound: 3}, "within the effort"},
		{solver.Solution{Status: solver.Unknown, Bound: 3, Interrupted: true}, "interrupted"},
		{solver.Solution{Status: solver.Infeasible}, "no solution"},
	} {
		d, err := recorded(t, context.Background(), p, fake{&c.solution, nil})
		if err != nil || d.Status != alloc.Kept || !strings.Contains(d.Reason.Text, c.text) {
			t.Errorf("%v, %+v; want kept because of %q", err, d.Reason, c.text)
		}
	}
}

// Quantities near the end of int64, demands of one unit: nothing overflows.
func TestHugeQuantities(t *testing.T) {
	p := &alloc.Problem{
		Kinds: apportion.Kinds{"bytes"},
		Servers: []apportion.Server{
			{ID: "a", Capacity: apportion.Resources{math.MaxInt64 - 10}},
			{ID: "b", Capacity: apportion.Resources{10}},
		},
		Applications: []alloc.Application{
			{ID: "half", Weight: 1e12, Form: alloc.Form{Demand: apportion.Resources{math.MaxInt64/2 - 5}, Min: 1, Max: math.MaxInt64}},
			{ID: "unit", Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1}, Min: 1, Max: 7}},
		},
		Theta1: 1, Theta2: 1,
	}
	d := reallocate(t, p)
	if d.Status != alloc.Decided || exceeds(p, d.Allocation) != "" {
		t.Errorf("%s: %v %+v", d.Status, d.Allocation, d.Reason)
	}
	p.Applications[0].Min = math.MaxInt64
	d = reallocate(t, p)
	if len(d.Waiting) != 1 || d.Waiting[0].ID != "half" {
		t.Errorf("waiting %+v, want half", d.Waiting)
	}
}

func TestMeasure(t *testing.T) {
	p := tiny(alloc.Allocation{"LR": {"s0": 2}, "MF": {"s0": 1, "s1": 2}}, "LR", "MF", "NN")
	m, err := alloc.Measure(p, alloc.Allocation{"LR": {"s0": 1}, "MF": {"s0": 1, "s1": 2}, "NN": {"s0": 1}})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "cpu", m.Utilization[0], 1)
	near(t, "gpu", m.Utilization[1], 1)
	near(t, "memory", m.Utilization[2], 12./32)
	near(t, "utilization", m.ResourceUtilization, 2.375)
	near(t, "loss", m.FairnessLoss, 1./3)
	if m.Adjusted != 1 {
		t.Errorf("adjusted %d, want 1", m.Adjusted)
	}
	for _, c := range []struct {
		name       string
		allocation alloc.Allocation
		want       error
	}{
		{"unknown application", alloc.Allocation{"XX": {"s0": 1}}, apportion.ErrUnknown},
		{"unknown server", alloc.Allocation{"LR": {"s7": 1}}, apportion.ErrUnknown},
		{"below zero", alloc.Allocation{"LR": {"s0": -1}}, apportion.ErrNegative},
		{"overflow", alloc.Allocation{"MF": {"s0": math.MaxInt64}}, apportion.ErrOverflow},
	} {
		if _, err := alloc.Measure(p, c.allocation); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

// Capacities and thresholds from the lists of faults found in other schedulers.
func TestEdges(t *testing.T) {
	t.Run("a drained server keeps nothing", func(t *testing.T) {
		p := tiny(nil, "LR")
		p.Servers[1].Capacity = apportion.Resources{0, 0, 0}
		if d := reallocate(t, p); d.Allocation["LR"]["s0"] != 4 || len(d.Allocation["LR"]) != 1 {
			t.Errorf("%v, want four on s0", d.Allocation)
		}
	})
	t.Run("a cluster of nothing", func(t *testing.T) {
		p := tiny(nil, "LR", "MF")
		for j := range p.Servers {
			p.Servers[j].Capacity = apportion.Resources{0, 0, 0}
		}
		d := reallocate(t, p)
		if len(d.Waiting) != 2 || d.Objective != 0 || math.IsNaN(d.Metrics.ResourceUtilization) || math.IsNaN(d.Gap) {
			t.Errorf("%+v, want both waiting and zeros", d)
		}
	})
	t.Run("ids that prefix one another", func(t *testing.T) {
		p := tiny(alloc.Allocation{"a": {"s0": 1}, "a/b": {"s0": 2}}, "LR", "LR", "LR")
		for i, id := range []string{"a", "a/b", "aa"} {
			p.Applications[i].ID = id
		}
		p.Theta2 = 0
		d := reallocate(t, p)
		if d.Allocation["a"]["s0"] != 1 || d.Allocation["a/b"]["s0"] != 2 {
			t.Errorf("%v: nothing may move", d.Allocation)
		}
	})
	t.Run("one application, one container", func(t *testing.T) {
		p := tiny(nil, "NN")
		if d := reallocate(t, p); d.Objective != 5./4 || d.Gap != 0 {
			t.Errorf("objective %g, gap %g", d.Objective, d.Gap)
		}
	})
	t.Run("a tiny newcomer does not evict beyond the budget", func(t *testing.T) {
		p := tiny(alloc.Allocation{"LR": {"s0": 3, "s1": 3}, "MF": {"s1": 0}}, "LR", "MF")
		p.Applications[1].Demand = apportion.Resources{2, 0, 2}
		p.Theta1, p.Theta2 = 1, 0
		if d := reallocate(t, p); d.Metrics.Adjusted != 0 {
			t.Errorf("%d adjusted, budget 0", d.Metrics.Adjusted)
		}
	})
	t.Run("many of everything", func(t *testing.T) {
		p := &alloc.Problem{Kinds: apportion.Kinds{"cpu"}, Theta1: 1, Theta2: 1}
		for j := range 200 {
			p.Servers = append(p.Servers, apportion.Server{ID: fmt.Sprint("s", j), Capacity: apportion.Resources{int64(4 + j%5)}})
		}
		for i := range 300 {
			p.Applications = append(p.Applications, alloc.Application{ID: fmt.Sprint("a", i),
				Weight: 1 + float64(i%4), Form: alloc.Form{Demand: apportion.Resources{int64(1 + i%3)}, Min: 1, Max: int64(2 + i%7)}})
		}
		d := reallocate(t, p)
		if d.Status != alloc.Decided || d.Gap > .01 || exceeds(p, d.Allocation) != "" {
			t.Errorf("%s, gap %g", d.Status, d.Gap)
		}
	})
}

// Products that rounding puts just above an integer count as that integer under a ceiling.
func TestBudgetsRound(t *testing.T) {
	p := &alloc.Problem{Kinds: apportion.Kinds{"cpu"}, Previous: alloc.Allocation{}, Theta1: .5, Theta2: .07, Options: alloc.Options{Rule: alloc.Rule{Paper: true}}}
	for i := range 100 {
		id := fmt.Sprint("a", i)
		p.Servers = append(p.Servers, apportion.Server{ID: id, Capacity: apportion.Resources{1}})
		p.Applications = append(p.Applications, alloc.Application{ID: id, Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1}, Max: 1}})
		p.Previous[id] = map[string]int64{id: 1}
	}
	hundred := 100.0
	if product := p.Theta2 * hundred; product <= 7 {
		t.Fatalf("0.07 * 100 = %.17g shows nothing", product)
	}
	for _, c := range []struct {
		noCeil bool
		loss   float64
	}{{false, 1}, {true, 1}} {
		p.Options.NoCeil15, p.Options.NoCeil16 = c.noCeil, c.noCeil
		inst, _, err := p.Instance()
		if err != nil || inst.AdjustBudget != 7 || inst.LossBudget != c.loss {
			t.Errorf("no ceilings %v: adjust %d, loss %g, %v; want 7, %g", c.noCeil, inst.AdjustBudget, inst.LossBudget, err, c.loss)
		}
	}
}

// A running application whose minimum has become impossible: kept, without an overflow.
func TestImpossibleMinimum(t *testing.T) {
	p := tiny(alloc.Allocation{"LR": {"s0": 2}}, "LR")
	p.Applications[0].Min, p.Applications[0].Max = math.MaxInt64-1, math.MaxInt64
	d := reallocate(t, p)
	if d.Status != alloc.Kept || d.Reason.Text != "P2 has no solution" {
		t.Errorf("%s because of %+v, want kept", d.Status, d.Reason)
	}
}
