// This file implements the agent: what it is told, what it does, and what it says.

// Package agent runs jobs on one server for the in-house scheduler: it does what the master's effects
// ask for, once, whatever comes twice or late, and ends all jobs when it has not heard of a master for
// some time.
package agent

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/transfer"
	"github.com/apportion/apportion/checkpoint/vfs"
	"github.com/apportion/apportion/examples/studies/inhouse/wire"
)

// Config says who an agent is.
type Config struct {
	// Name is the server's.
	Name string
	// Dir is the agent's own directory, which nobody else writes; Shared one that all agents see, for the
	// files of running jobs.
	Dir, Shared string
	// Store keeps the checkpoints.
	Store store.Store
	// Framework returns what runs the processes of a job here.
	Framework func(Work) (runner.Runner, error)
	// Lease is how long the agent goes on without a master.
	Lease time.Duration
}

// Work is what a job runs: argument vectors, and the name of the engine that they are for.
type Work struct {
	Job      string   `json:"job"`
	Executor string   `json:"executor,omitempty"`
	Start    []string `json:"start"`
	Resume   []string `json:"resume"`
}

// Order is an effect, and what the job runs.
type Order struct {
	Effect checkpoint.Effect `json:"effect"`
	Work   Work              `json:"work"`
}

// Result is what an order led to; an error is told as such.
type Result struct {
	Outcome checkpoint.Outcome `json:"outcome"`
	Detail  string             `json:"detail,omitempty"`
	Step    int64              `json:"step"`
}

// Question asks how the jobs stand; whoever asks renews the lease.
type Question struct {
	Epoch int64 `json:"epoch"`
}

// Status is how the newest attempt of each job stands here.
type Status struct {
	Jobs []JobStatus `json:"jobs"`
}

// JobStatus is how an attempt stands on one server.
type JobStatus struct {
	Job      string          `json:"job"`
	Attempt  int64           `json:"attempt"`
	Progress runner.Progress `json:"progress"`
}

// Agent runs jobs.
type Agent struct {
	config Config

	mu         sync.Mutex
	book       *book
	frameworks map[string]runner.Runner
	hands      map[string]*hands
	heard      time.Time // of a master
	noted      time.Time // when that was last written down
}

// New takes over the agent's directory; what runs from before is found again.
func New(config Config) (*Agent, error) {
	disk, err := vfs.NewOS(config.Dir)
	if err != nil {
		return nil, err
	}
	book, err := openBook(disk)
	if err != nil {
		return nil, err
	}
	return &Agent{config: config, book: book, frameworks: map[string]runner.Runner{}, hands: map[string]*hands{},
		heard: lastHeard(config)}, nil
}

// Handler answers the master.
func (a *Agent) Handler(token string) http.Handler {
	mux := http.NewServeMux()
	wire.Handle(mux, "/effect", token, a.do)
	wire.Handle(mux, "/status", token, a.status)
	return mux
}

// do carries out an effect.
func (a *Agent) do(ctx context.Context, order Order) (Result, error) {
	e := &order.Effect
	if err := store.CheckJob(e.Job); err != nil {
		return Result{}, err
	}
	h, ctx, end, err := a.admit(ctx, e)
	if err != nil {
		return Result{}, err
	}
	defer end()
	step, err := h.use(ctx, func(ctx context.Context) (int64, error) { return a.carryOut(ctx, &order) })
	switch {
	case err == nil:
		return Result{Outcome: checkpoint.Done, Step: step}, nil
	case e.Action == checkpoint.Resume && (errors.Is(err, store.ErrCorrupt) || errors.Is(err, store.ErrNotFound)):
		return Result{Outcome: checkpoint.Damaged, Detail: err.Error(), Step: -1}, nil
	case errors.Is(err, checkpoint.ErrFenced):
		return Result{}, err
	}
	return Result{Outcome: checkpoint.Failed, Detail: err.Error(), Step: -1}, nil
}

// admit decides whether an effect may be done. If so, it is begun in the order of the decisions: a Stop
// ends whatever was admitted before it for the attempts that it stops.
func (a *Agent) admit(ctx context.Context, e *checkpoint.Effect) (*hands, context.Context, func(), error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.hear()
	if err := a.book.admit(e, a.config.Name); err != nil {
		return nil, nil, nil, err
	}
	h := a.handsOf(e.Job)
	if e.Action == checkpoint.Stop {
		h.drop(e.Attempt)
	}
	ctx, end := h.begin(ctx, e.Attempt)
	return h, ctx, end, nil
}

// carryOut is do for an effect that was admitted. It returns the step that a checkpoint holds.
func (a *Agent) carryOut(ctx context.Context, order *Order) (int64, error) {
	e := &order.Effect
	switch e.Action {
	case checkpoint.Create, checkpoint.Release:
		return -1, nil // containers are entries of the book
	case checkpoint.Stop:
		return -1, a.stop(ctx, e.Job)
	case checkpoint.Resume:
		return -1, a.resume(ctx, order)
	case checkpoint.Save:
		return a.save(ctx, e)
	case checkpoint.Confirm:
		return -1, a.confirm(ctx, e)
	}
	return -1, fmt.Errorf("agent: cannot do %q", e.Action)
}

// page returns the page of a job as it is now.
func (a *Agent) page(job string) page {
	a.mu.Lock()
	defer a.mu.Unlock()
	return *a.book.page(job)
}

// framework returns what runs a job's processes.
func (a *Agent) framework(work Work) (runner.Runner, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if f, ok := a.frameworks[work.Job]; ok {
		return f, nil
	}
	f, err := a.config.Framework(work)
	if err == nil {
		a.frameworks[work.Job] = f
	}
	return f, err
}

// stop ends all processes of the attempts that the book says are stopped.
func (a *Agent) stop(ctx context.Context, job string) error {
	p := a.page(job)
	if p.Run == nil || p.live() {
		return nil
	}
	f, err := a.framework(*p.Work)
	if err != nil {
		return err
	}
	return f.Stop(ctx, *p.Run)
}

// resume fetches the checkpoint and starts the processes. The book tells of them before they exist.
func (a *Agent) resume(ctx context.Context, order *Order) error {
	e := &order.Effect
	attempt := strconv.FormatInt(e.Attempt, 10)
	run := runner.Run{Job: e.Job, Attempt: e.Attempt, Containers: e.Containers,
		Dir: filepath.Join(a.config.Shared, e.Job, attempt)}
	if err := os.MkdirAll(run.Dir, 0o700); err != nil {
		return err
	}
	if e.Checkpoint > 0 {
		run.Restore = filepath.Join(a.config.Dir, "restore", e.Job, attempt)
		if err := os.MkdirAll(filepath.Dir(run.Restore), 0o700); err != nil {
			return err
		}
		if _, err := transfer.Load(ctx, a.config.Store, e.Job, e.Checkpoint, run.Restore); err != nil {
			return err
		}
	}
	f, err := a.framework(order.Work)
	if err != nil {
		return err
	}
	a.mu.Lock()
	p := a.book.page(e.Job)
	p.Work, p.Run = &order.Work, &run
	err = a.book.write()
	a.mu.Unlock()
	if err != nil {
		return err
	}
	return f.Resume(ctx, run)
}

// save has the job write its state and commits it.
func (a *Agent) save(ctx context.Context, e *checkpoint.Effect) (int64, error) {
	f, run, err := a.running(e)
	if err != nil {
		return -1, err
	}
	saved, err := f.Save(ctx, run)
	if err != nil {
		return -1, err
	}
	_, err = transfer.Save(ctx, a.config.Store, e.Job, e.Checkpoint, saved)
	return saved.Step, err
}

// confirm waits until the processes run.
func (a *Agent) confirm(ctx context.Context, e *checkpoint.Effect) error {
	f, run, err := a.running(e)
	if err != nil {
		return err
	}
	for {
		progress, err := f.Progress(ctx, run)
		switch {
		case err != nil:
			return err
		case progress.Running || progress.Done:
			return nil
		case progress.Failed != "":
			return errors.New(progress.Failed)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// running returns the framework and the run of an attempt that was resumed here.
func (a *Agent) running(e *checkpoint.Effect) (runner.Runner, runner.Run, error) {
	p := a.page(e.Job)
	if p.Run == nil || p.Run.Attempt != e.Attempt {
		return nil, runner.Run{}, fmt.Errorf("attempt %d of job %q was not resumed here", e.Attempt, e.Job)
	}
	f, err := a.framework(*p.Work)
	return f, *p.Run, err
}
