// This file implements Series, the readings of one job, and the rule for readings that are
// missing, late, repeated or not finite, after [Zheng] §4.1.2 (container monitor) and eq. (5.1).

package growth

import (
	"cmp"
	"encoding/json"
	"math"
	"time"
)

// valueLimit bounds the values that count as finite: a loss beyond it has diverged, and below it
// squares and sums of readings stay finite.
const valueLimit = 1e100

// Outcome says what became of a reading.
type Outcome string

// The outcomes.
const (
	// Unusable: the time is negative, or the usage is negative or not finite. Dropped: the next
	// reading covers this interval too.
	Unusable Outcome = "unusable"
	// Late: not later than a reading that is already there (out of order, or the same reading
	// again). Dropped: the first reading of a time stands.
	Late Outcome = "late"
	// Started: the first finite value. It opens the series and measures nothing.
	Started Outcome = "started"
	// Measured: a new value, which closes an interval.
	Measured Outcome = "measured"
	// Repeated: the value of the reading before, at a later time. It closes an interval without
	// gain, as the thesis has it ("when queried in the middle of an iteration, the previous value
	// will be returned"); it is no new evaluation, so it adds nothing to the history.
	Repeated Outcome = "repeated"
	// Idle: the value of the reading before, and a measured usage below UsageFloor. The job was
	// given nothing to work with, so the interval proves nothing: what is known of its growth
	// stays, and the next interval begins here.
	Idle Outcome = "idle"
	// Diverged: NaN, an infinity or a size above 1e100. It closes an interval without gain;
	// the next finite value is compared with the last finite one.
	Diverged Outcome = "diverged"
)

// Series holds the readings of one job in a fixed amount of memory, about a kilobyte: the newest
// interval, which the thesis' tests compare, and the whole run thinned to a few averages with the
// [Evidence] made of them. The zero Series is empty and ready; it is a plain value, so a copy is
// independent, and it survives encoding/json unchanged. Adding and reading allocate nothing; adding n
// readings takes O(n) time, reading takes O(1).
type Series struct {
	now    seriesState
	course course
}

// seriesState is all that a series knows. Its fields are exported for encoding/json only.
type seriesState struct {
	Seen   bool          `json:"seen"`    // any reading
	Finite bool          `json:"finite"`  // any finite value
	SeenAt time.Duration `json:"seen_at"` // time of the newest reading
	At     time.Duration `json:"at"`      // time and value of the newest finite reading
	Value  float64       `json:"value"`
	First  float64       `json:"first"` // size of the first value that is not 0; 0 before it

	Outcome   Outcome `json:"outcome"`   // of the newest reading that was not dropped
	Intervals int     `json:"intervals"` // closed intervals, at most 2: whether Gain and Before are known
	Gain      float64 `json:"gain"`      // |change| over the newest interval
	Before    float64 `json:"before"`    // gain of the interval before it
	Progress  float64 `json:"progress"`  // gain per second over the newest interval
	Usage     Usage   `json:"usage"`     // average usage in the newest interval

	LargestGain     float64 `json:"largest_gain"`
	LargestProgress float64 `json:"largest_progress"`
}

// kind returns the outcome of a reading that is not dropped.
func (n *seriesState) kind(value float64, usage Usage) Outcome {
	switch {
	case !(math.Abs(value) <= valueLimit):
		return Diverged
	case !n.Finite:
		return Started
	case value != n.Value:
		return Measured
	case usage.idle():
		return Idle
	default:
		return Repeated
	}
}

// close ends the interval that began with the last finite value.
func (n *seriesState) close(at time.Duration, value float64, usage Usage) {
	n.Before, n.Gain, n.Progress = n.Gain, 0, 0
	n.Usage = usage
	n.Intervals = min(n.Intervals+1, 2)
	if n.Outcome == Measured {
		n.Gain = math.Abs(value - n.Value)
		n.Progress = Progress(n.Value, value, at-n.At)
		n.LargestGain = max(n.LargestGain, n.Gain)
		n.LargestProgress = max(n.LargestProgress, n.Progress)
	}
}

// keep remembers a finite value. A value that is no new evaluation adds nothing to the history.
func (n *seriesState) keep(at time.Duration, value float64) {
	n.First = cmp.Or(n.First, math.Abs(value))
	n.Finite, n.At, n.Value = true, at, value
}

// Toward says which values are better, for the readings to come. EitherWay changes nothing.
func (s *Series) Toward(better Direction) {
	if better != EitherWay {
		s.course.Direction = better
	}
}

// Note adds a reading between two checks to the history: it closes no interval, so the tests of the
// thesis do not see it. The usage is that since the reading before, noted or added. One that is late or
// unusable, as for Add, is dropped and changes nothing; it reports whether the reading counts.
func (s *Series) Note(at time.Duration, value float64, usage Usage) bool {
	if at < 0 || !usage.Valid() || s.course.Seen && at <= s.course.SeenAt {
		return false
	}
	s.course.add(at, value, usage)
	return true
}

// Add adds a reading: the value of the evaluation function at a time since any fixed origin, and
// the average usage of the steering resource since the reading before. Where usage is not measured
// a second of time counts as a second of work. A missing reading is simply not added: what is known
// stays. A reading that is dropped changes nothing. Where readings were noted since, the newest of them
// is added, with the usage since the reading that was added before.
func (s *Series) Add(at time.Duration, value float64, usage Usage) Outcome {
	n := &s.now
	switch {
	case at < 0 || !usage.Valid():
		return Unusable
	case n.Seen && at <= n.SeenAt:
		return Late
	}
	s.Note(at, value, usage) // late where it was noted before
	s.course.Pace.check()
	n.Outcome = n.kind(value, usage)
	if n.Seen && n.Outcome != Started && n.Outcome != Idle {
		n.close(at, value, usage)
	}
	n.Seen, n.SeenAt = true, at
	if n.Outcome != Diverged {
		n.keep(at, value)
	}
	return n.Outcome
}

// Measured reports whether an interval is closed, that is whether growth is known.
func (s *Series) Measured() bool { return s.now.Intervals > 0 }

// Newest returns what became of the newest reading that was not dropped; Unusable before the
// first.
func (s *Series) Newest() Outcome { return cmp.Or(s.now.Outcome, Unusable) }

// Gain returns the size of the change over the newest interval, SpeCon's G, eq. (5.1); 0 before
// the first interval.
func (s *Series) Gain(n Normalization) float64 {
	return n.scaled(s.now.Gain, s.now.First, s.now.LargestGain)
}

// GainBefore returns the gain of the interval before the newest one, in the same scale as
// [Series.Gain], and whether there is one.
func (s *Series) GainBefore(n Normalization) (gain float64, ok bool) {
	return n.scaled(s.now.Before, s.now.First, s.now.LargestGain), s.now.Intervals > 1
}

// Progress returns the progress per second over the newest interval, eq. (4.1).
func (s *Series) Progress(n Normalization) float64 {
	return n.scaled(s.now.Progress, s.now.First, s.now.LargestProgress)
}

// Efficiency returns the growth efficiency for the steering resource over the newest interval,
// eq. (4.2).
func (s *Series) Efficiency(n Normalization) float64 {
	return Efficiency(s.Progress(n), s.now.Usage)
}

// Start returns the first finite value, and whether there is one.
func (s *Series) Start() (value float64, ok bool) { return s.course.Start, s.course.Finite }

// Value returns the newest finite value and its time; 0 before the first.
func (s *Series) Value() (value float64, at time.Duration) { return s.now.Value, s.now.At }

// Better returns which values are better.
func (s *Series) Better() Direction { return s.course.Direction }

// Work returns the usage times seconds since the first reading.
func (s *Series) Work() float64 { return s.course.Work }

// History returns the number of points of the thinned history, at most 31, and Point one of them, the oldest
// first. Each is the average of as many readings as every other; single wrong readings are left out,
// and the newest few readings may be in none yet. A job that was set back, as by a warm restart of its
// learning rate, begins a new history; the work of its points counts from there.
func (s *Series) History() int { return s.course.History.N }

// Point returns a point of the history: i is in [0, History()).
func (s *Series) Point(i int) Point { return s.course.History.Points[:s.course.History.N][i] }

// Silence returns how long the job has repeated its newest value, and whether that is so long that it
// hangs: eight readings, and four times as long as it ever took for a new value.
func (s *Series) Silence() (time.Duration, bool) {
	return s.course.SeenAt - s.course.NewAt, s.course.hangs()
}

// SetBack reports whether the newest of what is known is a leap for the worse, after which too little is
// known for evidence.
func (s *Series) SetBack() bool { return s.course.Again }

type seriesJSON struct {
	Now    *seriesState `json:"now"`
	Course *course      `json:"course"`
}

// MarshalJSON writes all that the series knows; its form is not part of the interface.
func (s Series) MarshalJSON() ([]byte, error) { return json.Marshal(seriesJSON{&s.now, &s.course}) }

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Series) UnmarshalJSON(data []byte) error {
	*s = Series{}
	return json.Unmarshal(data, &seriesJSON{&s.now, &s.course})
}
