// This file tests answers that wait until there is something to tell.

package guard_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/guard"
	"github.com/apportion/apportion/internal/must"
)

// A claim that may wait is answered as soon as there is something that its guard has not heard, and otherwise after the wait.
func TestAwait(t *testing.T) {
	other := guard.ID{Job: "cnn", Attempt: 5, Server: "s1"}
	for name, c := range map[string]struct {
		asked, wait time.Duration
		then        func(d *guard.Desk)
		want        guard.Grant
		after       time.Duration
	}{
		"nothing happens":       {wait: 4, want: guard.Grant{Length: 10}, after: 4},
		"it may not wait":       {wait: 0, want: guard.Grant{Length: 10}},
		"longer than a lease":   {wait: 99, want: guard.Grant{Length: 10}, after: 10},
		"a save":                {wait: 4, then: func(d *guard.Desk) { d.AskSave(claim(5, "a").ID) }, want: guard.Grant{Length: 10, Save: 1}, after: 1},
		"a save that it knows":  {wait: 4, asked: 1, then: func(d *guard.Desk) { d.AskSave(claim(5, "a").ID) }, want: guard.Grant{Length: 10, Save: 1}, after: 4},
		"another job's save":    {wait: 4, then: func(d *guard.Desk) { d.AskSave(other) }, want: guard.Grant{Length: 10}, after: 4},
		"a fence":               {wait: 4, then: func(d *guard.Desk) { d.Fence("lr", 5) }, want: guard.Grant{Fenced: "attempt 5 is over: attempts up to 5 are"}, after: 1},
		"a fence before it":     {wait: 4, then: func(d *guard.Desk) { d.Fence("lr", 4) }, want: guard.Grant{Length: 10}, after: 4},
		"the next attempt":      {wait: 4, then: func(d *guard.Desk) { d.Admit("lr", 6) }, want: guard.Grant{Fenced: "attempt 5 is over: attempts up to 5 are"}, after: 1},
		"the job is forgotten":  {wait: 4, then: func(d *guard.Desk) { d.Forget("lr") }, want: guard.Grant{Length: 10}, after: 4},
		"two things, one known": {wait: 4, asked: 1, then: func(d *guard.Desk) { d.AskSave(claim(5, "a").ID); d.AskSave(claim(5, "a").ID) }, want: guard.Grant{Length: 10, Save: 2}, after: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := guard.NewDesk(3, 10*time.Second, 2*time.Second, nil)
				d.Admit("lr", 5)
				ask := claim(5, "a")
				ask.Asked, ask.Wait = int64(c.asked), c.wait*time.Second
				if c.then != nil {
					time.AfterFunc(time.Second, func() { c.then(d) })
				}
				begun := time.Now()
				got, err := d.Await(t.Context(), ask)
				if c.want.Length *= time.Second; c.want.Fenced == "" {
					c.want.Heard = ask.Clock
				}
				if err != nil || got != c.want {
					t.Errorf("%+v, %v, want %+v", got, err, c.want)
				}
				must.Equal(t, time.Since(begun), c.after*time.Second, "after", int(c.after), "s")
			})
		})
	}
}

// What is refused, fenced off or no claim at all is answered at once, and so is who has gone.
func TestAwaitDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := guard.NewDesk(3, 10*time.Second, 2*time.Second, nil)
		d.Admit("lr", 5)
		gone, leave := context.WithCancel(t.Context())
		leave()
		begun := time.Now()
		for _, c := range []struct {
			attempt     int64
			ctx         context.Context
			err, fenced bool
		}{{9, t.Context(), true, false}, {-1, t.Context(), true, false}, {4, t.Context(), false, true}, {5, gone, false, false}} {
			ask := claim(c.attempt, "a")
			ask.Wait = time.Second
			if g, err := d.Await(c.ctx, ask); (err != nil) != c.err || (g.Fenced != "") != c.fenced {
				t.Errorf("attempt %d: %+v, %v", c.attempt, g, err)
			}
		}
		must.Equal(t, time.Since(begun), 0, "it took")
	})
}

// A guard may have two claims under way: whichever arrives last, what it has said last counts.
func TestOvertakenClaim(t *testing.T) {
	d, _ := desk()
	d.Admit("lr", 5)
	early, late := claim(5, "a"), claim(5, "a")
	late.Clock.At += time.Second
	late.State.Started = true
	for _, c := range []guard.Claim{late, early} {
		must.Have(d.Answer(c))(t)
	}
	if seen, _ := d.Seen(early.ID); !seen.Claim.State.Started {
		t.Error("an older claim has taken back what a newer one said")
	}
	// After another boot the clock begins anew.
	next := claim(5, "a")
	next.Clock = agent.Stamp{Boot: "c", At: 1}
	must.Have(d.Answer(next))(t)
	if seen, _ := d.Seen(early.ID); seen.Claim.Clock != next.Clock {
		t.Errorf("%+v", seen.Claim)
	}
}
