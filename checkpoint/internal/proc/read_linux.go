//go:build linux

// This file implements Read for Linux: three system calls for a file of /proc, where an os.File makes nine.

package proc

import (
	"os"
	"syscall"
)

// minRead is the least room for a read, in bytes: most files of /proc fit in, so that they are read at once.
const minRead = 4096

// Read returns what a file of /proc holds that is about one process. It appends to the buffer, which is used again for the next
// one: whoever looks at all processes reads two files of each, and allocates nothing. A file of a process that has ended is an
// error.
func Read(name string, buffer []byte) ([]byte, error) {
	fd, err := again(func() (int, error) { return syscall.Open(name, syscall.O_RDONLY|syscall.O_CLOEXEC, 0) })
	if err != nil {
		return buffer, &os.PathError{Op: "open", Path: name, Err: err}
	}
	// A descriptor that was read only has nothing to lose.
	defer syscall.Close(fd)
	for {
		// There is always room, so that no bytes mean the end.
		if cap(buffer)-len(buffer) < minRead {
			buffer = append(buffer, make([]byte, max(minRead, cap(buffer)))...)[:len(buffer)]
		}
		n, err := again(func() (int, error) { return syscall.Read(fd, buffer[len(buffer):cap(buffer)]) })
		if err != nil {
			return buffer, &os.PathError{Op: "read", Path: name, Err: err}
		}
		room := cap(buffer) - len(buffer)
		buffer = buffer[:len(buffer)+n]
		// The kernel fills what it is given as far as it can: less is the end. To ask once more costs as much as the first time.
		if n < room {
			return buffer, nil
		}
	}
}

// again makes a system call until no signal has come between. The runtime sends signals to its own threads to stop goroutines
// that run for long, so that this is no rare case.
func again(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if err != syscall.EINTR {
			return n, err
		}
	}
}
