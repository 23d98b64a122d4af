// This file tests what happens where the loss budget cannot be held, or a solver finds nothing.

package alloc

import (
	"context"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion/alloc/solver"
)

// asked is a solver that answers from a list, one instance after the other, and remembers what it was asked.
type asked struct {
	answers   []solver.Solution
	instances []*solver.Instance
}

func (a *asked) Solve(_ context.Context, inst *solver.Instance) (*solver.Solution, error) {
	s := a.answers[min(len(a.instances), len(a.answers)-1)]
	copied := *inst // whose budget is raised between the questions
	a.instances = append(a.instances, &copied)
	return &s, nil
}

// unfair is a problem whose loss budget is 0: a0 is due the GPUs that it has, and a1, which is due as many, has none
// yet; three of four cannot be halved.
func unfair() *Problem {
	p := gpuProblem(3)
	p.Theta1 = 0
	p.add(1, 1, 3, 3)
	p.add(1, 1, 3)
	p.Options.RestartCost = new(float64)
	return p
}

var (
	unknown    = solver.Solution{Status: solver.Unknown, Bound: math.Inf(1)}
	infeasible = solver.Solution{Status: solver.Infeasible, Bound: math.Inf(-1)}
)

// A solver that finds nothing, or believes that there is nothing, gets in nobody's way: the draft of admission is the
// answer, and its loss the budget. What is claimed of it can be verified.
func TestDraftStandsIn(t *testing.T) {
	for name, answer := range map[string]solver.Solution{"finds nothing": unknown, "says there is nothing": infeasible} {
		answer.Bound = math.Min(answer.Bound, 1) // no solver says more than the cap
		by := &asked{answers: []solver.Solution{answer}}
		p := unfair()
		d, err := Reallocate(t.Context(), p, by)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(Allocation{"a0": {"s0": 1}, "a1": {"s0": 1}}, d.Allocation); diff != "" {
			t.Errorf("%s: both at their fewest (-want +got):\n%s", name, diff)
		}
		if d.Status != Decided || d.LeastLoss == nil || d.LeastLoss.Bound != 0 || math.Abs(d.LeastLoss.Loss-1./3) > 1e-9 {
			t.Errorf("%s: %s with %+v; each has 1/3 and is due a half", name, d.Status, d.LeastLoss)
		}
		if d.Bound != 1 || d.Proven != solver.ByNothing {
			t.Errorf("%s: bound %g, proven %v; the cap is 1, and nothing is proven", name, d.Bound, d.Proven)
		}
		if _, err := Verify(p, d); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if len(by.instances) != 3 {
			t.Errorf("%s: %d questions, want P2, the least loss, and P2 again", name, len(by.instances))
		}
	}
}

// The second question is for the least loss and nothing else; the third has that as its budget.
func TestLeastLossIsAsked(t *testing.T) {
	by := &asked{answers: []solver.Solution{unknown}}
	by.answers[0].Bound = 1
	if _, err := Reallocate(t.Context(), unfair(), by); err != nil {
		t.Fatal(err)
	}
	first, second, third := by.instances[0], by.instances[1], by.instances[2]
	for i := range second.Apps {
		if app := &second.Apps[i]; app.Value != 0 || app.Worth != nil || app.Stay != 0 {
			t.Errorf("application %d has a worth beside its loss: %+v", i, app)
		}
		if first.Apps[i].Value == 0 {
			t.Error("the first instance has been changed")
		}
	}
	// The objective is minus the loss, and no allocation of the cluster is beyond the budget.
	for n := range int64(4) {
		counts := solver.Counts{at(n), at(3 - n)}
		loss := first.FairnessLoss(counts)
		if got := second.Objective(counts); math.Abs(got+loss) > 1e-12 || loss > second.LossBudget {
			t.Errorf("%v loses %g of %g, and is worth %g", counts, loss, second.LossBudget, got)
		}
	}
	if third.LossBudget <= first.LossBudget || third.LossPrice != 0 || third.Apps[0].Value != first.Apps[0].Value {
		t.Errorf("budget %g after %g, price %g", third.LossBudget, first.LossBudget, third.LossPrice)
	}
}

// A budget that holds after all stays what it is: the search for the least loss may find what the first one missed.
func TestBudgetHoldsAfterAll(t *testing.T) {
	p := gpuProblem(2)
	p.Theta1 = 0
	p.add(1, 1, 2, 2)
	p.add(1, 1, 2)
	p.Options.RestartCost = new(float64)
	fair := solver.Counts{at(1), at(1)}
	by := &asked{answers: []solver.Solution{
		{Status: solver.Unknown, Bound: 1},
		{Status: solver.Optimal, Counts: fair, Proven: solver.ByUtilization},
		{Status: solver.Optimal, Counts: fair, Objective: 1, Bound: 1, Proven: solver.ByUtilization},
	}}
	d, err := Reallocate(t.Context(), p, by)
	if err != nil || d.LeastLoss != nil || d.Metrics.LossBudget != 0 || d.Objective != 1 {
		t.Errorf("%+v, %v", d, err)
	}
}

// An answer that loses less than what was taken for the least loss lowers it, as far as to the budget that Theta1 gives.
func TestAnswerLowersLeastLoss(t *testing.T) {
	for _, c := range []struct{ theta1, least float64 }{{0, .2}, {.11, 0}} {
		p := gpuProblem(5)
		p.Theta1, p.Options.NoCeil15 = c.theta1, true
		p.add(1, 1, 5, 5)
		p.add(1, 1, 5)
		found := solver.Solution{Status: solver.Feasible, Counts: solver.Counts{at(3), at(2)}, Objective: 1, Bound: 1}
		d, err := Reallocate(t.Context(), p, &asked{answers: []solver.Solution{unknown, unknown, found}})
		if err != nil {
			t.Fatal(err)
		}
		least := 0.0
		if d.LeastLoss != nil {
			least = d.LeastLoss.Loss
		}
		if math.Abs(least-c.least) > 1e-9 || math.Abs(d.Metrics.FairnessLoss-.2) > 1e-9 || d.Metrics.LossBudget < .2-1e-9 {
			t.Errorf("theta1 %g: least loss %g, want %g; loss %g of %g", c.theta1, least, c.least, d.Metrics.FairnessLoss, d.Metrics.LossBudget)
		}
		if _, err := Verify(p, d); err != nil {
			t.Errorf("theta1 %g: %v", c.theta1, err)
		}
	}
}
