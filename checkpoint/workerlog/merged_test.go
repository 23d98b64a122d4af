// This file checks that an overlap is found where a manager does two phases of the protocol at once: it starts the next
// attempt when it has asked the old one to stop, and not when that has stopped.

package workerlog

import (
	"context"
	"errors"
	"os"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/apportion/apportion/internal/must"
)

// work is a worker which does a step every 50 ms, and hears that it should stop only so much later.
func work(ctx context.Context, t *testing.T, dir string, from int64, deaf time.Duration) *Writer {
	w, err := Create(dir, from)
	if err != nil {
		t.Error(err)
		return nil
	}
	go func() {
		ended := ctx.Done()
		var over <-chan time.Time
		for step := from; ; {
			select {
			case <-ended:
				ended, over = nil, time.After(deaf)
			case <-over:
				return
			case <-time.After(50 * time.Millisecond):
				step++
				if err := errors.Join(w.Step(step), w.Saved(step)); err != nil {
					t.Error(err)
				}
			}
		}
	}()
	return w
}

func TestMergedPhases(t *testing.T) {
	// How long the worker goes on after it was told to stop; on Nomad it was 1.7 s and 30 steps.
	const deaf = 1700 * time.Millisecond
	for _, merged := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			dir := t.TempDir()
			for attempt, from := range []int64{0, 10} {
				environment(t, strconv.Itoa(attempt+1), "0")
				ctx, stop := context.WithCancel(t.Context())
				work(ctx, t, dir, from, deaf)
				time.Sleep(510 * time.Millisecond)
				stop()
				if !merged {
					time.Sleep(deaf)
				}
			}
			time.Sleep(deaf)
			synctest.Wait()
			lines, err := ReadAll(os.DirFS(dir))
			must.Do(t, err)
			var fault *Fault
			err = Check(lines, nil)
			if !merged && err != nil {
				t.Errorf("one after the other: %v", err)
			}
			if merged && (!errors.As(err, &fault) || fault.Kind != Twice) {
				t.Errorf("merged: %v", err)
			}
		})
	}
}
