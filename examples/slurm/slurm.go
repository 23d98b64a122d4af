// This file declares the cluster as the controller remembers it between two looks: jobs, parts of runs, and nodes.

package slurm

import (
	"sync"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint/controller/daemon"
)

// kinds are the kinds of resources: CPUs, memory in MB, and generic resources called gpu.
// The order is that of every vector here: demandOf, serverOf and ownUse fill the places by number.
var kinds = apportion.Kinds{"cpu", "memory", "gpu"}

// slurm is a Slurm cluster as the controller sees it. It implements daemon.Cluster.
// Slurm keeps the jobs and their states, so that nothing here needs to outlive the process but the notes in
// the folder: what follows is what the newest look found, and may be thrown away.
type slurm struct {
	// epoch numbers the masters: the larger one is the later.
	epoch int64
	// folder holds a note of each job that is over.
	folder string
	guard  daemon.Guarded
	settings

	// mu guards all that follows. It is not held while one of Slurm's commands runs, but for list, whose
	// callers would all ask the same.
	mu sync.Mutex
	// down are the nodes that did not answer Slurm at the newest look, and closed those on which nothing is started.
	down, closed map[string]bool
	// room is what others left of each node at the newest look, before at the one before, and demands what a task of each job takes.
	room, before, demands map[string]apportion.Resources
	// scripts are those of the jobs that were read, by ID.
	scripts map[string]string
	// looked is when the runs were read last.
	looked time.Time
	runs   []run
}

// newSlurm returns a cluster that has not been looked at. For a dry run folder is empty and nothing is
// written.
func newSlurm(epoch int64, folder string, g daemon.Guarded) *slurm {
	return &slurm{epoch: epoch, folder: folder, guard: g, settings: given, down: map[string]bool{}, demands: map[string]apportion.Resources{}, scripts: map[string]string{}}
}

var _ daemon.Cluster = (*slurm)(nil)

// spec is what a job runs: the job as Slurm shows it, and its batch script.
// It travels with the job through the controller's journal as JSON, so that a later master starts the job's
// next run without asking Slurm for it.
type spec struct {
	Job    job    `json:"job"`
	Script string `json:"script"`
}

// mark begins the comment of a job that is for the controller.
const mark = "apportion"

// run is a part of a run: what a job has on one node, a job of Slurm's.
type run struct {
	id, job, node, state, reason string
	attempt, tasks               int64
}
