// This file holds trainers: processes of jobs, each below a guard, and the runner by which an agent starts and ends them.

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/runner"
)

// stateFile is what a trainer's checkpoint consists of: the number of its steps.
const stateFile = "steps"

// process is what an attempt of a job has on one machine. It does a step a second.
type process struct {
	h       *host
	run     runner.Run
	count   int   // its containers
	first   int64 // the steps that it began with
	began   time.Time
	runs    bool
	ended   string // why it has ended; "": it has not
	done    bool   // its work is done
	hangs   bool   // it does no step more
	stuckAt int64
	guarded *guarded
}

func (p *process) steps() int64 {
	if !p.runs || p.hangs {
		return p.stuckAt
	}
	p.stuckAt = min(p.first+int64(time.Since(p.began).Seconds()), p.h.w.truth.total(p.run.Job))
	return p.stuckAt
}

// hang lets it do nothing more.
func (p *process) hang() { p.steps(); p.hangs = true }

// end ends the process with a status. It keeps its first end.
func (p *process) end(why string, status syscall.WaitStatus) {
	if p.ended != "" {
		return
	}
	p.steps()
	if p.ended = why; p.runs {
		p.runs = false
		p.h.w.truth.ends(p, why)
	}
	p.guarded.machine.Exited(status)
}

// works lets it end when its work is done.
func (p *process) works() {
	for p.ended == "" {
		left := p.h.w.truth.total(p.run.Job) - p.steps()
		if left <= 0 {
			p.done = true
			p.end("done", 0)
			return
		}
		time.Sleep(time.Duration(min(left, 5)) * time.Second)
	}
}

func (p *process) starts() {
	p.runs, p.began = true, time.Now()
	p.h.w.truth.starts(p)
	go p.works()
}

// trainers is the runner of one job on a machine, as a life of its agent has it.
type trainers struct {
	h   *host
	l   *life
	job string
}

func (t *trainers) Resume(ctx context.Context, run runner.Run) error {
	if err := t.l.pass(); err != nil {
		return err
	}
	p := t.h.processes[t.job]
	switch {
	case p != nil && p.run.Attempt > run.Attempt:
		return checkpoint.ErrFenced
	case p != nil && p.run.Attempt == run.Attempt:
		return nil
	case p != nil && p.ended == "" && t.h.w.Bug != "no-stop":
		return fmt.Errorf("attempt %d lives", p.run.Attempt)
	}
	first, err := restored(run)
	if err != nil {
		return err
	}
	p = &process{h: t.h, run: run, first: first, stuckAt: first}
	for _, server := range run.Containers {
		if server == t.h.id {
			p.count++
		}
	}
	t.h.processes[t.job] = p
	p.begin()
	for p.ended == "" && !p.runs && ctx.Err() == nil {
		time.Sleep(20 * time.Millisecond)
	}
	return ctx.Err()
}

// restored reads the steps that a run begins with.
func restored(run runner.Run) (int64, error) {
	if run.Restore == "" {
		return 0, nil
	}
	text, err := os.ReadFile(filepath.Join(run.Restore, stateFile))
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
}

func (t *trainers) Save(ctx context.Context, run runner.Run) (runner.Saved, error) {
	p, err := t.of(run)
	if err != nil {
		return runner.Saved{}, err
	}
	if !p.runs {
		return runner.Saved{}, fmt.Errorf("attempt %d does not run", run.Attempt)
	}
	if p.hangs {
		<-ctx.Done()
		return runner.Saved{}, ctx.Err()
	}
	step := p.steps()
	time.Sleep(time.Duration(10+t.h.w.rng.IntN(3000)) * time.Millisecond)
	if err := t.l.pass(); err != nil {
		return runner.Saved{}, err
	}
	if !p.runs {
		return runner.Saved{}, fmt.Errorf("attempt %d has died", run.Attempt)
	}
	if err := os.WriteFile(filepath.Join(run.Dir, stateFile), []byte(strconv.FormatInt(step, 10)), 0o600); err != nil {
		return runner.Saved{}, err
	}
	return runner.Saved{Dir: run.Dir, Files: []string{stateFile}, Step: step}, nil
}

func (t *trainers) Stop(_ context.Context, run runner.Run) error {
	if err := t.l.pass(); err != nil {
		return err
	}
	p := t.h.processes[t.job]
	if p == nil || p.run.Attempt > run.Attempt || t.h.w.Bug == "no-stop" {
		return nil
	}
	time.Sleep(time.Duration(t.h.w.rng.IntN(200)) * time.Millisecond)
	p.end("stopped", killed)
	p.guarded.dies()
	return nil
}

func (t *trainers) Progress(_ context.Context, run runner.Run) (runner.Progress, error) {
	p, err := t.of(run)
	if err != nil {
		return runner.Progress{}, err
	}
	progress := runner.Progress{Step: p.steps(), Running: p.runs, Done: p.done}
	if p.ended != "" && !p.done {
		progress.Failed = p.ended
	}
	return progress, nil
}

func (t *trainers) of(run runner.Run) (*process, error) {
	if err := t.l.pass(); err != nil {
		return nil, err
	}
	p := t.h.processes[t.job]
	if p == nil || p.run.Attempt != run.Attempt {
		return nil, fmt.Errorf("attempt %d has no process here", run.Attempt)
	}
	return p, nil
}
