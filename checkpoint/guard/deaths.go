// This file implements Deaths: which ends of runs their jobs alone are to blame for, and whether they come to anything.

package guard

import "slices"

// Deaths are ends of a job's runs that were not good, and came from nobody but their trainers: no master, guard or server has ended
// them. A run counts once, however many containers it has.
type Deaths struct {
	// Futile counts them since a run of the job was a step further than all before it, or has saved without saying its step.
	Futile int
	// BySave counts those by the very signal that asks a trainer to save, since one has saved.
	BySave int
	// Last is how the newest of them ended.
	Last End
}

// lives is what a desk has seen of a job's runs.
type lives struct {
	Deaths
	// step is the highest that was told, and attempt the newest whose death is counted.
	step, attempt int64
}

// Deaths returns those of a job that this desk has heard of.
func (d *Desk) Deaths(job string) Deaths {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.lives[job].Deaths
}

// bySave are the ends by the signals that may ask for a save, see signals, as End has them.
var bySave = []string{"user defined signal 1", "user defined signal 2", "hangup"}

// learn takes in what a claim tells of the run. d.mu is held.
func (d *Desk) learn(c *Claim) {
	l := d.lives[c.Job]
	ack, end, further := c.State.Checkpoint, c.State.Ended, c.State.Progress.Step
	if ack != nil && end == nil {
		l.BySave = 0
		if ack.Step == nil {
			l.Futile = 0
		}
	}
	if further > l.step {
		l.step, l.Futile = further, 0
	}
	if end != nil && *end != (End{}) && end.Why == "" && c.Attempt > l.attempt {
		l.attempt, l.Last = c.Attempt, *end
		l.Futile++
		if c.Asked > 0 && slices.Contains(bySave, end.Signal) && (ack == nil || ack.Request < c.Asked) {
			l.BySave++
		}
	}
	d.lives[c.Job] = l
}
