// This file implements Model: an immutable program, stored by rows.

package milp

import (
	"math"
	"strconv"

	"github.com/apportion/apportion/internal/enum"
)

// Sense is the direction of an objective. In JSON it is its name.
type Sense uint8

// The two senses. A model without an objective minimises zero.
const (
	Minimize Sense = iota
	Maximize
)

// senseNames has the texts of the senses, in their order.
var senseNames = []string{Minimize: "minimize", Maximize: "maximize"}

// String returns "minimize" or "maximize".
// A number beyond the names prints as "unknown" and the number.
func (s Sense) String() string { return enum.String(s, senseNames) }

// MarshalText returns the name, and refuses a number that is no Sense.
func (s Sense) MarshalText() ([]byte, error) { return enum.Marshal(s, senseNames) }

// UnmarshalText reads a name, and refuses any other text.
func (s *Sense) UnmarshalText(text []byte) error { return enum.Unmarshal(s, text, senseNames) }

// Variable is what a model says of one variable, its name apart.
type Variable struct {
	// Lower and Upper bound the variable; either may be infinite.
	Lower, Upper float64
	// Cost is the variable's coefficient in the objective.
	Cost float64
	// Integer says that only whole values are feasible.
	Integer bool
}

// Row is what a model says of one row, its name apart: Lower <= sum of Coefs[k] times the variable
// Columns[k] <= Upper. Columns ascend and no coefficient is zero. Both slices are the model's own:
// read-only.
type Row struct {
	Lower, Upper float64
	Columns      []int32
	Coefs        []float64
}

// Model is an immutable program; make one with a Builder or ReadMPS.
type Model struct {
	// Dense slices with one entry a variable or row: a model of a million coefficients is a dozen
	// allocations.
	name     string
	sense    Sense
	constant float64
	// One entry a variable. cost[j] belongs to variable j.
	cost, lower, upper []float64
	integer            []bool
	columnNames        names
	// One entry a row; rowStart has one more: row i is columns[rowStart[i]:rowStart[i+1]].
	rowLower, rowUpper []float64
	rowStart           []int
	columns            []int32
	coefs              []float64
	rowNames           names
}

// Name returns the name of the model, or "".
func (m *Model) Name() string { return m.name }

// Sense returns the direction of the objective.
func (m *Model) Sense() Sense { return m.sense }

// Constant returns the objective's constant.
func (m *Model) Constant() float64 { return m.constant }

// Variables returns the number of variables.
func (m *Model) Variables() int { return len(m.lower) }

// Rows returns the number of rows.
func (m *Model) Rows() int { return len(m.rowLower) }

// Nonzeros returns the number of coefficients of all rows.
func (m *Model) Nonzeros() int { return len(m.coefs) }

// Integers returns the number of integer variables. O(variables).
func (m *Model) Integers() int {
	count := 0
	for _, integer := range m.integer {
		if integer {
			count++
		}
	}
	return count
}

// Variable returns variable j, for j in [0, Variables()).
func (m *Model) Variable(j int) Variable {
	return Variable{Lower: m.lower[j], Upper: m.upper[j], Cost: m.cost[j], Integer: m.integer[j]}
}

// Row returns row i, for i in [0, Rows()). O(1).
// The slices are the model's storage, so a pass over all rows allocates nothing.
func (m *Model) Row(i int) Row {
	from, to := m.rowStart[i], m.rowStart[i+1]
	return Row{
		Lower: m.rowLower[i], Upper: m.rowUpper[i],
		// The third index caps the slices: an append by the caller copies instead of writing into
		// the next row.
		Columns: m.columns[from:to:to], Coefs: m.coefs[from:to:to],
	}
}

// VariableName returns the name of variable j: its own, else that of NameVariables, else "x" and
// the index.
func (m *Model) VariableName(j int) string { return m.columnNames.of(j, "x") }

// RowName returns the name of row i: its own, else that of NameRows, else "c" and the index.
func (m *Model) RowName(i int) string { return m.rowNames.of(i, "c") }

// Columns is the matrix of a model by columns: column j holds Coefs[k] in row Rows[k], for k in
// [Start[j], Start[j+1]), rows ascending.
type Columns struct {
	Start []int
	Rows  []int32
	Coefs []float64
}

// ByColumns returns the matrix by columns; it is the caller's. O(variables + rows + nonzeros).
func (m *Model) ByColumns() Columns {
	c := Columns{
		Start: make([]int, len(m.lower)+1),
		Rows:  make([]int32, len(m.coefs)),
		Coefs: make([]float64, len(m.coefs)),
	}
	// This is a counting sort by column. Pass 1 counts column j in Start[j+1].
	for _, j := range m.columns {
		c.Start[j+1]++
	}
	// Pass 2 sums the counts up: Start[j] is the first place of column j.
	for j := range m.lower {
		c.Start[j+1] += c.Start[j]
	}
	// Pass 3 places the entries. Rows ascend within each column because they are visited in that
	// order.
	next := append([]int(nil), c.Start...)
	for i := range m.rowLower {
		for k := m.rowStart[i]; k < m.rowStart[i+1]; k++ {
			at := next[m.columns[k]]
			next[m.columns[k]]++
			c.Rows[at], c.Coefs[at] = int32(i), m.coefs[k]
		}
	}
	return c
}

// Activity returns the value of row i at the point values, which has one value a variable.
func (m *Model) Activity(i int, values []float64) float64 {
	// The explicit conversion keeps the product rounded: a fused one would differ between
	// machines.
	sum := 0.0
	for k := m.rowStart[i]; k < m.rowStart[i+1]; k++ {
		sum += float64(m.coefs[k] * values[m.columns[k]])
	}
	return sum
}

// Objective returns the objective at the point values, which has one value a variable.
func (m *Model) Objective(values []float64) float64 {
	// The order of the sum is that of the variables, so that the same point has the same objective
	// everywhere.
	sum := m.constant
	for j, cost := range m.cost {
		sum += float64(cost * values[j])
	}
	return sum
}

// names gives things names: those given one by one, else a function of the index.
type names struct {
	given []string // one a thing, up to the last that has a name
	lazy  func(index int) string
}

// add names thing i, which is the last one; nothing is stored before the first real name.
func (n *names) add(i int, name string) {
	if name == "" {
		return
	}
	// Those since the last name had none: they get "" now, so that given[i] belongs to thing i.
	n.given = append(n.given, make([]string, i-len(n.given))...)
	n.given = append(n.given, name)
}

// of returns the name of thing i: the given one, else what lazy makes of i, else prefix and the number.
func (n *names) of(i int, prefix string) string {
	if i < len(n.given) && n.given[i] != "" {
		return n.given[i]
	}
	if n.lazy != nil {
		return n.lazy(i)
	}
	return prefix + strconv.Itoa(i)
}

// worst returns the objective that is worse than every other: what an unsolved model has.
func (s Sense) worst() float64 {
	if s == Maximize {
		return math.Inf(-1)
	}
	return math.Inf(1)
}
