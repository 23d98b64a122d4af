// This file implements how a guard renews its lease, and tells what has happened.

package guard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/internal/abandon"
)

// Parts of a lease: a claim is made every sixth of it, and has a quarter of it to be answered, so that several may fail.
const (
	renewParts = 6
	claimParts = 4
)

// retry is the pause between claims before the first grant. Nothing runs yet, and a container waits.
const retry = 200 * time.Millisecond

// claim asks the authority once and takes in its answer, which may take up to wait while there is nothing to tell. The clock
// is read before anything is asked: from then on the lease counts.
func (g *guard) claim(ctx context.Context, wait time.Duration) error {
	// The state of this moment goes along, so that an authority never hears of a newer clock with older news.
	g.mu.Lock()
	c := Claim{ID: g.config.ID, Epoch: g.config.Epoch, Life: g.life, Clock: agent.Uptime(), State: g.state, Asked: g.asked, Wait: wait}
	g.mu.Unlock()
	// An authority may hang in a disk or in a network that does not hear of the context: it is left alone then.
	grant, err := abandon.Do(ctx, func(ctx context.Context) (Grant, error) { return g.config.Authority.Renew(ctx, c) })
	if err != nil {
		return err
	}
	// Fenced comes before all else in the answer: no length makes up for it.
	if grant.Fenced != "" {
		select {
		case g.refused <- grant.Fenced:
		default: // it was told before
		}
		return fmt.Errorf("%w: %s", ErrRefused, grant.Fenced)
	}
	// A lease without a length would be over at once; an authority that says so is broken, and is asked again.
	if grant.Length <= 0 {
		return errors.New("guard: a grant without a length")
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	// Numbers of saves ascend, so an old answer that comes late asks for nothing again.
	if grant.Save > g.asked {
		g.asked = grant.Save
		// The channel has room for one and this goroutine holds the lock, so nobody puts another one there in between.
		select {
		case <-g.saves: // one that was not begun is not asked for any more
		default:
		}
		g.saves <- grant.Save
	}
	// A grant is a clock and a length that belong together: an agent vouches for what is left of its own lease, which is less with every
	// claim. The length of an answer that was overtaken, counted from the clock of a later one, would be longer than anybody has
	// granted. So the later of the two ends counts, and an answer that was overtaken shortens nothing.
	now := agent.Uptime()
	if l := (agent.Lease{Length: grant.Length}).Renew(grant.Heard, now); l.Left(now) > g.lease.Left(now) {
		g.lease = l
	}
	wake(g.renewed)
	return nil
}

// left is how long the lease goes on.
// It is 0 where the lease is over, and where none was granted yet.
func (g *guard) left() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.lease.Left(agent.Uptime())
}

// begin asks until the run is granted, for no longer than Config.Start.
// A run that is fenced off is not asked for again, however much of that time is left.
func (g *guard) begin(ctx context.Context) error {
	limit := cmp.Or(g.config.Start, defaultStart)
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		// The answer may be one to an older claim of this guard, and over already.
		err := g.claim(limited, 0)
		if errors.Is(err, ErrRefused) || err == nil && g.left() > 0 {
			return err
		}
		select {
		case <-limited.Done():
			return fmt.Errorf("%w: nobody vouches for it: %w", ErrRefused, errors.Join(err, limited.Err()))
		case <-time.After(retry):
		}
	}
}

// renewAll claims the run again and again. What goes wrong renews nothing, and the keeper knows when the lease is over.
func (g *guard) renewAll(ctx context.Context) {
	// heard is the newest save that an answer has brought.
	for heard := int64(0); ; {
		// Of a lease that was not renewed less is left, and the claims come the faster: there may be little time for one that succeeds.
		g.mu.Lock()
		length := g.lease.Length
		g.mu.Unlock()
		pause := max(g.left()/renewParts, lookEvery)
		if g.config.Every > 0 {
			pause = min(pause, g.config.Every)
		}
		// An authority that waits with its answer makes the pause; one that does not leaves it to the guard.
		next := time.After(pause)
		// The limit leaves room for several failures before the lease is over: sixths of it, each with a quarter to be answered.
		limited, cancel := context.WithTimeout(ctx, pause+length/claimParts)
		_ = g.claim(limited, pause)
		cancel()
		g.mu.Lock()
		before := heard
		heard = g.asked
		g.mu.Unlock()
		if heard > before && ctx.Err() == nil {
			continue // an answer that has come early leaves nobody who listens for the next
		}
		select {
		case <-ctx.Done():
			return
		case <-next:
		}
	}
}

// tellAll claims whenever something has happened, while another claim may wait for its answer. What goes wrong is told by
// that one's successor.
func (g *guard) tellAll(ctx context.Context) {
	// A word that comes in between is not lost: news has room for it.
	for {
		select {
		case <-ctx.Done():
			return
		case <-g.news:
		}
		// This claim does not wait for anything to be told, so that what has happened is heard at once.
		limited, cancel := context.WithTimeout(ctx, lastWords)
		_ = g.claim(limited, 0)
		cancel()
	}
}

// tell claims once more, so that the authority knows of the end. It may not answer: the record tells, too.
func (g *guard) tell(ctx context.Context) {
	// The context has ended where the guard was told to end, and the authority must hear of that all the same.
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
	defer cancel()
	_ = g.claim(limited, 0)
}
