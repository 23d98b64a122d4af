//go:build !arm

// This file implements Flush where the system can begin to write without committing anything.

package vfs

import (
	"os"
	"syscall"
)

// syncFileRangeWrite asks sync_file_range(2) to begin writing, and to wait for nothing.
const syncFileRangeWrite = 2

// flush begins to write the pages of a file that are dirty. Unlike fsync(2) it commits no journal, and has no disk empty its
// cache: so it may be called often. The pages of an earlier call that are on their way are passed over.
func flush(f *os.File) {
	conn, err := f.SyscallConn()
	if err != nil {
		return // the file is closed, which the next Sync says
	}
	// From 0 on, 0 bytes: to the end of the file. Control holds the descriptor while the call runs.
	_ = conn.Control(func(fd uintptr) { _ = syscall.SyncFileRange(int(fd), 0, 0, syncFileRangeWrite) })
}
