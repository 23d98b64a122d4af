// This file implements Track, what a monitor keeps of one job between two checks: the container
// monitor of [Zheng] §4.1.2.

package growth

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/apportion/apportion/internal/number"
)

// Track is a job's series together with the readings that no check has taken yet. Readings come at
// any time; a check takes the newest, with the average usage since the reading that the check
// before it took. The zero Track is that of a new job.
//
// A Track holds a slice, so copy it with [Track.Clone]. It survives encoding/json unchanged.
type Track struct {
	series Series
	next   trackState
}

// trackState is what has been offered. Its fields are exported for encoding/json only.
type trackState struct {
	Given bool          `json:"given"` // any reading
	Fresh bool          `json:"fresh"` // no check has taken the newest one
	At    time.Duration `json:"at"`    // time and value of the newest
	Value number.Float  `json:"value"`
	// Usage is the average since the reading that a check took last.
	Usage average `json:"usage"`
}

// Offer gives a reading: the value at a time, and the average usages since the reading before, by
// kind; nil usages are not measured. It reports whether the reading counts: one whose time is
// negative or not later than that of the one before, or of which a usage is negative or not finite,
// is dropped and changes nothing. The usages are read, not kept.
func (t *Track) Offer(at time.Duration, value float64, usage []float64) bool {
	n := &t.next
	if at < 0 || n.Given && at <= n.At || !usableAll(usage) {
		return false
	}
	if !n.Fresh {
		n.Usage.clear()
	}
	if usage != nil {
		span := time.Duration(0)
		if n.Given {
			span = at - n.At
		}
		n.Usage.add(usage, span.Seconds())
	}
	n.Given, n.Fresh, n.At, n.Value = true, true, at, number.Float(value)
	return true
}

// Test is what a check is held with.
type Test struct {
	// Classifier judges the series; required.
	Classifier Classifier
	// Steering is the position of the usage that counts as work; 0 is the first kind.
	Steering int
	// Least is the time by which a reading must be later than the one that was taken before it, or
	// it is left for the next check; 0: any time.
	Least time.Duration
}

// Check takes the newest reading, if there is a new one, and returns what became of it and what the
// classifier says. A reading that is later than now, on the same clock, is dropped, so that it does
// not make all that follow late. Where nothing is taken the outcome is Unusable and the verdict
// Unsure.
func (t *Track) Check(now time.Duration, test *Test) (Outcome, Verdict) {
	taken, n := &t.series.now, &t.next
	if n.Fresh && n.At > now {
		n.Given, n.Fresh, n.At = taken.Seen, false, taken.SeenAt
	}
	if !n.Fresh || taken.Seen && n.At-taken.SeenAt < test.Least {
		return Unusable, Unsure
	}
	n.Fresh = false
	outcome := t.series.Add(n.At, float64(n.Value), t.Usage(test.Steering))
	return outcome, Judge(test.Classifier, &t.series, outcome)
}

// Usage returns the average usage of a kind since the check before the newest one; where a check
// has just taken a reading, over the interval that it closed.
func (t *Track) Usage(kind int) Usage { return t.next.Usage.of(kind) }

// Series returns the readings that checks have taken. It must not be changed.
func (t *Track) Series() *Series { return &t.series }

// Clone returns an independent copy.
func (t *Track) Clone() Track {
	c := *t
	c.next.Usage.Mean = slices.Clone(t.next.Usage.Mean)
	return c
}

// trackJSON is the form of a Track in JSON.
type trackJSON struct {
	Series *Series     `json:"series"`
	Next   *trackState `json:"next"`
}

// MarshalJSON writes all that the track knows; its form is not part of the interface.
func (t Track) MarshalJSON() ([]byte, error) { return json.Marshal(trackJSON{&t.series, &t.next}) }

// UnmarshalJSON reads what MarshalJSON writes.
func (t *Track) UnmarshalJSON(data []byte) error {
	*t = Track{}
	return json.Unmarshal(data, &trackJSON{&t.series, &t.next})
}
