// This file implements hands: what an agent is doing for one job right now, one thing at a time.

package agent

import (
	"context"
	"sync"
)

// hands do one thing at a time. A stop does not wait for what it makes useless: it ends that first.
type hands struct {
	busy sync.Mutex // held while something is done

	mu    sync.Mutex
	under map[*context.CancelFunc]int64 // what is under way or waits for its turn: the attempt
}

// handsOf returns the hands of a job. The agent's lock is held.
func (a *Agent) handsOf(job string) *hands {
	h, ok := a.hands[job]
	if !ok {
		h = &hands{under: map[*context.CancelFunc]int64{}}
		a.hands[job] = h
	}
	return h
}

// drop ends what is under way for attempts up to this one.
func (h *hands) drop(attempt int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for cancel, of := range h.under {
		if of <= attempt {
			(*cancel)()
		}
	}
}

// begin announces something for an attempt. A drop from now on ends it, even before its turn.
func (h *hands) begin(ctx context.Context, attempt int64) (_ context.Context, end func()) {
	ctx, cancel := context.WithCancel(ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.under[&cancel] = attempt
	return ctx, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.under, &cancel)
		cancel()
	}
}

// use does what was begun when its turn has come.
func (h *hands) use(ctx context.Context, do func(context.Context) (int64, error)) (int64, error) {
	h.busy.Lock()
	defer h.busy.Unlock()
	if err := ctx.Err(); err != nil {
		return -1, err
	}
	return do(ctx)
}
