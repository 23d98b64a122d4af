// This file holds the utilities of a speed, [Kelly98], [Mo00].

package worth

import (
	"math"
	"strconv"

	"github.com/apportion/apportion"
)

// Utility is what a job's speed is worth, in parts of the speed that is its due: it rises, and is concave.
type Utility func(part float64) float64

// Speedup values a speed as what it is: the sum over all jobs is the work done in parts of what is due, [Qiao21] §3.
func Speedup(part float64) float64 { return part }

// Fair is proportional fairness, u(x) = log x: any other allocation changes the speeds, relative to what they are, by
// nothing or less in the sum, [Kelly98] §2.
func Fair(part float64) float64 { return math.Log(part) }

// Alpha returns alpha-fairness, u(x) = x^(1-a)/(1-a), and log x for a = 1: 0 is Speedup, 1 is Fair, 2 the least sum of
// times, and the larger alpha is, the more the slowest counts, [Mo00] §III. The error is apportion.ErrNotFinite or
// ErrRange for an alpha that is negative or above 3.
func Alpha(alpha float64) (Utility, error) {
	switch {
	case math.IsNaN(alpha) || math.IsInf(alpha, 0):
		return nil, &apportion.FieldError{Field: "alpha", Err: apportion.ErrNotFinite}
	case alpha < 0 || alpha > maxAlpha:
		return nil, &apportion.FieldError{Field: "alpha", Detail: strconv.FormatFloat(alpha, 'g', -1, 64), Err: apportion.ErrRange}
	case alpha == 1:
		return Fair, nil
	}
	return func(part float64) float64 { return math.Pow(part, 1-alpha) / (1 - alpha) }, nil
}

// maxAlpha is the largest alpha: with a floor of a hundredth worths are then still below solver.MaxWorth.
const maxAlpha = 3
