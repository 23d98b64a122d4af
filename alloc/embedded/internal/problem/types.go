// This file holds what applications that ask for the same have in common, and what each of them is beside that.

package problem

import (
	"slices"

	"github.com/apportion/apportion/alloc/solver"
)

// DemandType is what applications with equal demands, for the same servers, share. An application with steps,
// lists or limits of its own has a type of its own.
// Value is in utilization per container (10), Delta in dominant shares per container (2). Members are
// ascending, at least one.
type DemandType struct {
	Value, Delta float64
	Members      []int32
	// Own is the only member, where it may not have every number on every server; nil: any member may.
	Own *solver.App
	// Curve is its worth by number beside Value; nil: none.
	Curve   *Curve
	tallies []Tally       // by number, of an Own
	torn    []solver.Torn // the same, of one with a Spread
	classes []int         // of servers that are open; nil: all
	// Uses is what a container takes from the ceilings above its applications, which are the same for all of them.
	Uses []Use
}

// StatesLosses reports whether the only member states its losses by number: they need not be convex, and no closed form
// finds its best number.
func (t *DemandType) StatesLosses() bool { return t.Own != nil && t.Own.Losses != nil }

// Limited reports whether more than the room on a server and its class may keep a container from it.
func (t *DemandType) Limited() bool {
	return len(t.Uses) > 0 || t.Own != nil && (t.Own.MaxServers > 0 || t.Own.PerServer > 0)
}

// Tally is what a number of containers means to the only member of a type.
// A search goes through numbers that are not allowed, and Tally tells it how far and which way the next
// allowed one lies; all but Extra and Rise are in containers and at least 0.
type Tally struct {
	// Missing is how many containers it is away from the next number that the member may have, above or below; Short how
	// many more lead to the next one above, Over how many less to the next one below. 0 where there is none there, or it
	// may have the number.
	Missing, Short, Over int64
	// Extra is what the number is worth beside Value times it, Rise what a container beyond it brings, see Curve.
	Extra, Rise float64
	// Loss is what the member loses with the number, where it states its losses.
	Loss float64
}

// Use is what a container takes from a ceiling, in units of its kind; Units is positive.
type Use struct {
	Ceiling int32
	Units   int64
}

// App is one application as the search sees it.
// Numbers are containers, Share and HeldLoss shares of the cluster, HeldExtra utilization; Min may be above
// Max where the empty cluster holds too few, which Impossible reports.
type App struct {
	Type     int32
	Min, Max int64 // max is at most what the empty cluster holds
	Fair     int64 // floor(share / delta), at most max: the loss falls up to there
	share    float64
	Pinnable bool // running, it may stay exactly as it is, and leaving is for the budget to allow
	Fixed    bool // it must stay
	// Weight is what freeing it takes from Spend, whatever it has then, and Owed what it takes beside that up to FreeAbove containers.
	Weight, Owed int64
	Held         int64
	HeldLoss     float64
	// HeldExtra is what staying as it is brings beside Value times Held, and HeldTorn what it loses by its servers, which is off that.
	HeldExtra, HeldTorn float64
}

// own reports whether an application needs a type of its own.
func own(app *solver.App) bool {
	// Each of these makes the member differ from others of the same demand: in worth or loss by number, in
	// the numbers that it may have, or in how its containers may be spread.
	return app.Worth != nil || app.Losses != nil || app.Spread != nil || app.FreeAbove > 0 || app.Step > 1 || app.Counts != nil || app.Elective || app.PerServer > 0 || app.MaxServers > 0
}

// fit returns how many of the n containers that an empty server of a class holds may be there.
func (t *DemandType) fit(class int, n int64) int64 {
	// Classes are ascending. An empty list is open nowhere, nil everywhere.
	if t.classes != nil {
		if _, open := slices.BinarySearch(t.classes, class); !open {
			return 0
		}
	}
	// At most so many containers on one server, whatever there is room for.
	if t.Own != nil && t.Own.PerServer > 0 {
		n = min(n, t.Own.PerServer)
	}
	return n
}
