// This file plays a stream of jobs on a cluster: it submits them when their time has come, watches, and
// tells what changes.

package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/wire"
	"github.com/apportion/apportion/examples/studies/inhouse/master"
)

// Arrival is a job and when it is submitted, counted from the start of the play.
type Arrival struct {
	At  time.Duration
	Job master.Submission
}

// Sample is the state of the jobs at a time.
type Sample struct {
	At time.Duration
	// Seen is the same time as a time of day.
	Seen time.Time
	List master.List
}

// Play is a stream of jobs, in the order of their arrivals, on a cluster.
type Play struct {
	Cluster  *Cluster
	Arrivals []Arrival
	Stdout   io.Writer
	// Each is called at every sample, for instance to kill something; nil: nothing is.
	Each func(*Sample) error
	// Began is when the play did, Samples what was seen, ten times a second.
	Began   time.Time
	Samples []Sample

	said map[string]string // of each job
}

// Run plays until all jobs have ended.
func (p *Play) Run(ctx context.Context) error {
	p.Began, p.said = time.Now(), map[string]string{}
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for next := 0; ; {
		if next < len(p.Arrivals) && time.Since(p.Began) >= p.Arrivals[next].At {
			if err := p.submit(ctx, &p.Arrivals[next].Job); err != nil {
				return err
			}
			next++
		}
		ended, err := p.observe(ctx)
		if err != nil {
			return err
		}
		if next == len(p.Arrivals) && ended == next {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("jobs ended: %d of %d: %w", ended, len(p.Arrivals), ctx.Err())
		case <-ticker.C:
		}
	}
}

// submit repeats until a master has taken the job: it may be dead right now.
func (p *Play) submit(ctx context.Context, job *master.Submission) error {
	err := Patiently(ctx, func(ctx context.Context) error {
		err := p.Cluster.Place.Call(ctx, "/submit", job, &master.Nothing{})
		if isDuplicate(err) {
			return nil // the master before has taken it and died before it could say so
		}
		return err
	})
	p.Say("submitted %s", job.ID)
	return err
}

// isDuplicate reports whether a job was refused because it is known already.
func isDuplicate(err error) bool {
	var refused *wire.StatusError
	return errors.As(err, &refused) && refused.Status == http.StatusUnprocessableEntity && strings.Contains(refused.Text, "is there twice")
}

// observe notes how the jobs stand, says what has changed, and counts those that have ended.
func (p *Play) observe(ctx context.Context) (ended int, err error) {
	var l master.List
	err = Patiently(ctx, func(ctx context.Context) error { return p.Cluster.Place.Call(ctx, "/list", master.Nothing{}, &l) })
	if err != nil {
		return 0, err
	}
	for _, v := range l.Jobs {
		if text := shown(&v); text != p.said[v.Job.Name] && text != "" {
			p.Say("%-9s %s", v.Job.Name, text)
			p.said[v.Job.Name] = text
		}
		if v.Job.Ending != "" && len(v.Job.Containers) == 0 {
			ended++
		}
	}
	now := time.Now()
	p.Samples = append(p.Samples, Sample{now.Sub(p.Began), now, l})
	if p.Each == nil {
		return ended, nil
	}
	return ended, p.Each(&p.Samples[len(p.Samples)-1])
}

func shown(v *master.View) string {
	switch {
	case v.Job.Ending != "":
		return string(v.Job.Ending)
	case v.Job.Phase == checkpoint.Running:
		text := fmt.Sprintf("runs on %s", strings.Join(v.Job.Containers, " "))
		if v.Job.Reason.Constraint != "" {
			parts := strings.Split(v.Job.Reason.Text, ": ") // the last one is the cause
			text += fmt.Sprintf(" (%s: %s)", v.Job.Reason.Constraint, parts[len(parts)-1])
		}
		return text
	case v.Job.Phase == checkpoint.Idle || v.Job.Phase == checkpoint.Waiting:
		return string(v.Job.Phase)
	}
	return "" // on its way
}

// Say prints a line with the time.
func (p *Play) Say(format string, args ...any) {
	fmt.Fprintf(p.Stdout, "%6.1f s  %s\n", time.Since(p.Began).Seconds(), fmt.Sprintf(format, args...))
}
