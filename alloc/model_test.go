package alloc_test

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
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/oracle/p2oracle"
)

var forms = []alloc.Form{alloc.Verbatim, alloc.ByClass, alloc.Disjunctive}

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
		inst := genSmallInstance(t)
		best, solutions := p2oracle.Best(inst)
		for _, form := range forms {
			s, err := alloc.FromMILP(backend, form, nil).Solve(context.Background(), inst)
			if err != nil {
				t.Fatalf("%s: %v", form, err)
			}
			if solutions == 0 {
				if s.Status.HasSolution() || form != alloc.ByClass && s.Status != solver.Infeasible {
					t.Errorf("%s: %s where there is no solution", form, s.Status)
				}
				continue
			}
			optimum := inst.Objective(best)
			if s.Bound < optimum-1e-7 {
				t.Errorf("%s: bound %.9g below the optimum %.9g", form, s.Bound, optimum)
			}
			if form == alloc.ByClass && !s.Status.HasSolution() {
				continue // the packing step failed, as it may
			}
			if s.Status != solver.Optimal && form != alloc.ByClass {
				t.Errorf("%s: %s, want optimal", form, s.Status)
			}
			if err := inst.Check(s.Counts); err != nil {
				t.Errorf("%s: %v", form, err)
			}
			if form != alloc.ByClass && math.Abs(s.Objective-optimum) > 1e-7 {
				t.Errorf("%s: objective %.9g, optimum %.9g", form, s.Objective, optimum)
			}
		}
	})
}

// The climb down the preference reaches the least loss and the fewest adjustments among the optima.
func TestFromMILPPreference(t *testing.T) {
	opts := &alloc.MILPOptions{Preference: solver.ByAdjusted}
	rapid.Check(t, func(t *rapid.T) {
		inst := genSmallInstance(t)
		best, solutions := p2oracle.Best(inst)
		if solutions == 0 {
			return
		}
		for k, form := range []alloc.Form{alloc.Verbatim, alloc.Disjunctive, alloc.Verbatim, alloc.Disjunctive} {
			var backend milp.Solver = bb.Solver{}
			if k >= 2 {
				backend = integersOnly{}
			}
			s, err := alloc.FromMILP(backend, form, opts).Solve(context.Background(), inst)
			if err != nil {
				t.Fatalf("%s: %v", form, err)
			}
			loss, adjusted := inst.FairnessLoss(s.Counts), inst.AdjustedApps(s.Counts)
			if s.Proven != solver.ByAdjusted || math.Abs(loss-inst.FairnessLoss(best)) > 1e-6 || adjusted > inst.AdjustedApps(best) {
				t.Errorf("%s: loss %.9g, %d adjusted, proven by %s; want loss %.9g, %d adjusted", form,
					loss, adjusted, s.Proven, inst.FairnessLoss(best), inst.AdjustedApps(best))
			}
		}
	})
}

// genSmallInstance draws a P2 of at most two kinds, two servers and three applications.
func genSmallInstance(t *rapid.T) *solver.Instance {
	p := genProblem(t)
	p.Servers = p.Servers[:min(2, len(p.Servers))]
	p.Applications = p.Applications[:min(3, len(p.Applications))]
	for i := range p.Applications {
		p.Applications[i].Max = max(p.Applications[i].Min, min(3, p.Applications[i].Max))
	}
	p.Options.Displace = true // some of the servers are gone now
	if rapid.Bool().Draw(t, "damaged") {
		damage(t, p)
	}
	inst, _, err := p.Instance()
	if err != nil {
		t.Fatal(err)
	}
	return inst
}

// Equation numbers name the rows, and the program survives MPS.
func TestModelNames(t *testing.T) {
	inst, _, err := tiny(alloc.Allocation{"LR": {"s0": 2}, "MF": {"s0": 1, "s1": 2}}, "LR", "MF", "NN").Instance()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		form    alloc.Form
		rows    string
		relaxed bool
	}{
		{alloc.Verbatim, "c6_s0_k0 c6_s0_k1 c6_s1_k2 c7_a0 c11_a1 c12_a2 c13_a1_s0 c14_a0_s1 c15 c16", false},
		{alloc.ByClass, "c6_s0_k0 c6_s1_k2 c7_a0 c11_a1 c12_a2 c13_a1_s0 c14_a0_s1 c15 c16", true},
		{alloc.Disjunctive, "c6_s0_k0 c7_a0 c8_a1 c9_a0_s1 c11_a1 c12_a2 c15 c16", false},
	} {
		model, err := alloc.BuildModel(inst, c.form)
		if err != nil {
			t.Fatal(err)
		}
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
		if err := model.MILP.WriteMPS(&mps); err != nil {
			t.Fatal(err)
		}
		again, err := milp.ReadMPS(&mps, nil)
		if err != nil || again.Nonzeros() != model.MILP.Nonzeros() || again.Integers() != model.MILP.Integers() {
			t.Errorf("%s read back: %v", c.form, err)
		}
	}
}

func TestBuildModelRefuses(t *testing.T) {
	inst, _, err := tiny(nil, "LR").Instance()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := alloc.BuildModel(inst, "cubic"); !errors.Is(err, alloc.ErrForm) {
		t.Errorf("an unknown form: %v, want %v", err, alloc.ErrForm)
	}
	inst.Total[1] = 1<<53 + 1
	if _, err := alloc.BuildModel(inst, alloc.Verbatim); !errors.Is(err, apportion.ErrRange) {
		t.Errorf("a capacity that float64 does not hold: %v, want %v", err, apportion.ErrRange)
	}
}

// A general solver takes the whole decision, and agrees with the embedded one.
func TestReallocateFromMILP(t *testing.T) {
	p := tiny(alloc.Allocation{"LR": {"s0": 2}, "MF": {"s0": 1, "s1": 2}}, "LR", "MF", "NN")
	for _, form := range forms {
		d, err := alloc.Reallocate(context.Background(), p, alloc.FromMILP(bb.Solver{}, form, &alloc.MILPOptions{Preference: solver.ByAdjusted}))
		if err != nil {
			t.Fatal(err)
		}
		if d.Status != alloc.Decided || math.Abs(d.Objective-2.375) > 1e-9 || d.Bound < 2.375-1e-9 {
			t.Errorf("%s: %s, objective %g, bound %g", form, d.Status, d.Objective, d.Bound)
		}
	}
	p.Theta2 = 0
	d, err := alloc.Reallocate(context.Background(), p, alloc.FromMILP(bb.Solver{}, alloc.Disjunctive, nil))
	if err != nil || d.Status != alloc.Kept || d.Reason.Constraint == "" {
		t.Errorf("nothing may move: %v, %v, %+v", err, d.Status, d.Reason)
	}
}

// Three equal servers of 4 CPUs, pooled to 12: three containers of 3 CPUs and three of 1 fill them.
func TestByClassUnpools(t *testing.T) {
	p := &alloc.Problem{
		Kinds: apportion.Kinds{"cpu"},
		Applications: []alloc.Application{
			{ID: "small", Demand: apportion.Resources{1}, Weight: 1, Max: 3},
			{ID: "large", Demand: apportion.Resources{3}, Weight: 1, Max: 3},
		},
		Theta1: 1, Theta2: 1,
	}
	for _, id := range []string{"a", "b", "c"} {
		p.Servers = append(p.Servers, apportion.Server{ID: id, Capacity: apportion.Resources{4}})
	}
	byClass := alloc.FromMILP(bb.Solver{}, alloc.ByClass, nil)
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

// An application on a server that can no longer hold any of its containers must move.
func TestFormsShrunk(t *testing.T) {
	p := tiny(alloc.Allocation{"MF": {"s0": 1, "s1": 1}}, "MF")
	p.Options.Displace = true
	p.Servers[1].Capacity = apportion.Resources{1, 0, 16}
	for _, theta2 := range []float64{0, 1} {
		p.Theta2 = theta2
		for _, form := range []alloc.Form{alloc.Verbatim, alloc.Disjunctive} {
			d, err := alloc.Reallocate(context.Background(), p, alloc.FromMILP(bb.Solver{}, form, nil))
			want := map[float64]alloc.Status{0: alloc.Kept, 1: alloc.Decided}[theta2]
			if err != nil || d.Status != want || theta2 == 0 && d.Reason.Constraint == "" {
				t.Errorf("%s, theta2 = %g: %v, %s because of %+v; want %s", form, theta2, err, d.Status, d.Reason, want)
			}
		}
	}
}
