// This file implements the forecasts of a controller: when the jobs begin that wait, at a bounded part of one processor.

package controller

import (
	"context"
	"time"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint/page"
	"github.com/apportion/apportion/placement/sim/forecast"
)

const (
	// foreseePart is the part of the time in which a forecast may be at work, 1 in so many: it bounds what forecasts take, whatever the
	// cluster. A forecast uses one processor.
	foreseePart = 100
	// foreseeAge is how old a forecast becomes before the same is forecast again: by then jobs have run longer, and what is known of their
	// lengths is another.
	foreseeAge = time.Minute
	// foreseeLimit is how long one forecast may take.
	foreseeLimit = 10 * time.Second
)

// foreseeOptions are those of a forecast, but for its history: a third of the study's replays, and decisions at every doubling of the jobs
// that have ended, by which starts are late.
var foreseeOptions = forecast.Options{Replays: 12, Decisions: 12, StartsOnly: true}

// foreseeAll forecasts by work until the context ends: what was decided since, and the same again when it is old.
func (c *Controller) foreseeAll(ctx context.Context, work func(context.Context, *Taken, time.Time)) {
	var of *alloc.Decision
	pause, at := c.config.Settle, time.Time{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		pause = c.config.Settle
		last := c.Last()
		if now := time.Now(); last.Decision != nil && (last.Decision != of || now.Sub(at) >= foreseeAge) {
			of, at = last.Decision, now
			work(ctx, &last, now)
			pause = max(pause, (foreseePart-1)*time.Since(now))
		}
	}
}

// foresee forecasts once. Where it fails the page says why, and nothing else depends on it.
func (c *Controller) foresee(ctx context.Context, last *Taken, now time.Time) {
	var f *page.Foresight
	if len(last.Decision.Waiting)+len(last.Decision.Suspended) > 0 {
		limited, cancel := context.WithTimeout(ctx, foreseeLimit)
		defer cancel()
		var err error
		o := page.Outlook{At: now, Problem: last.Problem, Decision: last.Decision, Known: c.starts.known(last.Problem, now), Options: foreseeOptions}
		if o.Options.History, err = forecast.NewHistory(c.starts.history(), nil); err == nil {
			f, err = o.Foresee(limited)
		}
		if err != nil {
			f = &page.Foresight{At: now}
			f.Reason.Constraint, f.Reason.Text = forecast.UnknownLengths, "no forecast could be made: "+err.Error()
		}
	}
	c.mu.Lock()
	c.foresight = f
	c.mu.Unlock()
}

// foreseen returns the newest forecast; nil: nothing waits, or none was made.
func (c *Controller) foreseen() *page.Foresight {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.foresight
}

// mostEnded is how many runs that have ended are remembered: lengths of long ago say little.
const mostEnded = 1000

// finish remembers for how long a job has run, from its first run on. One that ran before this controller is not counted.
func (s *starts) finish(one *runs, job string, now time.Time) {
	if one.first.IsZero() {
		return
	}
	s.ended = append(s.ended, forecast.Run{Queue: s.queueOf(job), Length: now.Sub(one.first).Seconds()})
	s.ended = s.ended[max(0, len(s.ended)-mostEnded):]
	one.first = time.Time{}
}

// history returns the runs that have ended, the newest last.
func (s *starts) history() []forecast.Run {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]forecast.Run(nil), s.ended...)
}

// known says for how long the applications of a problem have run that are jobs.
func (s *starts) known(p *alloc.Problem, now time.Time) (known []forecast.Known) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range p.Applications {
		if one := s.jobs[p.Applications[i].ID]; one != nil && !one.first.IsZero() {
			known = append(known, forecast.Known{ID: p.Applications[i].ID, Ran: max(0, now.Sub(one.first).Seconds())})
		}
	}
	return known
}
