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
//
// It keeps all of that in memory. The desk of the master that follows knows nothing of the claims of before, and takes no run of
// before for ended until one length and the slack have passed since its own beginning, unless the run's guard says so.
type Desk struct {
	// What NewDesk was given, and when that was: desks before this one may have vouched for runs until then.
	epoch  int64
	length time.Duration
	slack  time.Duration
	now    func() time.Time
	began  time.Time

	// leads says whether the master is not replaced; nil: nobody asks.
	leads func() error

	// mu guards what follows. Nobody waits for anything while it is held.
	mu sync.Mutex
	// admitted and fenced are, by job, the attempt that may run and the highest that must not; begun is the lowest that
	// no desk before this one has vouched for.
	admitted, fenced, begun map[string]int64
	// started are the attempts of which no container is to be started any more.
	started map[string]int64
	// saves are the newest that runs were asked for.
	saves map[ID]int64
	// window is how long a server counts as reached; 0: for ever. reached is when each was last.
	window  time.Duration
	reached map[string]time.Time
	// seen is what is known of each run, by job.
	seen map[string]map[ID]Seen
	// lives is what the runs of each job have come to.
	lives map[string]lives
	// news are closed when guards of a job must hear of something, see Await.
	news map[string]chan struct{}
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
		admitted: map[string]int64{}, fenced: map[string]int64{}, begun: map[string]int64{}, started: map[string]int64{},
		saves: map[ID]int64{}, reached: map[string]time.Time{}, seen: map[string]map[ID]Seen{}, lives: map[string]lives{}, news: map[string]chan struct{}{}}
}

// Admit vouches for an attempt of a job from now on, and for none before it. One that was fenced off stays so.
// Guards of earlier attempts whose answers wait hear of it at once.
func (d *Desk) Admit(job string, attempt int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	// Both only ever rise, so calls may come in any order: an old attempt that is admitted late changes nothing.
	d.admitted[job] = max(d.admitted[job], attempt)
	d.fenced[job] = max(d.fenced[job], attempt-1)
	d.tell(job)
}

// AdmitStarted admits an attempt that a desk before this one has seen running as a whole: a guard that has yet to start its
// trainer is a late start, by whoever it was, and is fenced off.
func (d *Desk) AdmitStarted(job string, attempt int64) {
	// Noted before the attempt is admitted, so that no claim in between passes for the first.
	d.mu.Lock()
	d.started[job] = attempt
	d.mu.Unlock()
	d.Admit(job, attempt)
}

// Begin admits an attempt that is new: no desk has vouched for it before, so that it is over before it was ever granted.
// One that was admitted already, by what is known from another desk's time, stays what it was.
func (d *Desk) Begin(job string, attempt int64) {
	d.mu.Lock()
	known, begun := d.admitted[job] >= attempt, d.begun[job]
	// The lowest attempt that is new is kept. Those above it are new as well, since attempts are numbered upward.
	if !known && begun == 0 {
		d.begun[job] = attempt
	}
	// What is known of earlier attempts is of no use any more when they are over. O(runs known of the job).
	maps.DeleteFunc(d.seen[job], func(id ID, _ Seen) bool { return id.Attempt < attempt && d.over(id) })
	d.mu.Unlock()
	d.Admit(job, attempt)
}

// Epoch is that of the desk's master.
func (d *Desk) Epoch() int64 { return d.epoch }

// RequireReach has the desk vouch only for runs on servers that were reached within the window, see Reached. So a master
// that takes the jobs of a server for ended a Grace after it has last reached it is right if the Grace is at least the
// window, the length of a lease and the slack together, whatever else reaches the desk from that server.
func (d *Desk) RequireReach(window time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.window = window
}

// RequireLead has the desk vouch for runs only while leads returns nil. A master that was cut off or stopped, and goes on, may
// be heard by guards when its successor has begun to wait for their leases to be over: it must not renew them. leads is
// called for every claim, by several goroutines, and is fixed before the first claim.
func (d *Desk) RequireLead(leads func() error) { d.leads = leads }

// Reached says that the master has reached a server now.
// It counts only where RequireReach was called: there a server that was never reached is as one that is not reached any more.
func (d *Desk) Reached(server string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.reached[server] = d.now()
}

// Fence vouches for no attempt of a job up to this one any more.
// Nothing has ended when it returns. Guards hear of it with the answer to their next claim, or at once where an answer waits;
// Over says when nothing of their runs lives.
func (d *Desk) Fence(job string, attempt int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fenced[job] = max(d.fenced[job], attempt)
	d.tell(job)
}

// Answer answers a claim. The error wraps checkpoint.ErrFenced if the claim comes from a run of a newer master: this
// desk's master was replaced. Otherwise it says that the attempt is not known here.
func (d *Desk) Answer(c Claim) (Grant, error) {
	// A claim comes from a network and may say anything.
	if err := c.validate(); err != nil {
		return Grant{}, fmt.Errorf("guard: %w", err)
	}
	// leads may ask a disk or a network, so it is asked without the lock.
	if d.leads != nil {
		if err := d.leads(); err != nil {
			return Grant{}, fmt.Errorf("guard: master %d may have been replaced: %w", d.epoch, err)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if c.Epoch > d.epoch {
		return Grant{}, fmt.Errorf("guard: a run of master %d claims at master %d: %w", c.Epoch, d.epoch, checkpoint.ErrFenced)
	}
	// What is known of the run changes even where nothing is granted: the end of a run that is fenced off is news.
	before, known := d.seen[c.Job][c.ID]
	// The answer is a matter of what was known before; the claim itself is taken in below.
	grant, err := d.rule(&c, &before)
	seen := Seen{Claim: c, Granted: before.Granted}
	// A claim that a later one of its guard has overtaken knows less.
	if last := before.Claim; last.Life == c.Life && last.Clock.Boot == c.Clock.Boot && last.Clock.At > c.Clock.At {
		seen.Claim = last
	}
	// A run that has ended says so once more than it is heard, perhaps: the first word of its end stays.
	if before.Claim.State.Ended != nil && before.Claim.Life == c.Life {
		seen.Claim.State = before.Claim.State
	}
	if err == nil && grant.Fenced == "" {
		seen.Granted = d.now()
	}
	switch {
	// Another guard of a run that has one is not what is known of the run.
	case grant.Fenced != "" && before.Claim.Life != "" && before.Claim.Life != c.Life:
	case known:
		d.keep(seen)
	case len(d.seen[c.Job]) >= maxSeen:
		return Grant{}, fmt.Errorf("guard: job %q has %d guards already", c.Job, maxSeen)
	case d.isNews(&c):
		d.keep(seen)
	}
	return grant, err
}

// maxSeen bounds what is kept of the claims of one job: one for each container, and those of earlier attempts that may not be
// over.
const maxSeen = 1 << 16

// isNews reports whether the first claim of a guard tells anything: its attempt is the one that may run, or one of before that is
// not over without it. Of all others, which nobody has ever vouched for, nothing is kept. d.mu is held.
func (d *Desk) isNews(c *Claim) bool {
	return c.Attempt == d.admitted[c.Job] || c.Attempt <= d.fenced[c.Job] && !d.over(c.ID)
}

// keep notes what is known of a run. d.mu is held.
func (d *Desk) keep(seen Seen) {
	id := seen.Claim.ID
	if d.seen[id.Job] == nil {
		d.seen[id.Job] = map[ID]Seen{}
	}
	d.seen[id.Job][id] = seen
	d.learn(&seen.Claim)
}

// rule says whether a run may go on. d.mu is held.
// What this desk may yet come to know is an error, and the guard asks again; what can never be right any more is Fenced, which
// ends the run.
func (d *Desk) rule(c *Claim, before *Seen) (Grant, error) {
	fenced := func(format string, args ...any) (Grant, error) {
		return Grant{Fenced: fmt.Sprintf(format, args...)}, nil
	}
	switch {
	case d.fencedOff(c) != "":
		return Grant{Fenced: d.fencedOff(c)}, nil
	case c.Attempt != d.admitted[c.Job]:
		return Grant{}, fmt.Errorf("guard: attempt %d of job %q is not known here", c.Attempt, c.Job)
	// A guard that is started again would start the trainer again, from a checkpoint that may be old.
	case before.Claim.Life != "" && before.Claim.Life != c.Life:
		return fenced("attempt %d has a guard on server %q", c.Attempt, c.Server)
	case c.Attempt == d.started[c.Job] && before.Claim.Life == "" && !c.State.Started:
		return fenced("attempt %d was started before", c.Attempt)
	// The master may be about to take the jobs of such a server for ended.
	case d.window > 0 && d.now().Sub(d.reached[c.Server]) > d.window:
		return Grant{}, fmt.Errorf("guard: server %q is not reached", c.Server)
	}
	return Grant{Heard: c.Clock, Length: d.length, Save: d.saves[c.ID]}, nil
}

// fencedOff says why an attempt is over; "": it may go on. d.mu is held.
func (d *Desk) fencedOff(c *Claim) string {
	if c.Attempt > d.fenced[c.Job] {
		return ""
	}
	return fmt.Sprintf("attempt %d is over: attempts up to %d are", c.Attempt, d.fenced[c.Job])
}

// AskSave asks a run to save itself, and returns the number of the save: its guard hears of it with its next grant, and
// answers by State.Checkpoint, whose Request is that number or a higher one.
func (d *Desk) AskSave(id ID) int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	// A desk before this one may have asked for more than was acknowledged. What comes of that is new enough.
	if ack := d.seen[id.Job][id].Claim.State.Checkpoint; ack != nil {
		d.saves[id] = max(d.saves[id], ack.Request)
	}
	d.saves[id]++
	d.tell(id.Job)
	return d.saves[id]
}

// Forget forgets a job. Its name may be another job's from then on: nothing of it may live any more, see Over.
func (d *Desk) Forget(job string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	// A job of that name that comes later begins with attempts of its own, which begun and started must not judge.
	delete(d.admitted, job)
	delete(d.fenced, job)
	delete(d.begun, job)
	delete(d.started, job)
	d.tell(job)
	// Whoever waits for an answer is woken, and finds that the attempt is not known any more with the next claim.
	maps.DeleteFunc(d.saves, func(id ID, _ int64) bool { return id.Job == job })
	delete(d.seen, job)
	delete(d.lives, job)
}

// Seen returns what is known of a run, and whether anything is.
// Checkpoint and Ended of its state are shared with the claim that was answered and must not be changed.
func (d *Desk) Seen(id ID) (Seen, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	seen, ok := d.seen[id.Job][id]
	return seen, ok
}

// Over reports whether nothing of a run lives any more, for certain: its guard has said so, or it was not vouched for
// during a length and the slack. Fence it first, or it may be vouched for in the next moment.
//
// Desks before this one may have vouched for it until this one began, but for an attempt that this one has begun.
func (d *Desk) Over(id ID) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.over(id)
}

// over is Over; d.mu is held.
func (d *Desk) over(id ID) bool {
	seen := d.seen[id.Job][id]
	// A run of this desk's own time that was never granted anything has never been started.
	if begun := d.begun[id.Job]; seen.Granted.IsZero() && begun > 0 && id.Attempt >= begun {
		return true
	}
	// A grant of a desk before this one may be as young as this desk, and is counted as if it were.
	last := d.began
	if seen.Granted.After(last) {
		last = seen.Granted
	}
	return seen.Claim.State.Ended != nil || d.now().Sub(last) > d.length+d.slack
}

// Lost reports whether nothing was heard of a run for so long that nothing of it can live, although it was vouched for, by
// this desk or one before, and nobody has said how it ended.
func (d *Desk) Lost(id ID) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	seen, begun := d.seen[id.Job][id], d.begun[id.Job]
	// starts: nobody has ever vouched for it, so it is not lost but on its way.
	starts := seen.Granted.IsZero() && begun > 0 && id.Attempt >= begun
	return !starts && seen.Claim.State.Ended == nil && d.over(id)
}

// AllOver reports whether nothing of a job's attempts up to this one lives on a server any more, for certain: Over for all
// runs that were ever heard of, and for the containers of these ranks.
// upTo.Rank is not read. O(ranks + runs known of the job).
func (d *Desk) AllOver(upTo ID, ranks []int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	// A container of which nothing was ever heard may run all the same, so the ranks are asked for and not only who has claimed.
	for _, rank := range ranks {
		upTo.Rank = rank
		if !d.over(upTo) {
			return false
		}
	}
	// The ranks are those of the newest attempt. Earlier ones may have had others there, of which only claims tell.
	for id := range d.seen[upTo.Job] {
		if id.Attempt <= upTo.Attempt && id.Server == upTo.Server && !d.over(id) {
			return false
		}
	}
	return true
}

// newsOf is closed when there is something to tell the guards of a job.
func (d *Desk) newsOf(job string) <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.news[job] == nil {
		d.news[job] = make(chan struct{})
	}
	return d.news[job]
}

// tell wakes those who wait to answer the guards of a job. d.mu is held.
func (d *Desk) tell(job string) {
	if news := d.news[job]; news != nil {
		close(news)
		delete(d.news, job)
	}
}
