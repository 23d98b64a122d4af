// This file implements the forecasts of a scheduler: when the jobs begin that wait, at a bounded part of one processor.

package page

import (
	"cmp"
	"context"
	"strings"
	"sync"
	"time"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/placement/sim/forecast"
)

const (
	// defaultPart is as little as a scheduler has no use for otherwise.
	defaultPart = 100
	// foreseeAge is how old a forecast becomes before the same is forecast again: by then jobs have run longer, and what is known of their
	// lengths is another.
	foreseeAge = time.Minute
	// foreseeLimit is how long one forecast may take.
	foreseeLimit = 10 * time.Second
	// mostEnded is how many runs that have ended are remembered: lengths of long ago say little.
	mostEnded = 1000
)

// foreseeOptions are those of a forecast, but for its history: a third of the study's replays, and decisions at every doubling of the jobs
// that have ended, by which starts are late.
var foreseeOptions = forecast.Options{Replays: 12, Decisions: 12, StartsOnly: true}

// Forecasts remembers for how long jobs have run, and forecasts what was decided last. It is safe for concurrent use; its fields are set
// before.
type Forecasts struct {
	// Last returns the newest problem and its decision, nil before the first, and now, by the clock that Take is told; required.
	Last func() (*alloc.Problem, *alloc.Decision, time.Time)
	// QueueOf returns the queue of a job; required.
	QueueOf func(job string) string
	// Before are the jobs of whose first runs nothing is known where they have run.
	Before []checkpoint.Job
	// Pause is the least time between two looks at Last. Part bounds what forecasts take, whatever the cluster: each uses one processor, and
	// they are at work 1 part in so many of the time; 0: 100.
	Pause time.Duration
	Part  int

	mu     sync.Mutex
	newest *Foresight
	// began is when the first run of a job was begun that has not ended; zero: it ran before, or has ended.
	began map[string]time.Time
	// ended are the jobs that have ended, the newest last, as a history of lengths.
	ended []forecast.Run
}

// Take notes which jobs of a record have begun, and remembers for how long one has run that has ended, from its first run on.
func (f *Forecasts) Take(r checkpoint.Record, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.began == nil {
		f.began = map[string]time.Time{}
		for i := range f.Before {
			if f.Before[i].Attempt > 0 {
				f.began[f.Before[i].Name] = time.Time{}
			}
		}
	}
	for i := range r.Jobs {
		j := &r.Jobs[i]
		began, known := f.began[j.Name]
		switch {
		case j.Phase == checkpoint.Ended:
			if !began.IsZero() {
				f.ended = append(f.ended, forecast.Run{Queue: f.QueueOf(j.Name), Length: now.Sub(began).Seconds()})
				f.ended = f.ended[max(0, len(f.ended)-mostEnded):]
			}
			f.began[j.Name] = time.Time{} // a job that is recorded again has ended once
		case !known && j.Attempt > 0:
			f.began[j.Name] = now
		}
	}
	for _, name := range r.Gone {
		delete(f.began, name)
	}
}

// Run forecasts until the context ends: what was decided since, and the same again when it is old.
func (f *Forecasts) Run(ctx context.Context) { f.run(ctx, f.foresee) }

func (f *Forecasts) run(ctx context.Context, work func(context.Context, *alloc.Problem, *alloc.Decision, time.Time)) {
	var of *alloc.Decision
	pause, at := f.Pause, time.Time{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		pause = f.Pause
		p, d, now := f.Last()
		if d != nil && (d != of || now.Sub(at) >= foreseeAge) {
			of, at = d, now
			began := time.Now()
			work(ctx, p, d, now)
			pause = max(pause, time.Duration(cmp.Or(f.Part, defaultPart)-1)*time.Since(began))
		}
	}
}

// foresee forecasts once. Where it fails the page says why, and nothing else depends on it.
func (f *Forecasts) foresee(ctx context.Context, p *alloc.Problem, d *alloc.Decision, now time.Time) {
	var fore *Foresight
	if len(d.Waiting)+len(d.Suspended) > 0 {
		limited, cancel := context.WithTimeout(ctx, foreseeLimit)
		defer cancel()
		o, err := f.outlook(p, d, now)
		if err == nil {
			fore, err = o.foresee(limited)
		}
		if err != nil {
			fore = &Foresight{At: now}
			fore.Reason.Constraint, fore.Reason.Text = forecast.UnknownLengths, "no forecast could be made: "+err.Error()
		}
	}
	f.mu.Lock()
	f.newest = fore
	f.mu.Unlock()
}

// outlook is what a forecast is made of: how long jobs ran that have ended, and for how long others have run.
func (f *Forecasts) outlook(p *alloc.Problem, d *alloc.Decision, now time.Time) (o *outlook, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	o = &outlook{at: now, problem: p, decision: d, options: foreseeOptions}
	for i := range p.Applications {
		if began := f.began[p.Applications[i].ID]; !began.IsZero() {
			o.known = append(o.known, forecast.Known{ID: p.Applications[i].ID, Ran: max(0, now.Sub(began).Seconds())})
		}
	}
	o.options.History, err = forecast.NewHistory(f.ended, nil)
	return o, err
}

// Newest returns the newest forecast, perhaps of a decision before the last; nil: nothing waited, or none was made.
func (f *Forecasts) Newest() *Foresight {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.newest
}

// Answer answers a question as [Answer] does, and says of a job that has nothing when it begins. f may be nil.
func (f *Foresight) Answer(ctx context.Context, p *alloc.Problem, d *alloc.Decision, q Question) (string, error) {
	text, err := Answer(ctx, p, d, q)
	if when := f.Text(q.Job); err == nil && !q.If && when != "" && d != nil && d.Allocation.Containers(q.Job) == 0 {
		text += strings.ToUpper(when[:1]) + when[1:] + ".\n"
	}
	return text, err
}
