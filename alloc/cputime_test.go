//go:build unix

// This file measures in time of the processor, which a busy machine does not stretch.

package alloc_test

import (
	"syscall"
	"testing"
	"time"
)

// cpuTime returns what this process has used so far.
func cpuTime(tb testing.TB) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
