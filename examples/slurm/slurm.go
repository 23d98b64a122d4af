// This file declares the cluster as the controller remembers it between two looks: jobs, parts of runs, and nodes.

package main

import (
	"sync"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/examples/internal/beside"
)

// kinds are the kinds of resources: CPUs, memory in MB, and generic resources called gpu.
var kinds = apportion.Kinds{"cpu", "memory", "gpu"}

// slurm is a Slurm cluster as the controller sees it. It implements beside.Cluster.
type slurm struct {
	epoch int64
	// folder holds a note of each part of a run before it is submitted.
	folder string
	guard  beside.Guarded

	mu sync.Mutex
	// down are the nodes that did not answer Slurm at the newest look, and closed those on which nothing is started.
	down, closed map[string]bool
	// specs are the jobs that were read, by ID: nothing of a held job changes but by its user.
	specs map[string]spec
	// starts keep apart those who have runs of one job started: each of its servers does.
	starts map[string]*sync.Mutex
	// looked is when the runs were read last.
	looked time.Time
	runs   []run
}

func newSlurm(epoch int64, folder string, g beside.Guarded) *slurm {
	return &slurm{epoch: epoch, folder: folder, guard: g, down: map[string]bool{}, specs: map[string]spec{}, starts: map[string]*sync.Mutex{}}
}

var _ beside.Cluster = (*slurm)(nil)

// spec is what a job runs.
type spec struct {
	// Record is the job as Slurm shows it, and Script its batch script.
	Record record `json:"record"`
	Script string `json:"script"`
}

// mark begins the comment of a job that is for the controller.
const mark = "apportion"

// run is a part of a run: what a job has on one node, a job of Slurm's.
type run struct {
	id, job, node, state, reason string
	attempt, tasks               int64
}
