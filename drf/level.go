// This file implements the exact comparison of weighted shares, and the exact number of containers below one.

package drf

import (
	"cmp"
	"math"
	"math/bits"
)

// ratio is a weight as the integer mantissa times 2^exponent, which is exact.
type ratio struct {
	mantissa uint64
	exponent int
}

// newRatio returns a positive, finite weight as a ratio. Frexp gives a fraction in [0.5, 1), whose 53 bits
// are the mantissa; nothing is rounded.
func newRatio(weight float64) ratio {
	fraction, exponent := math.Frexp(weight)
	return ratio{uint64(fraction * (1 << 53)), exponent - 53}
}

// level is a weighted share as the exact fraction amount/(total*weight): how much of a kind a
// client holds, how much of it there is, and the client's weight.
type level struct {
	amount, total int64
	weight        ratio
}

// compareLevels compares a and b without rounding. Both sides of
//
//	a.amount * b.total * b.weight  against  b.amount * a.total * a.weight
//
// are products of three integers, at most 63+63+53 bits long, times powers of two. total and
// weight must be positive, amount may be zero.
// Levels are equal exactly if this is 0, which is when the ID decides: rounded shares would let the
// order of two equal claims depend on their numbers.
func compareLevels(a, b *level) int {
	// Zero has no top bit to align, and equal denominators need no product: most comparisons end here.
	if a.amount == 0 || b.amount == 0 || a.total == b.total && a.weight == b.weight {
		return cmp.Compare(a.amount, b.amount)
	}
	return compareProducts(multiply(a.amount, b.total, b.weight), multiply(b.amount, a.total, a.weight))
}

// smallBits are the bits of an amount and of a total times weight up to which levels that round alike are the same: the quotients of two
// such pairs that differ do so by more than 2^-51.
const smallBits = 25

// rounded returns the level as the nearest float, of two the even one, and whether other levels that round to it, of which that
// holds as well, are the same. weight is that of the level.
func (l *level) rounded(weight float64) (x float64, tells bool) {
	amount, total := float64(l.amount), float64(l.total)
	scaled := total * weight
	if l.amount < 1<<53 && l.total < 1<<53 && math.FMA(total, weight, -scaled) == 0 {
		// Nothing was rounded before the quotient is.
		mantissa := math.Float64bits(scaled) << 12
		return amount / scaled, l.amount < 1<<smallBits && mantissa<<(smallBits-1) == 0
	}
	// Four roundings are off by three floats at most, from where the nearest is found exactly.
	x = amount / total / weight
	for {
		up, down := math.Nextafter(x, math.Inf(1)), math.Nextafter(x, 0)
		switch even := math.Float64bits(x)&1 == 0; {
		case l.compareMiddle(x, up) > 0 || l.compareMiddle(x, up) == 0 && !even:
			x = up
		case l.compareMiddle(down, x) < 0 || l.compareMiddle(down, x) == 0 && !even:
			x = down
		default:
			return x, false
		}
	}
}

// compareMiddle compares the level, which is not 0, with the middle between a positive float and the next one.
func (l *level) compareMiddle(x, next float64) int {
	low, high := newRatio(x), newRatio(next)
	// Twice the middle is the sum of both, in units of the lower one: 55 bits.
	mantissa := low.mantissa + high.mantissa<<(high.exponent-low.exponent)
	middle := multiply(l.total, int64(mantissa), l.weight)
	middle.exponent += low.exponent
	amount := multiply(l.amount, 2, ratio{1 << 52, -52})
	return compareProducts(amount, middle)
}

// product is the number (hi, mid, lo) * 2^exponent, shifted so that the top bit of hi is set. That
// makes it unique: two products are equal exactly if their fields are.
type product struct {
	exponent    int
	hi, mid, lo uint64
}

// multiply returns x*y*weight, all positive.
// weight.mantissa is at least 2^52, and the product at most 179 bits long.
func multiply(x, y int64, weight ratio) product {
	high, low := bits.Mul64(uint64(x), uint64(y))
	// x*y takes 126 bits and the mantissa 53, so that the product fits into three words: each of the two words of
	// x*y is multiplied by the mantissa, and what overflows the middle word goes to the highest.
	carry, lo := bits.Mul64(low, weight.mantissa)
	hi, mid := bits.Mul64(high, weight.mantissa)
	mid, over := bits.Add64(mid, carry, 0)
	p := product{exponent: weight.exponent, hi: hi + over, mid: mid, lo: lo}
	for p.hi == 0 { // at most twice: the product is not zero
		p.hi, p.mid, p.lo = p.mid, p.lo, 0
		p.exponent -= 64
	}
	// The words move left together until the top bit of hi is set; the exponent makes up for it.
	shift := bits.LeadingZeros64(p.hi)
	p.exponent -= shift
	p.hi = p.hi<<shift | p.mid>>(64-shift)
	p.mid = p.mid<<shift | p.lo>>(64-shift)
	p.lo <<= shift
	return p
}

// compareProducts compares two products without rounding. As the top bit of hi is set in both, the one with
// the greater exponent is greater; with equal exponents the words decide, highest first.
func compareProducts(p, q product) int {
	if p.exponent != q.exponent {
		return cmp.Compare(p.exponent, q.exponent)
	}
	if p.hi != q.hi {
		return cmp.Compare(p.hi, q.hi)
	}
	if p.mid != q.mid {
		return cmp.Compare(p.mid, q.mid)
	}
	return cmp.Compare(p.lo, q.lo)
}

// ceilOver returns p/d rounded up to an integer, for d > 0; math.MaxInt64 stands for that and for
// everything above.
func (p product) ceilOver(d int64) int64 {
	// The three words have 192 bits, and the top one is set.
	size := 192 + p.exponent // p lies in [2^(size-1), 2^size)
	switch {
	// p is below 1 and above 0: rounded up it is 1, whatever d is.
	case size <= 0:
		return 1
	case size > 126: // p/d is at least 2^126/2^63
		return math.MaxInt64
	}
	// The top size bits of (hi, mid) are the integral part (high, low) of p.
	var high, low, fraction uint64
	if shift := uint(128 - size); shift >= 64 {
		low, fraction = p.hi>>(shift-64), p.hi<<(128-shift)|p.mid|p.lo
	} else {
		high, low, fraction = p.hi>>shift, p.hi<<(64-shift)|p.mid>>shift, p.mid<<(64-shift)|p.lo
	}
	if high >= uint64(d) { // the quotient is 2^64 or more
		return math.MaxInt64
	}
	// Div64 needs high < d, which has just been made sure of.
	quotient, rest := bits.Div64(high, low, uint64(d))
	if quotient >= math.MaxInt64 {
		return math.MaxInt64
	}
	// Anything left of the quotient, or of p behind its point, makes it one more.
	if rest > 0 || fraction > 0 {
		quotient++
	}
	return int64(quotient)
}

// unit is what one container of a claim adds to its weighted share, exactly, and the number of
// containers for a level of 1, rounded four times.
type unit struct {
	level level
	pace  float64
}

// newUnit returns the unit of containers that take amount of the total of their dominant kind.
func newUnit(amount, total int64, weight float64) unit {
	pace := float64(total) * weight / float64(amount)
	return unit{level{amount, total, newRatio(weight)}, pace}
}

// countBelow returns how many containers, one after the other, a claim is handed while its weighted
// share is below bound: the least j with j*u >= bound. It is exact, and math.MaxInt64 stands for that
// and for everything above. Where the rounded number is clearly between two integers, nothing needs to
// be multiplied in full.
// It is asked for every claim up to 63 times a leap, which is why the product is avoided where it can
// be.
func countBelow(bound float64, u *unit) int64 {
	if bound == 0 {
		return 0
	}
	x := bound * u.pace
	// x strays from the exact quotient by less than clearGap of itself; both neighbours are farther away.
	if up := math.Ceil(x); x < clearCount && min(up-x, x-up+1) > clearGap*x {
		return int64(up)
	}
	// j u >= bound means j >= bound total weight / amount: a product of integers and powers of two, over
	// an integer.
	scale := newRatio(bound)
	p := multiply(u.level.total, int64(scale.mantissa), u.level.weight)
	p.exponent += scale.exponent
	return p.ceilOver(u.level.amount)
}

// clearGap is the relative distance from which two rounded numbers are surely in the order of the exact ones. Each is rounded four
// times, by a factor within 1±2^-53, so that two of them stray by less than 2^-49 together.
const clearGap = 0x1p-49

// clearCount is where numbers of containers begin that may round to a wrong integer.
const clearCount = 1 << 48
