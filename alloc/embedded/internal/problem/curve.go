// This file holds the worth of an application by its number of containers as the searches need it: between the numbers
// that it may have, too, and as the slope of its concave envelope. See solver.App.Worth.

package problem

import (
	"math"
	"slices"

	"github.com/apportion/apportion/alloc/solver"
)

// Curve is what an application's containers are worth beside their Value, by their number.
type Curve struct {
	// At are the numbers that it may have, ascending, and Extra what they are worth.
	At    []int64
	Extra []float64
	// rise[s] is the slope of the least concave function above all of them, from At[s] to At[s+1].
	rise []float64
	// Steepest is the largest slope, of either sign, from one number to the next; Typical that about the fair number,
	// where most applications stand.
	Steepest, Typical float64
}

// newCurve returns the curve of an application that may have no more than most containers, and of which fair are its
// share; nil without worths. Worth has an entry for each number, so that the curve is no longer than the instance.
func newCurve(app *solver.App, most, fair int64) *Curve {
	if app.Worth == nil {
		return nil
	}
	c := &Curve{}
	// Numbers are ascending, so that the first one beyond most ends the list.
	for n, extra := range app.Numbers() {
		if n > most {
			break
		}
		c.At, c.Extra = append(c.At, n), append(c.Extra, extra)
	}
	c.measure()
	// The slope is taken after measure, which fills rise.
	c.Typical = c.steady(fair)
	return c
}

// steady returns the last rise above 0 up to a number, or else the first one, 0 where there is none.
func (c *Curve) steady(fair int64) float64 {
	// A first rise counts even beyond fair, since otherwise a curve whose numbers all lie above it would look
	// worthless.
	typical := 0.0
	// rise descends, as the envelope is concave: the first slope of 0 or less ends the search.
	for s, rise := range c.rise {
		if rise <= 0 || typical > 0 && c.At[s] > fair {
			break
		}
		typical = rise
	}
	return typical
}

// measure computes the slopes.
// The envelope is the upper hull of the points (At, Extra), by a scan that keeps a stack of corners; each
// point is pushed and popped once, O(numbers). W need not be concave: the envelope is tight for bounds, the
// listed numbers stay for answers.
func (c *Curve) measure() {
	c.rise = make([]float64, max(0, len(c.At)-1))
	var hull []int // positions of the corners of the envelope so far
	for s := range c.At {
		if s > 0 {
			c.Steepest = math.Max(c.Steepest, math.Abs(c.slope(s-1, s)))
		}
		// A corner that lies below the line from the one before it to s is none.
		for len(hull) > 1 && c.slope(hull[len(hull)-2], hull[len(hull)-1]) <= c.slope(hull[len(hull)-1], s) {
			hull = hull[:len(hull)-1]
		}
		hull = append(hull, s)
	}
	for h := 1; h < len(hull); h++ {
		// All steps below one edge of the hull have its slope, so that Rise needs no search for the edge.
		for s := hull[h-1]; s < hull[h]; s++ {
			c.rise[s] = c.slope(hull[h-1], hull[h])
		}
	}
}

// slope returns the slope from the number at position a to that at b > a.
func (c *Curve) slope(a, b int) float64 {
	// At is ascending without repeats, so that the divisor is positive.
	return (c.Extra[b] - c.Extra[a]) / (float64(c.At[b]) - float64(c.At[a]))
}

// Of returns the worth of n containers, on the line between the numbers next to n where the application may not have
// n; beyond the first and the last it is theirs.
func (c *Curve) Of(n int64) float64 {
	// s is the position of n, or of the first number above n. O(log numbers).
	s, allowed := slices.BinarySearch(c.At, n)
	switch {
	// A curve without any number is one whose numbers all lie above what the cluster holds.
	case len(c.At) == 0:
		return 0
	case allowed || s == 0:
		return c.Extra[s]
	case s == len(c.At):
		return c.Extra[s-1]
	}
	// W(n) = W(a) + slope (n - a) between two numbers a < n: such an n is no answer, but a search passes
	// through it on its way, and needs a slope there.
	return c.Extra[s-1] + float64(c.slope(s-1, s)*float64(n-c.At[s-1]))
}

// Rise returns what a container beyond n brings, by the envelope: where the worth itself rises only after several more,
// each of them brings its part. 0 from the last number on.
func (c *Curve) Rise(n int64) float64 {
	s, allowed := slices.BinarySearch(c.At, n)
	// Between two numbers the step that n lies in is the one before s.
	if !allowed {
		s--
	}
	// Below the first number there is no step: what leads there is placed for the penalty on missing
	// containers.
	if s < 0 || s >= len(c.rise) {
		return 0
	}
	return c.rise[s]
}
