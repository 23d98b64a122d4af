// This file plays jobs of three frameworks while everything that they depend on is killed or fails, one
// thing after the other.

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/examples/live/harness"
	"github.com/apportion/apportion/examples/studies/inhouse/cluster"
	"github.com/apportion/apportion/examples/studies/inhouse/master"
)

// failing is a play in which things fail.
// play and sample are those of the newest look.
type failing struct {
	place  cluster.Place
	faults []fault  // those to come
	master []string // its arguments
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
	at            time.Time
	step, attempt int64
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
	// anew says that it is over only in another attempt: the job does a few steps more before it is hit.
	anew bool
}

// faults in the order in which they happen. The last process of an MXNet job is its parameter server.
var faults = []fault{
	{"kill -9 of a trainer (PyTorch, first process)", "lstm", killRank(0), false, false},
	{"kill -9 of a trainer (TensorFlow)", "vae", killRank(0), false, false},
	{"kill -9 of a trainer (MXNet worker)", "network", killRank(0), false, false},
	{"kill -9 of a parameter server (MXNet)", "network", killRank(-1), false, false},
	{"kill -9 of an agent", "lstm", killAgent, false, false},
	{"kill -9 of the master", "vae", killMaster, false, false},
	{"the disk of the store fills", "lstm", fill, true, false},
	{"a trainer that ignores requests to save is to move", "deaf", move, false, false},
}

func unlucky() []harness.Job {
	const cost = 20 * time.Millisecond
	demand := apportion.Resources{1, 2}
	return []harness.Job{
		{Name: "lstm", Framework: "pytorch", Args: []string{"--cell", "lstm"}, Steps: 600, Seed: 1, Cost: cost, Min: 1, Max: 3, Weight: 1, Demand: demand},
		{Name: "network", Framework: "mxnet", Args: []string{"--model", "network"}, Steps: 320, Seed: 5, Cost: cost, Min: 3, Max: 3, Weight: 1, Demand: demand},
		{Name: "vae", Framework: "tensorflow", Args: []string{"--model", "vae"}, Steps: 200, Seed: 3, Cost: cost, Min: 1, Max: 1, Weight: 1, Demand: demand},
		{Name: "deaf", Framework: "pytorch", Args: []string{"--cell", "gru", "--deaf"}, Steps: 220, Seed: 4, Cost: cost, Min: 1, Max: 1, Weight: 1, Demand: demand},
	}
}

// A machine under load needs more time for all of them, see -scale.
const (
	// unseen is how many steps a job may do between the last look at it and its death.
	unseen = 2
	// quiet is between two faults, at least.
	quiet = 5 * time.Second
)

// runFaults plays the faults one after the other, in about six minutes.
func runFaults(flags *flag.FlagSet) performance {
	scale := flags.Float64("scale", 1, "stretches all times: more than 1 on a slow machine")
	return func(ctx context.Context, dir cluster.Place, stdout io.Writer) error {
		f := &failing{place: dir, faults: faults, master: []string{"-policy", "dorm", "-save-every", "5s", "-patience", "20s"}}
		return f.run(ctx, stdout, stretch(unlucky(), *scale))
	}
}

// run plays the jobs and reports.
// A play in which a fault did not happen is an error, as it would show nothing.
func (f *failing) run(ctx context.Context, stdout io.Writer, jobs []harness.Job) (errs error) {
	if err := os.RemoveAll(string(f.place)); err != nil {
		return err
	}
	if slices.ContainsFunc(f.faults, func(one fault) bool { return one.disk }) {
		unmount, err := mount(ctx, f.place.Join("store"))
		if err != nil {
			fmt.Fprintf(stdout, "The store gets no disk of its own, and none is filled: %v\n", err)
			f.faults = slices.DeleteFunc(slices.Clone(f.faults), func(one fault) bool { return one.disk })
		} else {
			defer func() { errs = errors.Join(errs, unmount()) }()
		}
	}
	stage := &harness.Stage{Place: f.place, Servers: dormServers, Jobs: jobs, Stdout: stdout, Master: f.master,
		Each: func(p *cluster.Play, s *cluster.Sample) error { f.play, f.sample = p, s; return f.each(ctx) }}
	record, err := stage.Run(ctx)
	if err != nil {
		return err
	}
	if len(f.faults) > 0 {
		return fmt.Errorf("%q did not happen: its job had ended before", f.faults[0].what)
	}
	if _, err := report(ctx, stdout, record); err != nil {
		return err
	}
	return f.print(stdout, record)
}

func (f *failing) each(ctx context.Context) error {
	if f.filled && f.sample.At >= f.cleared {
		f.filled = false
		f.play.Say("the disk has room again")
		return os.Remove(f.ballast())
	}
	if len(f.faults) == 0 || len(f.done) > 0 && !f.over(&f.done[len(f.done)-1]) {
		return nil
	}
	next := f.faults[0]
	view, ok := f.view(next.job)
	hearing := !slices.Contains(f.argv(next.job), "--deaf")
	ready := ok && view.Job.Live() && view.Progress.Step > view.Checkpoint.Step+1 && (view.Checkpoint.Step > 0 || !hearing)
	if !ready || view.Job.Phase != checkpoint.Running && hearing {
		return nil
	}
	f.play.Say("FAULT: %s", next.what)
	f.done, f.faults = append(f.done, happened{next, time.Now(), view.Progress.Step, view.Job.Attempt}), f.faults[1:]
	return next.do(ctx, f)
}

// over reports whether the job of a fault goes on beyond where it was.
func (f *failing) over(h *happened) bool {
	if f.filled || time.Since(h.at) < quiet {
		return false
	}
	view, _ := f.view(h.job)
	return view.Job.Ending != "" || view.Job.Live() && view.Progress.Step > h.step+unseen && (view.Job.Attempt > h.attempt || !h.anew)
}

func (f *failing) view(job string) (*master.View, bool) {
	for i := range f.sample.List.Jobs {
		if v := &f.sample.List.Jobs[i]; v.Job.Name == job {
			return v, true
		}
	}
	return nil, false
}

func (f *failing) argv(job string) []string {
	for i := range f.play.Arrivals {
		if f.play.Arrivals[i].Job.ID == job {
			return f.play.Arrivals[i].Job.Start
		}
	}
	return nil
}

// killRank kills a process of the job that the fault is for; negative ranks count from the end.
// Ranks of MXNet's workers come before those of its servers.
func killRank(rank int) func(context.Context, *failing) error {
	return func(_ context.Context, f *failing) error {
		job := f.done[len(f.done)-1].job
		processes := slices.DeleteFunc(f.place.Processes(), func(p cluster.Process) bool { return p.Job != job })
		last := 0
		for _, p := range processes {
			last = max(last, p.Rank+1)
		}
		wanted := (rank + last) % max(last, 1)
		processes = slices.DeleteFunc(processes, func(p cluster.Process) bool { return p.Rank != wanted })
		if len(processes) == 0 {
			return fmt.Errorf("job %q has no process of rank %d", job, wanted)
		}
		// The trainer of rank 0 may have a child of the same rank, which is younger.
		first := slices.MinFunc(processes, func(p, q cluster.Process) int { return p.PID - q.PID })
		first.Kill()
		return nil
	}
}

// killMaster kills the master, which is started again.
func killMaster(_ context.Context, f *failing) error {
	f.play.Cluster.KillProgram("master")
	return nil
}

// killAgent kills the agent of the server on which the first process of the job runs.
func killAgent(_ context.Context, f *failing) error {
	view, _ := f.view(f.done[len(f.done)-1].job)
	f.play.Cluster.KillProgram(view.Job.Containers[0])
	return nil
}

// move asks for another server for the job that the fault is for.
func move(ctx context.Context, f *failing) error {
	job := f.done[len(f.done)-1].job
	view, _ := f.view(job)
	to := dormServers[0].ID
	if len(view.Job.Containers) > 0 && view.Job.Containers[0] == to {
		to = dormServers[1].ID
	}
	return cluster.Patiently(ctx, func(ctx context.Context) error {
		return f.place.Call(ctx, "/move", master.Move{Job: job, Containers: []string{to}}, &master.Nothing{})
	})
}

// print prints for every fault how long it took until its job did its next step that counts.
func (f *failing) print(w io.Writer, record *harness.Record) error {
	fmt.Fprintln(w)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "fault\tat (s)\tjob\truns begun anew until the next fault\tnext new step after (s)")
	for i, h := range f.done {
		until := time.Now()
		if i+1 < len(f.done) {
			until = f.done[i+1].at
		}
		runs, after, err := record.After(h.job, h.at, until)
		if err != nil {
			return err
		}
		fmt.Fprintf(table, "%s\t%.0f\t%s\t%d\t%.1f\n", h.what, h.at.Sub(record.Began).Seconds(), h.job, runs, after.Seconds())
	}
	if err := table.Flush(); err != nil {
		return err
	}
	full, unanswered := 0, 0
	for i := range record.Jobs {
		full += record.FailedSaves(record.Jobs[i].Name, "no space left")
		unanswered += record.FailedSaves(record.Jobs[i].Name, "deadline exceeded")
	}
	fmt.Fprintf(w, "\nSaves that failed: %d for want of room on the disk, %d that a job never answered.\n", full, unanswered)
	return nil
}
