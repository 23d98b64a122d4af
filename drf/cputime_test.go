//go:build unix

// This file reads the time of the processor that benchmarks take.

package drf_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/apportion/apportion/internal/must"
)

func cpuTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	must.Do(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
