// This file checks what an application states about its numbers of containers: bounds, steps, lists, worths, speeds and
// the options that have each of these.

package alloc

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/check"
)

// checkNumbers adds what is wrong with how many containers there may be, and with what they are worth and how fast.
func checkNumbers(faults *apportion.Faults, app *Application, item apportion.Item) {
	// How many worths there must be follows from the numbers, so that these come first, and must be right.
	before := len(*faults)
	checkBounds(faults, app, item)
	checkCounts(faults, app, item)
	sound := len(*faults) == before
	checkWorth(faults, app, item, sound)
	checkWorthOn(faults, app, item, sound)
	checkSpeed(faults, app, item, sound)
}

// checkBounds adds bounds that are negative or contradict each other.
func checkBounds(faults *apportion.Faults, app *Application, item apportion.Item) {
	if app.Min < 0 {
		faults.Add(item, "Min", apportion.ErrNegative, strconv.FormatInt(app.Min, 10))
	}
	switch {
	// Only the first of these faults is told: a negative Max lies below every Min as well.
	case app.Max < 0:
		faults.Add(item, "Max", apportion.ErrNegative, strconv.FormatInt(app.Max, 10))
	case app.Max == 0:
		faults.Add(item, "Max", apportion.ErrRange, "0 containers at most")
	case app.Min > app.Max:
		faults.Add(item, "Min", apportion.ErrConflict,
			strconv.FormatInt(app.Min, 10)+" is above Max "+strconv.FormatInt(app.Max, 10))
	}
}

// checkCounts adds what is wrong with the numbers of containers beside their bounds.
func checkCounts(faults *apportion.Faults, app *Application, item apportion.Item) {
	if app.Step < 0 {
		faults.Add(item, "Step", apportion.ErrNegative, strconv.FormatInt(app.Step, 10))
	}
	// Numbers outside the bounds are no fault: a list may be that of a sort of jobs, the bounds those of one job.
	last := int64(0)
	for c, n := range app.Counts {
		if n <= last {
			faults.Add(item, "Counts["+strconv.Itoa(c)+"]", apportion.ErrRange, fmt.Sprintf("%d after %d", n, last))
			return
		}
		last = n
	}
	if app.Counts != nil && len(app.Counts) == 0 {
		faults.Add(item, "Counts", apportion.ErrEmpty, "")
	}
}

// checkWorth adds what is wrong with the worths of an application; whether there are as many as numbers is asked only
// where numbers is true: nothing was wrong with those. Any shape is right, falling and below nothing as well.
func checkWorth(faults *apportion.Faults, app *Application, item apportion.Item, numbers bool) {
	// Each amount is looked at even where their number is wrong, so that one round of corrections is enough.
	for at, w := range app.Worth {
		checkAmount(faults, item, "Worth["+strconv.Itoa(at)+"]", w)
	}
	if app.Worth == nil || !numbers {
		return
	}
	if want := app.entries(); int64(len(app.Worth)) != want {
		faults.Add(item, "Worth", apportion.ErrLength, fmt.Sprintf("%d worths for %d numbers of containers", len(app.Worth), want))
	}
}

// checkSpeed adds what is wrong with the speeds of an application; whether there are as many as numbers is asked only
// where numbers is true: nothing was wrong with those.
func checkSpeed(faults *apportion.Faults, app *Application, item apportion.Item, numbers bool) {
	for at, speed := range app.Speed {
		field := "Speed[" + strconv.Itoa(at) + "]"
		switch {
		case math.IsNaN(speed) || math.IsInf(speed, 0):
			faults.Add(item, field, apportion.ErrNotFinite, formatFloat(speed))
		case speed < 0:
			faults.Add(item, field, apportion.ErrNegative, formatFloat(speed))
		}
	}
	if app.Speed == nil || !numbers {
		return
	}
	// What it loses is stated for every number that it may have, or for none.
	if want := app.entries(); int64(len(app.Speed)) != want {
		faults.Add(item, "Speed", apportion.ErrLength, fmt.Sprintf("%d speeds for %d numbers of containers", len(app.Speed), want))
	}
}

// checkStates adds what is wrong with the worths of having nothing and of staying.
// Of an application with options it looks at each of them, once those have been checked by themselves.
func checkStates(faults *apportion.Faults, app *Application, item apportion.Item) {
	checkAmount(faults, item, "IdleWorth", app.IdleWorth)
	checkDuration(faults, app.RestartCost, item, "RestartCost")
	if app.RestartCost != nil && app.StayWorth != nil {
		faults.Add(item, "RestartCost", apportion.ErrConflict, "with StayWorth, which says it")
	}
	if app.StayWorth != nil {
		checkAmount(faults, item, "StayWorth", *app.StayWorth)
	}
	if app.IdleWorth == 0 {
		return
	}
	// It is a state of the application, whichever option it uses: all of them must be in units of worth, and one must
	// allow it.
	entries := app.entriesOf()
	switch {
	case slices.ContainsFunc(entries, func(e Application) bool { return e.Worth == nil && e.WorthOn == nil }):
		faults.Add(item, "IdleWorth", apportion.ErrConflict, "without Worth")
	case !slices.ContainsFunc(entries, func(e Application) bool { return e.Min == 0 }):
		faults.Add(item, "IdleWorth", apportion.ErrConflict, "Min is above 0, so that it is never without containers")
	}
}

// checkAmount adds a worth that is not finite, or beyond solver.MaxWorth of either sign: above it sums would lose what
// tolerances take for granted.
func checkAmount(faults *apportion.Faults, item apportion.Item, field string, w float64) {
	switch {
	case math.IsNaN(w) || math.IsInf(w, 0):
		faults.Add(item, field, apportion.ErrNotFinite, formatFloat(w))
	case math.Abs(w) > solver.MaxWorth:
		faults.Add(item, field, apportion.ErrRange, formatFloat(w))
	}
}

// checkOptions adds what is wrong with the options of an application, and with what they stand in place of.
func (p *Problem) checkOptions(faults *apportion.Faults, app *Application, item apportion.Item) {
	if len(app.Options) == 0 {
		faults.Add(item, "Options", apportion.ErrEmpty, "")
	}
	// A field that would be ignored is a mistake of whoever wrote it, and is told.
	for _, f := range [...]struct {
		field string
		set   bool
	}{{"Demand", app.Demand != nil}, {"Max", app.Max != 0}, {"Min", app.Min != 0}, {"Step", app.Step != 0}, {"Counts", app.Counts != nil}, {"Worth", app.Worth != nil}, {"WorthOn", app.WorthOn != nil}, {"Speed", app.Speed != nil}} {
		if f.set {
			faults.Add(item, f.field, apportion.ErrConflict, "with Options, which have it each")
		}
	}
	// IDs of options are compared within their application alone: others may have options of the same names.
	seen := make(map[string]bool)
	for o := range app.Options {
		before := len(*faults)
		option := &app.Options[o]
		field := "Options[" + strconv.Itoa(o) + "]."
		switch {
		case option.ID == "":
			faults.Add(item, field+"ID", apportion.ErrEmpty, "")
		case seen[option.ID]:
			faults.Add(item, field+"ID", apportion.ErrDuplicate, strconv.Quote(option.ID))
		}
		seen[option.ID] = true
		// From here on the option is checked as the application that it stands for.
		e := app.entry(o)
		if (option.Speed == nil) != (app.Options[0].Speed == nil) {
			faults.Add(item, field+"Speed", apportion.ErrConflict, "some options state one, others none")
		}
		p.checkDemand(faults, &e, item)
		checkNumbers(faults, &e, item)
		// What is wrong with an option is told with its place.
		for f := before; f < len(*faults); f++ {
			if !strings.HasPrefix((*faults)[f].Field, "Options[") {
				(*faults)[f].Field = field + (*faults)[f].Field
			}
		}
		for r := range option.Requires {
			check.Requirement(faults, &option.Requires[r], item, field+"Requires["+strconv.Itoa(r)+"]")
		}
	}
}

// checkDemand adds what is wrong with what one container needs: a wrong length, a negative quantity, or nothing of any kind,
// of which a server could hold any number.
func (p *Problem) checkDemand(faults *apportion.Faults, app *Application, item apportion.Item) {
	check.Resources(faults, p.Kinds, app.Demand, item, "Demand")
	// What is not there at all has the wrong length, which is fault enough.
	if app.Demand != nil && app.Demand.IsZero() {
		faults.Add(item, "Demand", apportion.ErrNoDemand, "")
	}
}

// formatFloat writes a number so that it reads back the same, NaN and infinities as such.
func formatFloat(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
