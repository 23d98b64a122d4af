// This file implements Standby: a master that waits for the one before it to be gone.

package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/internal/flock"
	"github.com/apportion/apportion/checkpoint/vfs"
)

const (
	// lockFile is the file in the directory whose lock a master holds for as long as it lives.
	lockFile = "lock"
	// standbyPoll is the time between two looks at it. A look is one system call.
	standbyPoll = 100 * time.Millisecond
)

// Standby is [Open] in a directory of the operating system, as soon as no other process that has called it there has its
// journal open: the system takes the lock from a process that ends, however it ends. What Open would refuse is refused at
// once, and not when the master is gone.
//
// The lock is a courtesy among those who call Standby. That there is one master is seen to by the numbers, as with Open:
// a master that is stopped, and not dead, keeps the lock, and somebody who knows better calls Open. On file systems of
// several machines the lock may not be seen by all of them; the journal is not for these either. The error wraps
// errors.ErrUnsupported where the system is no Unix.
func Standby(ctx context.Context, dir string, config checkpoint.Config) (*checkpoint.Machine, *Journal, error) {
	if err := config.Validate(); err != nil {
		return nil, nil, err
	}
	fsys, err := vfs.NewOS(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("checkpoint: %w", err)
	}
	m, j, err := standby(ctx, fsys, dir, config)
	if err != nil {
		return nil, nil, errors.Join(err, fsys.Close())
	}
	// The lock goes first and the directory after it, for the lock is a file in there.
	unlock := j.unlock
	j.unlock = func() error { return errors.Join(unlock(), fsys.Close()) }
	return m, j, nil
}

// standby is Standby with a directory that the caller closes where there is an error.
func standby(ctx context.Context, fsys vfs.FS, dir string, config checkpoint.Config) (*checkpoint.Machine, *Journal, error) {
	if err := rehearse(fsys, config); err != nil {
		return nil, nil, fmt.Errorf("checkpoint: %w", err)
	}
	// The file is never removed: one that waits for it, and one that has made it anew, would both have the lock.
	lock, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("checkpoint: %w", err)
	}
	if err := await(ctx, lock); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("checkpoint: standby: %w", err), lock.Close())
	}
	// The lock is held by now, and by the journal from here on: Close lets it go, and so does the end of the process.
	m, j, err := Open(fsys, config)
	if err != nil {
		return nil, nil, errors.Join(err, lock.Close())
	}
	j.unlock = lock.Close
	return m, j, nil
}

// await waits until the lock is this file's.
func await(ctx context.Context, lock *os.File) error {
	for {
		if ours, err := flock.Try(lock); ours || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(standbyPoll):
		}
	}
}
