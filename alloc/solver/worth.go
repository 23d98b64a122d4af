// This file says what the containers of an application are worth by their number and where they are: W and K of
// [Program §2], in place of (10), [Dorm §IV].

package solver

import (
	"fmt"
	"iter"
	"math"
	"strconv"

	"github.com/apportion/apportion"
)

// MaxWorth bounds an entry of App.Worth, App.Idle and App.Stay, of either sign: up to there the rounding of sums is
// within ObjectiveTolerance.
const MaxWorth = 1e6

// WorthOf returns what the application brings to the objective with placed: Value times the number of containers,
// Extra of it, less what it loses by its servers, and Stay where it stays exactly as it is.
func (a *App) WorthOf(placed []apportion.Placement) float64 {
	n := Containers(placed)
	// The conversion forbids the compiler to fuse product and sum, which would round otherwise on other machines.
	worth := float64(a.Value*float64(n)) + a.Extra(n)
	if a.Stay > 0 && a.Running && !a.Adjusted(placed) {
		worth += a.Stay
	}
	if a.Spread != nil {
		worth -= a.tornBy(placed)
	}
	return worth
}

// Extra returns what n containers are worth beside Value times n, by Worth and Idle; 0 where the application may
// not have n. O(log Counts).
func (a *App) Extra(n int64) float64 {
	switch {
	case a.Worth == nil || !a.Allows(n):
		return 0
	case n == 0:
		return a.Idle
	}
	return a.Worth[a.entry(n)]
}

// entry returns which entry of Worth is that of n > 0 containers, which the application may have. Without Counts the numbers
// are equally far apart, so that nothing needs to be searched.
func (a *App) entry(n int64) int64 {
	if a.Counts != nil {
		return int64(a.listedAbove(n) - 1)
	}
	return (n - a.AtLeast(1)) / a.step()
}

// entries returns how many entries Worth must have: with Counts one for each of them, also for those outside the bounds,
// which are never read.
func (a *App) entries() int64 {
	if a.Counts != nil {
		return int64(len(a.Counts))
	}
	// Below the first multiple above nothing there may be none within the bounds. The entries are those from the first number
	// to the last one, whose position is one less.
	if last := a.AtMost(a.Max); last > 0 {
		return a.entry(last) + 1
	}
	return 0
}

// Numbers goes through the numbers of containers that the application may have, ascending, and what each is worth
// beside Value times it. Without Worth these may be very many.
func (a *App) Numbers() iter.Seq2[int64, float64] {
	return func(yield func(n int64, extra float64) bool) {
		for n := a.AtLeast(0); n >= 0 && yield(n, a.Extra(n)); n = a.after(n) {
		}
	}
}

// after returns the next number above n that the application may have, or -1: none. n is 0 or more.
func (a *App) after(n int64) int64 {
	if n == math.MaxInt64 {
		return -1
	}
	return a.AtLeast(n + 1)
}

// mostExtra returns the largest Extra, with Stay where the application may get that; 0 where it may have no number.
func (a *App) mostExtra() float64 {
	if a.Worth == nil {
		return a.mostStay()
	}
	// Worths have any shape, so that each number is looked at. One that may have no number at all has no solution, of
	// which anything is a bound.
	most, any := math.Inf(-1), false
	for _, extra := range a.Numbers() {
		most, any = math.Max(most, extra), true
	}
	if !any {
		return 0
	}
	return most + a.mostStay()
}

// mostStay returns Stay where the application may stay, as far as that is known without its numbers: an upper bound.
func (a *App) mostStay() float64 {
	if a.Running && !a.Displaced {
		return a.Stay
	}
	return 0
}

// checkWorth adds what is wrong with the worths of an application, whose numbers have been checked.
func checkWorth(faults *apportion.Faults, app *App, item apportion.Item) {
	if app.Worth == nil {
		if app.Idle != 0 {
			faults.Add(item, "Idle", apportion.ErrConflict, "without Worth")
		}
	} else if want := app.entries(); int64(len(app.Worth)) != want {
		faults.Add(item, "Worth", apportion.ErrLength, fmt.Sprintf("%d worths for %d numbers", len(app.Worth), want))
	}
	for at, w := range app.Worth {
		checkAmount(faults, item, "Worth["+strconv.Itoa(at)+"]", w)
	}
	checkAmount(faults, item, "Idle", app.Idle)
	checkAmount(faults, item, "Stay", app.Stay)
	if app.Stay < 0 {
		faults.Add(item, "Stay", apportion.ErrNegative, strconv.FormatFloat(app.Stay, 'g', -1, 64))
	}
}

// checkAmount adds a worth that is NaN, infinite, or beyond MaxWorth.
func checkAmount(faults *apportion.Faults, item apportion.Item, field string, w float64) {
	switch {
	case math.IsNaN(w) || math.IsInf(w, 0):
		faults.Add(item, field, apportion.ErrNotFinite, strconv.FormatFloat(w, 'g', -1, 64))
	case math.Abs(w) > MaxWorth:
		faults.Add(item, field, apportion.ErrRange, strconv.FormatFloat(w, 'g', -1, 64))
	}
}
