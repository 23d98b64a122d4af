// This file says quantiles of a forecast in words.

package forecast

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// Clock says instants of a forecast in words.
type Clock struct {
	// Now is the instant of the problem; zero: times are said from now on.
	Now time.Time
	// Horizon is that of the forecast, in seconds.
	Horizon float64
}

// Between says a range, from a tenth to nine tenths: "between 14:10 and 15:40, half of the time by 15:05".
func (c Clock) Between(q Quantiles) string {
	low, high := c.At(q.P10), c.At(q.P90)
	switch {
	case q.P10 == nil:
		return "later than " + c.At(nil)
	case q.P90 == nil:
		return "after " + low
	case low == high:
		return "at " + low
	}
	return fmt.Sprintf("between %s and %s, half of the time by %s", low, high, c.At(q.P50))
}

// At says an instant, in seconds from now, or the horizon for nil: a clock time, with its day where that is another.
func (c Clock) At(seconds *float64) string {
	t := time.Duration(*cmp.Or(seconds, &c.Horizon) * float64(time.Second))
	switch at := c.Now.Add(t); {
	case c.Now.IsZero():
		return "+" + strings.TrimSuffix(t.Round(time.Minute).String(), "0s")
	case at.YearDay() != c.Now.YearDay() || at.Year() != c.Now.Year():
		return at.Format("2 Jan 15:04")
	default:
		return at.Format("15:04")
	}
}
