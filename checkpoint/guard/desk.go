// This file implements Desk: which runs a master vouches for, and when one is over for certain.

package guard

import (
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/apportion/apportion/checkpoint"
)

// Desk vouches for the runs of a master. It is safe for concurrent use.
//
// A desk knows what it is told: whoever opens one vouches for all attempts that may run, by Admit, before the first claim
// is answered.
type Desk struct {
	epoch  int64
	length time.Duration
	slack  time.Duration
	now    func() time.Time
	began  time.Time

	mu sync.Mutex
	// admitted and fenced are, by job, the attempt that may run and the highest that must not; saves are the newest
	// numbers that were asked for.
	admitted, fenced, saves map[string]int64
	// seen is what is known of each run.
	seen map[ID]Seen
}

// Seen is what a desk knows of a run.
type Seen struct {
	// Claim is the newest of the run.
	Claim Claim `json:"claim"`
	// Granted is when the run was last vouched for, by the desk's clock; zero: never.
	Granted time.Time `json:"granted"`
}

// NewDesk returns the desk of the master of an epoch, whose leases have a length. slack is how much longer it waits until
// it takes a run for ended: for what clocks may drift apart in a length, and for what it takes to kill. The clock now must
// not jump, as time.Now with its monotonic reading does not; nil: time.Now.
func NewDesk(epoch int64, length, slack time.Duration, now func() time.Time) *Desk {
	if now == nil {
		now = time.Now
	}
	return &Desk{epoch: epoch, length: length, slack: slack, now: now, began: now(),
		admitted: map[string]int64{}, fenced: map[string]int64{}, saves: map[string]int64{}, seen: map[ID]Seen{}}
}

// Admit vouches for an attempt of a job from now on, and for none before it. One that was fenced off stays so.
func (d *Desk) Admit(job string, attempt int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.admitted[job] = max(d.admitted[job], attempt)
	d.fenced[job] = max(d.fenced[job], attempt-1)
}

// Fence vouches for no attempt of a job up to this one any more.
func (d *Desk) Fence(job string, attempt int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fenced[job] = max(d.fenced[job], attempt)
}

// Answer answers a claim. The error wraps checkpoint.ErrFenced if the claim comes from a run of a newer master: this
// desk's master was replaced. Otherwise it says that the attempt is not known here.
func (d *Desk) Answer(c Claim) (Grant, error) {
	if err := c.validate(); err != nil {
		return Grant{}, fmt.Errorf("guard: %w", err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if c.Epoch > d.epoch {
		return Grant{}, fmt.Errorf("guard: a run of master %d claims at master %d: %w", c.Epoch, d.epoch, checkpoint.ErrFenced)
	}
	before := d.seen[c.ID]
	grant, err := d.rule(&c, &before)
	seen := Seen{Claim: c, Granted: before.Granted}
	// A run that has ended says so once more than it is heard, perhaps: the first word of its end stays.
	if before.Claim.State.Ended != nil && before.Claim.Life == c.Life {
		seen.Claim.State = before.Claim.State
	}
	if err == nil && grant.Fenced == "" {
		seen.Granted = d.now()
	}
	// Another guard of a run that has one is not what is known of the run.
	if grant.Fenced == "" || before.Claim.Life == "" || before.Claim.Life == c.Life {
		d.seen[c.ID] = seen
	}
	return grant, err
}

// rule says whether a run may go on. d.mu is held.
func (d *Desk) rule(c *Claim, before *Seen) (Grant, error) {
	fenced := func(format string, args ...any) (Grant, error) {
		return Grant{Fenced: fmt.Sprintf(format, args...)}, nil
	}
	switch {
	case c.Attempt <= d.fenced[c.Job]:
		return fenced("attempt %d is over: attempts up to %d are", c.Attempt, d.fenced[c.Job])
	case c.Attempt != d.admitted[c.Job]:
		return Grant{}, fmt.Errorf("guard: attempt %d of job %q is not known here", c.Attempt, c.Job)
	// A guard that is started again would start the trainer again, from a checkpoint that may be old.
	case before.Claim.Life != "" && before.Claim.Life != c.Life:
		return fenced("attempt %d has a guard on server %q", c.Attempt, c.Server)
	}
	grant := Grant{Heard: c.Clock, Length: d.length}
	if c.Rank == 0 {
		grant.Save = d.saves[c.Job]
	}
	return grant, nil
}

// Save asks the run of a job that may run to save itself: the guard of rank 0 hears of it with its next grant. The run
// answers by State.Checkpoint, whose Request is the number or a higher one. Numbers must ascend over all attempts of a
// job; a lower one than was asked for changes nothing.
func (d *Desk) Save(job string, number int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.saves[job] = max(d.saves[job], number)
}

// Forget forgets a job. Its name may be another job's from then on: nothing of it may live any more, see Over.
func (d *Desk) Forget(job string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.admitted, job)
	delete(d.fenced, job)
	delete(d.saves, job)
	maps.DeleteFunc(d.seen, func(id ID, _ Seen) bool { return id.Job == job })
}

// Seen returns what is known of a run, and whether anything is.
func (d *Desk) Seen(id ID) (Seen, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	seen, ok := d.seen[id]
	return seen, ok
}

// Over reports whether nothing of a run lives any more, for certain: its guard has said so, or it was not vouched for
// during a length and the slack. Fence it first, or it may be vouched for in the next moment.
//
// Desks before this one may have vouched for it until this one began.
func (d *Desk) Over(id ID) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	seen := d.seen[id]
	last := d.began
	if seen.Granted.After(last) {
		last = seen.Granted
	}
	return seen.Claim.State.Ended != nil || d.now().Sub(last) > d.length+d.slack
}
