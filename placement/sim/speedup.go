// This file holds how fast a job runs on n containers.

package sim

import (
	"strconv"
	"time"

	"github.com/apportion/apportion"
)

// Speedup returns how much faster n containers, at least 1, are than the single container of the
// application's own unit: a positive, finite number. Only ratios matter to a simulation.
type Speedup func(n int64) float64

// Linear is the speed-up of an application that loses nothing to communication: n.
func Linear(n int64) float64 { return float64(n) }

// Amdahl returns the speed-up 1 / (serial + (1-serial)/n) of an application with a serial part.
// ErrRange unless 0 <= serial <= 1.
func Amdahl(serial float64) (Speedup, error) {
	if !(serial >= 0 && serial <= 1) {
		return nil, &apportion.FieldError{Field: "serial", Err: apportion.ErrRange}
	}
	return func(n int64) float64 {
		return 1 / (serial + float64((1-serial)/float64(n)))
	}, nil
}

// WorkOn turns a time that was measured on some containers into work. It returns the Work of a job that takes d on n
// containers, rounded up to nanoseconds; nil is Linear. Errors: ErrRange for n below 1, a time that is negative or a
// speed that is none, ErrOverflow.
func WorkOn(speedup Speedup, n int64, d time.Duration) (time.Duration, error) {
	if n < 1 || d < 0 {
		return 0, &apportion.FieldError{Field: "n", Detail: strconv.FormatInt(n, 10) + " containers for " + d.String(), Err: apportion.ErrRange}
	}
	// The speed is rounded to a rate here as in a run, so that the job takes d there and not a nanosecond more.
	rate, err := speedup.rate(n)
	if err != nil {
		return 0, err
	}
	work, ok := product(rate, d).timeAt(Whole)
	if !ok {
		return 0, &apportion.FieldError{Field: "d", Detail: d.String(), Err: apportion.ErrOverflow}
	}
	return work, nil
}

// rate returns the rate on n containers, n at least 1; nil is Linear.
func (s Speedup) rate(n int64) (int64, error) {
	if s == nil {
		s = Linear
	}
	speed := s(n)
	rate, ok := rateOf(speed)
	if !ok {
		return 0, &apportion.FieldError{
			Field:  "Speedup(" + strconv.FormatInt(n, 10) + ")",
			Detail: strconv.FormatFloat(speed, 'g', -1, 64),
			Err:    apportion.ErrRange,
		}
	}
	return rate, nil
}
