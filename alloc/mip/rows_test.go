package mip_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/mip"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/alloc/solver/solvertest"
	"github.com/apportion/apportion/internal/oracle/p2oracle"
)

// point is a point of a program by the names of its variables.
type point map[string]float64

// admits reports whether the model admits the point, whose other variables are 0, and what it is worth. A
// variable that the model does not have must be 0.
func admits(m *milp.Model, at point) (ok bool, worth float64) {
	values, ok := make([]float64, m.Variables()), true
	known := map[string]bool{}
	for j := range values {
		v, name := m.Variable(j), m.VariableName(j)
		values[j], known[name] = at[name], true
		ok = ok && v.Lower-1e-12 <= values[j] && values[j] <= v.Upper+1e-12
		worth += v.Cost * values[j]
	}
	for name, value := range at {
		ok = ok && (known[name] || value == 0)
	}
	for i := range m.Rows() {
		row, sum := m.Row(i), 0.0
		for t, column := range row.Columns {
			sum += row.Coefs[t] * values[column]
		}
		ok = ok && row.Lower-1e-12 <= sum && sum <= row.Upper+1e-12
	}
	return ok, worth
}

// verbatimPoint is what the paper's variables are under counts.
func verbatimPoint(inst *solver.Instance, counts solver.Counts) point {
	at := point{}
	for a := range inst.Apps {
		for _, p := range counts[a] {
			at[fmt.Sprintf("x_a%d_s%d", a, p.Server)] = float64(p.Count)
		}
		at[fmt.Sprint("l_a", a)] = inst.Apps[a].Loss(solver.Containers(counts[a]))
		if inst.Apps[a].Adjusted(counts[a]) {
			at[fmt.Sprint("r_a", a)] = 1
		}
	}
	return at
}

// disjunctivePoint is the same with z and y: whoever is not adjusted stays, and has no y and no loss but
// that of staying.
func disjunctivePoint(inst *solver.Instance, counts solver.Counts) point {
	at := point{}
	for a := range inst.Apps {
		app := &inst.Apps[a]
		if app.Running && !app.Adjusted(counts[a]) {
			at[fmt.Sprint("z_a", a)] = 1
			continue
		}
		at[fmt.Sprint("l_a", a)] = app.Loss(solver.Containers(counts[a]))
		for _, p := range counts[a] {
			at[fmt.Sprintf("y_a%d_s%d", a, p.Server)] = float64(p.Count)
		}
	}
	return at
}

// wholePoint replaces the losses of a verbatim point by the whole numbers of wholeLoss: n = m + p - q, with b
// where n is above m.
func wholePoint(inst *solver.Instance, counts solver.Counts) point {
	at := verbatimPoint(inst, counts)
	for a := range inst.Apps {
		app, n := &inst.Apps[a], float64(solver.Containers(counts[a]))
		delete(at, fmt.Sprint("l_a", a))
		if app.Delta == 0 {
			continue
		}
		if m := math.Floor(app.Share / app.Delta); n > m {
			at[fmt.Sprint("p_a", a)], at[fmt.Sprint("b_a", a)] = n-m, 1
		} else {
			at[fmt.Sprint("q_a", a)] = m - n
		}
	}
	return at
}

// classPoint pools the containers of servers of one capacity, classes counted by first appearance.
func classPoint(inst *solver.Instance, counts solver.Counts) point {
	at := verbatimPoint(inst, counts)
	var first []apportion.Resources
	for a := range inst.Apps {
		for _, p := range counts[a] {
			delete(at, fmt.Sprintf("x_a%d_s%d", a, p.Server))
		}
	}
	class := make([]int, len(inst.Capacity))
	for j, capacity := range inst.Capacity {
		class[j] = slices.IndexFunc(first, capacity.Equal)
		if class[j] < 0 {
			class[j], first = len(first), append(first, capacity)
		}
	}
	for a := range inst.Apps {
		for _, p := range counts[a] {
			at[fmt.Sprintf("x_a%d_s%d", a, class[p.Server])] += float64(p.Count)
		}
	}
	return at
}

// around calls do with the best counts of an instance, with what runs, and with all neighbours of both.
func around(inst *solver.Instance, do func(counts solver.Counts)) {
	best, _ := p2oracle.Best(inst)
	held := make(solver.Counts, len(inst.Apps))
	for a := range inst.Apps {
		held[a] = inst.Apps[a].Previous
	}
	for _, centre := range []solver.Counts{best, held} {
		if centre == nil {
			continue
		}
		do(centre)
		for a := range centre {
			for j := range inst.Capacity {
				for _, change := range []int64{-1, 1} {
					if next, ok := changed(centre, a, j, change); ok {
						do(next)
					}
				}
			}
		}
	}
}

// changed returns counts with more containers of one application on one server, if that is not below zero.
func changed(counts solver.Counts, a, j int, more int64) (solver.Counts, bool) {
	next := slices.Clone(counts)
	next[a] = nil
	found := false
	for _, p := range counts[a] {
		if p.Server == j {
			p.Count, found = p.Count+more, true
		} else if p.Server > j && !found && more > 0 {
			next[a], found = append(next[a], apportion.Placement{Server: j, Count: more}), true
		}
		if p.Count > 0 {
			next[a] = append(next[a], p)
		}
	}
	if !found && more > 0 {
		next[a], found = append(next[a], apportion.Placement{Server: j, Count: more}), true
	}
	return next, found
}

// The exact forms admit just the counts that are solutions of P2, at their utilization; the pooled one
// admits all of them. Reference: [Dorm (6)-(18)].
func TestRowsSayP2(t *testing.T) {
	yes, no := 0, 0
	for seed := range uint64(150) {
		inst := solvertest.Small(seed)
		for _, c := range []struct {
			name    string
			form    mip.Form
			backend milp.Solver
			at      func(*solver.Instance, solver.Counts) point
		}{
			{"verbatim", mip.Verbatim, nil, verbatimPoint},
			{"disjunctive", mip.Disjunctive, nil, disjunctivePoint},
			{"whole losses", mip.Verbatim, integersOnly{}, wholePoint},
			{"class", mip.Class, nil, classPoint},
		} {
			model, err := mip.Build(inst, c.form)
			if c.backend != nil {
				model, err = mip.BuildFor(c.backend, inst, c.form)
			}
			if err != nil {
				t.Fatal(err)
			}
			around(inst, func(counts solver.Counts) {
				want := inst.Check(counts) == nil
				got, worth := admits(model.MILP, c.at(inst, counts))
				if got != want && (want || c.form != mip.Class) {
					t.Errorf("%s, Small(%d): %v is admitted %v, Check: %v", c.name, seed, counts, got, inst.Check(counts))
				}
				if got && math.Abs(worth-inst.Objective(counts)) > 1e-9 {
					t.Errorf("%s, Small(%d): %v is worth %g, want %g", c.name, seed, counts, worth, inst.Objective(counts))
				}
				if want {
					yes++
				} else {
					no++
				}
			})
		}
	}
	if yes < 100 || no < 100 {
		t.Errorf("%d solutions and %d others: the test sees too little of one side", yes, no)
	}
}
