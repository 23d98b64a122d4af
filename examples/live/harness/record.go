// This file reads what a play has left behind: the runs of each job, and the effects of the master.

package harness

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/driver"
	"github.com/apportion/apportion/examples/studies/inhouse/cluster"
	"github.com/apportion/apportion/examples/studies/inhouse/master"
)

// Record is a play that is over.
type Record struct {
	Place   cluster.Place
	Jobs    []Job
	Servers []apportion.Server
	Began   time.Time
	Samples []cluster.Sample
	// Effects are those that were replied to, by job, in the order in which they were begun.
	Effects map[string][]driver.Traced

	kit *Kit
}

func (r *Record) read() error {
	file, err := os.Open(r.Place.Join(cluster.TraceFile))
	if err != nil {
		return err
	}
	defer file.Close()
	r.Effects = map[string][]driver.Traced{}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var t driver.Traced
		if json.Unmarshal(lines.Bytes(), &t) == nil { // a master that was killed may leave half a line
			r.Effects[t.Effect.Job] = append(r.Effects[t.Effect.Job], t)
		}
	}
	for _, effects := range r.Effects {
		slices.SortStableFunc(effects, func(a, b driver.Traced) int { return cmp.Compare(a.Effect.ID, b.Effect.ID) })
	}
	return lines.Err()
}

// Ending returns how a job has ended, and when it was seen to have.
// An empty ending: it has not ended.
func (r *Record) Ending(job string) (checkpoint.Ending, time.Duration) {
	for _, s := range r.Samples {
		for _, v := range s.List.Jobs {
			if v.Job.Name == job && v.Job.Ending != "" {
				return v.Job.Ending, s.At
			}
		}
	}
	return "", 0
}

// Took returns how long each job took from its arrival to its end. One that was not completed is an error.
func (r *Record) Took() ([]time.Duration, error) {
	took := make([]time.Duration, len(r.Jobs))
	for i := range r.Jobs {
		ending, at := r.Ending(r.Jobs[i].Name)
		if ending != checkpoint.Completed {
			return nil, fmt.Errorf("job %q ended: %s", r.Jobs[i].Name, ending)
		}
		took[i] = at - r.Jobs[i].At
	}
	return took, nil
}

// Outcome is what became of a job that was completed.
type Outcome struct {
	Job    *Job
	Ended  time.Duration
	Points []master.Point
	// Runs is how many attempts did a step; Redone is how many steps were done more than once, after
	// the checkpoint that a run went on from. Only the last time counts.
	Runs   int
	Redone int64
	// Off is the largest difference of a loss from that of the same job alone and undisturbed, relative
	// to the job's first loss.
	Off float64
}

// Tolerance bounds Off. Processes that share a batch add up in another order than one does; what that
// changes in a sum of float32 grows over the steps, in the jobs here to less than a hundredth of this.
// One step that is left out or done twice changes later losses by more than ten times this.
const Tolerance = 1e-4

// Outcomes compares every completed job with an undisturbed run of it. An error says that work was lost
// or done twice.
// The undisturbed runs are made at the same time, each in a process of its own.
func (r *Record) Outcomes(ctx context.Context) ([]Outcome, error) {
	if err := r.Place.CheckWorkers(r.Samples); err != nil {
		return nil, err
	}
	found, errs := make([]*Outcome, len(r.Jobs)), make([]error, len(r.Jobs))
	var running sync.WaitGroup
	for i := range r.Jobs {
		job := &r.Jobs[i]
		ending, at := r.Ending(job.Name)
		if ending != checkpoint.Completed {
			continue
		}
		running.Go(func() {
			if found[i], errs[i] = r.outcome(ctx, job); found[i] != nil {
				found[i].Ended = at
			}
		})
	}
	running.Wait()
	var all []Outcome
	for _, o := range found {
		if o != nil {
			all = append(all, *o)
		}
	}
	return all, errors.Join(errs...)
}

// outcome reads what the job has written and runs it once more by itself.
func (r *Record) outcome(ctx context.Context, job *Job) (*Outcome, error) {
	if err := r.Place.Twice(job.Name); err != nil {
		return nil, err
	}
	runs, err := master.Runs(r.Place.Shared(), job.Name)
	if err != nil {
		return nil, err
	}
	points, err := master.Curve(r.Place.Shared(), job.Name)
	if err != nil {
		return nil, err
	}
	alone, err := job.alone(ctx, r.kit, r.Place.Join("alone"))
	if err != nil {
		return nil, err
	}
	o := &Outcome{Job: job, Points: points, Runs: len(runs)}
	for _, run := range runs {
		o.Redone += int64(len(run.Points))
	}
	o.Redone -= int64(len(points))
	o.Off, err = compare(points, alone, job.Steps)
	if err != nil {
		return nil, fmt.Errorf("job %q: %w", job.Name, err)
	}
	return o, nil
}

// compare returns the largest difference of two curves relative to the first loss. Each must have every
// step once.
// The steps must be there one by one: a step that is left out or done twice would shift all that follow.
func compare(curve, alone []master.Point, steps int64) (off float64, err error) {
	for _, points := range [][]master.Point{curve, alone} {
		if int64(len(points)) != steps {
			return 0, fmt.Errorf("a curve has %d of %d steps", len(points), steps)
		}
		for i, p := range points {
			if p.Step != int64(i+1) {
				return 0, fmt.Errorf("a curve has step %d in place of %d", p.Step, i+1)
			}
		}
	}
	for i, p := range curve {
		off = max(off, math.Abs(p.Value-alone[i].Value)/math.Abs(alone[0].Value))
	}
	if !(off < Tolerance) {
		return off, fmt.Errorf("its losses differ by up to %.2g of the first one from those of an undisturbed run", off)
	}
	return off, nil
}

// After returns how many runs of a job did their first step between two times, and how long after the
// first of these times the job did a step that it had not done before.
// A next of 0: it never did.
func (r *Record) After(job string, from, until time.Time) (runs int, next time.Duration, err error) {
	all, err := master.Runs(r.Place.Shared(), job)
	if err != nil {
		return 0, 0, err
	}
	done := int64(0) // the last step before
	for _, run := range all {
		if at := run.Points[0].Time(); at.After(from) && at.Before(until) {
			runs++
		}
		for _, p := range run.Points {
			switch at := p.Time(); {
			case !at.After(from):
				done = max(done, p.Step)
			case next == 0 && p.Step > done:
				next = at.Sub(from)
			}
		}
	}
	return runs, next, nil
}

// FailedSaves counts the saves of a job whose failure says this.
func (r *Record) FailedSaves(job, text string) (n int) {
	for _, t := range r.Effects[job] {
		if t.Effect.Action == checkpoint.Save && t.Reply.Outcome != checkpoint.Done && strings.Contains(t.Reply.Detail, text) {
			n++
		}
	}
	return n
}
