//go:build linux

// This file declares jobs that share a CPU, and one run of them.

package main

import (
	"io"
	"time"

	"github.com/apportion/apportion/examples/live/harness"
	"github.com/apportion/apportion/examples/nodeagent/node"
	"github.com/apportion/apportion/examples/studies/inhouse/cluster"
	"github.com/apportion/apportion/examples/studies/inhouse/master"
)

// worker is one CPU and the jobs that share it.
// writer and runner belong together, see node.Choose.
type worker struct {
	jobs   []harness.Job
	kit    *harness.Kit
	place  cluster.Place
	writer node.Writer
	runner node.Runner
	every  time.Duration // between samples
	stdout io.Writer
}

// trial is one run of the jobs.
// All slices are by job.
type trial struct {
	times   []time.Duration // of each job, from its start
	samples []node.Sample
	curves  [][]master.Point
}
