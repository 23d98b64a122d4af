//go:build unix

// This file names the flags of open(2) that keep it from waiting, on Unix.

package regular

import "syscall"

const (
	nonblock = syscall.O_NONBLOCK
	nofollow = syscall.O_NOFOLLOW
)
