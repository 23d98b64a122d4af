// This file reads the processor time of the process.

//go:build unix

package main

import (
	"syscall"
	"time"
)

// processorTime returns the time in user mode that all threads have used so far. Other work on the machine hardly
// matters to it.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err) // the arguments are right
	}
	return time.Duration(usage.Utime.Nano())
}
