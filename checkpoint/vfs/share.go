// This file declares Sharer: files that get into an FS without a copy of their bytes.

package vfs

import (
	"errors"
	"fmt"
	"os"
)

// Sharer is an FS that can have the bytes of a file that lies elsewhere on its medium, and need not write them again. What it
// makes is a new file as Create makes one: neither its bytes nor its name are durable before a Sync of each, and it is
// there for one caller alone.
//
// Where one of the two cannot be had, for whatever reason, the error wraps errors.ErrUnsupported and nothing was made: who
// copies the bytes then meets what is really wrong.
type Sharer interface {
	FS
	// Clone makes a file that holds what another one holds at this moment, and shares its bytes until either is written to:
	// whatever becomes of the other one changes nothing here. XFS and Btrfs can, ext4 cannot.
	Clone(from *os.File, name string) (File, error)
	// Adopt gives a file a second name, here. It is for files that their owner has given away: a write to it would be a
	// write to what is here. So it must be a regular one of this user's with no other name, and open for writing nowhere.
	// Until from is closed the system keeps it so, for at most lease-break-time, see proc(5); a File.Sync that finds that
	// somebody wanted to write fails with ErrTouched. The File cannot be written. It is the caller's to take the first
	// name away when it is not needed any more, and to close from behind that.
	Adopt(from *os.File, name string) (File, error)
}

// ErrTouched: somebody has opened a file for writing that was given away.
var ErrTouched = errors.New("vfs: opened for writing after it was given away")

// unshared says that a file must be copied.
func unshared(err error) error { return fmt.Errorf("%w: %w", errors.ErrUnsupported, err) }
