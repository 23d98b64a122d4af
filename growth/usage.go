// This file implements the average usage of an interval, R of [Zheng] (4.2): measured or not, and
// from a counter that only grows.

package growth

import (
	"encoding/json"
	"time"
)

// UsageFloor is the least usage that a growth efficiency divides by. A job that progressed used
// something: a usage of zero beside progress is a measurement that lost its digits. Without
// progress a usage below the floor is idleness, see [Idle].
const UsageFloor = 1e-6

// usageLimit bounds a usage, so that work and its sums stay finite.
const usageLimit = 1e100

// Usage is the average use of a resource over an interval, as a share of the worker or in any other
// unit that all jobs have in common, or says that nobody measured it. The zero Usage is not
// measured; a measured usage of 0 is Used(0): the job was idle.
type Usage struct {
	share    float64
	measured bool
}

// Used returns a measured usage. One that is negative or not finite is no measurement: whoever gets
// it drops the whole reading.
func Used(share float64) Usage { return Usage{share, true} }

// Share returns the usage, and whether it was measured; 0 where it was not.
func (u Usage) Share() (share float64, measured bool) { return u.share, u.measured }

// orWhole returns the usage, and 1 where it was not measured: then a second of work is a second.
func (u Usage) orWhole() float64 {
	if !u.measured {
		return 1
	}
	return u.share
}

// Valid reports whether u is no measurement or a possible one: finite, not negative, at most 1e100.
func (u Usage) Valid() bool { return !u.measured || u.share >= 0 && u.share <= usageLimit }

// idle reports whether u was measured as nothing.
func (u Usage) idle() bool { return u.measured && u.share < UsageFloor }

// MarshalJSON writes the share, or null where it was not measured.
func (u Usage) MarshalJSON() ([]byte, error) {
	if !u.measured {
		return []byte("null"), nil
	}
	return json.Marshal(u.share)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (u *Usage) UnmarshalJSON(data []byte) error {
	var share *float64
	if err := json.Unmarshal(data, &share); err != nil {
		return err
	}
	*u = Usage{}
	if share != nil {
		*u = Used(*share)
	}
	return nil
}

// Counter turns what a kernel or a simulator counts, the CPU time of a job since its start, into
// the usage that readings want: the average since the reading before. The zero Counter is that of a
// job that has just begun, and has not been read. It is a plain value.
type Counter struct {
	at   time.Duration
	used time.Duration
	read bool
}

// Usage returns the average use between the reading before and one at a time since any fixed origin,
// when the job has used so much since its start. The first reading of a counter measures nothing,
// nor does one that is not later than the one before. A count below the one before began anew at 0:
// the job was started again.
func (c *Counter) Usage(at, used time.Duration) Usage {
	before := *c
	if before.read && at <= before.at {
		return Usage{}
	}
	*c = Counter{at, used, true}
	if !before.read {
		return Usage{}
	}
	if used < before.used {
		before.used = 0
	}
	return Used(float64(used-before.used) / float64(at-before.at))
}

// Restart says that the count begins anew at 0, now or since the reading before, although it may
// have passed its old value by the next.
func (c *Counter) Restart() { c.used = 0 }

// average is the weighted mean of usages by kind, over the time since it was cleared in which they
// were measured.
type average struct {
	Mean []float64 `json:"mean,omitempty"`
	Span float64   `json:"span"` // seconds
}

// add adds usages by kind over a span of seconds. The usages of the first reading of all, which has
// no span, stand until the next.
func (a *average) add(usage []float64, span float64) {
	if len(a.Mean) != len(usage) {
		a.Mean, a.Span = append(a.Mean[:0], usage...), span
		return
	}
	weight := 1.0
	if a.Span > 0 {
		weight = span / (a.Span + span)
	}
	for k, u := range usage {
		a.Mean[k] += float64((u - a.Mean[k]) * weight)
	}
	a.Span += span
}

// clear begins a new average; what was measured is not.
func (a *average) clear() { a.Mean, a.Span = a.Mean[:0], 0 }

func (a *average) of(kind int) Usage {
	if kind >= len(a.Mean) {
		return Usage{}
	}
	return Used(a.Mean[kind])
}

func usableAll(usage []float64) bool {
	for _, u := range usage {
		if !Used(u).Valid() {
			return false
		}
	}
	return true
}
