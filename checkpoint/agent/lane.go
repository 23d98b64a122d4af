// This file implements the lane of a job: what its agent is doing for it right now, one thing at a time.

package agent

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/apportion/apportion/checkpoint/internal/abandon"
)

// courtesy is how long an end waits for what it has dropped. What listens to its context is gone long before; behind
// what does not, the processes are ended out of turn.
const courtesy = 100 * time.Millisecond

// lane lets effects of one job pass one at a time. What ends the processes does not wait for what it makes
// useless: it ends that first. Two ends of one job wait for each other, since neither makes the other useless:
// the first may belong to a master that stops waiting for it.
type lane struct {
	// turn has room for one: who has put something in has the lane until it takes it out. A channel and not a lock,
	// so that a context can end the wait behind a disk that hangs. drop needs mu alone.
	turn chan struct{}

	mu sync.Mutex
	// passing is what is under way or waits for its turn and may be dropped, in the order in which it has entered.
	passing []*passing
}

// passing is how to end something, and its attempt.
type passing struct {
	cancel  context.CancelFunc
	attempt int64
}

func newLane() *lane {
	return &lane{turn: make(chan struct{}, 1)}
}

// drop ends what is under way, or waits, for attempts up to this one.
func (l *lane) drop(attempt int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.passing {
		// A later attempt is spared: a Stop ends those up to its own and none above.
		if p.attempt <= attempt {
			p.cancel()
		}
	}
}

// enter announces something that is not an end for an attempt. A drop from now on ends it, even before its turn.
// leave must be called when it is over.
func (l *lane) enter(ctx context.Context, attempt int64) (_ context.Context, leave func()) {
	ctx, cancel := context.WithCancel(ctx)
	one := &passing{cancel, attempt}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.passing = append(l.passing, one)
	return ctx, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.passing = slices.DeleteFunc(l.passing, func(p *passing) bool { return p == one })
		cancel()
	}
}

// use does what has entered, when its turn has come, unless it was dropped before.
func (l *lane) use(ctx context.Context, do func(context.Context) (int64, error)) (int64, error) {
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return -1, ctx.Err()
	}
	defer func() { <-l.turn }()
	// What was dropped while it waited has done nothing, so there is nothing to undo. The select above chooses by chance
	// where both were ready.
	if err := ctx.Err(); err != nil {
		return -1, err
	}
	return do(ctx)
}

// end ends the processes. Where the lane does not become free soon, since something in it hangs, the processes are
// ended at once and once more when it is free: what hangs may start some when it wakes up. The caller is let go when
// its context ends, whatever hangs.
func (l *lane) end(ctx context.Context, do func(context.Context) error) error {
	_, err := abandon.Do(ctx, func(ctx context.Context) (struct{}, error) {
		select {
		case l.turn <- struct{}{}:
		case <-time.After(courtesy):
			// How this went does not count: only the end in turn says that nothing comes to life any more.
			_ = do(ctx)
			select {
			case l.turn <- struct{}{}:
			case <-ctx.Done():
				return struct{}{}, ctx.Err()
			}
		case <-ctx.Done():
			return struct{}{}, ctx.Err()
		}
		defer func() { <-l.turn }()
		return struct{}{}, do(ctx)
	})
	return err
}
