// This file says what an application loses with a number of containers, [Dorm (2)], and beyond the paper, where its loss
// is stated number by number.

package solver

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/apportion/apportion"
)

// Loss returns l_i = |delta_i n - share_i|, the fairness loss of the application with n containers (2). With Losses it
// is theirs: on the line between the points next to n, and beyond the last point as much as there. O(log Losses).
func (a *App) Loss(n int64) float64 {
	if a.Losses != nil {
		return a.statedLoss(n)
	}
	loss := float64(a.Delta*float64(n)) - a.Share
	if loss < 0 {
		return -loss
	}
	return loss
}

// statedLoss is Loss by Losses, the first of which is at 0, for n of 0 or more: on the line between two points the loss is
// what a weighted mean of both would lose.
func (a *App) statedLoss(n int64) float64 {
	at, stated := slices.BinarySearchFunc(a.Losses, n, func(p LossPoint, n int64) int { return cmp.Compare(p.N, n) })
	switch {
	case stated || at == 0:
		return a.Losses[at].Loss
	case at == len(a.Losses):
		return a.Losses[at-1].Loss
	}
	below, above := a.Losses[at-1], a.Losses[at]
	part := float64(n-below.N) / float64(above.N-below.N)
	return below.Loss + float64(part*(above.Loss-below.Loss))
}

// LeastLoss returns the least loss with least to most containers, whether or not the application may have every number
// between. O(Losses).
func (a *App) LeastLoss(least, most int64) float64 {
	if a.Losses == nil {
		// The loss falls up to the share and rises from there, so that it is least at a number next to that, or at an end.
		n := min(max(least, a.fairCount()), most)
		return math.Min(a.Loss(n), a.Loss(min(n+1, most)))
	}
	// Between two points the loss is on a line, so that it is least at a point or at an end.
	lowest := math.Min(a.Loss(least), a.Loss(most))
	for _, p := range a.Losses {
		if least <= p.N && p.N <= most {
			lowest = math.Min(lowest, p.Loss)
		}
	}
	return lowest
}

// fairCount returns floor(share_i / delta_i), cut to Max, or 0 where delta_i is 0: the loss (2) is least there or with one
// more container.
func (a *App) fairCount() int64 {
	if a.Delta <= 0 {
		return 0
	}
	// A quotient beyond int64 becomes another number on each kind of machine, so that it is compared before it is one.
	if fair := a.Share / a.Delta; fair < float64(a.Max) {
		return int64(fair)
	}
	return a.Max
}

// MostLoss returns the largest loss with least to most containers. O(Losses).
func (a *App) MostLoss(least, most int64) float64 {
	// |delta n - share| is convex, and largest at an end; of stated losses every point between counts as well.
	largest := math.Max(a.Loss(least), a.Loss(most))
	for _, p := range a.Losses {
		if least <= p.N && p.N <= most {
			largest = math.Max(largest, p.Loss)
		}
	}
	return largest
}

// checkLosses adds what is wrong with stated losses: they begin with none, ascend, and are amounts that are not negative.
func checkLosses(faults *apportion.Faults, app *App, item apportion.Item) {
	if app.Losses == nil {
		return
	}
	if len(app.Losses) == 0 || app.Losses[0].N != 0 {
		faults.Add(item, "Losses", apportion.ErrRange, "they do not begin with 0 containers")
	}
	// Every point is looked at, whatever is wrong with those before it.
	last := int64(-1)
	for at, p := range app.Losses {
		field := "Losses[" + strconv.Itoa(at) + "]"
		if p.N <= last {
			faults.Add(item, field, apportion.ErrRange, fmt.Sprintf("%d containers after %d", p.N, last))
		}
		last = p.N
		checkAmount(faults, item, field, p.Loss)
		if p.Loss < 0 {
			faults.Add(item, field, apportion.ErrNegative, strconv.FormatFloat(p.Loss, 'g', -1, 64))
		}
	}
}
