// This file checks a Problem before anything is computed, and names every fault.

package alloc

import (
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/check"
	"github.com/apportion/apportion/internal/exact"
)

// ErrOverfilled is a Previous that holds more on a server than its capacity. The other sorts of bad
// input are those of package apportion.
var ErrOverfilled = errors.New("holds more than its capacity")

// Validate returns every fault of p as apportion.Faults, or nil. Each fault names the server or
// application and the field:
//
//	nothing in Kinds; an empty ID, Key or list of Values        apportion.ErrEmpty
//	a repeated kind, also in Compact, or ID                     apportion.ErrDuplicate
//	a Capacity or Demand that is not one quantity per kind, a
//	Worth, WorthOn or Speed without one entry per number of
//	containers                                                  apportion.ErrLength
//	a negative quantity, count, Max, Min, Step, PerServer,
//	MaxServers, AdjustCost, Most, Speed, SpreadCost, RestartCost,
//	Passed, Ends, Held, MinRun, Moves, Patience, number or count
//	of Reservations                                             apportion.ErrNegative
//	a Demand of zero in every kind                              apportion.ErrNoDemand
//	Min above Max; Values where the operator takes none;
//	an IdleWorth without Worth, or with a Min above 0; WorthOn
//	with Worth or SpreadCost; RestartCost with StayWorth        apportion.ErrConflict
//	an operator, rule, queue, parent or kind of Compact that
//	does not exist                                              apportion.ErrUnknown
//	a queue below itself; an application of one that has queues apportion.ErrConflict
//	Counts that do not ascend from 1                            apportion.ErrRange
//	Max zero; Weight zero, below or outside drf's range;
//	a Theta outside [0, 1]; a worth beyond solver.MaxWorth      apportion.ErrRange
//	a Weight, Theta, worth, Speed, Passed, Ends, Held, MinRun,
//	Patience or At that is NaN or infinite                      apportion.ErrNotFinite
//	two Reservations for one ID, or one for none                apportion.ErrDuplicate, ErrEmpty
//	Derived of unknown or negative parts, of none, or of a name
//	that is taken; a guarantee of a part of one                 as drf.Derive, ErrConflict
//	capacities or held resources whose sum leaves int64, or
//	AdjustCosts whose sum is above 2^53                         apportion.ErrOverflow
//	an empty or repeated label in Topology, or too many         apportion.ErrEmpty, ErrDuplicate, ErrRange
//	a Within or Prefer that is not in Topology                  apportion.ErrUnknown
//	Slices of no containers, or that do not divide the numbers  apportion.ErrNegative, ErrRange, ErrConflict
//	Within, Slices or Prefer with Options.Paper                 apportion.ErrConflict
//	no Options in a list of them; an IdleWorth where not every
//	option has a Worth, a Speed where another has none; Demand,
//	Max, Min, Step, Counts, Worth, WorthOn or Speed beside them apportion.ErrEmpty, ErrConflict
//	an Option that is named without Options                     apportion.ErrUnknown
//	with Options.Paper and without Options.Displace:
//	a Previous that names a server which is not there           apportion.ErrUnknown
//	a Previous with an Option that is not in Options            apportion.ErrUnknown
//	a Previous that overfills a server                          ErrOverfilled
//
// No servers and no applications are a legal problem. O(input size).
func (p *Problem) Validate() error {
	var faults apportion.Faults
	// Kinds come first, because every other fault names a quantity by its kind.
	if err := p.Kinds.Validate(); err != nil {
		errors.As(err, &faults)
	}
	if len(p.Servers) > 0 {
		check.Servers(&faults, p.Kinds, p.Servers)
	}
	p.checkApplications(&faults)
	p.checkCompact(&faults)
	p.checkDerived(&faults)
	p.checkQueues(&faults)
	p.checkTopology(&faults)
	checkTheta(&faults, "Theta1", p.Theta1)
	checkTheta(&faults, "Theta2", p.Theta2)
	if order := p.Options.Order; order != Fair && order != BySubmission {
		faults.Add(apportion.Item{}, "Options.Order", apportion.ErrUnknown, strconv.Quote(string(order)))
	}
	if rule := p.Options.Share; rule != BoundedDRF && rule != PureDRF && rule != WholeDRF {
		faults.Add(apportion.Item{}, "Options.Share", apportion.ErrUnknown, strconv.Quote(string(rule)))
	}
	if loss := p.Options.Loss; loss != LossInShares && loss != LossInWorth {
		faults.Add(apportion.Item{}, "Options.Loss", apportion.ErrUnknown, strconv.Quote(string(loss)))
	}
	p.checkPatience(&faults)
	// What runs comes last: its sums mean something only where all before it is right.
	p.checkPrevious(&faults)
	return faults.Err()
}

// checkApplications adds what is wrong with the applications, each by itself and their names together.
func (p *Problem) checkApplications(faults *apportion.Faults) {
	// IDs are keys of Previous and of the answer, so that two applications of one name would share
	// containers. Positions name those without an ID.
	seen, costs := make(map[string]bool, len(p.Applications)), int64(0)
	for i := range p.Applications {
		app := &p.Applications[i]
		item := check.Item("application", app.ID, i)
		check.ID(faults, seen, app.ID, item)
		if app.Options == nil {
			p.checkDemand(faults, app, item)
		}
		checkWeight(faults, app.Weight, item)
		if app.Options == nil {
			checkNumbers(faults, app, item)
		} else {
			p.checkOptions(faults, app, item)
		}
		if app.Option != "" && app.Options == nil {
			faults.Add(item, "Option", apportion.ErrUnknown, strconv.Quote(app.Option)+", without Options")
		}
		checkLimits(faults, app, item)
		checkStates(faults, app, item)
		checkSpread(faults, app, item)
		checkDuration(faults, &app.Passed, item, "Passed")
		checkDuration(faults, app.Ends, item, "Ends")
		checkDuration(faults, app.Held, item, "Held")
		// The budget is a part of the sum, in float64: up to 2^53 every whole number is one.
		if app.AdjustCost != nil && *app.AdjustCost > 0 {
			sum, ok := exact.Add(costs, *app.AdjustCost)
			if !ok || sum > maxCosts {
				faults.Add(item, "AdjustCost", apportion.ErrOverflow, "with those before it")
			} else {
				costs = sum
			}
		}
		for r := range app.Requires {
			check.Requirement(faults, &app.Requires[r], item, "Requires["+strconv.Itoa(r)+"]")
		}
	}
}

// maxCosts is the largest sum of AdjustCosts that a problem may have.
const maxCosts = 1 << 53

// checkLimits adds what is wrong with the limits by server, and with the cost: each may be 0, none below.
func checkLimits(faults *apportion.Faults, app *Application, item apportion.Item) {
	cost := int64(0)
	if app.AdjustCost != nil {
		cost = *app.AdjustCost
	}
	// An AdjustCost that is not there is 1, and right.
	for _, f := range [...]struct {
		field string
		n     int64
	}{{"PerServer", app.PerServer}, {"MaxServers", app.MaxServers}, {"AdjustCost", cost}, {"Most", app.Most}} {
		if f.n < 0 {
			faults.Add(item, f.field, apportion.ErrNegative, strconv.FormatInt(f.n, 10))
		}
	}
}

// checkWeight adds a weight that is not positive, not finite, or outside the range in which shares
// are exact.
func checkWeight(faults *apportion.Faults, weight float64, item apportion.Item) {
	// A weight that is already refused is not refused twice.
	before := len(*faults)
	check.Weight(faults, weight, item)
	if len(*faults) == before && (weight < drf.MinWeight || weight > drf.MaxWeight) {
		faults.Add(item, "Weight", apportion.ErrRange, formatFloat(weight))
	}
}

// checkTheta adds a threshold that is no part of a whole.
// 0 is legal: a loss budget of nothing, and nobody adjusted who can stay.
func checkTheta(faults *apportion.Faults, field string, theta float64) {
	switch {
	case math.IsNaN(theta) || math.IsInf(theta, 0):
		faults.Add(apportion.Item{}, field, apportion.ErrNotFinite, formatFloat(theta))
	case theta < 0 || theta > 1:
		faults.Add(apportion.Item{}, field, apportion.ErrRange, formatFloat(theta)+" is not in [0, 1]")
	}
}

// checkPrevious checks what runs now. What it adds up to is checked only where servers and
// applications are right by themselves; applications that have finished are not charged, because their
// containers are gone.
func (p *Problem) checkPrevious(faults *apportion.Faults) {
	c := &previousCheck{problem: p, faults: faults, sound: len(*faults) == 0, servers: serverIndex(p.Servers)}
	c.used = make([]apportion.Resources, len(p.Servers))
	for j := range c.used {
		c.used[j] = make(apportion.Resources, len(p.Kinds))
	}
	// Faults come in the order of the IDs, so that two runs tell them alike.
	applications := appIndex(p.Applications)
	for _, id := range slices.Sorted(maps.Keys(p.Previous)) {
		var app *Application
		if i, running := applications[id]; running {
			app = &p.Applications[i]
		}
		c.placed(app, check.Item("application", id, 0), p.Previous[id])
	}
	if len(*faults) == 0 {
		p.checkDerivedUse(faults, c.used)
	}
	if len(*faults) == 0 && p.keepsServers() {
		p.checkFill(faults, c.used)
	}
}

// keepsServers reports whether what runs must fit the servers: the paper knows no machine that fails.
func (p *Problem) keepsServers() bool { return p.Options.Paper && !p.Options.Displace }

// previousCheck is the check of what runs now, application by application, in the order of their IDs: a map has none.
type previousCheck struct {
	problem *Problem
	faults  *apportion.Faults
	sound   bool // servers and applications are right by themselves
	servers map[string]int
	used    []apportion.Resources // by server, so far
	order   []string              // scratch
}

// placed checks the containers of one application; app is nil where it has finished.
func (c *previousCheck) placed(app *Application, item apportion.Item, places map[string]int64) {
	total := int64(0)
	c.order = keysInto(c.order, places)
	for _, server := range c.order {
		count := places[server]
		if count < 0 {
			c.faults.Add(item, previousOn(server), apportion.ErrNegative, strconv.FormatInt(count, 10))
			continue
		}
		// Containers are summed over servers before anything multiplies them: Containers would wrap
		// around.
		sum, ok := exact.Add(total, count)
		if !ok {
			c.faults.Add(item, previousOn(server), apportion.ErrOverflow, "")
			continue
		}
		total = sum
		j, known := c.servers[server]
		switch {
		// What has finished uses nothing, and an entry of zero says the same as none.
		case app == nil || count == 0:
		case !known && c.problem.keepsServers():
			c.faults.Add(item, previousOn(server), apportion.ErrUnknown, "server "+strconv.Quote(server))
		case known && c.sound:
			// Nobody knows what an option that is gone has used.
			if at := app.present(app.Option); at < 0 {
				if c.problem.keepsServers() {
					c.faults.Add(item, "Option", apportion.ErrUnknown, strconv.Quote(app.Option))
				}
				return
			} else if exact.AddTimesTo(c.used[j], c.used[j], count, app.form(at).Demand) != nil {
				c.faults.Add(item, previousOn(server), apportion.ErrOverflow, strconv.FormatInt(count, 10)+" containers")
			}
		}
	}
}

// previousOn is the field of what runs on a server.
func previousOn(server string) string { return "Previous[" + server + "]" }

// checkFill adds the servers that hold more than they have; used has a vector for each of them.
// It is asked only by the paper's rule, which knows no machine that shrinks.
func (p *Problem) checkFill(faults *apportion.Faults, used []apportion.Resources) {
	for j, server := range p.Servers {
		if !used[j].FitsIn(server.Capacity) {
			faults.Add(check.Item("server", server.ID, j), "Previous", ErrOverfilled,
				p.Kinds.Format(used[j])+" of "+p.Kinds.Format(server.Capacity))
		}
	}
}
