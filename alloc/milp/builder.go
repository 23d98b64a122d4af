// This file implements Builder: variables, rows and the objective of a Model, first fault kept.

package milp

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
)

// Infinite is the size from which solvers take a number for infinite (HiGHS and Gurobi draw the
// line here). The builder refuses finite numbers of this size; a bound that is meant to be infinite
// is math.Inf.
const Infinite = 1e20

// ErrSpent reports the use of a Builder after its Build.
var ErrSpent = errors.New("milp: the builder is spent: Build was called")

// Var is a variable of one Builder and of the Model built by it.
type Var struct {
	owner *Builder
	index int32
}

// Index returns the position of the variable in its model, from 0.
func (v Var) Index() int { return int(v.index) }

// Term is a coefficient times a variable.
type Term struct {
	Var  Var
	Coef float64
}

// Builder collects a program. Its zero value is an empty program named "". No method panics or
// fails on bad input: the first fault is kept, later calls do nothing, and Build returns the fault.
type Builder struct {
	// model grows in place; Build gives it away, which is why a builder is spent afterwards.
	model Model
	// err is the first fault. Once it is set, every method leaves model as it is.
	err  error
	row  []entry // scratch of addTerms
	cost []Term  // objective as given last
}

// place is where a fault is: "variable", "row" or "objective", its name and its position.
type place struct {
	what, name string
	index      int
}

// item names the place in messages.
// The item is made only where there is a fault: most calls need no name.
func (p place) item() apportion.Item {
	if p.what == "objective" {
		return apportion.Item{ID: p.what}
	}
	return check.Item(p.what, p.name, p.index)
}

// entry is a coefficient of one row, before it is stored.
type entry struct {
	column int32
	coef   float64
}

// NewBuilder returns an empty builder of a program of that name, which may be "" or a few words.
func NewBuilder(name string) *Builder {
	b := new(Builder)
	// Both text formats put the name on one line and trim it: a name that this changes would not
	// come back.
	if strings.ContainsFunc(name, breaksLine) || strings.TrimSpace(name) != name {
		b.fail(apportion.Item{ID: "model"}, "name", apportion.ErrRange, strconv.Quote(name)+" does not fit on a line")
	}
	b.model.name = name
	return b
}

// Err returns the first fault so far. It does not end the building.
func (b *Builder) Err() error { return b.err }

// Continuous adds a variable in [lower, upper]. Either bound may be infinite.
func (b *Builder) Continuous(lower, upper float64, name string) Var {
	return b.variable(Variable{Lower: lower, Upper: upper}, name)
}

// Integer adds an integer variable in [lower, upper]. Either bound may be infinite. Bounds with no
// integer between them are legal: the model is then infeasible.
func (b *Builder) Integer(lower, upper float64, name string) Var {
	return b.variable(Variable{Lower: lower, Upper: upper, Integer: true}, name)
}

// Binary adds an integer variable in [0, 1].
func (b *Builder) Binary(name string) Var { return b.Integer(0, 1, name) }

// variable adds a variable; every kind of variable comes here. O(1) amortised, 17 bytes and the
// name.
func (b *Builder) variable(v Variable, name string) Var {
	j := len(b.model.lower)
	// A Var with index -1 is never sound, so a row that uses it after the fault adds nothing.
	if b.err != nil {
		return Var{b, -1}
	}
	// Indices are int32, as in the engines behind: half the memory of int for every coefficient.
	if j == math.MaxInt32 {
		b.fail(apportion.Item{ID: "model"}, "variables", apportion.ErrOverflow, "")
		return Var{b, -1}
	}
	b.checkInterval(place{"variable", name, j}, v.Lower, v.Upper)
	b.model.lower = append(b.model.lower, v.Lower+0) // never -0
	b.model.upper = append(b.model.upper, v.Upper+0)
	b.model.integer = append(b.model.integer, v.Integer)
	// The name is stored even where it is faulty: Build fails then, and indices stay in step until
	// it does.
	b.checkName("variable", name)
	b.model.columnNames.add(j, name)
	return Var{b, int32(j)}
}

// Row adds lower <= sum of terms <= upper and returns its index. Either bound may be infinite;
// terms may be empty and may be reused by the caller. O(len(terms)) when the variables ascend, a
// sort more when not; 12 bytes a term, 24 a row, and the name.
func (b *Builder) Row(name string, lower float64, terms []Term, upper float64) int {
	m := &b.model
	i := len(m.rowLower)
	if b.err != nil {
		return -1
	}
	b.checkName("row", name)
	b.checkInterval(place{"row", name, i}, lower, upper)
	// rowStart has one entry more than there are rows. The first row makes it, so that the zero
	// Builder needs no set-up.
	if i == 0 {
		m.rowStart = append(m.rowStart[:0], 0)
	}
	m.rowLower = append(m.rowLower, lower+0) // never -0
	m.rowUpper = append(m.rowUpper, upper+0)
	m.rowNames.add(i, name)
	b.addTerms(terms, place{"row", name, i})
	// The row ends where the next one begins, also where addTerms has stopped at a fault.
	m.rowStart = append(m.rowStart, len(m.columns))
	return i
}

// AtMost adds the row sum of terms <= upper.
func (b *Builder) AtMost(name string, terms []Term, upper float64) int {
	return b.Row(name, math.Inf(-1), terms, upper)
}

// AtLeast adds the row sum of terms >= lower.
func (b *Builder) AtLeast(name string, terms []Term, lower float64) int {
	return b.Row(name, lower, terms, math.Inf(1))
}

// Equal adds the row sum of terms = value.
func (b *Builder) Equal(name string, terms []Term, value float64) int {
	return b.Row(name, value, terms, value)
}

// Minimize sets the objective: the least of constant + sum of terms. The last call of Minimize and
// Maximize counts; without one, every feasible point is optimal and the objective is 0.
func (b *Builder) Minimize(terms []Term, constant float64) { b.objective(Minimize, terms, constant) }

// Maximize sets the objective: the greatest of constant + sum of terms. See Minimize.
func (b *Builder) Maximize(terms []Term, constant float64) { b.objective(Maximize, terms, constant) }

// objective sets the objective, in place of an earlier one.
func (b *Builder) objective(sense Sense, terms []Term, constant float64) {
	if b.err != nil {
		return
	}
	b.checkNumber(apportion.Item{ID: "objective"}, "constant", constant)
	b.model.sense, b.model.constant = sense, constant+0 // never -0
	// The last objective counts whole: nothing of an earlier one may remain.
	b.cost = b.cost[:0]
	for _, term := range terms {
		if !b.sound(term) {
			b.failTerm(term, place{what: "objective"})
			return
		}
		b.cost = append(b.cost, term)
	}
}

// NameVariables gives the variables without a name of their own the name that name(index) returns
// when it is asked for, so that a large model stores none. name must be a pure function.
func (b *Builder) NameVariables(name func(index int) string) { b.model.columnNames.lazy = name }

// NameRows does for rows what NameVariables does for variables.
func (b *Builder) NameRows(name func(index int) string) { b.model.rowNames.lazy = name }

// Build returns the model, or the first fault as a [*apportion.FieldError] that names the variable
// or row. The builder is spent afterwards: its storage is the model's.
func (b *Builder) Build() (*Model, error) {
	// Costs are added up here and not in objective, because a second objective would have to take
	// the first one back.
	b.settleCosts()
	b.checkDuplicates("variable", b.model.columnNames.given)
	b.checkDuplicates("row", b.model.rowNames.given)
	if b.err != nil {
		return nil, b.err
	}
	model := b.model
	// A model without rows still needs the end of "row -1", so that Row and Activity need no case
	// of their own.
	if len(model.rowStart) == 0 {
		model.rowStart = []int{0}
	}
	// From here the model is the only owner of the slices; a later append by b could write into
	// them.
	*b = Builder{err: ErrSpent}
	return &model, nil
}

// settleCosts turns the objective's terms into one cost for each variable.
func (b *Builder) settleCosts() {
	if b.err != nil {
		return
	}
	b.model.cost = make([]float64, len(b.model.lower))
	for _, term := range b.cost {
		b.model.cost[term.Var.index] += term.Coef
	}
	for j, cost := range b.model.cost {
		// Each term is below Infinite, but their sum may not be.
		if !(math.Abs(cost) < Infinite) {
			b.failTerm(Term{Var{b, int32(j)}, cost}, place{what: "objective"})
		}
	}
}

// addTerms stores the terms as one row: ascending, one entry for each variable, none zero.
func (b *Builder) addTerms(terms []Term, at place) {
	b.row = b.row[:0]
	// Most callers list variables in their order, so the sort is spared where one look shows that
	// it is not needed. Equal neighbours are in order: the merge below joins them.
	ascending := true
	for _, term := range terms {
		if !b.sound(term) {
			b.failTerm(term, at)
			return
		}
		if n := len(b.row); n > 0 && b.row[n-1].column > term.Var.index {
			ascending = false
		}
		b.row = append(b.row, entry{term.Var.index, term.Coef})
	}
	if !ascending {
		// The sort is stable: terms of one variable are added in the caller's order, so that the
		// sum rounds the same everywhere.
		slices.SortStableFunc(b.row, func(x, y entry) int { return cmp.Compare(x.column, y.column) })
	}
	// One pass joins what belongs to one variable. b.row[k] is the first entry that is not yet
	// stored.
	for k := 0; k < len(b.row); {
		sum := b.row[k]
		for k++; k < len(b.row) && b.row[k].column == sum.column; k++ {
			sum.coef += b.row[k].coef
		}
		// A sum of exactly 0 is dropped: a row that lists a variable depends on it.
		if sum.coef != 0 {
			b.model.columns = append(b.model.columns, sum.column)
			b.model.coefs = append(b.model.coefs, sum.coef)
		}
		// Two coefficients that are each allowed may still add up to more than an engine takes for
		// finite.
		if math.Abs(sum.coef) >= Infinite {
			b.failTerm(Term{Var{b, sum.column}, sum.coef}, at)
		}
	}
}

// sound reports whether a term has a variable of this builder and a coefficient that is finite.
func (b *Builder) sound(term Term) bool {
	// The unsigned comparison covers index -1 of a failed Var in one test; NaN fails the last
	// comparison.
	return term.Var.owner == b && uint32(term.Var.index) < uint32(len(b.model.lower)) &&
		math.Abs(term.Coef) < Infinite
}

// failTerm keeps what is wrong with a term as the fault.
// A term has one fault at most that is reported: its variable before its coefficient.
func (b *Builder) failTerm(term Term, at place) {
	if term.Var.owner != b || b.err != nil {
		b.fail(at.item(), "variable", apportion.ErrUnknown, "not of this builder")
		return
	}
	b.checkNumber(at.item(), "coefficient of "+b.model.VariableName(term.Var.Index()), term.Coef)
}

// checkInterval keeps NaN, crossed bounds, and bounds that leave nothing (a lower of +Inf) as the
// fault.
func (b *Builder) checkInterval(at place, lower, upper float64) {
	// The good case comes first and is one condition, as a large model passes here for each of its
	// variables and rows.
	if lower <= upper && lower < Infinite && upper > -Infinite &&
		plain(lower) && plain(upper) {
		return
	}
	item := at.item()
	switch {
	// NaN comes before lower > upper, which is false for it.
	case math.IsNaN(lower):
		b.fail(item, "lower bound", apportion.ErrNotFinite, "NaN")
	case math.IsNaN(upper):
		b.fail(item, "upper bound", apportion.ErrNotFinite, "NaN")
	case lower > upper:
		b.fail(item, "lower bound", apportion.ErrConflict, fmt.Sprintf("%g > upper bound %g", lower, upper))
	// A lower bound of +Inf leaves no value, as an upper bound of -Inf does; both are slips of the
	// caller, not an infeasible model.
	case lower >= Infinite || !plain(lower):
		b.fail(item, "lower bound", apportion.ErrRange, formatNumber(lower))
	default:
		b.fail(item, "upper bound", apportion.ErrRange, formatNumber(upper))
	}
}

// plain reports whether x is infinite or so small that no solver takes it for infinite.
// Between 1e20 and +Inf engines disagree about what a bound means, so numbers there are refused.
func plain(x float64) bool { return math.IsInf(x, 0) || math.Abs(x) < Infinite }

// checkNumber keeps a number that is not finite, or too large, as the fault.
// The two faults are told apart because their repairs differ: a number that is none comes from the
// caller's arithmetic, one that is too large from the caller's units.
func (b *Builder) checkNumber(item apportion.Item, field string, x float64) {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		b.fail(item, field, apportion.ErrNotFinite, formatNumber(x))
	case math.Abs(x) >= Infinite:
		b.fail(item, field, apportion.ErrRange, formatNumber(x))
	}
}

// checkName keeps a name that would not survive a text format as the fault.
func (b *Builder) checkName(what, name string) {
	if strings.ContainsFunc(name, breaksName) {
		b.fail(apportion.Item{ID: what}, "name", apportion.ErrRange, strconv.Quote(name)+" has white space or a control character")
	}
}

// breaksName reports whether a character may not be part of a name: files of models could not hold it.
func breaksName(c rune) bool {
	return unicode.IsSpace(c) || unicode.IsControl(c) || c == unicode.ReplacementChar
}

// checkDuplicates keeps the first repeated name as the fault.
func (b *Builder) checkDuplicates(what string, given []string) {
	if b.err != nil || len(given) == 0 {
		return
	}
	// The check waits for Build and is made once: a map that grew with the model would cost more
	// than the names themselves.
	seen := make(map[string]struct{}, len(given))
	for i, name := range given {
		if _, twice := seen[name]; twice && name != "" {
			b.fail(check.Item(what, "", i), "name", apportion.ErrDuplicate, strconv.Quote(name))
			return
		}
		seen[name] = struct{}{}
	}
}

// fail keeps the first fault.
func (b *Builder) fail(item apportion.Item, field string, err error, detail string) {
	if b.err == nil {
		b.err = &apportion.FieldError{Item: item, Field: field, Err: err, Detail: detail}
	}
}

// formatNumber writes x so that reading it back gives x.
func formatNumber(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
