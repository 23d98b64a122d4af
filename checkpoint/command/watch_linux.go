// This file implements waiting until something has changed in a folder: inotify(7).

package command

import (
	"context"
	"os"
	"syscall"
	"time"
)

// watch tells when a file has come into folders, or was closed by who has written it. Nil tells nothing.
type watch struct{ file *os.File }

// watching returns a watch over folders, to be closed; nil where there is none: the user has too many of them, or
// the system has no inotify. What comes into a folder that is not there is not told, and neither is what another machine writes into
// a file system that both share. So whoever waits has to look now and then all the same.
func watching(folders ...string) *watch {
	const closed, moved, only = 0x8, 0x80, 0x1000000 // IN_CLOSE_WRITE, IN_MOVED_TO, IN_ONLYDIR
	fd, err := syscall.InotifyInit1(syscall.O_NONBLOCK | syscall.O_CLOEXEC)
	if err != nil {
		return nil
	}
	for _, folder := range folders {
		_, _ = syscall.InotifyAddWatch(fd, folder, closed|moved|only) // without it the looks are enough
	}
	// O_NONBLOCK lets the runtime wait for it, with deadlines.
	return &watch{os.NewFile(uintptr(fd), "inotify")}
}

// wait returns whether anything was told before a while was over, or the context; what was told before counts as well. It
// takes in all that was told.
func (w *watch) wait(ctx context.Context, while time.Duration) bool {
	_ = w.file.SetReadDeadline(time.Now().Add(while)) // which inotify has
	// A deadline in the past lets the wait go.
	stop := context.AfterFunc(ctx, func() { _ = w.file.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	// What does not fit in is told by the next wait: who floods the folder has others look more often, and no more.
	var events [4096]byte
	n, _ := w.file.Read(events[:]) // the deadline is no error to whoever waits
	return n > 0
}

// close lets the folders go. It does not wait for that: the kernel waits for all who may be looking at the list of watches, ten
// milliseconds and more, which is longer than most saves.
func (w *watch) close() {
	if w != nil {
		go func() { _ = w.file.Close() }() // nothing was written
	}
}
