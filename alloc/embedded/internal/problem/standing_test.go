package problem

import (
	"testing"

	"github.com/apportion/apportion/alloc/solver"
)

// More utilization comes before less loss, and what lies within half of a tolerance is equal.
func TestStandingCompare(t *testing.T) {
	const half, quarter = solver.ObjectiveTolerance / 2, solver.ObjectiveTolerance / 4
	var s Standing
	if s.Compare(-1, 1e300) != -1 {
		t.Error("anything is better than nothing")
	}
	s.Accept(2, 0.5)
	for _, c := range []struct {
		objective, loss float64
		want            int
	}{
		{2, 0.5, 0}, {2 + quarter, 0.5 - quarter, 0}, {2 - quarter, 0.5 + quarter, 0},
		{2 + 2*half, 9, -1}, {2 - 2*half, 0, 1}, {2 - quarter, 0.4, -1}, {2 + quarter, 0.6, 1},
	} {
		if got := s.Compare(c.objective, c.loss); got != c.want {
			t.Errorf("Compare(%.12g, %.12g) = %d, want %d", c.objective, c.loss, got, c.want)
		}
	}
}

// However many solutions stand one after the other, each hardly worse than the last and with less loss, the
// last is within the tolerance of the best; and so is its loss where fewer applications decide.
func TestStandingDoesNotDrift(t *testing.T) {
	const little = solver.ObjectiveTolerance / 10
	var s Standing
	s.Accept(1, 0.5)
	last := 1.0
	for n := range 1000 {
		if objective, loss := 1-float64(n)*little, 0.5-float64(n)*0.0001; s.Compare(objective, loss) <= 0 {
			s.Accept(objective, loss)
			last = objective
		}
	}
	if last < 1-solver.ObjectiveTolerance {
		t.Errorf("from 1 down to %.12g", last)
	}
	s = Standing{}
	s.Accept(1, 0.5)
	most := 0.5
	for n := range 1000 {
		if loss := 0.5 + float64(n)*little; s.Compare(1, loss) <= 0 {
			s.Accept(1, loss)
			most = loss
		}
	}
	if most > 0.5+solver.LossTolerance {
		t.Errorf("loss from 0.5 up to %.12g", most)
	}
}

// A better utilization has a loss of its own.
func TestStandingForgetsLoss(t *testing.T) {
	var s Standing
	s.Accept(1, 0.1)
	s.Accept(2, 0.9)
	if s.Compare(2, 0.8) != -1 || s.Compare(2, 0.9) != 0 {
		t.Error("the loss of a solution that is no longer as good counts")
	}
}
