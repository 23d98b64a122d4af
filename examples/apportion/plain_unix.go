//go:build unix

// This file has the flags of a file in whose place there may be anything.

package main

import "syscall"

// plain refuses a link, and does not wait for the other end of a pipe.
const plain = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
