// This file tests how a checkpoint is cut into pieces and how these are read beside each other.

package store

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/apportion/apportion/internal/must"
)

// The first fault is told, whichever was found first, and no piece is begun long after it.
func TestInParallel(t *testing.T) {
	pieces := make([]piece, 1000)
	for i := range pieces {
		pieces[i].offset = int64(i)
	}
	var done atomic.Int64
	if err := inParallel(pieces, func(piece) error { done.Add(1); return nil }); err != nil || done.Load() != 1000 {
		t.Fatalf("%d of 1000 were done, %v", done.Load(), err)
	}
	done.Store(0)
	err := inParallel(pieces, func(p piece) error {
		if done.Add(1); p.offset%7 == 3 {
			return fmt.Errorf("fault of %d", p.offset)
		}
		return nil
	})
	if err == nil || err.Error() != "fault of 3" || done.Load() > 3+2*maxReaders {
		t.Errorf("%v, after %d pieces", err, done.Load())
	}
	must.Do(t, inParallel(nil, nil))
}
