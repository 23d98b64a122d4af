// This file implements Utility: the worth of a job by its completion, [OASiS] §3.1 and §5.

package primaldual

import (
	"errors"
	"math"
	"strconv"

	"github.com/apportion/apportion"
)

// Utility is f_i: the worth of a job that ends d slots after its arrival, d = 0 for the arrival slot
// itself. Values must be finite, 0 or more, and never increase with d; that is checked at every d at
// which the job could end when it is offered. It must be a pure function.
//
// An admitted job may come to end later than its horizon reached when it was offered. There a value
// that breaks the rules is tolerated, so that an event which has happened can be recorded: one that
// is not finite or is negative counts as 0, one that is greater than an earlier one as that.
type Utility interface {
	Value(slots int) float64
}

// ErrIncreasing reports a utility that is worth more when the job ends later.
var ErrIncreasing = errors.New("increases with the completion time")

// Sigmoid is Gamma1 / (1 + exp(Gamma2 (d - Gamma3))): a job worth about Gamma1 until its target of
// Gamma3 slots and little after it, the more sharply the larger Gamma2. Gamma2 = 0 is the constant
// Gamma1/2.
//
// Source: [OASiS §5].
type Sigmoid struct{ Gamma1, Gamma2, Gamma3 float64 }

// Value returns the utility of a job that ends d slots after its arrival.
func (s Sigmoid) Value(d int) float64 {
	// exp overflows to +Inf for a d far behind the target, and the worth is then 0, as it should
	// be. The conversion keeps the product from being fused with what follows.
	return s.Gamma1 / (1 + math.Exp(float64(s.Gamma2*(float64(d)-s.Gamma3))))
}

// Constant is the utility of a job that is worth the same whenever it ends.
type Constant float64

// Value returns the constant.
func (c Constant) Value(int) float64 { return float64(c) }

// Linear is max(0, Start - PerSlot d).
type Linear struct{ Start, PerSlot float64 }

// Value returns the utility of a job that ends d slots after its arrival.
// It stays at 0 where the line would go on below: a late job is worthless, not harmful.
func (l Linear) Value(d int) float64 { return max(0, l.Start-float64(l.PerSlot*float64(d))) }

// Step is one deadline: a job that ends at most Within slots after its arrival is worth Value.
type Step struct {
	Within int
	Value  float64
}

// Steps is a list of deadlines, earliest first: the worth is the Value of the first step that is
// still met, and 0 after the last. A job whose deadlines do not ascend is refused with ErrRange.
type Steps []Step

// Value returns the utility of a job that ends d slots after its arrival. O(len(s)).
func (s Steps) Value(d int) float64 {
	for _, step := range s {
		if d <= step.Within {
			return step.Value
		}
	}
	return 0
}

// fault returns the first position whose deadline is negative or does not come after the one before,
// or -1.
// Value takes the first step that is met: behind a later deadline an earlier one would never be
// reached.
func (s Steps) fault() int {
	last := -1
	for i, step := range s {
		if step.Within <= last {
			return i
		}
		last = step.Within
	}
	return -1
}

// values appends f_i(d) for d in [from, to] to dst and returns it with the first fault found.
func (j *Job) values(dst []float64, from, to int) ([]float64, error) {
	before := math.Inf(1)
	for d := from; d <= to; d++ {
		value := j.Utility.Value(d)
		var sort error
		switch {
		case math.IsNaN(value) || math.IsInf(value, 0):
			sort = apportion.ErrNotFinite
		case value < 0:
			sort = apportion.ErrNegative
		// A utility that rose again would let a schedule earn by running its last worker later, and
		// the bounds of the search, which rest on falling values, would be wrong.
		case value > before:
			sort = ErrIncreasing
		}
		if sort != nil {
			field := "Utility(" + strconv.Itoa(d) + ")"
			return dst, &apportion.FieldError{Item: j.item(), Field: field, Err: sort, Detail: formatFloat(value)}
		}
		before = value
		dst = append(dst, value)
	}
	return dst, nil
}

// tolerated appends f_i(d) for d in [from, to] to dst for an admitted job, and makes values that break
// the rules of Utility keep them. The time is O(to).
func (j *Job) tolerated(dst []float64, from, to int) []float64 {
	// most is the least value so far, so that the result never increases even if the utility does.
	most := math.MaxFloat64
	// Before from, values without a meaning are passed over: the job cannot have ended there, perhaps never could.
	for d := int(j.ShortestSlots()) - 1; d < from; d++ {
		if value := j.Utility.Value(d); value >= 0 {
			most = min(most, value)
		}
	}
	for d := from; d <= to; d++ {
		value := j.Utility.Value(d)
		if !(value >= 0) || math.IsInf(value, 0) {
			value = 0
		}
		most = min(most, value)
		dst = append(dst, most)
	}
	return dst
}

// earned returns what an admitted job is worth that ends d slots after its arrival, not later than
// planned: at least promised, its utility as decided.
func (j *Job) earned(d int, promised float64) float64 {
	return max(promised, j.tolerated(nil, d, d)[0])
}
