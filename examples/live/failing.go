// This file declares a play in which things fail.

package main

import (
	"context"
	"time"

	"github.com/apportion/apportion/examples/studies/inhouse/cluster"
)

// failing is a play in which things fail.
type failing struct {
	place  cluster.Place
	faults []fault // those to come
	play   *cluster.Play
	sample *cluster.Sample

	done    []happened
	filled  bool
	cleared time.Duration // when the disk has room again
}

// happened is a fault, when, and at which step of its job.
type happened struct {
	fault
	at   time.Time
	step int64
}

// fault is something that goes wrong.
type fault struct {
	what string
	// job is the one that it hits. It happens while that job runs and has steps that no checkpoint holds.
	job string
	do  func(ctx context.Context, f *failing) error
	// disk says that the store must be on a disk of its own.
	disk bool
}
