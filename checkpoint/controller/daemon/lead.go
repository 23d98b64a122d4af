// This file lets one controller lead at a time, on one folder.

package daemon

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/apportion/apportion/checkpoint/internal/flock"
)

// hold waits until no other controller holds the lock of a folder. The system lets go of it when this process ends. What
// the lock cannot do, a controller that was cut off and goes on, the journal does: it is fenced off by the next.
// It asks five times a second, since a lock that is waited for in the kernel could not be given up when the
// context ends.
//
// Controllers of several machines exclude each other where the folder's file system carries flock(2) from one to the
// other, as NFS does on Linux; elsewhere only those of one machine do. release gives the lead back, after all that the
// controller has begun.
func hold(ctx context.Context, name string) (release func(), err error) {
	// The file is never removed: two could then hold two locks of one name.
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		locked, err := flock.Try(f)
		if locked {
			return func() { _ = f.Close() }, nil
		}
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), f.Close())
		case <-time.After(200 * time.Millisecond):
		}
	}
}
