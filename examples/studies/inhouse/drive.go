// This file declares what a demonstration is made of: jobs, when they are submitted, and what became of them.

package main

import (
	"io"
	"math/rand/v2"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/examples/studies/inhouse/cluster"
	"github.com/apportion/apportion/examples/studies/inhouse/master"
	"github.com/apportion/apportion/examples/studies/inhouse/train"
)

// arrival is a job of the demonstration and when it is submitted.
type arrival struct {
	at    time.Duration
	app   alloc.Application
	train train.Job // what its processes do together
}

// drive is a demonstration under way.
type drive struct {
	place     cluster.Place
	stdout    io.Writer
	arrivals  []arrival
	servers   []apportion.Server
	killEvery time.Duration // 0: never
	killMost  int
	random    *rand.Rand

	live     *cluster.Cluster
	play     cluster.Play
	outcomes []*outcome
	kill     time.Duration // the next time
	killed   int
}

// outcome is what became of a job.
// points is the curve over all attempts, and runs how many there were.
type outcome struct {
	name   string
	runs   int
	points []master.Point
	// off is the largest difference of a loss from that of the same job alone and undisturbed. Sums over
	// several processes round differently, so it is not zero.
	off float64
}
