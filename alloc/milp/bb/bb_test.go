package bb_test

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/milp/bb"
	"github.com/apportion/apportion/alloc/milp/milptest"
	"github.com/apportion/apportion/internal/must"
)

func TestConformance(t *testing.T) {
	milptest.Run(t, func(*testing.T) milp.Solver { return bb.Solver{} })
}

// countdown is a context that ends when it has been asked a number of times: a cancellation at
// every point of a search, without a clock.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Done() <-chan struct{} { return make(chan struct{}) }

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestCancelEverywhere cancels after the k-th look at the context for every k: the answer is
// Cancelled with a valid bound and, once found, a feasible point; at the end it is the optimum.
func TestCancelEverywhere(t *testing.T) {
	model := instance(t, "p0033")
	const optimum = 3089 // [Bixby98]
	step, points := 1, 0
	if testing.Short() {
		step = 40
	}
	for k := 2; ; k += step {
		got := must.Have(milp.Solve(&countdown{context.Background(), k}, bb.Solver{}, model, nil))(t)
		if got.Status == milp.Optimal {
			if k < 500 || got.Objective != optimum || points == 0 {
				t.Errorf("after %d looks: objective %v, %d times with a point before", k, got.Objective, points)
			}
			return
		}
		if got.Status != milp.Cancelled || got.Bound > optimum+1e-6 || got.Reason == "" {
			t.Fatalf("after %d looks: %v (%q), bound %v", k, got.Status, got.Reason, got.Bound)
		}
		if got.HasSolution() {
			points++
			if got.Objective < optimum || math.Abs(got.Gap()-(got.Objective-got.Bound)/math.Abs(got.Bound)) > 1e-12 {
				t.Fatalf("after %d looks: objective %v, gap %v", k, got.Objective, got.Gap())
			}
		}
	}
}

// TestNodeLimits: more nodes never make the bound or the objective worse.
func TestNodeLimits(t *testing.T) {
	model := instance(t, "lseu")
	bound, objective := math.Inf(-1), math.Inf(1)
	for _, limit := range []int64{1, 10, 100, 1000, 10000} {
		got := must.Have(milp.Solve(context.Background(), bb.Solver{}, model, &milp.Options{NodeLimit: limit}))(t)
		if got.Nodes != limit || got.Bound < bound || !strings.Contains(got.Reason, "node limit") {
			t.Errorf("limit %d: %d nodes, bound %v after %v, %q", limit, got.Nodes, got.Bound, bound, got.Reason)
		}
		bound = got.Bound
		if got.HasSolution() {
			if got.Objective > objective {
				t.Errorf("limit %d: objective %v after %v", limit, got.Objective, objective)
			}
			objective = got.Objective
		}
	}
}

// TestMemory: a model too large for a dense inverse is answered at once, before any allocation.
func TestMemory(t *testing.T) {
	b := milp.NewBuilder("")
	x := b.Integer(0, 9, "")
	for range 20_000 {
		b.AtMost("", []milp.Term{{Var: x, Coef: 1}}, 8)
	}
	b.Maximize([]milp.Term{{Var: x, Coef: 1}}, 0)
	model := must.Have(b.Build())(t)
	start := time.Now()
	got, err := milp.Solve(context.Background(), bb.Solver{}, model, nil)
	if err != nil || got.Status != milp.LimitReached || !math.IsInf(got.Bound, 1) || !strings.Contains(got.Reason, "memory") {
		t.Errorf("%+v, %v", got, err)
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("took %v", took)
	}
}

// TestMemoryOfNodes: open nodes count.
func TestMemoryOfNodes(t *testing.T) {
	model := instance(t, "lseu")
	got, err := milp.Solve(context.Background(), bb.Solver{}, model, &milp.Options{MemoryLimitBytes: 30_000})
	if err != nil || got.Nodes < 20 || got.Status == milp.Optimal || !strings.Contains(got.Reason, "memory") {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestLog: reports come in order and their bounds close in on the optimum.
func TestLog(t *testing.T) {
	var reports []milp.Progress
	opts := &milp.Options{Log: func(p milp.Progress) { reports = append(reports, p) }}
	must.Have(milp.Solve(context.Background(), bb.Solver{}, instance(t, "p0033"), opts))(t)
	if len(reports) < 5 {
		t.Fatalf("%d reports", len(reports))
	}
	for k, p := range reports[1:] {
		before := reports[k]
		if p.Nodes != before.Nodes+100 || p.Bound < before.Bound || p.Objective > before.Objective || p.Bound > 3089 {
			t.Errorf("%+v after %+v", p, before)
		}
	}
}

// TestNearlyWhole: a switch at 5e-7 counts as whole, but its rounding to 0 takes the load with it.
// The rounded point is feasible and worth 0, its relaxation 5e-4: the node is split on until the
// bound is 0 too.
func TestNearlyWhole(t *testing.T) {
	b := milp.NewBuilder("")
	open, load := b.Binary("open"), b.Continuous(0, 0.5, "load")
	b.AtMost("", []milp.Term{{Var: load, Coef: 1}, {Var: open, Coef: -1e6}}, 0)
	b.Maximize([]milp.Term{{Var: load, Coef: 1e-3}, {Var: open, Coef: -1}}, 0)
	model := must.Have(b.Build())(t)
	first, err := milp.Solve(context.Background(), bb.Solver{}, model, &milp.Options{NodeLimit: 1})
	if err != nil || first.Status != milp.Feasible || first.Objective != 0 || first.Bound < 4e-4 {
		t.Errorf("after one node: %+v, %v", first, err)
	}
	got, err := milp.Solve(context.Background(), bb.Solver{}, model, nil)
	if err != nil || got.Status != milp.Optimal || got.Objective != 0 || got.Bound > 1e-8 || got.Nodes < 2 {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestUnboundedKeepsTheNodeLimit: whether an unbounded relaxation has a point takes a second search, and
// both together keep the limit. 2x + 4y = 7 has no solution in whole numbers, but the bounds do not say so.
func TestUnboundedKeepsTheNodeLimit(t *testing.T) {
	b := milp.NewBuilder("")
	x, y, z := b.Integer(0, 1e6, ""), b.Integer(0, 1e6, ""), b.Continuous(0, math.Inf(1), "")
	b.Equal("", []milp.Term{{Var: x, Coef: 2}, {Var: y, Coef: 4}}, 7)
	b.Maximize([]milp.Term{{Var: z, Coef: 1}}, 0)
	model := must.Have(b.Build())(t)
	for _, limit := range []int64{1, 2, 5} {
		got, err := milp.Solve(context.Background(), bb.Solver{}, model, &milp.Options{NodeLimit: limit})
		if err != nil || got.Status != milp.LimitReached || got.Nodes != limit || !math.IsInf(got.Bound, 1) {
			t.Errorf("limit %d: %+v, %v", limit, got, err)
		}
	}
}

// TestConstantCancels: where the constant cancels the objective but for a little, the gap is a part of that little,
// and less than the rounding of the objective. The only point is its optimum all the same.
func TestConstantCancels(t *testing.T) {
	for _, size := range []float64{1, 1e3, 1e6, 1e9} {
		b := milp.NewBuilder("")
		x, y := b.Continuous(-5, -5, ""), b.Continuous(0, 1, "")
		b.Minimize([]milp.Term{{Var: x, Coef: size}, {Var: y, Coef: size}}, 5*size-1)
		model := must.Have(b.Build())(t)
		if got, err := milp.Solve(context.Background(), bb.Solver{}, model, nil); err != nil || got.Status != milp.Optimal || got.Objective != -1 {
			t.Errorf("size %g: %+v, %v", size, got, err)
		}
	}
}
