// This file implements when a decision is due: what it depends on has changed, and the same is not asked for too often.

package controller

import (
	"encoding/json"
	"reflect"
	"time"

	"github.com/apportion/apportion/alloc"
)

// pace says when a decision is due. Its methods are told the time, so that it needs no clock of its own.
type pace struct {
	// last is the shape that was decided last. Its zero is that of no problem: the first one is due, and so is the one
	// after a fault.
	last shape
	// due is when what jobs have may be a reason to decide again: it changes when a job cannot be moved and goes back to
	// what it had, and whoever asked at once would move it for ever. What is asked of a decision is another matter: that
	// is decided in the next round.
	due time.Time
	// until is when jobs that were to stay may be moved; zero: none were to. What nobody has asked for may be worth it by then.
	until time.Time
	// again is how long the same targets wait.
	again patience
}

// isDue reports whether a problem of this shape is to be decided at this time.
func (p *pace) isDue(now shape, at time.Time) bool {
	return now.asked != p.last.asked || !p.until.IsZero() && !at.Before(p.until) || now.has != p.last.has && !at.Before(p.due)
}

// decided notes that a problem of this shape was decided, what was asked for by that, and how it went.
func (p *pace) decided(now shape, targets map[string][]string, err error, at time.Time) {
	// Where something else is asked of the decision, its targets repeat nothing: a job that comes back under its name is
	// moved as readily as the first time.
	if now.asked != p.last.asked {
		p.again = patience{first: p.again.first}
	}
	p.last = now
	// What was asked for may have been denied, because a server had less for a moment: jobs then have what they had before, and
	// nothing else would tell it from a problem without anything to do.
	if len(targets) > 0 {
		p.last.has = ""
	}
	// After a fault nothing counts as decided, and the next round tries again.
	if err != nil {
		p.last = shape{}
	}
	p.due = at.Add(p.again.after(targets))
}

// maxPause is the longest pause between two decisions of which the second asks for the same as the first.
const maxPause = 30 * time.Second

// patience is how long to wait before the same is asked for again: it doubles for as long as nothing else is.
type patience struct {
	// first is the pause after something new was asked for, pause the one of now.
	first, pause time.Duration
	// asked are the targets of the newest decision that had any: containers by job, each by its server.
	asked map[string][]string
}

// after returns the pause after these targets; none leave it as it is.
func (p *patience) after(targets map[string][]string) time.Duration {
	switch {
	case len(targets) == 0:
	case reflect.DeepEqual(targets, p.asked):
		p.pause = min(2*p.pause, maxPause)
	default:
		p.asked, p.pause = targets, p.first
	}
	return p.pause
}

// shape is what a decision depends on, as text: what is asked of it, servers and jobs, and what these have. Two problems of
// one shape have the same answer, so that there is nothing to decide. Text is compared and never parsed.
type shape struct{ asked, has string }

func shapeOf(p *alloc.Problem) shape {
	text := func(v any) string {
		t, _ := json.Marshal(v) // which has no values that JSON cannot hold: the problem was validated
		return string(t)
	}
	return shape{text(p.Servers) + text(p.Applications) + text(p.Queues), text(p.Previous)}
}
