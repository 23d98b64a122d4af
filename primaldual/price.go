// This file implements the price functions, [OASiS] eqs. (22)-(26).

package primaldual

import "math"

// inf is the cost of what cannot be done.
var inf = math.Inf(1)

// curve is the price function of one kind on one side: p(g) = L (U/L)^(g/c), held as logarithms so
// that no U/L overflows and no L underflows on the way. (eq. 22)
type curve struct {
	lower  float64 // L; 0: the kind has no price
	logL   float64
	logGap float64 // ln U - ln L
}

// newCurve returns the price function from lower, on an empty server, to upper, on a full one; without
// price where either is 0.
// ln U and ln L are taken once here, and each price is then one exponential.
func newCurve(upper, lower float64) curve {
	if upper <= 0 || lower <= 0 {
		return curve{}
	}
	return curve{lower: lower, logL: math.Log(lower), logGap: math.Log(upper) - math.Log(lower)}
}

// at returns the price when used of capacity is taken: L for used = 0, U for used = capacity. A kind
// that no job demands, or of which the server has none, has price 0.
func (c *curve) at(used, capacity int64) float64 {
	switch {
	case c.lower == 0 || capacity == 0:
		return 0
	// exp(ln L) may differ from L in the last bit, and an empty cell must cost just what base says.
	case used == 0:
		return c.lower
	}
	// p = exp(ln L + (g/c)(ln U - ln L)), which satisfies the differential form of Lemma 3, p dg =
	// c dp/ln(U/L). (eq. 22)
	return math.Exp(c.logL + float64(float64(used)/float64(capacity)*c.logGap))
}
