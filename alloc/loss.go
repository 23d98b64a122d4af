// This file measures losses in worth, in place of shares (2): how far an application's speed is from the one with its fair
// number of containers, [Program §6].

package alloc

import (
	"math"

	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/alloc/worth"
)

// fairSpeeds returns by application how fast it is with its fair number of containers, 0 where it is due nothing: with the
// first of its options in apps, whose dense forms have their Share. nil where losses are not measured in worth.
func (r *resolved) fairSpeeds(apps []int, dense []solver.App) []float64 {
	if r.problem.Options.Loss != LossInWorth {
		return nil
	}
	// One fair speed for an application, whichever option it uses: a loss says how far it is from what it is due, and that
	// does not change with the way it runs.
	fair := make([]float64, len(r.entries))
	for a, i := range apps {
		first := a == 0 || r.of[i] != r.of[apps[a-1]]
		if !first || !(dense[a].Share > 0) || !(dense[a].Delta > 0) {
			continue
		}
		app := &r.problem.Applications[i]
		fair[r.of[i]] = 1
		if app.Speed != nil {
			fair[r.of[i]] = worth.FairSpeed(app.positives(), app.Speed, dense[a].Share/dense[a].Delta)
		}
	}
	return fair
}

// setLosses states by number what the entries in apps lose, dense[a] of apps[a], where that is measured in worth: all
// options of one application lose against one fair speed. O(sum of numbers).
// The points are what solvers price losses by: between two of them they take a line.
func (r *resolved) setLosses(apps []int, dense []solver.App, fair []float64) {
	if fair == nil {
		return
	}
	for a, i := range apps {
		app, own := &r.problem.Applications[i], fair[r.of[i]]
		switch {
		// Who is due nothing loses nothing whatever it has: a single point says so.
		case own == 0:
			dense[a].Losses = []solver.LossPoint{{}}
		// An option that only demands what the cluster has none of has no container, and all options lose the same then.
		case !(dense[a].Delta > 0):
			dense[a].Losses = []solver.LossPoint{{N: 0, Loss: 1}}
		case app.Speed != nil:
			dense[a].Losses = app.losses(own)
		default:
			dense[a].Losses = lossesOfShare(&dense[a])
		}
	}
}

// losses returns |speed/fair - 1| by number, one point for each number that the application may have: having nothing is a
// speed of 0, and a loss of 1. fair is above 0.
func (a *Application) losses(fair float64) []solver.LossPoint {
	points := []solver.LossPoint{{N: 0, Loss: 1}}
	for at, n := range a.positives() {
		// What is far beyond the fair speed is cut, so that sums stay exact enough.
		points = append(points, solver.LossPoint{N: n, Loss: math.Min(solver.MaxWorth, math.Abs(a.Speed[at]/fair-1))})
	}
	return points
}

// lossesOfShare returns |delta n/s^ - 1| by number: it is a line on either side of the fair number, so that the whole numbers
// next to that and the ends say it all.
func lossesOfShare(app *solver.App) []solver.LossPoint {
	points := []solver.LossPoint{{N: 0, Loss: 1}}
	fair := app.Share / app.Delta
	below := app.Max
	// Compared as floats first: a quotient beyond int64 becomes another number on each kind of machine.
	if fair < float64(app.Max) {
		below = int64(fair)
	}
	for _, n := range [...]int64{below, min(below, app.Max-1) + 1, app.Max} {
		if n > points[len(points)-1].N {
			points = append(points, solver.LossPoint{N: n, Loss: math.Min(solver.MaxWorth, math.Abs(float64(n)/fair-1))})
		}
	}
	return points
}

// positives lists the numbers above 0 that the application may have, whatever there is room for: those that Worth and
// Speed have entries for. O(numbers).
func (a *Application) positives() []int64 {
	numbers := make([]int64, 0, a.entries())
	whole := solver.App{Min: a.Min, Max: a.Max, Step: a.step(), Counts: a.Counts}
	for n := whole.AtLeast(1); n > 0 && len(numbers) < cap(numbers); n = whole.AtLeast(n + 1) {
		numbers = append(numbers, n)
	}
	return numbers
}
