// This file implements the scaling of linear forms to integer coefficients, with a proof of what it
// changes.

package ortools

import "math"

const (
	// maxActivity is the largest size that a scaled form may take on the box of its variables. CP-SAT
	// computes in int64; this leaves it room for sums of two forms.
	maxActivity = 1 << 60
	// maxScale is the finest power of ten tried. It is exact in a float64, as all smaller ones are.
	maxScale = 1e18
	// rounding covers what the sums of non-negative deviations below may lose, each term by half a
	// unit in the last place.
	rounding = 1 + 1e-9
)

// integerForm is a linear form times scale, with integer coefficients. On the box of its variables it
// differs from the exact product by at most deviation, and its size is at most activity.
type integerForm struct {
	coefs               []int64
	scale               float64
	deviation, activity float64
}

// scaleForm looks for the smallest power of ten at which the form, rounded to integers, differs by at
// most tight, in units of the form, from the one given; failing that it takes the finest power that
// fits into maxActivity, if that differs by at most loose. reach[k] is the largest size of the k-th
// variable. O(18 terms).
func scaleForm(coefs, reach []float64, tight, loose float64) (integerForm, bool) {
	// best is the finest form that fits so far; found says whether it is within loose.
	best, found := integerForm{}, false
	// Decimal scales suit what people write: 0.1 becomes whole with the first of them, and with no
	// power of two.
	for scale := 1.0; scale <= maxScale; scale *= 10 {
		form := integerForm{scale: scale}
		for k, a := range coefs {
			// a*scale may round before it is rounded to a whole number; the deviation below is
			// that of whole, whatever it became.
			whole := math.RoundToEven(a * scale)
			// The fused product is exact before its one rounding, so no deviation is overlooked.
			form.deviation += math.Abs(math.FMA(a, scale, -whole)) * reach[k]
			// Each factor counts at least 1, so that a coefficient that rounds to 0 and a variable
			// fixed at 0 count, too.
			form.activity += math.Max(1, math.Abs(whole)) * math.Max(1, reach[k])
		}
		form.deviation *= rounding
		// Finer scales only make it larger. What was found before counts.
		if form.activity > maxActivity {
			break
		}
		// In units of the form the deviation is divided by scale; the comparison is multiplied
		// out.
		best, found = form, form.deviation <= loose*scale
		if form.deviation <= tight*scale {
			break
		}
	}
	if !found {
		return integerForm{}, false
	}
	best.coefs = make([]int64, len(coefs))
	for k, a := range coefs {
		best.coefs[k] = int64(math.RoundToEven(a * best.scale))
	}
	return best, true
}

// atMost returns the largest integer value of the form that an upper bound allows: bound, widened
// by the deviation, so that no point within the bound is lost, and by the given tolerance.
// math.MaxInt64 means that the bound says nothing about the form, and math.MinInt64 that no point
// of the box keeps it.
// The form is within 2^60 on the box, and the sum at the end far from overflow.
func (f integerForm) atMost(bound, tolerance float64) int64 {
	// Infinite bounds and those far beyond the activity are sorted out before the conversion to
	// int64.
	product := bound * f.scale
	switch {
	case product > 2*f.activity:
		return math.MaxInt64
	case product < -2*f.activity-1:
		return math.MinInt64
	}
	// rest is the exact product less whole, rounded once: product itself may have lost the digits
	// behind the point.
	whole := math.RoundToEven(product)
	rest := math.FMA(bound, f.scale, -whole)
	return int64(whole) + int64(math.Floor(rest+f.deviation+tolerance*f.scale))
}

// atLeast is atMost for a lower bound: the smallest value, or math.MinInt64, or math.MaxInt64.
func (f integerForm) atLeast(bound, tolerance float64) int64 {
	// The form and its box are symmetric in sign here: form >= b is the same as -form <= -b, and
	// activity and deviation are sizes.
	value := f.atMost(-bound, tolerance)
	switch value {
	case math.MaxInt64:
		return math.MinInt64
	case math.MinInt64:
		return math.MaxInt64
	}
	return -value
}
