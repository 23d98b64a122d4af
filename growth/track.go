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
	// Usage is the average since the reading that a check took last, Newest that of the steering kind
	// since the reading before.
	Usage    average `json:"usage"`
	Newest   Usage   `json:"newest"`
	Steering int     `json:"steering"`
}

// Steer says which of the usages counts as work; 0, the first kind, where nobody says.
func (t *Track) Steer(kind int) { t.next.Steering = kind }

// Toward says which values are better, for the readings to come. EitherWay changes nothing.
func (t *Track) Toward(better Direction) { t.series.Toward(better) }

// commit makes the newest reading part of the history. It waits for the next reading or check, which drops
// one that comes from the future.
func (t *Track) commit() {
	if n := &t.next; n.Fresh {
		t.series.Note(n.At, float64(n.Value), n.Newest)
	}
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
	t.commit()
	if !n.Fresh {
		n.Usage.clear()
	}
	n.Newest = Usage{}
	if n.Steering < len(usage) {
		n.Newest = Used(usage[n.Steering])
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
	// More than one of them: what was noted with that clock is of no use.
	if t.series.course.SeenAt > now {
		t.series.course.forget(taken.SeenAt)
	}
	if !n.Fresh || taken.Seen && n.At-taken.SeenAt < test.Least {
		return Unusable, Unsure
	}
	t.commit()
	n.Fresh = false
	outcome := t.series.Add(n.At, float64(n.Value), t.Usage(n.Steering))
	return outcome, Judge(test.Classifier, &t.series, outcome)
}

// Usage returns the average usage of a kind since the check before the newest one; where a check
// has just taken a reading, over the interval that it closed.
func (t *Track) Usage(kind int) Usage { return t.next.Usage.of(kind) }

// Newest returns the time of the newest reading that counts, and whether there is one.
func (t *Track) Newest() (at time.Duration, ok bool) { return t.next.At, t.next.Given }

// Silent reports whether at now nothing has been read for longer than a while, since the newest reading or,
// before the first, since the job was there.
func (t *Track) Silent(now, there, while time.Duration) bool {
	if at, ok := t.Newest(); ok {
		there = max(there, at)
	}
	return now-there > while
}

// Series returns the readings that checks have taken. It must not be changed.
func (t *Track) Series() *Series { return &t.series }

// Clone returns an independent copy.
func (t *Track) Clone() Track {
	c := *t
	c.next.Usage.Mean = slices.Clone(t.next.Usage.Mean)
	return c
}

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
