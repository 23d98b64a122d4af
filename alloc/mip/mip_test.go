package mip_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/milp/bb"
	"github.com/apportion/apportion/alloc/mip"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/oracle/p2oracle"
)

// integersOnly is branch and bound that knows no continuous variables.
type integersOnly struct{ bb.Solver }

func (integersOnly) Capabilities() milp.Capability {
	return bb.Solver{}.Capabilities() &^ milp.CanContinuous
}

// Each form, solved by branch and bound, agrees with plain enumeration: the exact forms on the
// optimum, the relaxed one by bounding it. So it does without continuous variables.
func TestFormsAgainstEnumeration(t *testing.T) {
	for name, backend := range map[string]milp.Solver{"losses": bb.Solver{}, "whole losses": integersOnly{}} {
		t.Run(name, func(t *testing.T) { againstEnumeration(t, backend) })
	}
}

func againstEnumeration(t *testing.T, backend milp.Solver) {
	rapid.Check(t, func(t *rapid.T) {
		inst := genInstance(t)
		best, solutions := p2oracle.Best(inst)
		for _, form := range mip.Forms() {
			s, err := mip.New(backend, form, nil).Solve(context.Background(), inst)
			if err != nil {
				t.Fatalf("%s: %v", form, err)
			}
			if solutions == 0 {
				if s.Status.HasSolution() || form != mip.Class && s.Status != solver.Infeasible {
					t.Errorf("%s: %s where there is no solution", form, s.Status)
				}
				continue
			}
			optimum := inst.Objective(best)
			if s.Bound < optimum-1e-7 {
				t.Errorf("%s: bound %.9g below the optimum %.9g", form, s.Bound, optimum)
			}
			if form == mip.Class && !s.Status.HasSolution() {
				continue // the packing step failed, as it may
			}
			if s.Status != solver.Optimal && form != mip.Class {
				t.Errorf("%s: %s, want optimal", form, s.Status)
			}
			if err := inst.Check(s.Counts); err != nil {
				t.Errorf("%s: %v", form, err)
			}
			if form != mip.Class && math.Abs(s.Objective-optimum) > 1e-7 {
				t.Errorf("%s: objective %.9g, optimum %.9g", form, s.Objective, optimum)
			}
		}
	})
}

// The climb down the preference reaches the least loss, the fewest adjustments and the fewest containers moved
// among the optima.
func TestPreference(t *testing.T) {
	opts := &mip.Options{Preference: solver.ByMoved}
	rapid.Check(t, func(t *rapid.T) {
		inst := genInstance(t)
		best, solutions := p2oracle.Best(inst)
		if solutions == 0 {
			return
		}
		for k, form := range []mip.Form{mip.Verbatim, mip.Disjunctive, mip.Verbatim, mip.Disjunctive} {
			var backend milp.Solver = bb.Solver{}
			if k >= 2 {
				backend = integersOnly{}
			}
			s, err := mip.New(backend, form, opts).Solve(context.Background(), inst)
			if err != nil {
				t.Fatalf("%s: %v", form, err)
			}
			loss, adjusted, moved := inst.FairnessLoss(s.Counts), inst.AdjustedApps(s.Counts), inst.Moved(s.Counts)
			if s.Proven != solver.ByMoved || math.Abs(loss-inst.FairnessLoss(best)) > 1e-6 || adjusted > inst.AdjustedApps(best) || moved > inst.Moved(best) {
				t.Errorf("%s: loss %.9g, %d adjusted, %d moved, proven by %s; want loss %.9g, %d adjusted, %d moved", form,
					loss, adjusted, moved, s.Proven, inst.FairnessLoss(best), inst.AdjustedApps(best), inst.Moved(best))
			}
		}
	})
}

// Equation numbers name the rows, and the program survives MPS.
func TestModelNames(t *testing.T) {
	inst := instanceOf(t, tinyProblem())
	for _, c := range []struct {
		form    mip.Form
		rows    string
		relaxed bool
	}{
		{mip.Verbatim, "c6_s0_k0 c6_s0_k1 c6_s1_k2 c7_a0 c11_a1 c12_a2 c13_a1_s0 c14_a0_s1 c15 c16", false},
		{mip.Class, "c6_s0_k0 c6_s1_k2 c7_a0 c11_a1 c12_a2 c13_a1_s0 c14_a0_s1 c15 c16", true},
		{mip.Disjunctive, "c6_s0_k0 c7_a0 c8_a1 c9_a0_s1 c11_a1 c12_a2 c15 c16", false},
	} {
		model := must.Have(mip.Build(inst, c.form))(t)
		have := map[string]bool{}
		for i := range model.MILP.Rows() {
			have[model.MILP.RowName(i)] = true
		}
		for _, want := range strings.Fields(c.rows) {
			if !have[want] {
				t.Errorf("%s has no row %s", c.form, want)
			}
		}
		if model.Relaxed != c.relaxed || model.MILP.Sense() != milp.Maximize {
			t.Errorf("%s: relaxed %v, %s", c.form, model.Relaxed, model.MILP.Sense())
		}
		var mps bytes.Buffer
		must.Do(t, model.MILP.WriteMPS(&mps))
		again, err := milp.ReadMPS(&mps, nil)
		if err != nil || again.Nonzeros() != model.MILP.Nonzeros() || again.Integers() != model.MILP.Integers() {
			t.Errorf("%s read back: %v", c.form, err)
		}
	}
}

func TestBuildRefuses(t *testing.T) {
	if _, err := mip.Build(instanceOf(t, tinyProblem()), "cubic"); !errors.Is(err, apportion.ErrUnknown) {
		t.Errorf("an unknown form: %v, want %v", err, apportion.ErrUnknown)
	}
}

// A general solver takes the whole decision, and agrees with the embedded one.
func TestReallocate(t *testing.T) {
	p := tinyProblem()
	for _, form := range mip.Forms() {
		d := must.Have(alloc.Reallocate(context.Background(), p, mip.New(bb.Solver{}, form, &mip.Options{Preference: solver.ByAdjusted})))(t)
		if d.Status != alloc.Decided || math.Abs(d.Objective-2.375) > 1e-9 || d.Bound < 2.375-1e-9 {
			t.Errorf("%s: %s, objective %g, bound %g", form, d.Status, d.Objective, d.Bound)
		}
	}
	p.Theta2 = 0
	d, err := alloc.Reallocate(context.Background(), p, mip.New(bb.Solver{}, mip.Disjunctive, nil))
	if err != nil || d.Status != alloc.Kept || d.Reason.Text != "P2 has no solution" {
		t.Errorf("nothing may move: %v, %v, %+v", err, d.Status, d.Reason)
	}
}

// A general solver takes the decision on the whole program too, by whichever form, and it can be verified.
func TestReallocateWhole(t *testing.T) {
	p := wholeProblem()
	for _, form := range mip.Forms() {
		d := must.Have(alloc.Reallocate(context.Background(), p, mip.New(bb.Solver{}, form, &mip.Options{Preference: solver.ByMoved})))(t)
		// The exact forms prove it, and the packing of the third finds it.
		if d.Status != alloc.Decided || math.Abs(d.Objective-37./21) > 1e-9 || d.Bound > d.Objective+1e-6 || len(d.Waiting) > 0 {
			t.Errorf("%s: %s, objective %.12g, bound %g, %v, waiting %v", form, d.Status, d.Objective, d.Bound, d.Allocation, d.Waiting)
		}
		if _, err := alloc.Verify(p, d); err != nil {
			t.Errorf("%s: %v", form, err)
		}
	}
}

// Three equal servers of 4 CPUs, pooled to 12: three containers of 3 CPUs and three of 1 fill them.
func TestClassUnpools(t *testing.T) {
	p := &alloc.Problem{
		Kinds: apportion.Kinds{"cpu"},
		Applications: []alloc.Application{
			{ID: "small", Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1}, Max: 3}},
			{ID: "large", Weight: 1, Form: alloc.Form{Demand: apportion.Resources{3}, Max: 3}},
		},
		Theta1: 1, Theta2: 1, Options: alloc.Options{Rule: alloc.Rule{Paper: true}},
	}
	for _, id := range []string{"a", "b", "c"} {
		p.Servers = append(p.Servers, apportion.Server{ID: id, Capacity: apportion.Resources{4}})
	}
	byClass := mip.New(bb.Solver{}, mip.Class, nil)
	d, err := alloc.Reallocate(context.Background(), p, byClass)
	if err != nil || d.Status != alloc.Decided || d.Objective != 1 || math.Abs(d.Bound-1) > 1e-6 {
		t.Fatalf("%v, %s, objective %g, bound %g", err, d.Status, d.Objective, d.Bound)
	}
	// Two and two containers of 3 CPUs fit the pool, but not the servers: the bound stays, the answer
	// falls short.
	for i := range p.Applications {
		p.Applications[i].Demand, p.Applications[i].Min, p.Applications[i].Max = apportion.Resources{3}, 1, 2
	}
	d, err = alloc.Reallocate(context.Background(), p, byClass)
	if err != nil || d.Status != alloc.Decided || d.Objective != .75 || math.Abs(d.Bound-1) > 1e-6 {
		t.Errorf("%v, %s, objective %g, bound %g; want 0.75 and 1", err, d.Status, d.Objective, d.Bound)
	}
	p.Applications[0].Min, p.Applications[1].Min = 2, 2
	if d, err = alloc.Reallocate(context.Background(), p, byClass); err != nil || d.Status != alloc.Kept {
		t.Errorf("%v, %s: the containers do not fit", err, d.Status)
	}
}

// A container goes to the class that the program has chosen for it, although another class comes first and
// has room: there the next one, which needs a GPU, would find none.
func TestClassFirst(t *testing.T) {
	inst := &solver.Instance{
		Capacity: []apportion.Resources{{4, 2}, {4, 0}}, Total: apportion.Resources{8, 2}, LossBudget: 4,
		Apps: []solver.App{
			{Demand: apportion.Resources{4, 0}, Max: 1, Value: .5, Delta: .5, Share: .5},
			{Demand: apportion.Resources{3, 1}, Max: 1, Value: 3./8 + .5, Delta: .5, Share: .5},
		},
	}
	s, err := mip.New(bb.Solver{}, mip.Class, nil).Solve(context.Background(), inst)
	if err != nil || s.Status != solver.Optimal || s.Objective != .5+3./8+.5 {
		t.Errorf("%+v, %v; want both", s, err)
	}
}

// An application on a server that can no longer hold any of its containers must move.
func TestFormsShrunk(t *testing.T) {
	p := tinyProblem()
	p.Applications, p.Previous = p.Applications[1:2], alloc.Allocation{"MF": {"s0": 1, "s1": 1}}
	p.Options.Displace = true
	p.Servers[1].Capacity = apportion.Resources{1, 0, 16}
	for _, theta2 := range []float64{0, 1} {
		p.Theta2 = theta2
		for _, form := range []mip.Form{mip.Verbatim, mip.Disjunctive} {
			d, err := alloc.Reallocate(context.Background(), p, mip.New(bb.Solver{}, form, nil))
			want := map[float64]alloc.Status{0: alloc.Kept, 1: alloc.Decided}[theta2]
			if err != nil || d.Status != want || theta2 == 0 && d.Reason.Text != "P2 has no solution" {
				t.Errorf("%s, theta2 = %g: %v, %s because of %+v; want %s", form, theta2, err, d.Status, d.Reason, want)
			}
		}
	}
}
