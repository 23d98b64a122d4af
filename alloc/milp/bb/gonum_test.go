package bb

import (
	"errors"
	"math"
	"testing"

	"github.com/apportion/apportion/alloc/milp"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"
	"pgregory.net/rapid"
)

// standard is a relaxation in the form of gonum's lp.Simplex: equations in non-negative variables.
type standard struct {
	cost     []float64
	rows     *mat.Dense
	rhs      []float64
	constant float64
}

// toStandard shifts variables to their lower bound (all must have one) and turns each inequality
// and each upper bound into an equation with a slack.
func toStandard(m *milp.Model) standard {
	n := m.Variables()
	s := standard{constant: m.Constant()}
	var rows [][]float64
	var slack []float64
	add := func(row []float64, rhs, sign float64) {
		rows, s.rhs, slack = append(rows, row), append(s.rhs, rhs), append(slack, sign)
	}
	for i := range m.Rows() {
		row, dense, shift := m.Row(i), make([]float64, n), 0.0
		for k, j := range row.Columns {
			dense[j] = row.Coefs[k]
			shift += row.Coefs[k] * m.Variable(int(j)).Lower
		}
		if row.Lower == row.Upper {
			add(dense, row.Lower-shift, 0)
			continue
		}
		if !math.IsInf(row.Upper, 0) {
			add(dense, row.Upper-shift, 1)
		}
		if !math.IsInf(row.Lower, 0) {
			add(dense, row.Lower-shift, -1)
		}
	}
	s.cost = make([]float64, n, n+len(rows))
	for j := range n {
		v, unit := m.Variable(j), make([]float64, n)
		s.cost[j] = minimal(m.Sense(), v.Cost)
		s.constant += v.Cost * v.Lower
		if unit[j] = 1; !math.IsInf(v.Upper, 0) {
			add(unit, v.Upper-v.Lower, 1)
		}
	}
	s.rows = mat.NewDense(len(rows), n+len(rows), nil)
	for i, row := range rows {
		for j, x := range row {
			s.rows.Set(i, j, x)
		}
		s.rows.Set(i, n+i, slack[i])
	}
	s.dropUnusedSlacks(slack, n)
	return s
}

// dropUnusedSlacks removes the columns of equations, which would be zero.
func (s *standard) dropUnusedSlacks(slack []float64, n int) {
	rows, _ := s.rows.Dims()
	var keep []int
	for j := range n {
		keep = append(keep, j)
	}
	for i, sign := range slack {
		if sign != 0 {
			keep = append(keep, n+i)
		}
	}
	dense := mat.NewDense(rows, len(keep), nil)
	for c, j := range keep {
		dense.SetCol(c, mat.Col(nil, j, s.rows))
	}
	s.rows = dense
	s.cost = append(s.cost, make([]float64, len(keep)-n)...)
}

// errNotWide says that gonum cannot be relied on: with more equations than variables it panics, with
// equally many it takes a rounding error below 0 for infeasibility.
var errNotWide = errors.New("not more variables than equations")

// solve returns gonum's optimum.
func (s standard) solve(sense milp.Sense) (float64, error) {
	if rows, columns := s.rows.Dims(); rows >= columns {
		return 0, errNotWide
	}
	objective, _, err := lp.Simplex(s.cost, s.rows, s.rhs, 1e-10, nil)
	return minimal(sense, objective) + s.constant, err
}

// TestRelaxationAgainstGonum solves random linear programs with both simplex methods.
func TestRelaxationAgainstGonum(t *testing.T) {
	compared := 0
	rapid.Check(t, func(t *rapid.T) {
		model := genLP(t)
		want, err := toStandard(model).solve(model.Sense())
		r := newRelaxation(model)
		s := newSimplex(r, func() bool { return false })
		got := s.solve(math.Inf(1))
		switch {
		case errors.Is(err, lp.ErrInfeasible):
			if got != infeasible {
				t.Fatalf("outcome %v, gonum says infeasible", got)
			}
		case err == nil:
			if got != optimal {
				t.Fatalf("outcome %v, gonum finds %g", got, want)
			}
			value := model.Objective(s.x[:s.n])
			bound := s.bound()/r.costScale + model.Constant()
			if math.Abs(value-want) > 1e-6*(1+math.Abs(want)) || math.Abs(bound-want) > 1e-6*(1+math.Abs(want)) {
				t.Fatalf("objective %g, bound %g, gonum finds %g", value, bound, want)
			}
		default:
			t.Skip("gonum: " + err.Error()) // singular, zero column, ...
		}
		compared++
	})
	t.Logf("%d programs compared", compared)
}
