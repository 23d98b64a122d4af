// This file tests how Dorm asks its optimizer: n_max, types as requirements, budgets, and who looks on.

package schedulers

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/internal/must"
)

// Where there are several types each has its requirement: servers without a label to have none.
func TestRequires(t *testing.T) {
	for _, test := range []struct {
		types []string
		kind  int
		want  []apportion.Requirement
	}{
		{[]string{"v", "k"}, 1, []apportion.Requirement{{Key: Accelerator, Op: apportion.In, Values: []string{"k"}}}},
		{[]string{"v", ""}, 1, []apportion.Requirement{{Key: Accelerator, Op: apportion.NotExists}}},
		{[]string{"v", "v"}, 0, nil},
		{[]string{"", ""}, 0, nil},
	} {
		s := scenario(servers(1, test.types...), job("a", 0, 1, 1, 1))
		must.Equal(t, cmp.Diff(test.want, opened(t, at(s, 0, nil)).requires(test.kind)), "", "type", test.kind, test.types)
	}
}

// n_max by the mean speed: the largest number that still has the threshold, also beyond one that has not, and one container
// at least.
func TestMost(t *testing.T) {
	for _, test := range []struct {
		speeds    []float64
		threshold float64
		want      int64
	}{
		{[]float64{1, 1.8, 2.4, 2.6}, 0, 3}, // as submitted
		{[]float64{1, 1.8, 2.4, 2.6}, 0.9, 2},
		{[]float64{1, 1.8, 2.5, 2.6}, 0.8, 3},
		{[]float64{1, 1.8, 2.4, 2.6}, 0.6, 4},
		{[]float64{2, 2.2, 2.4, 2.6}, 0.9, 1},
		{[]float64{1, 1.2, 2.9, 3}, 0.9, 3}, // a second server may cost what a third container wins back
		{nil, 0.9, 1},
	} {
		s := scenario(servers(8, ""), job("a", 0, 100, 3, 8))
		state := at(s, 0, map[string][]apportion.Placement{"a": nil})
		p := &Dorm{Threshold: test.threshold}
		p.book = *opened(t, state)
		p.book.jobs["a"].speeds = [][]float64{test.speeds}
		must.Equal(t, p.most(state, 0, 0), test.want, "speeds", test.speeds, "threshold", test.threshold)
	}
}

// The problem has the budgets and the types; who looks on sees it with its decision, once a decision.
func TestDormAsks(t *testing.T) {
	all := servers(4, "fast", "slow")
	s := scenario(all, fasterOn(job("a", 0, 1000, 3, 8), all, map[string]float64{"fast": 1, "slow": 2}))
	seen := 0
	p := &Dorm{Theta1: 0.3, Theta2: 0.4, Observe: func(q *alloc.Problem, d *alloc.Decision) {
		seen++
		app := &q.Applications[0]
		if q.Theta1 != 0.3 || q.Theta2 != 0.4 || app.Max != 3 || len(app.Requires) != 1 || app.Requires[0].Values[0] != "slow" {
			t.Errorf("%+v", q)
		}
		if d.Allocation["a"]["s1"] != 3 {
			t.Errorf("decided %v", d.Allocation)
		}
	}}
	orders, err := p.Decide(t.Context(), at(s, 0, map[string][]apportion.Placement{"a": nil}))
	if err != nil || fmt.Sprint(orders.Places) != "[{a [{1 3}] [] }]" || seen != 1 {
		t.Errorf("%+v, seen %d times, %v", orders, seen, err)
	}
	// Nothing changes: nothing is ordered.
	if orders, err = p.Decide(t.Context(), at(s, 1, map[string][]apportion.Placement{"a": on(1, 3)})); err != nil || len(orders.Places) != 0 {
		t.Errorf("%+v, %v", orders, err)
	}
	// Nobody is there: the optimizer is not asked.
	if orders, err = p.Decide(t.Context(), at(s, 2, nil)); err != nil || len(orders.Places) != 0 || seen != 2 {
		t.Errorf("%+v, seen %d times, %v", orders, seen, err)
	}
}
