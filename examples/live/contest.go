//go:build linux

// This file declares a comparison of two ways to place jobs, and what it shows.

package main

import (
	"io"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/examples/live/harness"
	"github.com/apportion/apportion/examples/studies/inhouse/cluster"
)

// contest is the same stream of jobs under several schedulers.
// The first of plays is what the others are compared with.
type contest struct {
	stdout   io.Writer
	dir      cluster.Place
	jobs     []harness.Job
	interval time.Duration
	first    bool
	plays    []*show
}

// show is one play of it.
// All but name, policy and s3 are filled in by the play.
type show struct {
	name, policy string
	s3           bool
	record       *harness.Record
	ended        []time.Duration // each job
	adjustments  []harness.Adjustment
}

// nodes are the two servers, which have a CPU each; as many jobs as fit share it.
var nodes = []apportion.Server{{ID: "left", Capacity: apportion.Resources{6, 6}}, {ID: "right", Capacity: apportion.Resources{6, 6}}}
