// This file implements the training loop.

package train

import (
	"context"
	"errors"
	"io"
	"time"

	"gonum.org/v1/gonum/floats"
)

// With these both models learn for some hundred steps.
const (
	rate     = 0.005
	momentum = 0.9
)

// Run trains until the job has all its steps, the context ends, or another process of the job is gone.
// An error ends this process; the scheduler then resumes the whole job.
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
