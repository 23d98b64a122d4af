// This file implements the course of a run: what every reading, taken by a check or not, adds to what is
// known of a job's growth. It is not in the thesis, which compares two readings.

package growth

import (
	"math"
	"time"
)

// The curves that the others are judged on have no job that hangs or is set back: TestHangs and TestSetsBack say what these do.
const (
	// hungGaps and hungReadings say when a job that repeats its value hangs: after so many times the
	// longest time that it ever took for a new value, and so many readings.
	hungGaps, hungReadings = 4, 8
	// setback is how much of its improvement a job loses in a leap that begins its history anew.
	setback = 0.2
)

// course is what is known of a run. Its fields are exported for encoding/json only.
type course struct {
	Direction Direction     `json:"direction"`
	Seen      bool          `json:"seen"`    // any reading
	SeenAt    time.Duration `json:"seen_at"` // time of the newest
	Work      float64       `json:"work"`    // usage times seconds since the first reading
	Finite    bool          `json:"finite"`  // any finite value
	Start     float64       `json:"start"`   // first value
	Value     float64       `json:"value"`   // newest finite one
	NewAt     time.Duration `json:"new_at"`  // when it was new
	Gap       time.Duration `json:"gap"`     // the longest time to a new value
	Repeats   int           `json:"repeats"` // readings since that repeat it

	Pace     pace     `json:"pace"`
	Leaps    leaps    `json:"leaps"`
	Origin   float64  `json:"origin"` // work at which the history begins
	History  history  `json:"history"`
	Evidence Evidence `json:"evidence"`
	Half     float64  `json:"half"`   // gain of the last half of the run by unit of work, towards the better side
	Proven   bool     `json:"proven"` // whether there is evidence
	Stands   bool     `json:"stands"` // whether the run has gained no more than noise
	Again    bool     `json:"again"`  // whether a setback has begun the history anew, and nothing is known since
}

// add adds a reading that is later than all before. A value that is not finite adds work only. A value
// repeated is no new evaluation and adds nothing, unless nothing was used: then not even a repeat.
func (c *course) add(at time.Duration, value float64, usage Usage) {
	if c.Seen {
		c.Work += float64(usage.orWhole() * (at - c.SeenAt).Seconds())
	}
	c.Seen, c.SeenAt = true, at
	switch {
	case !(math.Abs(value) <= valueLimit):
	case !c.Finite:
		c.Finite, c.Start, c.Value, c.NewAt = true, value, value, at
		c.take(c.Work, value)
	case value == c.Value && usage.idle():
		c.NewAt = max(c.NewAt, at-c.Gap) // an idle time is no silence
	case value == c.Value:
		c.Repeats = min(c.Repeats+1, hungReadings)
	default:
		c.Gap, c.Value, c.NewAt, c.Repeats = max(c.Gap, at-c.NewAt), value, at, 0
		c.weigh(value)
	}
}

// weigh takes a new value, holds it back if it is a leap, or takes both where it confirms one.
func (c *course) weigh(value float64) {
	held, confirmed := c.Leaps.holds(c.Work, value)
	switch {
	case held:
	case confirmed:
		before, work := c.Leaps.middle(), c.Leaps.Work
		c.Leaps.land(value)
		if c.setsBack(before, value) {
			c.History, c.Origin, c.Proven, c.Again = history{}, work, false, true
		}
		c.put(work, c.Leaps.Value)
		c.put(c.Work, value)
	default:
		c.take(c.Work, value)
	}
}

// take takes a usual value. Once there are three, a first one that was far off is forgotten.
func (c *course) take(work, value float64) {
	c.Leaps.count(value)
	if c.Leaps.strayStart() {
		c.Leaps.restart()
		c.Start = c.Leaps.Newest[1]
		kept := c.History.Points[1]
		c.History, c.Proven = history{}, false
		c.put(kept.Work+c.Origin, kept.Value)
	}
	c.put(work, value)
}

// put adds a value to the history, and renews the evidence where that completed an average: 16 times while a run
// doubles its length.
func (c *course) put(work, value float64) {
	c.Pace.add(work, value)
	if !c.History.add(work-c.Origin, value) {
		return
	}
	e, half, ok := c.History.evidence(work-c.Origin, c.Start, c.Direction)
	if !ok {
		return
	}
	newest := 1.0
	if c.Proven {
		newest = min(1, 1/(span*float64(c.History.N)))
	}
	for k := range e {
		c.Evidence[k] += float64(newest * (e[k] - c.Evidence[k]))
	}
	c.Half, c.Proven, c.Again, c.Stands = half, true, false, c.History.stands(work-c.Origin, c.Direction)
}

// setsBack reports whether a leap loses so much that the job begins anew: a warm restart of the learning
// rate, or a job that was started again.
func (c *course) setsBack(before, after float64) bool {
	improvement := c.Start - before
	loss := c.Direction.better(before-after, improvement)
	return -loss > setback*math.Abs(improvement)
}

// hangs reports whether the job has repeated one value for too long.
func (c *course) hangs() bool {
	return c.Gap > 0 && c.Repeats >= hungReadings && c.SeenAt-c.NewAt > hungGaps*c.Gap
}

// forget drops what was learnt with a clock that was wrong; seen is the time of the newest reading that
// stands.
func (c *course) forget(seen time.Duration) {
	*c = course{Direction: c.Direction, Seen: c.Seen, SeenAt: seen}
}
