package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"testing"

	"github.com/apportion/apportion/internal/must"
)

func TestInParallel(t *testing.T) {
	var done [100]atomic.Int32
	err := InParallel(t.Context(), len(done), io.Discard, "testing", func(_ context.Context, i int) error {
		done[i].Add(1)
		return nil
	})
	for i := range done {
		if n := done[i].Load(); n != 1 || err != nil {
			t.Errorf("%d was called %d times, error %v", i, n, err)
		}
	}
	must.Do(t, InParallel(t.Context(), 0, io.Discard, "testing", nil))
}

// An error ends the calls that are under way and those that have not begun; what they say of it does not
// hide it. A context that has ended is the error itself.
func TestInParallelEnds(t *testing.T) {
	failed := errors.New("failed")
	var calls atomic.Int32
	err := InParallel(t.Context(), 1_000_000, io.Discard, "testing", func(ctx context.Context, i int) error {
		calls.Add(1)
		if i == 0 {
			return failed
		}
		<-ctx.Done()
		return ctx.Err()
	})
	if !errors.Is(err, failed) || calls.Load() == 1_000_000 {
		t.Errorf("error %v after %d calls", err, calls.Load())
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	err = InParallel(ended, 3, io.Discard, "testing", func(context.Context, int) error { t.Error("called"); return nil })
	must.Err(t, err, context.Canceled, "error")
}

func TestGrid(t *testing.T) {
	got := must.Have(Grid(t.Context(), [2]int{3, 2}, io.Discard, "testing", func(_ context.Context, row, column int) (int, error) { return 10*row + column, nil }))(t)
	must.Equal(t, fmt.Sprint(got), "[[0 1] [10 11] [20 21]]")
}
