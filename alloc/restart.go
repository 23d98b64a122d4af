// This file charges voluntary adjustments with the price of a restart, and protects what has just been changed, [Program §10].

package alloc

import (
	"math"

	"github.com/apportion/apportion/alloc/solver"
)

const (
	// restartCost is what a nil Options.RestartCost means.
	restartCost = 1.0 / 8
	// beyondTie is what an adjustment takes beside its price: of answers that are worth the same less their prices the one that
	// adjusts fewer is the better one by more than what counts as equal.
	beyondTie = 2 * solver.ObjectiveTolerance
)

// restartPrice returns what a change of application i, which runs with numbers that it may have and states no StayWorth, takes from the
// objective: 0 where the change is none of the decision's own will. dense is its dense form but for Stay.
func (r *resolved) restartPrice(i int, dense *solver.App) float64 {
	options := &r.problem.Options
	if options.Paper || r.forced[i] || r.yielding[i] || dense.Displaced || dense.Pinned {
		return 0
	}
	part := restartCost
	switch own := r.problem.Applications[i].RestartCost; {
	case own != nil:
		part = *own
	case options.RestartCost != nil:
		part = *options.RestartCost
	case r.version < restartPrices:
		part = 0
	}
	worth := func(n int64) float64 { return float64(dense.Value*float64(n)) + dense.Extra(n) - dense.Idle }
	price := part * worth(solver.Containers(dense.Previous))
	if first := dense.AtLeast(1); first > 0 && options.MinGain > 0 {
		price = math.Max(price, options.MinGain*worth(first)/float64(first))
	}
	// Worths may be below that of none, and prices are not.
	if !(price > 0) {
		return 0
	}
	return math.Min(price+beyondTie, solver.MaxWorth)
}

// recent reports whether application i has had what it has for less than Options.MinRun, so that nothing but what is forced, a drain or the
// guarantee of a queue changes it.
func (r *resolved) recent(i int) bool {
	held, options := r.problem.Applications[i].Held, &r.problem.Options
	return held != nil && *held < options.MinRun && !options.Paper && r.running(i) && !r.forced[i]
}

// stays reports whether application i is pinned or recent.
func (r *resolved) stays(i int) bool { return r.pinned[i] || r.recent(i) }

// restartOf returns what a restart costs an application whose dense form is given, by what it states or by the options, without beyondTie.
func restartOf(app *Application, dense *solver.App) float64 {
	if app.StayWorth != nil {
		return dense.Stay
	}
	return math.Max(0, dense.Stay-beyondTie)
}

// price returns what a change of application o of the given problem takes from the objective by Options alone; 0 where it does not run.
func (r *resolved) price(o int) float64 {
	i := r.runs(o)
	if i < 0 || r.problem.Applications[i].StayWorth != nil {
		return 0
	}
	return r.app(i).Stay
}

// netWorth returns what application o of the given problem is worth under counts, less the price of a restart where it is adjusted, and what
// it loses by its domains.
func (r *resolved) netWorth(o int, counts solver.Counts) float64 {
	e := r.inUse(o, counts)
	app := r.app(e)
	if r.problem.Applications[e].StayWorth == nil {
		app.Stay = 0 // a price is charged, and no premium paid
	}
	worth := app.WorthOf(counts[e]) - r.apart(e, counts[e])
	// One that has changed for a reservation already is fixed, and has no choice.
	if i := r.runs(o); i >= 0 && (r.fixed == nil || r.fixed[i] == nil) {
		if ran := r.app(i); ran.Adjusted(counts[i]) {
			worth -= r.price(o)
		}
	}
	return worth
}

// prices returns by how much the objective of the instance of a is above that of a decision: a solver sees a premium for all that
// stay in place of a price for all that do not.
func (r *resolved) prices(a *attempt) float64 {
	sum := 0.0
	for at, i := range a.apps {
		if r.problem.Applications[i].StayWorth == nil {
			sum += a.instance.Apps[at].Stay
		}
	}
	return sum
}
