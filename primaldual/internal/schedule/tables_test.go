// This file tests the storage of tables: what is shared, what is forgotten.

package schedule

import (
	"slices"
	"testing"
)

// push appends a table and closes it.
func push(t *Tables, costs ...float64) int {
	for _, c := range costs {
		t.Push(c)
	}
	return t.Close()
}

func TestTables(t *testing.T) {
	var x Tables
	x.Reset()
	if x.Slots() != 0 || x.distinct() != 0 {
		t.Errorf("%d slots, %d tables at the start", x.Slots(), x.distinct())
	}
	first := push(&x, 0, 1, 3)
	second := push(&x, 0)
	x.Repeat(first)
	x.Repeat(second)
	for s, want := range [][]float64{{0, 1, 3}, {0}, {0, 1, 3}, {0}} {
		if got := x.Of(s); !slices.Equal(got, want) {
			t.Errorf("slot %d: %v, want %v", s, got, want)
		}
	}
	if x.Slots() != 4 || x.distinct() != 2 || &x.Of(0)[0] != &x.Of(2)[0] {
		t.Errorf("%d slots, %d tables; equal slots share one", x.Slots(), x.distinct())
	}
	x.Reset()
	push(&x, 0, 7)
	if x.Slots() != 1 || !slices.Equal(x.Of(0), []float64{0, 7}) {
		t.Errorf("%v after a reset", x.Of(0))
	}
}

// counted counts the slots asked for, and notes the budgets.
type counted struct {
	listed
	budgets []float64
}

func (c *counted) Add(tables *Tables, budget float64) bool {
	c.budgets = append(c.budgets, budget)
	return c.listed.Add(tables, budget)
}

// The plain pass has no budget: what nobody pays for is found too expensive, not absent.
func TestFill(t *testing.T) {
	source := &counted{listed: listed{tables: [][]float64{{0, 1}, {0, 1e300}, {0, 2}}}}
	var x Tables
	x.fill(source, 3)
	if x.Slots() != 3 || !slices.Equal(source.budgets, []float64{inf, inf, inf}) || len(x.Of(1)) != 2 {
		t.Errorf("%d slots, budgets %v", x.Slots(), source.budgets)
	}
	x.fill(&listed{tables: [][]float64{{0}}}, 1)
	if x.Slots() != 1 {
		t.Errorf("%d slots after another problem", x.Slots())
	}
}
