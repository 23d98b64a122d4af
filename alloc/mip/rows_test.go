package mip_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/milp/bb"
	"github.com/apportion/apportion/alloc/mip"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/alloc/solver/solvertest"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/oracle/p2oracle"
)

// point is a point of a program by the names of its variables.
type point map[string]float64

// admits reports whether the model admits the point, whose other variables are 0, and what it is worth. A
// variable that the model does not have must be 0, unless it only says how many containers there are.
func admits(m *milp.Model, at point) (ok bool, worth float64) {
	values, ok := make([]float64, m.Variables()), true
	worth = m.Constant()
	known := map[string]bool{}
	for j := range values {
		v, name := m.Variable(j), m.VariableName(j)
		values[j], known[name] = at[name], true
		ok = ok && v.Lower-1e-12 <= values[j] && values[j] <= v.Upper+1e-12
		worth += v.Cost * values[j]
	}
	for name, value := range at {
		ok = ok && (known[name] || value == 0 || strings.ContainsAny(name[:1], "etuow"))
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
		if inst.Apps[a].Losses == nil { // else the loss is at u
			at[fmt.Sprint("l_a", a)] = inst.Apps[a].Loss(solver.Containers(counts[a]))
		}
		if inst.Apps[a].Adjusted(counts[a]) {
			at[fmt.Sprint("r_a", a)] = 1
		}
		at.numbers(inst, a, counts[a], servers(inst))
	}
	return at
}

// numbers sets the variables that say how many containers application a has: that it has some, which listed
// number, what that is worth, how many steps, and on how many servers of each place.
func (at point) numbers(inst *solver.Instance, a int, placed []apportion.Placement, place []int) {
	n := solver.Containers(placed)
	if n > 0 {
		at[fmt.Sprint("e_a", a)] = 1
	}
	at[fmt.Sprintf("u_a%d_n%d", a, n)] = 1
	at[fmt.Sprint("w_a", a)] = inst.Apps[a].Extra(n)
	at[fmt.Sprint("t_a", a)] = float64(n / max(1, inst.Apps[a].Step))
	for _, p := range placed {
		at[fmt.Sprintf("o_a%d_s%d", a, place[p.Server])]++
	}
}

// servers is the place of every server where each is one.
func servers(inst *solver.Instance) []int {
	place := make([]int, len(inst.Capacity))
	for j := range place {
		place[j] = j
	}
	return place
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
		if app.Losses == nil {
			at[fmt.Sprint("l_a", a)] = app.Loss(solver.Containers(counts[a]))
		}
		at.numbers(inst, a, counts[a], servers(inst))
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
		if app.Delta == 0 || app.Losses != nil {
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

// classPoint pools the containers of servers of one capacity that are open to the same applications, classes
// counted by first appearance.
func classPoint(inst *solver.Instance, counts solver.Counts) point {
	at := verbatimPoint(inst, counts)
	var first []int
	for a := range inst.Apps {
		for _, p := range counts[a] {
			delete(at, fmt.Sprintf("x_a%d_s%d", a, p.Server))
			delete(at, fmt.Sprintf("o_a%d_s%d", a, p.Server))
		}
	}
	class := make([]int, len(inst.Capacity))
	for j, capacity := range inst.Capacity {
		class[j] = slices.IndexFunc(first, func(f int) bool {
			return capacity.Equal(inst.Capacity[f]) && (inst.Class == nil || inst.Class[f] == inst.Class[j])
		})
		if class[j] < 0 {
			class[j], first = len(first), append(first, j)
		}
	}
	for a := range inst.Apps {
		at.numbers(inst, a, counts[a], class)
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
	for name, draw := range map[string]func(uint64) *solver.Instance{"Small": solvertest.Small, "General": solvertest.General, "Worth": solvertest.Worth, "Loss": solvertest.Loss} {
		yes, no := 0, 0
		for seed := range uint64(150) {
			y, n := rowsSay(t, fmt.Sprintf("%s(%d)", name, seed), draw(seed))
			yes, no = yes+y, no+n
		}
		if yes < 100 || no < 100 {
			t.Errorf("%s: %d solutions and %d others: the test sees too little of one side", name, yes, no)
		}
	}
}

// rowsSay holds the rows of every form against Check, and returns how many counts were solutions and how many
// were not.
func rowsSay(t *testing.T, name string, inst *solver.Instance) (yes, no int) {
	for _, c := range []struct {
		name    string
		form    mip.Form
		backend milp.Solver
		at      func(*solver.Instance, solver.Counts) point
	}{
		{"verbatim", mip.Verbatim, bb.Solver{}, verbatimPoint},
		{"disjunctive", mip.Disjunctive, bb.Solver{}, disjunctivePoint},
		{"whole losses", mip.Verbatim, integersOnly{}, wholePoint},
		{"class", mip.Class, bb.Solver{}, classPoint},
	} {
		model := must.Have(mip.BuildFor(c.backend, inst, c.form))(t)
		around(inst, func(counts solver.Counts) {
			want := inst.Check(counts) == nil
			got, worth := admits(model.MILP, c.at(inst, counts))
			if got != want && (want || c.form != mip.Class) {
				t.Errorf("%s, %s: %v is admitted %v, Check: %v", c.name, name, counts, got, inst.Check(counts))
			}
			if got && math.Abs(worth-inst.Objective(counts)) > 1e-9 {
				t.Errorf("%s, %s: %v is worth %g, want %g", c.name, name, counts, worth, inst.Objective(counts))
			}
			if want {
				yes++
			} else {
				no++
			}
		})
	}
	return yes, no
}
