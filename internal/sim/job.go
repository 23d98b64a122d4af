// This file implements the progress of one application between decisions: exact, with the pause
// after each kill-and-resume, [Dorm §III-C2, §V-B5].

package sim

import (
	"maps"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
	"github.com/apportion/apportion/internal/exact"
)

// job is an application and how far it is.
type job struct {
	app     *App
	outcome *Outcome
	places  map[string]int64
	// rate is 0 while the job holds no containers.
	rate int64
	left work
	// seen is the instant up to which left is right; resume the one from which it makes progress.
	seen, resume time.Duration
	version      int
}

// change gives a job its new containers, if they are others than it has. places has no entries of
// zero.
func (c *cluster) change(j *job, places map[string]int64, now time.Duration) error {
	if maps.Equal(j.places, places) {
		return nil
	}
	j.advance(now)
	if len(j.places) > 0 {
		j.outcome.Adjusted++
	}
	j.places, j.rate = places, 0
	j.version++
	if len(places) == 0 {
		return nil
	}
	var n int64
	for _, count := range places {
		n += count
	}
	rate, err := j.app.rate(n)
	if err != nil {
		return err
	}
	j.rate = rate
	pause := c.scenario.AdjustCost
	if !j.outcome.Started {
		j.outcome.Started, j.outcome.Start = true, now
		pause = 0
	}
	return c.expect(j, now, pause)
}

// expect queues the completion of a job that makes progress after a pause.
func (c *cluster) expect(j *job, now, pause time.Duration) error {
	resume, ok := exact.Add(int64(now), int64(pause))
	d, done := j.left.timeAt(j.rate)
	at, fits := exact.Add(resume, int64(d))
	if !ok || !done || !fits {
		item := check.Item("application", j.app.ID, 0)
		return &apportion.FieldError{Item: item, Field: "Completion", Err: apportion.ErrOverflow}
	}
	j.resume = time.Duration(resume)
	c.queue.Push(time.Duration(at), event{job: j, version: j.version})
	return nil
}

// advance accounts for the time since the job was last seen.
func (j *job) advance(now time.Duration) {
	if j.rate > 0 {
		begin := min(now, max(j.seen, j.resume))
		j.outcome.Paused += begin - j.seen
		j.left = j.left.minus(product(j.rate, now-begin))
	}
	j.seen = now
}
