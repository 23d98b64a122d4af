// This file splits what each adjustment of a job cost into its parts, by the effects of the protocol and
// the steps of the trainer.

package harness

import (
	"slices"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/driver"
	"github.com/apportion/apportion/examples/studies/inhouse/master"
)

// Adjustment is one change of a job from a run to the next.
// The parts follow each other, and the job trains on during the first.
type Adjustment struct {
	Job *Job
	// Planned: the job was saved for it. Otherwise something had died, and the job goes on from the last
	// confirmed checkpoint before.
	Planned bool
	// Before and After are the numbers of containers.
	Before, After int
	// Save writes and verifies a checkpoint while the job goes on. Stop ends the processes and gives up
	// containers, Start makes new ones and starts processes, Resume is from then to the first new step:
	// the framework is loaded and the state is read.
	Save, Stop, Start, Resume time.Duration
	// Redone is how many steps were done after the checkpoint and are done again; Lost is how many of
	// those that a confirmed checkpoint held are done again, or left out: always 0.
	Redone, Lost int64
}

// Adjustments returns those of all jobs whose new run did a step.
// They are by job, and in the order of time.
func (r *Record) Adjustments() ([]Adjustment, error) {
	var all []Adjustment
	for i := range r.Jobs {
		runs, err := master.Runs(r.Place.Shared(), r.Jobs[i].Name)
		if err != nil {
			return nil, err
		}
		all = append(all, adjustments(&r.Jobs[i], r.Effects[r.Jobs[i].Name], runs)...)
	}
	return all, nil
}

// ledger follows the effects of one job.
// It is fed one effect after the other, in the order in which they were begun.
type ledger struct {
	under     Adjustment
	confirmed map[int64]int64 // steps by checkpoint, those that were verified
	saved     map[int64]int64 // all
	newest    int64           // steps of the newest confirmed one
	verified  time.Time       // when the effect before ended, if that was a good Verify
	running   []string        // containers of the run before; nil: none yet
}

// atOnce is the most that lies between a checkpoint that was made for an adjustment and the stop. What is
// stopped later after a checkpoint of every few seconds has died.
const atOnce = time.Second

// adjustments follows the effects from one confirmed run to the next.
// The first run of a job is no adjustment.
func adjustments(job *Job, effects []driver.Traced, runs []master.Run) []Adjustment {
	l := &ledger{under: Adjustment{Job: job}, confirmed: map[int64]int64{}, saved: map[int64]int64{}}
	var all []Adjustment
	for _, t := range effects {
		if !l.take(&t) {
			continue
		}
		if at, ok := find(runs, t.Effect.Attempt); ok && at > 0 {
			all = append(all, l.close(&t, &runs[at-1], &runs[at]))
		}
		l.running, l.under = t.Effect.Containers, Adjustment{Job: job}
	}
	return all
}

// An attempt that was killed before its first step is not there.
func find(runs []master.Run, attempt int64) (int, bool) {
	for i := range runs {
		if runs[i].Attempt == attempt {
			return i, true
		}
	}
	return 0, false
}

// take adds an effect to the adjustment under way and reports whether it is the last of it.
// Effects of several servers overlap; their times are added all the same, as the protocol waits for each.
func (l *ledger) take(t *driver.Traced) (last bool) {
	took, done := t.Replied.Sub(t.Issued), t.Reply.Outcome == checkpoint.Done
	verified := time.Time{}
	switch t.Effect.Action {
	case checkpoint.Save:
		l.under.Save = took
		if done {
			l.saved[t.Effect.Checkpoint] = t.Reply.Step
		}
	case checkpoint.Verify:
		l.under.Save += took
		if done {
			verified = t.Replied
			l.newest = l.saved[t.Effect.Checkpoint]
		}
	case checkpoint.Stop, checkpoint.Release:
		if t.Effect.Action == checkpoint.Stop && l.under.Stop == 0 {
			l.under.Planned = t.Issued.Sub(l.verified) < atOnce
		}
		l.under.Stop += took
	case checkpoint.Create, checkpoint.Resume, checkpoint.Confirm:
		l.under.Start += took
		last = t.Effect.Action == checkpoint.Confirm && done
	}
	l.verified = verified
	return last
}

// close completes an adjustment by what the two runs did.
// Lost must be 0: a run begins exactly behind a confirmed checkpoint.
func (l *ledger) close(confirm *driver.Traced, before, after *master.Run) Adjustment {
	a := l.under
	first := &after.Points[0]
	a.Before, a.After = len(l.running), len(confirm.Effect.Containers)
	a.Planned = a.Planned && !slices.Equal(l.running, confirm.Effect.Containers) // what has died keeps its containers
	if !a.Planned {
		a.Save = 0
	}
	a.Resume = max(0, first.Time().Sub(confirm.Replied))
	a.Redone = max(0, before.Points[len(before.Points)-1].Step-l.newest)
	a.Lost = max(first.Step-1-l.newest, l.newest-(first.Step-1))
	return a
}

// Total is what the adjustment took from the request to save to the first new step, without the time that
// the job waited for others to make room.
func (a *Adjustment) Total() time.Duration { return a.Save + a.Stop + a.Start + a.Resume }
