// This file holds Problem and prefix: what a schedule must do, and the part of it that ends by one slot,
// [OASiS] (27), (28).

package schedule

import (
	"github.com/apportion/apportion"
)

// Problem is one job, or what is left of it. Slots count from 0 for the first that it may use.
type Problem struct {
	// Item names the job in errors.
	Item apportion.Item
	// Work is the units to do, at least 1.
	Work int64
	// Shortest is the fewest slots in which the work might be done, at least 1 and at most len(Values).
	Shortest int
	// Values has f_i by the slot of the last unit; never increasing. Its length is the number of slots.
	Values []float64
	// Floor is what the work costs at least, whichever slots it takes; 0 where nothing is known.
	Floor float64
	// Servers says how many parameter servers units in one slot need, where C_t jumps with them.
	Servers Servers
}

// Servers is where the costs of a slot jump: PSFor never falls, and is 0 for 0 units.
// It must be the same function during a search. A step of more than one at once is allowed.
type Servers interface {
	PSFor(units int64) int64
}

// tolerance is the part of the largest reachable utility below which two payoffs count as equal: sums
// of a thousand slots of rounded prices are good to about 1e-13 of it.
const tolerance = 1e-10

// Slack returns the payoff that counts as nothing.
// A schedule that pays no more than this is turned away, since its sign is a matter of rounding.
func (p *Problem) Slack() float64 { return tolerance * p.best() }

// best returns the utility of the earliest completion.
func (p *Problem) best() float64 { return p.Values[p.Shortest-1] }

// prefix is the problem of doing the work in slots 0 to last at least cost.
// It is a view: the tables are those of the search, and nothing is copied.
type prefix struct {
	tables  *Tables
	item    apportion.Item
	servers Servers
	work    int
	last    int
	limit   int64 // most cells of a table
}

// distinct returns the number of tables that slots 0 to last use: the first ones, as tables are made
// in the order of the slots.
func (p *prefix) distinct() int {
	// Tables are numbered in the order in which slots first use them: the largest number so far says how many
	// there are.
	most := 0
	for _, i := range p.tables.of[:p.last+1] {
		most = max(most, i+1)
	}
	return most
}

func (p *prefix) cost(units []int64) float64 {
	sum := 0.0
	for s, y := range units {
		sum += p.tables.Of(s)[y]
	}
	return sum
}
