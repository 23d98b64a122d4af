//go:build unix

// This file reads the time of the processor that benchmarks take.

package drf_test

import (
	"syscall"
	"testing"
	"time"
)

func cpuTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
