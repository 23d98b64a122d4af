// This file checks that a call which hangs holds nobody up, and that one which returns is heard.

package abandon_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/apportion/apportion/checkpoint/internal/abandon"
	"github.com/apportion/apportion/internal/must"
)

func TestReturns(t *testing.T) {
	failure := errors.New("failure")
	for _, want := range []error{nil, failure} {
		value, err := abandon.Do(t.Context(), func(context.Context) (int, error) { return 7, want })
		if value != 7 || err != want {
			t.Errorf("%d, %v, want 7, %v", value, err, want)
		}
	}
}

// A call that ignores its context is left behind, and can still end: the bubble does not close before its
// goroutine has.
func TestHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		release := make(chan struct{})
		value, err := abandon.Do(ctx, func(context.Context) (string, error) {
			<-release
			return "late", nil
		})
		if value != "" || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%q, %v", value, err)
		}
		close(release)
	})
}

// Nothing is begun for a context that has ended.
func TestEndedBefore(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	begun := make(chan struct{}, 1)
	_, err := abandon.Do(ctx, func(context.Context) (int, error) {
		begun <- struct{}{}
		return 1, nil
	})
	must.Err(t, err, context.Canceled)
	select {
	case <-begun:
		t.Error("it was begun")
	case <-time.After(20 * time.Millisecond):
	}
}
