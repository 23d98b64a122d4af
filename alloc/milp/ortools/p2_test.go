package ortools_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/milp/bb"
	"github.com/apportion/apportion/alloc/milp/ortools"
	"github.com/apportion/apportion/alloc/p2"
)

// p2Instances are small problems of the allocation of servers, one of them infeasible.
func p2Instances() []*p2.Instance {
	var all []*p2.Instance
	for seed := range uint64(4) {
		all = append(all, alloctest.Table2(seed, 3, 5, seed%2 == 1))
	}
	return append(all, alloctest.Mixed(4, 3, 4, false), alloctest.Mixed(5, 3, 4, false))
}

// TestP2 solves P2 in its three forms with the engines that can state them. The exact forms agree
// with branch and bound, and no bound of the relaxed one is below the optimum.
func TestP2(t *testing.T) {
	all := engines(t)
	statuses := map[p2.Status]int{}
	for k, inst := range p2Instances() {
		want, err := alloc.FromMILP(bb.Solver{}, alloc.Disjunctive, nil).Solve(context.Background(), inst)
		if err != nil {
			t.Fatal(err)
		}
		statuses[want.Status]++
		for _, form := range []alloc.Form{alloc.Verbatim, alloc.Disjunctive, alloc.ByClass} {
			for _, e := range all[1:3] { // HiGHS and SCIP
				what := fmt.Sprintf("instance %d, %s, %s", k, form, e.name)
				got, err := alloc.FromMILP(e.solver, form, nil).Solve(context.Background(), inst)
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				if got.Bound < want.Objective-1e-6 && want.Status == p2.Optimal {
					t.Errorf("%s: bound %v, optimum %v", what, got.Bound, want.Objective)
				}
				if form == alloc.ByClass {
					continue
				}
				if got.Status != want.Status || math.Abs(got.Objective-want.Objective) > 1e-6 {
					t.Errorf("%s: %v, objective %v, want %v, %v", what, got.Status, got.Objective, want.Status, want.Objective)
				}
				if got.Status == p2.Optimal && inst.Check(got.Counts) != nil {
					t.Errorf("%s: %v", what, inst.Check(got.Counts))
				}
			}
		}
	}
	if statuses[p2.Optimal] < 4 || statuses[p2.Infeasible] < 1 {
		t.Errorf("the instances are %v", statuses)
	}
}

// TestP2OnCPSAT: the fairness losses of P2 are continuous, so CP-SAT is refused before the call.
func TestP2OnCPSAT(t *testing.T) {
	for _, form := range []alloc.Form{alloc.Verbatim, alloc.Disjunctive, alloc.ByClass} {
		_, err := alloc.FromMILP(ortools.CPSAT{}, form, nil).Solve(context.Background(), p2Instances()[0])
		var refusal *milp.CapabilityError
		if !errors.As(err, &refusal) || refusal.Missing&milp.CanContinuous == 0 {
			t.Errorf("%s: %v", form, err)
		}
	}
}
