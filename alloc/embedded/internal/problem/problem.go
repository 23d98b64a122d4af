// This file holds a Problem: an instance with flat vectors, for the searches.

package problem

import (
	"github.com/apportion/apportion/alloc/solver"
)

// Problem is an instance with flat vectors; it is read-only once built.
// Vectors are flat, one row of kinds after the other, because the searches go through millions of rows: a
// slice for each would cost a header and a miss of the cache every time. Quantities are exact int64 in the
// units of the instance; shares, losses and worths are floats.
type Problem struct {
	Inst      *solver.Instance
	Kinds     int
	Servers   int
	Capacity  []int64 // server j, kind k at j*kinds+k
	Total     []int64 // kind k
	Types     []DemandType
	demand    []int64 // type t, kind k at t*kinds+k
	Apps      []App
	ShapeOf   []int32   // of a server
	shapes    int       // distinct rows of fits
	Fits      []int64   // containers of type t on an empty server of shape h at h*len(types)+t
	Residents [][]int32 // the pinnable applications on server j
	Holding   [][]int64 // how many containers each of them holds there
	// Residual[j*Kinds+k] is what server j has at most for applications that do not stay: of its residents
	// only budget may be freed, in each kind those that use most of it.
	Residual []int64
	// Plain says that this is the paper's P2, which lists of patterns and the tree are made for.
	Plain bool
	// Allowed is how many applications AdjustBudget lets change.
	Allowed int64
	// Budget is how many pinnable applications may be freed: Allowed less those that must
	// move, at most the number of pinnable applications. Negative: infeasible.
	Budget   int64
	Pinnable int64
	// Spend is what the Weights of all that are freed may add up to. In the paper's P2 it is Budget.
	Spend    int64
	MustMove []int
	// Worthy says that something is worth something beside its Value, Stays that staying as it is is worth something to one that may.
	Worthy, Stays bool
	// Spreads says that an application loses something by the servers that it is on.
	Spreads bool
	// Grows says that a change of an application is for nothing if it grows enough.
	Grows bool
	// Scale is about what a whole kind is worth: 1 in the paper's P2, where worth is utilization.
	Scale float64
	// TieLoss is how much utilization one unit of loss is worth in the search: too little to
	// outweigh a container, enough to choose among equals.
	TieLoss float64
	// Step divides all utilizations, 0 where no such step is known; unit[k] divides what any application uses of kind k; 0 where none uses it.
	Step float64
	Unit []int64
	// Ceilings are those that can be exceeded; all other searches than that by containers know of none.
	Ceilings []Ceiling
}

// Ceiling is one row of (G): what the applications of a group use of a kind together is at most Limit.
type Ceiling struct {
	Group, Kind int
	Limit       int64
}

// Fit returns how many containers of type t the empty server j holds.
// Two tables give it in O(1): a Fits by server would take servers x types, where most servers have a shape in
// common.
func (p *Problem) Fit(j int, t int32) int64 {
	return p.Fits[int(p.ShapeOf[j])*len(p.Types)+int(t)]
}

// DemandOf returns what a container of type t uses, by kind.
// The slice is a part of demand, in the units of each kind: it must not be changed, and taking it allocates
// nothing.
func (p *Problem) DemandOf(t int32) []int64 {
	return p.demand[int(t)*p.Kinds : (int(t)+1)*p.Kinds]
}
