// This file holds Tables: the cost of work in every slot, C_t of [OASiS] Algorithm 2, lines 23-46.

package schedule

import "math"

// inf is the cost of what cannot be done.
var inf = math.Inf(1)

// Tables holds C_t(y), y = 0, 1, ..., for slots 0, 1, ... as far as they have been added. Slots that cost the
// same share one table, which is what makes a long empty horizon cheap. The storage is kept from one job
// to the next.
type Tables struct {
	cost []float64 // all tables, one after the other
	from []int     // table i is cost[from[i]:from[i+1]]
	of   []int     // of[s] is the table of slot s
}

// Source gives the costs of a job's slots, in their order.
// Slots are asked for one after the other, and never twice in a search; with bounds first those after
// the last of interest are not asked for.
type Source interface {
	// Add appends the next slot to tables, by Push and Close or by Repeat, and reports whether its table is one
	// that was not there before. Work that costs budget or more in this slot alone may be left out.
	Add(tables *Tables, budget float64) (fresh bool)
}

// Reset forgets all slots and tables.
func (t *Tables) Reset() { t.cost, t.from, t.of = t.cost[:0], append(t.from[:0], 0), t.of[:0] }

// Push appends the cost of one more unit to the table at work. The first is that of no work, 0.
func (t *Tables) Push(cost float64) { t.cost = append(t.cost, cost) }

// Close makes the table at work that of the next slot, and returns its number.
// Push begins the next table then.
func (t *Tables) Close() int {
	// The end of a table is where the next one begins, so that one number more than tables is kept.
	t.from = append(t.from, len(t.cost))
	t.of = append(t.of, t.distinct()-1)
	return t.distinct() - 1
}

// Repeat makes table i that of the next slot too.
func (t *Tables) Repeat(i int) { t.of = append(t.of, i) }

// Slots returns the number of slots added.
func (t *Tables) Slots() int { return len(t.of) }

// Of returns C_t of slot s, for 0 to the most units that are of use. It is valid until Reset.
func (t *Tables) Of(s int) []float64 { return t.table(t.of[s]) }

func (t *Tables) table(i int) []float64 { return t.cost[t.from[i]:t.from[i+1]] }

func (t *Tables) distinct() int { return len(t.from) - 1 }

// fill resets t and adds n slots of the source, with no limit on what a slot may cost.
func (t *Tables) fill(source Source, n int) {
	t.Reset()
	for range n {
		source.Add(t, inf)
	}
}
