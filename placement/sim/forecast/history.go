// This file implements lengths drawn from what ran before: by user and queue, shrunk to the queue and to all, as parts of walltime
// limits, [Tsafrir07 §3, §4], given what a job has run already, [Kaplan58].

package forecast

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
)

// Run is a job that has ended.
type Run struct {
	// User and Queue say whose it was; empty: all such are of one user, or queue.
	User  string `json:"user,omitempty"`
	Queue string `json:"queue,omitempty"`
	// Length is how long it ran, in seconds; finite and not negative.
	Length float64 `json:"length"`
	// Limit is the walltime limit that it had, in seconds; 0: none.
	Limit float64 `json:"limit,omitzero"`
}

// Shrinkage says how a History weighs few runs of a user against many of others. The zero value is what the study chose.
type Shrinkage struct {
	// Strength is how many runs of a user and queue weigh as much as those of the whole queue, and of a queue as all; positive, 0 means 4.
	Strength float64
	// Recent is how many of the last runs of a user and queue count; positive, 0 means 20.
	Recent int
}

// The defaults of Shrinkage: rows of the study's table of ablations have their halves and doubles.
const (
	defaultStrength = 4
	defaultRecent   = 20
)

// History is the distribution of lengths among the jobs that have ended. It is read-only once made.
type History struct {
	strength float64
	all      *sample
	queues   map[string]*sample
	users    map[[2]string]*sample
}

// sample is the lengths of a group of runs: in seconds, and of the runs with a limit as parts of it. Both ascend.
type sample struct{ seconds, parts []float64 }

// NewHistory returns the distribution of runs, which are listed in the order of their ends. o may be nil. Errors: ErrNotFinite and
// ErrNegative for lengths and limits, ErrNegative for settings, as apportion.Faults. O(n log n). runs is read and not retained.
func NewHistory(runs []Run, o *Shrinkage) (*History, error) {
	var faults apportion.Faults
	for i := range runs {
		item := check.Item("run", "", i)
		checkSeconds(&faults, item, "Length", runs[i].Length)
		checkSeconds(&faults, item, "Limit", runs[i].Limit)
	}
	if o == nil {
		o = &Shrinkage{}
	}
	checkSeconds(&faults, apportion.Item{}, "Strength", o.Strength)
	if o.Recent < 0 {
		faults.Add(apportion.Item{}, "Recent", apportion.ErrNegative, strconv.Itoa(o.Recent))
	}
	if len(faults) > 0 {
		return nil, faults
	}
	return newHistory(runs, cmp.Or(o.Strength, defaultStrength), cmp.Or(o.Recent, defaultRecent)), nil
}

func newHistory(runs []Run, strength float64, recent int) *History {
	h := &History{strength: strength, all: &sample{}, queues: make(map[string]*sample), users: make(map[[2]string]*sample)}
	of := make(map[[2]string]int)
	// From the last one back, so that what comes first of a user is recent.
	for i := len(runs) - 1; i >= 0; i-- {
		r, key := &runs[i], [2]string{runs[i].Queue, runs[i].User}
		if of[key]++; of[key] <= recent {
			group(h.users, key).add(r)
		}
		group(h.queues, r.Queue).add(r)
		h.all.add(r)
	}
	h.all.sort()
	for _, s := range h.queues {
		s.sort()
	}
	for _, s := range h.users {
		s.sort()
	}
	return h
}

// group returns the sample of a key, a new one where there is none.
func group[K comparable](of map[K]*sample, key K) *sample {
	if of[key] == nil {
		of[key] = &sample{}
	}
	return of[key]
}

func (s *sample) add(r *Run) {
	s.seconds = append(s.seconds, r.Length)
	if r.Limit > 0 {
		s.parts = append(s.parts, r.Length/r.Limit)
	}
}

func (s *sample) sort() {
	slices.Sort(s.seconds)
	slices.Sort(s.parts)
}

// values returns the lengths of the sample: as parts of limits or in seconds.
func (s *sample) values(parts bool) []float64 {
	switch {
	case s == nil:
		return nil
	case parts:
		return s.parts
	}
	return s.seconds
}

// level is what a group of runs says of one job: those that were longer than it is already, and how much the group weighs.
type level struct {
	longer []float64
	weight float64
}

// levels returns what the history says of a job that has run for so long, user first. Weights add up to 1 before, and
// are the less for each group the fewer of its runs were longer, by Bayes' rule.
func (h *History) levels(user, queue string, parts bool, ran float64) [3]level {
	var all [3]level
	rest := 1.0
	for l, s := range [3]*sample{h.users[[2]string{queue, user}], h.queues[queue], h.all} {
		values := s.values(parts)
		n := float64(len(values))
		if n == 0 {
			continue
		}
		weight := rest
		if l < 2 {
			weight *= n / (n + h.strength)
		}
		rest -= weight
		at, _ := slices.BinarySearch(values, ran)
		// What ended in the very moment has ended: a job that still runs is longer.
		for ran > 0 && at < len(values) && values[at] == ran {
			at++
		}
		all[l] = level{values[at:], weight * float64(len(values)-at) / n}
	}
	return all
}

// draws are the two numbers in [0, 1) from which a length is made: which group of runs, and which of its runs.
type draws struct{ group, run float64 }

func drawsFrom(r *rand.Rand) draws { return draws{r.Float64(), r.Float64()} }

// length returns the length of a job, in seconds: one longer than it has run. A job that has a limit is given a part of it, as
// far as any run had a limit, and ends with it. A job that has run longer than all others did runs to its limit or, without one, as long again. known is
// false where the history has no runs and the job no limit.
func (h *History) length(job *Known, queue string, limit float64, d draws) (seconds float64, known bool) {
	parts := limit > 0 && h != nil && len(h.all.parts) > 0
	ran, scale := job.Ran, 1.0
	if parts {
		scale = limit
	}
	if h == nil || len(h.all.values(parts)) == 0 {
		return max(limit, ran), limit > 0
	}
	levels := h.levels(job.User, queue, parts, ran/scale)
	total := 0.0
	for _, l := range levels {
		total += l.weight
	}
	seconds = 2 * ran
	if limit > 0 {
		seconds = limit
	}
	at := d.group * total
	for _, l := range levels {
		if at < l.weight {
			seconds = scale * l.longer[min(int(d.run*float64(len(l.longer))), len(l.longer)-1)]
			break
		}
		at -= l.weight
	}
	if limit > 0 {
		seconds = min(seconds, limit)
	}
	return max(seconds, ran), true
}

// checkSeconds adds a fault for a time that is none.
func checkSeconds(faults *apportion.Faults, item apportion.Item, field string, seconds float64) {
	text := strconv.FormatFloat(seconds, 'g', -1, 64)
	switch {
	case math.IsNaN(seconds) || math.IsInf(seconds, 0):
		faults.Add(item, field, apportion.ErrNotFinite, text)
	case seconds < 0:
		faults.Add(item, field, apportion.ErrNegative, text)
	case seconds > mostSeconds:
		faults.Add(item, field, apportion.ErrRange, text+" is more than ten years")
	}
}
