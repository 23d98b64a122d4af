package program

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/alloc/solver/solvertest"
)

// pointOf sets the cells of counts, and z where the form has one, for what stays.
func pointOf(m *Program, inst *solver.Instance, counts solver.Counts, form Form) []float64 {
	values := make([]float64, m.MILP.Variables())
	column := map[string]int{}
	for j := range values {
		column[m.MILP.VariableName(j)] = j
	}
	for a := range counts {
		if form == Disjunctive && inst.Apps[a].Running && !inst.Apps[a].Adjusted(counts[a]) {
			values[column[name("z_a", a)]] = 1
			continue
		}
		for _, p := range counts[a] {
			letter := map[Form]string{Verbatim: "x_a", Disjunctive: "y_a"}[form]
			if j, ok := column[name(letter, a, "_s", p.Server)]; ok {
				values[j] = float64(p.Count)
			}
		}
	}
	return values
}

// scattered draws counts on servers that are open: a few containers each, or what runs now where it can stay.
func scattered(r *rand.Rand, inst *solver.Instance) solver.Counts {
	counts := make(solver.Counts, len(inst.Apps))
	for a := range inst.Apps {
		app := &inst.Apps[a]
		tooMany := func(p apportion.Placement) bool { return p.Count > servers(inst).most(app, p.Server) }
		if r.IntN(3) == 0 && !app.Displaced && !slices.ContainsFunc(app.Previous, tooMany) {
			counts[a] = app.Previous
			continue
		}
		for j := range inst.Capacity {
			most := servers(inst).most(app, j)
			if inst.Open(a, j) && most > 0 && r.IntN(2) == 0 {
				counts[a] = append(counts[a], apportion.Placement{Server: j, Count: 1 + r.Int64N(most)})
			}
		}
	}
	return counts
}

// The level is the number of containers moved, whatever the counts are, and the program of the level charges
// just that.
func TestMovement(t *testing.T) {
	moves := int64(0)
	for seed := range uint64(200) {
		inst := solvertest.Medium(seed)
		counts := scattered(rand.New(rand.NewPCG(seed, 8)), inst)
		for _, form := range []Form{Verbatim, Disjunctive} {
			m, err := Build(inst, form, false)
			if err != nil {
				t.Fatal(err)
			}
			values := pointOf(m, inst, counts, form)
			held := m.levels.moved()
			want := inst.Moved(counts)
			moves += want
			if got := held.at(values); got != float64(want) {
				t.Errorf("%s, Medium(%d): %g moved, want %d, by %v", form, seed, got, want, counts)
			}
			if got := charged(t, m, held, values); got != float64(want) {
				t.Errorf("%s, Medium(%d): the program charges %g, want %d, for %v", form, seed, got, want, counts)
			}
		}
	}
	if moves < 1000 {
		t.Errorf("only %d containers moved", moves)
	}
}

// charged returns the least objective of the program of a level at a point, whose own variables are at the
// least that their two rows admit; it fails where that is above their bound.
func charged(t *testing.T, m *Program, held movement, values []float64) float64 {
	b := milp.NewBuilder("")
	held.minimize(b, copyModel(b, m.MILP, false))
	program, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	values = append([]float64(nil), values...)
	for k, e := range held.apart {
		v := program.Variable(len(values))
		values = append(values, 0)
		least := 0.0
		for _, i := range []int{program.Rows() - 2*len(held.apart) + 2*k, program.Rows() - 2*len(held.apart) + 2*k + 1} {
			row, sum := program.Row(i), program.Activity(i, append(values, make([]float64, program.Variables()-len(values))...))
			least = math.Max(least, math.Max(row.Lower-sum, sum-row.Upper))
		}
		if least > v.Upper || !v.Integer {
			t.Errorf("%g is above the bound of %+v, most %g", least, v, e.most)
		}
		values[len(values)-1] = least
	}
	return program.Objective(values)
}
