// This file counts the searches that still end after their call has returned.

package ortools

import (
	"context"
	"sync"
	"time"
)

const (
	// grace is how long a call whose context has ended waits for an engine that answers little more than
	// what is known beforehand: HiGHS, which tells points and bounds as it finds them, and GLOP, which
	// has no point before the end.
	grace = 30 * time.Millisecond
	// patience is how long it waits for the others, whose best point comes only when they have stopped.
	patience = 3 * time.Second
	// maxWindingUp is how many searches may be left to end by themselves. Each holds a thread and the
	// memory of its search. Beyond that a call waits for its engine.
	maxWindingUp = 8
)

// windingUp counts the searches that have been left.
var windingUp counter

// counter is a number that can be waited for to be zero.
type counter struct {
	mu    sync.Mutex
	count int
	zero  chan struct{} // closed when count is back at zero; nil where nobody waits
}

// add counts one more, if there is room for it.
func (c *counter) add() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	// Each search that is left costs a thread and memory, and nobody may leave more of them than
	// this.
	if c.count == maxWindingUp {
		return false
	}
	c.count++
	return true
}

// done counts one less.
// Each call belongs to one add that has returned true.
func (c *counter) done() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count--
	// All who wait share one channel; it is made anew by the next one who waits.
	if c.count == 0 && c.zero != nil {
		close(c.zero)
		c.zero = nil
	}
}

// wait returns when the number is zero, or with the error of a context that ends before.
func (c *counter) wait(ctx context.Context) error {
	c.mu.Lock()
	if c.count == 0 {
		c.mu.Unlock()
		return nil
	}
	if c.zero == nil {
		c.zero = make(chan struct{})
	}
	// The channel is read under the lock and waited for without it: done needs the lock to close
	// it.
	zero := c.zero
	c.mu.Unlock()
	select {
	case <-zero:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// withLimit returns a context that ends with ctx or after the limit; 0: no limit.
func withLimit(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit > 0 {
		return context.WithTimeout(ctx, limit)
	}
	return ctx, func() {}
}

// untilLeft calls run on a goroutine of its own and returns what it does. Where ctx has ended and run
// does not follow in that time, it returns what left does instead, and run goes on by itself.
// run must own all that it uses: after left has answered nobody waits for it but the counter.
func untilLeft[T any](ctx context.Context, wait time.Duration, run func() (T, error), left func() T) (T, error) {
	type end struct {
		answer T
		err    error
	}
	// The buffer lets a search that was left deliver its answer to nobody and end.
	ended := make(chan end, 1)
	go func() {
		answer, err := run()
		ended <- end{answer, err}
	}()
	select {
	case e := <-ended:
		return e.answer, e.err
	// From here the engine has been told to stop, and has the wait to do so.
	case <-ctx.Done():
	}
	select {
	case e := <-ended:
		return e.answer, e.err
	case <-time.After(wait):
	}
	// There is no room: this call waits for its engine, however long that takes.
	if !windingUp.add() {
		e := <-ended
		return e.answer, e.err
	}
	// run's answer is dropped; its own clean-up is done when it returns.
	go func() {
		<-ended
		windingUp.done()
	}()
	return left(), nil
}

// WindingUp returns how many interrupted searches have not ended yet although their calls have returned.
// They use processor time until they reach a point at which they can stop, and free all they hold then;
// they need nothing of the caller. At most 8 are left so at any time.
func WindingUp() int {
	windingUp.mu.Lock()
	defer windingUp.mu.Unlock()
	return windingUp.count
}

// WaitWindingUp returns when no search is winding up, or with ctx's error when it ends before.
func WaitWindingUp(ctx context.Context) error { return windingUp.wait(ctx) }
