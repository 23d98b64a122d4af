// This file implements the progress of one job between decisions: exact, with the pause after each
// kill-and-resume, [Dorm §III-C2, §V-B5].

package sim

import (
	"math"
	"slices"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
	"github.com/apportion/apportion/internal/exact"
)

// never is later than anything that happens.
const never = time.Duration(math.MaxInt64)

// job is a job that has arrived and neither completed nor been refused.
type job struct {
	*Job
	// index is its position in Scenario.Jobs.
	index int
	// outcome is what the result says of the job. fresh: no policy has seen it yet.
	outcome *Outcome
	fresh   bool
	// places and ps are the containers and parameter servers that it holds, ascending by server; the
	// slices are never changed, only replaced. n is the number of containers.
	places, ps []apportion.Placement
	n          int64
	// speed is its rate on its containers; rate is the one at which it runs now, which is 0 while it
	// waits or pauses; limit is that of a Shared worker.
	speed, rate, limit int64
	// left is the work that is still to do.
	left work
	// resumes is the instant from which it makes progress again.
	resumes time.Duration
	// why is the policy's reason for places.
	why string
}

func (j *job) holds() bool { return j.n > 0 }

// paused reports whether the job holds containers and is being resumed.
func (j *job) paused(now time.Duration) bool { return j.holds() && j.resumes > now }

// change lets the job go on with its new places, which pauses it for cost if it has run before.
func (j *job) change(now, cost time.Duration) (err error) {
	if j.holds() {
		j.outcome.Adjusted++
	}
	j.n = count(j.places)
	if !j.holds() {
		return nil
	}
	if j.speed, err = j.RateOn(j.places); err != nil {
		return err
	}
	// The first start costs nothing; every later one resumes from a checkpoint.
	if !j.outcome.Started {
		j.outcome.Started, j.outcome.Start = true, now
		return nil
	}
	resumes, ok := exact.Add(int64(now), int64(cost))
	j.resumes = time.Duration(resumes)
	if !ok {
		return j.overflow()
	}
	return nil
}

// count returns the containers of a list of placements that has been checked.
func count(places []apportion.Placement) int64 {
	var n int64
	for _, p := range places {
		n += p.Count
	}
	return n
}

// advance accounts for the time until an instant up to which nothing happens to the job: its rate stays
// the same, and it neither resumes nor completes in between.
func (j *job) advance(from, until time.Duration) {
	// A pause ends at an instant of its own, so the job was paused all the time or not at all.
	if j.paused(from) {
		j.outcome.Paused += until - from
	}
	j.left = j.left.minus(product(j.rate, until-from))
}

// next returns when something happens to the job by itself: it resumes, or completes, which it does
// at the end of a slot.
func (j *job) next(now, slot time.Duration) (time.Duration, error) {
	if j.paused(now) {
		return j.resumes, nil
	}
	if j.rate == 0 {
		return never, nil
	}
	// The sums are checked: a job may be submitted near the end of what an int64 can count.
	// The time is rounded up: what is left of the last nanosecond is done in it.
	d, ok := j.left.timeAt(j.rate)
	at, fits := exact.Add(int64(now), int64(d))
	if slot > 0 && fits {
		at, fits = exact.Add(at, (int64(slot)-at%int64(slot))%int64(slot))
	}
	if !ok || !fits {
		return 0, j.overflow()
	}
	return time.Duration(at), nil
}

// overflow is the fault of a job that would not complete before the end of time.
func (j *job) overflow() error {
	return &apportion.FieldError{Item: check.Item("job", j.ID, j.index), Field: "Completion", Err: apportion.ErrOverflow}
}

// complete notes that the job's work is done. The error is ErrNotFinite for what it is worth.
func (j *job) complete(now, slot time.Duration) error {
	j.end(now)
	j.outcome.Completed, j.outcome.Completion = true, now
	if j.Training == nil {
		return nil
	}
	// f_i(d) with d counted from the arrival, [OASiS] (8): now is the end of the last slot, and slots count from 1.
	worth := j.Training.Utility.Value(int(now/slot) - j.Training.Arrival)
	if math.IsNaN(worth) || math.IsInf(worth, 0) {
		return &apportion.FieldError{Item: check.Item("job", j.ID, j.index), Field: "Training.Utility", Err: apportion.ErrNotFinite}
	}
	j.outcome.Worth = worth
	return nil
}

// note adds to the job's spans what it does from now on, where that is something else than before. The
// last span is open as long as its Until is 0: no span ends at 0.
func (j *job) note(now time.Duration) {
	spans := j.outcome.Spans
	if last := len(spans) - 1; last >= 0 && spans[last].Until == 0 {
		s := &spans[last]
		if s.Rate == j.rate && s.Limit == j.limit && slices.Equal(s.Places, j.places) && slices.Equal(s.ParameterServers, j.ps) {
			return
		}
		j.end(now)
	}
	if j.holds() {
		j.outcome.Spans = append(j.outcome.Spans, Span{From: now, Places: j.places, ParameterServers: j.ps, Rate: j.rate, Limit: j.limit, Why: j.why})
	}
}

// end closes the job's last span, if it is open.
func (j *job) end(now time.Duration) {
	if last := len(j.outcome.Spans) - 1; last >= 0 && j.outcome.Spans[last].Until == 0 {
		j.outcome.Spans[last].Until = now
	}
}
