// This file implements the training loop.

package train

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"gonum.org/v1/gonum/floats"
)

// Job says what to train, and which part of it this process does.
type Job struct {
	// Model is "logistic" or "network"; Steps, positive, is how many steps the whole job has, over all its
	// runs; Seed makes data and first parameters; Cost, not negative, is the time that a sample takes.
	Model string
	Steps int64
	Seed  uint64
	Cost  time.Duration
	// Rank is the number of this process from 0, Size the number of processes.
	Rank, Size int
	// Dir is a directory of this attempt that all processes of it see; Restore the file with the state to
	// go on from, or empty.
	Dir, Restore string
	// Begin is told with how many steps the process begins, -1 if it does not know, and Worked of every step in which a
	// process other than 0 has done its part; nil: nobody is.
	Begin, Worked func(step int64) error
	// Report gets the loss of every step from process 0. Save is asked by process 0 after every step: it
	// calls write with the name of a file for the state if it is wanted now.
	Report func(step int64, loss float64) error
	Save   func(step int64, write func(path string) error) error
}

const (
	rate     = 0.005
	momentum = 0.9
)

func (j *Job) check() error {
	if j.Steps < 1 || j.Cost < 0 || j.Size < 1 || j.Rank < 0 || j.Rank >= j.Size {
		return fmt.Errorf("train: steps %d, cost %v, rank %d of %d: out of range", j.Steps, j.Cost, j.Rank, j.Size)
	}
	return nil
}

// Run trains until the job has all its steps, the context ends, or another process of the job is gone.
func Run(ctx context.Context, job Job) error {
	if err := job.check(); err != nil {
		return err
	}
	m, err := newModel(job.Model)
	if err != nil {
		return err
	}
	silent := func(int64) error { return nil }
	if job.Begin == nil {
		job.Begin = silent
	}
	if job.Worked == nil {
		job.Worked = silent
	}
	p := &process{&job, m, newData(job.Seed)}
	if job.Rank > 0 {
		if err := job.Begin(-1); err != nil {
			return err
		}
		return p.work(ctx)
	}
	s := newState(&job, m)
	if job.Restore != "" {
		if s, err = restore(&job, m); err != nil {
			return err
		}
	}
	if err := job.Begin(s.Step); err != nil {
		return err
	}
	return p.lead(ctx, s)
}

// process is one process of a job.
type process struct {
	*Job
	model model
	data  *data
}

// lead is process 0.
func (p *process) lead(ctx context.Context, s *state) error {
	peers, err := gather(ctx, p.Dir, p.Size)
	defer closeAll(peers)
	if err != nil {
		return err
	}
	for s.Step < p.Steps {
		if err := p.step(ctx, s, peers); err != nil {
			return err
		}
		if err := p.Save(s.Step, s.save); err != nil {
			return err
		}
	}
	return tell(peers, task{Done: true})
}

// step does one step of the whole job.
func (p *process) step(ctx context.Context, s *state, peers []*peer) error {
	t := task{Step: s.Step, Params: s.Params}
	if err := tell(peers, t); err != nil {
		return err
	}
	gradient := make([]float64, len(s.Params))
	loss, err := p.part(ctx, t, gradient)
	if err != nil {
		return err
	}
	if loss, err = sum(peers, gradient, loss); err != nil {
		return err
	}
	floats.Scale(momentum, s.Momentum)
	floats.AddScaled(s.Momentum, 1.0/batch, gradient)
	floats.AddScaled(s.Params, -rate, s.Momentum)
	s.Step++
	return p.Report(s.Step, loss/batch)
}

// part adds the gradient of this process's part of the batch and takes the time that it costs.
func (p *process) part(ctx context.Context, t task, gradient []float64) (float64, error) {
	x, y := p.data.batchOf(p.Seed, t.Step, p.Rank, p.Size)
	if len(y) == 0 {
		return 0, nil
	}
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(time.Duration(len(y)) * p.Cost):
	}
	return p.model.gradient(gradient, t.Params, x, y), nil
}

// work is any other process: it answers tasks until it is told that there are no more.
func (p *process) work(ctx context.Context) error {
	lead, err := dial(ctx, p.Dir, p.Rank)
	if err != nil {
		return err
	}
	defer lead.conn.Close()
	for {
		var t task
		if err := lead.receive(&t); err != nil {
			if errors.Is(err, io.EOF) {
				return errors.New("train: process 0 is gone")
			}
			return err
		}
		if t.Done {
			return nil
		}
		a := answer{Gradient: make([]float64, len(t.Params))}
		if a.Loss, err = p.part(ctx, t, a.Gradient); err != nil {
			return err
		}
		if err := p.Worked(t.Step + 1); err != nil {
			return err
		}
		if err := lead.send(a); err != nil {
			return err
		}
	}
}
