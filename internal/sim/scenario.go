// This file holds what is simulated: Scenario and App.

package sim

import (
	"strconv"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/internal/check"
)

// AdjustCost is what one kill-and-resume costs on Dorm's testbed: an application of three hours
// that is adjusted twice takes about 5 % longer, [Dorm §V-B5], so half of 9 minutes.
const AdjustCost = 270 * time.Second

// Scenario is a cluster and the applications that will be submitted to it.
type Scenario struct {
	Kinds   apportion.Kinds
	Servers []apportion.Server
	// Apps may be in any order; those of one arrival time are submitted in the order of this list.
	Apps []App
	// AdjustCost is how long an application makes no progress after each change of its
	// containers; not negative. The paper's is the constant AdjustCost.
	AdjustCost time.Duration
	// Horizon ends the simulation: what happens later is not simulated. Zero: run until nothing
	// happens any more.
	Horizon time.Duration
}

// App is an application that arrives, trains, and leaves.
type App struct {
	alloc.Application
	// Arrival is when it is submitted; not negative.
	Arrival time.Duration
	// Fixed is the number of containers that a static scheduler gives it; at least 1.
	Fixed int64
	// Duration is how long it runs on Fixed containers; positive. Its work follows from it.
	Duration time.Duration
	// Speedup says how fast it runs on other numbers of containers; nil: Linear.
	Speedup Speedup
}

// Validate returns every fault that a simulation would stumble over as apportion.Faults, or nil.
// The fields of the embedded application are checked at the first decision.
func (s *Scenario) Validate() error {
	var faults apportion.Faults
	check.Servers(&faults, s.Kinds, s.Servers)
	checkTime(&faults, s.AdjustCost, apportion.Item{}, "AdjustCost")
	checkTime(&faults, s.Horizon, apportion.Item{}, "Horizon")
	seen := make(map[string]bool, len(s.Apps))
	for i := range s.Apps {
		app := &s.Apps[i]
		item := check.Item("application", app.ID, i)
		check.ID(&faults, seen, app.ID, item)
		checkTime(&faults, app.Arrival, item, "Arrival")
		if app.Fixed < 1 {
			faults.Add(item, "Fixed", apportion.ErrRange, strconv.FormatInt(app.Fixed, 10))
		}
		if app.Duration <= 0 {
			faults.Add(item, "Duration", apportion.ErrRange, app.Duration.String())
		}
	}
	return faults.Err()
}

func checkTime(faults *apportion.Faults, d time.Duration, item apportion.Item, field string) {
	if d < 0 {
		faults.Add(item, field, apportion.ErrNegative, d.String())
	}
}

// rate returns the rate of the application on n containers, n at least 1.
func (a *App) rate(n int64) (int64, error) {
	speedup := a.Speedup
	if speedup == nil {
		speedup = Linear
	}
	speed := speedup(n)
	rate, ok := rateOf(speed)
	if !ok {
		return 0, &apportion.FieldError{
			Item:   check.Item("application", a.ID, 0),
			Field:  "Speedup(" + strconv.FormatInt(n, 10) + ")",
			Detail: strconv.FormatFloat(speed, 'g', -1, 64),
			Err:    apportion.ErrRange,
		}
	}
	return rate, nil
}
