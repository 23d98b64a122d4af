package alloc_test

import (
	"context"
	"errors"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/solver"
)

// fig5 is three applications on three servers, one of them new.
func fig5() *alloc.Problem {
	p := &alloc.Problem{
		Kinds: []string{"cpu", "gpu"}, Theta1: 0.2, Theta2: 0.5,
		Previous: alloc.Allocation{"a": {"s1": 1, "s2": 3}, "b": {"s1": 1}},
	}
	for _, id := range []string{"s1", "s2"} {
		p.Servers = append(p.Servers, apportion.Server{ID: id, Capacity: apportion.Resources{6, 1}})
	}
	p.Applications = []alloc.Application{
		{ID: "a", Demand: []int64{2, 0}, Weight: 1, Max: 8, Min: 1},
		{ID: "b", Demand: []int64{1, 1}, Weight: 1, Max: 2, Min: 1},
		{ID: "c", Demand: []int64{1, 1}, Weight: 1, Max: 2, Min: 1},
	}
	return p
}

// The recomputed bound is a bound on the decision, and without a search no weaker than claimed.
func TestVerifyBound(t *testing.T) {
	d, err := alloc.Reallocate(context.Background(), fig5(), nil)
	if err != nil || d.Status != alloc.Decided {
		t.Fatalf("%+v, %v", d, err)
	}
	proof, err := alloc.VerifyBound(d)
	if err != nil || proof.Bound < d.Objective-solver.ObjectiveTolerance || !proof.Searched && proof.Bound > d.Bound+1e-8 {
		t.Errorf("%+v, %v; decision %g with bound %g", proof, err, d.Objective, d.Bound)
	}
	// A solver that sends prices of its own invention: the bound is theirs, not the claimed one.
	priced := &solver.Multipliers{Server: [][]float64{{0, 0}, {0, 0}}}
	d, err = alloc.Reallocate(context.Background(), fig5(), answering{solver.Counts{
		{{Server: 0, Count: 1}, {Server: 1, Count: 3}}, {{Server: 0, Count: 1}}, {{Server: 1, Count: 1}}}, priced})
	if !errors.Is(err, alloc.ErrSolver) {
		t.Errorf("%+v, %v: the second server is too small", d, err)
	}
	d, err = alloc.Reallocate(context.Background(), fig5(), answering{solver.Counts{
		{{Server: 0, Count: 1}, {Server: 1, Count: 2}}, {{Server: 0, Count: 1}}, {{Server: 1, Count: 1}}}, priced})
	if err != nil {
		t.Fatal(err)
	}
	if proof, err = alloc.VerifyBound(d); err != nil || proof.Bound >= 9 || proof.Bound < d.Objective {
		t.Errorf("%+v, %v", proof, err)
	}
	priced.Server[0] = nil
	if _, err = alloc.VerifyBound(d); !errors.Is(err, solver.ErrMultipliers) {
		t.Errorf("error %v", err)
	}
	d, err = alloc.Reallocate(context.Background(), fig5(), answering{solver.Counts{
		{{Server: 0, Count: 1}, {Server: 1, Count: 2}}, {{Server: 0, Count: 1}}, {{Server: 1, Count: 1}}}, nil})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = alloc.VerifyBound(d); !errors.Is(err, alloc.ErrNoProof) {
		t.Errorf("error %v", err)
	}
}
