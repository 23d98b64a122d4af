// This file declares jobs, and runs one alone and undisturbed: what it did elsewhere is compared with that.

package harness

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/examples/studies/inhouse/cluster"
	"github.com/apportion/apportion/examples/studies/inhouse/master"
)

// Job is a training job and when it arrives.
// The same seed gives the same losses, on any number of processes.
type Job struct {
	Name string
	At   time.Duration
	// Framework is "pytorch", "tensorflow" or "mxnet"; Args say to its trainer what to train.
	Framework string
	Args      []string
	Steps     int64
	Seed      int64
	// Cost is the time that a sample takes beside the arithmetic; a step has Batch samples.
	Cost time.Duration
	// Min and Max bound the containers; each takes Demand.
	Min, Max int64
	Weight   float64
	Demand   apportion.Resources
	// Policy is what only some policies ask for; nil: nothing.
	Policy any
}

// Batch is the number of samples of a step, over all processes of a job.
const Batch = 64

// arrival is the job as it is submitted.
// Start and resume are one command.
func (j *Job) arrival(kit *Kit) (cluster.Arrival, error) {
	argv := kit.Command(j)
	job := master.Submission{Application: alloc.Application{ID: j.Name, Executor: j.Framework, Weight: j.Weight, Form: alloc.Form{Demand: j.Demand,
		Min: j.Min, Max: j.Max}, Start: argv, Resume: argv}}
	var err error
	if j.Policy != nil {
		job.Policy, err = json.Marshal(j.Policy)
	}
	return cluster.Arrival{At: j.At, Job: job}, err
}

// alone runs the job by itself, one process from the first step to the last, and returns its curve.
// It pretends no cost, which changes the time and not the losses.
func (j *Job) alone(ctx context.Context, kit *Kit, dir string) ([]master.Point, error) {
	undisturbed := *j
	undisturbed.Cost = 0
	run := filepath.Join(dir, j.Name, "1")
	if err := os.RemoveAll(run); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(run, 0o700); err != nil {
		return nil, err
	}
	argv := slices.DeleteFunc(kit.Command(&undisturbed), func(arg string) bool { return arg == "--deaf" })
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append(environment(), "PATH="+os.Getenv("PATH"), "HOME="+os.Getenv("HOME"),
		command.EnvCheckpointDir+"="+run, command.EnvJob+"="+j.Name, command.EnvAttempt+"=1")
	if output, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("job %q alone: %w\n%s", j.Name, err, output)
	}
	return master.Curve(dir, j.Name)
}
