// This file tests the storage of tables: what is shared, what is forgotten.

package schedule

// counted counts the slots asked for, and notes the budgets.
type counted struct {
	listed
	budgets []float64
}

func (c *counted) Add(tables *Tables, budget float64) bool {
	c.budgets = append(c.budgets, budget)
	return c.listed.Add(tables, budget)
}
