// This file implements claims whose answers wait until there is something to tell.

package guard

import (
	"context"
	"time"
)

// Await answers a claim as [Desk.Answer] does, but keeps the answer back for up to Claim.Wait while it says nothing that the
// guard has not heard: a save, or that the run is fenced off. So guards that claim once a second hear of both at once.
//
// What is granted counts from the clock in the claim, however long the answer waits, and the desk remembers a later time:
// neither makes a lease longer. When the context ends the answer is given.
// Each call that waits costs a timer beside the goroutine of its caller.
func (d *Desk) Await(ctx context.Context, c Claim) (Grant, error) {
	// The channel is taken before the answer is made: what happens in between closes it, and is not missed.
	news := d.newsOf(c.Job)
	grant, err := d.Answer(c)
	if err != nil || c.Wait <= 0 {
		return grant, err
	}
	// A guard may ask for any wait. Beyond a length its lease would be over before it had its answer.
	// A guard asks again long before that: its wait is a sixth of the lease.
	limit := time.NewTimer(min(c.Wait, d.length))
	defer limit.Stop()
	// Of nothing else must a guard hear before its next claim.
	for grant.Fenced == "" && grant.Save <= c.Asked {
		select {
		case <-news:
		case <-limit.C:
			return grant, nil
		case <-ctx.Done():
			return grant, nil
		}
		// A closed channel is replaced, and again before the look. The news may be another container's, and then the wait
		// goes on.
		news = d.newsOf(c.Job)
		grant = d.update(&c, grant)
	}
	return grant, nil
}

// update returns what is to be said now to a claim that was granted. It grants nothing anew: Heard and Length stay those of
// the answer, however much later this is.
func (d *Desk) update(c *Claim, grant Grant) Grant {
	d.mu.Lock()
	defer d.mu.Unlock()
	if why := d.fencedOff(c); why != "" {
		return Grant{Fenced: why}
	}
	grant.Save = d.saves[c.ID]
	return grant
}
