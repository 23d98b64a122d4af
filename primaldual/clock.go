// This file converts between wall-clock time and slots. Nothing here reads a clock.

package primaldual

import (
	"time"

	"github.com/apportion/apportion"
)

// Clock says when slots are: slot 1 begins at Start, and every slot lasts Length.
type Clock struct {
	Start  time.Time     `json:"start"`
	Length time.Duration `json:"length"`
}

// Validate returns ErrRange for a length that is not positive, or nil.
func (c Clock) Validate() error {
	if c.Length > 0 {
		return nil
	}
	return &apportion.FieldError{Item: apportion.Item{ID: "clock"}, Field: "Length", Err: apportion.ErrRange, Detail: c.Length.String()}
}

// SlotAt returns the slot that a time lies in, less than 1 for times before Start. Differences of more than 292 years
// count as 292 years.
func (c Clock) SlotAt(at time.Time) int {
	since := at.Sub(c.Start)
	// Slot 1 is [Start, Start + Length): a time on a border belongs to the slot that begins there.
	slot := since / c.Length
	if since < 0 && since%c.Length != 0 {
		slot-- // the division rounds towards zero
	}
	return int(slot) + 1
}

// Begin returns when a slot begins; that is when the one before ends.
// (slot-1) Length must stay below 292 years, the range of a time.Duration.
func (c Clock) Begin(slot int) time.Time {
	return c.Start.Add(time.Duration(slot-1) * c.Length)
}

// Arrival returns the first slot that a job may use that is submitted at a time: the one that begins then or next.
func (c Clock) Arrival(submitted time.Time) int {
	// By (9) a job uses no slot before a_i, and by a_i all of it: a slot that has begun already can
	// no longer give it a whole one.
	if slot := c.SlotAt(submitted); c.Begin(slot).Equal(submitted) {
		return slot
	}
	return c.SlotAt(submitted) + 1
}

// Deadline is one wall-clock deadline of a job.
type Deadline struct {
	At time.Time `json:"at"`
	// Value is what the job is worth if it ends by then.
	Value float64 `json:"value"`
}

// Steps returns the utility of a job with deadlines, earliest first: a slot counts as in time if it ends by the deadline. A
// deadline that no slot from the arrival on ends by is left out; of several in one slot the last counts, as it is worth the
// least.
func (c Clock) Steps(arrival int, deadlines []Deadline) Steps {
	var steps Steps
	for _, d := range deadlines {
		// The slot that the deadline lies in ends after it, or begins at it: the one before is the last in time.
		within := c.SlotAt(d.At) - 1 - arrival
		switch n := len(steps); {
		// Not even the slot of the arrival ends in time, so that nobody can earn this value.
		case within < 0:
		case n > 0 && steps[n-1].Within == within:
			steps[n-1].Value = d.Value
		default:
			steps = append(steps, Step{Within: within, Value: d.Value})
		}
	}
	return steps
}
