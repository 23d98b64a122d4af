// This file implements what a guard writes down while its run goes on.

package guard

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/internal/abandon"
)

// recordEvery is how often what is known is written down, if it has changed. Progress changes with every line of output, and
// nobody reads the record but after a death.
const recordEvery = 500 * time.Millisecond

// lookEvery is how often the acknowledgement is looked for while a save is under way: a resize waits for it.
const lookEvery = 50 * time.Millisecond

// recordAll keeps the record up to date.
// It ends with its context, and Run waits for that before it writes down the end.
func (g *guard) recordAll(ctx context.Context) {
	for last := ""; ; {
		g.mu.Lock()
		text, _ := json.Marshal(g.state) // which JSON can always hold
		g.mu.Unlock()
		// What cannot be written now is tried again at the next look.
		if string(text) != last && g.record(ctx) == nil {
			last = string(text)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(recordEvery):
		}
	}
}

// lookAll looks for acknowledgements, and often while a save is under way: somebody waits for it.
func (g *guard) lookAll(ctx context.Context) {
	for {
		g.readAcknowledgement(ctx)
		pause := recordEvery
		if g.saving() {
			pause = lookEvery
		}
		select {
		case <-ctx.Done():
			return
		// A save was asked for: the long pause is over, and the short ones begin.
		case <-g.requested:
		case <-time.After(pause):
		}
	}
}

// saving reports whether a save that a grant has asked for is not acknowledged.
func (g *guard) saving() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.asked > 0 && (g.state.Checkpoint == nil || g.state.Checkpoint.Request < g.asked)
}

// readAcknowledgement takes in the newest acknowledgement, and has a new one told. One that is not there, or half written,
// changes nothing.
func (g *guard) readAcknowledgement(ctx context.Context) {
	// Without a file nothing is ever acknowledged, and a save that is asked for waits until whoever asks gives up.
	if g.config.Acknowledgement == "" {
		return
	}
	ack, err := abandon.Do(ctx, func(context.Context) (ack command.Acknowledgement, err error) {
		err = read(g.config.Acknowledgement, &ack)
		return ack, err
	})
	// There is none yet, or the trainer is writing it: the next look is soon.
	if err != nil {
		return
	}
	g.change(func(s *State) {
		// The same acknowledgement is read again and again and is news once.
		if s.Checkpoint == nil || s.Checkpoint.Request != ack.Request {
			wake(g.news)
		}
		s.Checkpoint = &ack
	})
}

// record writes down what is known. A disk that hangs is left alone.
func (g *guard) record(ctx context.Context) error {
	if g.config.Record == "" {
		return nil
	}
	// The state is copied under the lock and written without it: a disk that hangs must not stop the renewing.
	g.mu.Lock()
	r := Record{ID: g.config.ID, Epoch: g.config.Epoch, State: g.state}
	g.mu.Unlock()
	_, err := abandon.Do(ctx, func(context.Context) (struct{}, error) { return struct{}{}, r.write(g.config.Record) })
	return err
}

// request writes the number of a save into the file that the trainer looks at, before any signal says so. One that cannot
// be written is asked for again by whoever waits for the save.
func (g *guard) request(ctx context.Context, number int64) {
	if g.config.Request == "" {
		return
	}
	// The goroutine that attends to the keeper waits for this, so it must end soon.
	limited, cancel := context.WithTimeout(ctx, lastWords)
	defer cancel()
	_, err := abandon.Do(limited, func(context.Context) (struct{}, error) {
		return struct{}{}, g.config.tell(fmt.Appendln(nil, number))
	})
	if err != nil {
		fmt.Fprintln(g.stderr(), "guard: a save cannot be asked for:", err)
	}
}
