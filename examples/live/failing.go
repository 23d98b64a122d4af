// This file declares a play in which things fail.

package main

import (
	"context"
	"time"

	"github.com/apportion/apportion/examples/studies/inhouse/cluster"
)

// failing is a play in which things fail.
// play and sample are those of the newest look.
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
// step is the newest that was seen of the job, so that a later one is progress.
type happened struct {
	fault
	at   time.Time
	step int64
}

// fault is something that goes wrong.
// do is called once, when its time has come.
type fault struct {
	what string
	// job is the one that it hits. It happens while that job runs and has steps that no checkpoint holds.
	job string
	do  func(ctx context.Context, f *failing) error
	// disk says that the store must be on a disk of its own.
	disk bool
}
