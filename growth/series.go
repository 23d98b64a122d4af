// This file implements Series, the readings of one job, and the rule for readings that are
// missing, late, repeated or not finite, after [Zheng] §4.1.2 (container monitor) and eq. (5.1).

package growth

import (
	"math"
	"time"
)

// ValueLimit bounds the values that count as finite: a loss beyond it has diverged, and below it
// squares and sums of readings stay finite.
const ValueLimit = 1e100

// Outcome says what became of a reading.
type Outcome uint8

// The outcomes.
const (
	// Unusable: the time is negative, or the usage is negative or not finite. Dropped: the next
	// reading covers this interval too.
	Unusable Outcome = iota
	// Late: not later than a reading that is already there (out of order, or the same reading
	// again). Dropped: the first reading of a time stands.
	Late
	// Started: the first finite value. It opens the series and measures nothing.
	Started
	// Measured: a new value, which closes an interval.
	Measured
	// Repeated: the value of the reading before, at a later time. It closes an interval without
	// gain, as the thesis has it ("when queried in the middle of an iteration, the previous value
	// will be returned"); it is no new evaluation, so it adds nothing to the history.
	Repeated
	// Diverged: NaN, an infinity or a size above ValueLimit. It closes an interval without gain;
	// the next finite value is compared with the last finite one.
	Diverged
)

// String returns the name in lower case.
func (o Outcome) String() string {
	return name(o, "unusable", "late", "started", "measured", "repeated", "diverged")
}

// Series holds the readings of one job in a fixed amount of memory: the newest interval, and the
// whole run thinned to a few averages. The zero Series is empty and ready; it is a plain value, so
// a copy is independent. Adding and reading allocate nothing and take constant time.
type Series struct {
	seen, finite bool          // any reading, any finite value
	seenAt       time.Duration // time of the newest reading
	at           time.Duration // time and value of the newest finite reading
	value        float64
	start        float64 // first finite value
	first        float64 // size of the first value that is not 0

	outcome   Outcome // of the newest reading that was not dropped
	intervals int     // closed intervals, at most 2: whether gain and before are known
	gain      float64 // |change| over the newest interval
	before    float64 // gain of the interval before it
	progress  float64 // gain per second over the newest interval
	usage     float64 // average usage in the newest interval

	largestGain, largestProgress float64

	work    float64 // usage times seconds since the first reading
	history history
}

// Add adds a reading: the value of the evaluation function at a time since any fixed origin, and
// the average usage of the steering resource since the reading before. A caller that does not
// measure usage passes 1. A missing reading is simply not added: what is known stays.
func (s *Series) Add(at time.Duration, value, usage float64) Outcome {
	switch {
	case at < 0 || !usable(usage):
		return Unusable
	case s.seen && at <= s.seenAt:
		return Late
	}
	if s.seen {
		s.work += float64(usage * (at - s.seenAt).Seconds())
	}
	finite := math.Abs(value) <= ValueLimit
	s.outcome = s.kind(value, finite)
	s.history.fresh = false
	if s.seen && s.outcome != Started {
		s.close(at, value, usage)
	}
	s.seen, s.seenAt = true, at
	if finite {
		s.keep(at, value)
	}
	return s.outcome
}

// usable reports whether a usage can be a measurement.
func usable(usage float64) bool { return usage >= 0 && usage <= ValueLimit }

// tooSoon reports whether a reading is later than the newest one, but by less than span.
func (s *Series) tooSoon(at, span time.Duration) bool {
	return s.seen && at > s.seenAt && at-s.seenAt < span
}

// kind returns the outcome of a reading that is not dropped.
func (s *Series) kind(value float64, finite bool) Outcome {
	switch {
	case !finite:
		return Diverged
	case !s.finite:
		return Started
	case value == s.value:
		return Repeated
	default:
		return Measured
	}
}

// close ends the interval that began with the last finite value.
func (s *Series) close(at time.Duration, value, usage float64) {
	s.before, s.gain, s.progress = s.gain, 0, 0
	s.usage = usage
	s.intervals = min(s.intervals+1, 2)
	if s.outcome == Measured {
		s.gain = math.Abs(value - s.value)
		s.progress = Progress(s.value, value, at-s.at)
		s.largestGain = max(s.largestGain, s.gain)
		s.largestProgress = max(s.largestProgress, s.progress)
	}
}

// keep remembers a finite value.
func (s *Series) keep(at time.Duration, value float64) {
	if s.first == 0 {
		s.first = math.Abs(value)
	}
	if !s.finite {
		s.finite, s.start = true, value
	}
	if s.outcome != Repeated {
		s.history.add(s.work, value)
	}
	s.at, s.value = at, value
}

// Measured reports whether an interval is closed, that is whether growth is known.
func (s *Series) Measured() bool { return s.intervals > 0 }

// Newest returns what became of the newest reading that was not dropped; Unusable before the
// first.
func (s *Series) Newest() Outcome { return s.outcome }

// Gain returns the size of the change over the newest interval, SpeCon's G, eq. (5.1); 0 before
// the first interval.
func (s *Series) Gain(n Normalization) float64 {
	return n.scaled(s.gain, s.first, s.largestGain)
}

// GainBefore returns the gain of the interval before the newest one, in the same scale as
// [Series.Gain], and whether there is one.
func (s *Series) GainBefore(n Normalization) (gain float64, ok bool) {
	return n.scaled(s.before, s.first, s.largestGain), s.intervals > 1
}

// Progress returns the progress per second over the newest interval, eq. (4.1).
func (s *Series) Progress(n Normalization) float64 {
	return n.scaled(s.progress, s.first, s.largestProgress)
}

// Efficiency returns the growth efficiency for the steering resource over the newest interval,
// eq. (4.2).
func (s *Series) Efficiency(n Normalization) float64 {
	return Efficiency(s.Progress(n), s.usage)
}

// blocks is how many averages the history of a job holds. 32 leaves at least 8 for the second half
// of a run, enough for a line and its error, in half a kilobyte per job.
const blocks = 32

// history is a whole run thinned to at most 32 averages, each over the same number of
// evaluations. When it is full, neighbours are merged in pairs and the number doubles; so 16 to 31
// averages cover any length of run, and each is as free of noise as its length allows.
type history struct {
	work, value [blocks]float64
	n           int // averages
	size        int // evaluations in each; 0 means 1
	pending     int // evaluations gathered for the next average
	sumWork     float64
	sumValue    float64
	fresh       bool // whether the newest reading completed an average
}

func (h *history) add(work, value float64) {
	h.size = max(h.size, 1)
	h.sumWork += work
	h.sumValue += value
	h.pending++
	if h.pending < h.size {
		return
	}
	h.work[h.n] = h.sumWork / float64(h.size)
	h.value[h.n] = h.sumValue / float64(h.size)
	h.n++
	h.pending, h.sumWork, h.sumValue, h.fresh = 0, 0, 0, true
	if h.n == blocks {
		h.thin()
	}
}

// thin merges neighbours.
func (h *history) thin() {
	for i := range blocks / 2 {
		h.work[i] = (h.work[2*i] + h.work[2*i+1]) / 2
		h.value[i] = (h.value[2*i] + h.value[2*i+1]) / 2
	}
	h.n = blocks / 2
	h.size *= 2
}
