// This file implements the lane of a job: what its agent is doing for it right now, one thing at a time.

package agent

import (
	"context"
	"sync"
)

// lane lets effects of one job pass one at a time. What ends the processes does not wait for what it makes
// useless: it ends that first. Two ends of one job wait for each other, since neither makes the other useless:
// the first may belong to a master that stops waiting for it.
type lane struct {
	// busy is held for as long as an effect takes. drop needs mu alone, so it gets through meanwhile.
	busy sync.Mutex // held while something is done

	mu sync.Mutex
	// passing is what is under way or waits for its turn and may be dropped: how to end it, and its attempt.
	// The key is an address, for functions cannot be compared; it has no other meaning.
	passing map[*context.CancelFunc]int64
}

// drop ends what is under way, or waits, for attempts up to this one.
func (l *lane) drop(attempt int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for cancel, of := range l.passing {
		// A later attempt is spared: a Stop ends those up to its own and none above.
		if of <= attempt {
			(*cancel)()
		}
	}
}

// enter announces something that is not an end for an attempt. A drop from now on ends it, even before its turn.
// leave must be called when it is over.
func (l *lane) enter(ctx context.Context, attempt int64) (_ context.Context, leave func()) {
	ctx, cancel := context.WithCancel(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.passing == nil {
		l.passing = map[*context.CancelFunc]int64{}
	}
	l.passing[&cancel] = attempt
	return ctx, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.passing, &cancel)
		cancel()
	}
}

// use does what has entered, when its turn has come, unless it was dropped before.
func (l *lane) use(ctx context.Context, do func(context.Context) (int64, error)) (int64, error) {
	l.busy.Lock()
	defer l.busy.Unlock()
	// What was dropped while it waited has done nothing, so there is nothing to undo.
	if err := ctx.Err(); err != nil {
		return -1, err
	}
	return do(ctx)
}
