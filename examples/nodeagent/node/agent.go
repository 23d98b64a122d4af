//go:build linux

// This file implements the agent: it starts the jobs on their schedule and applies FlowCon's limits,
// [Zheng] §5.1.

package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/apportion/apportion/growth/flowcon"
	"github.com/apportion/apportion/placement/sim"
)

// Agent runs jobs on one CPU.
// Its methods are called from one goroutine; Run may be called again when it has returned.
type Agent struct {
	// Runner starts the jobs, Writer limits them: what [Choose] returns together. Without a Writer
	// processes are left as they are.
	Runner Runner
	Writer Writer
	// FlowCon decides the limits, for one kind: CPU. Nil: there are none. A FlowCon serves one Run.
	FlowCon *flowcon.Executor
	// Log gets a line for every limit that is set.
	Log io.Writer
	// Every is how often Samples are taken of each running job; 0: never. FlowCon gets them as readings
	// between its checks.
	Every   time.Duration
	Samples []Sample

	origin   time.Time
	running  []*Process
	limits   map[string]float64 // FlowCon's
	applied  map[string]float64 // what the writer was told
	decision flowcon.Decision
	next     time.Duration // the time of FlowCon's next step
	sample   time.Duration // the time of the next sample
}

// Sample is how a job stands.
type Sample struct {
	// At is the time since the start of the run.
	At  time.Duration
	Job string
	// Used is the CPU time since the start of the job; Limit is what the writer was told, 1 without.
	Used  time.Duration
	Limit float64
	// Value is the newest value of the evaluation function, if Valued.
	Value  float64
	Valued bool
}

// Run runs the jobs, which are in the order of their start and have different names, to their end and
// returns the completion time of each, from its start. It ends with the context at the latest, and
// leaves no process behind.
// An error of a job ends all.
func (a *Agent) Run(ctx context.Context, jobs []Job) (times []time.Duration, err error) {
	ctx, cancel := context.WithCancel(ctx)
	a.origin, a.next, a.sample = time.Now(), never, never
	a.running, a.limits, a.applied = nil, map[string]float64{}, map[string]float64{}
	if a.Every > 0 {
		a.sample = 0
	}
	exits := make(chan exit, len(jobs))
	defer func() { // after an error: nobody is left behind
		cancel()
		for range a.running {
			<-exits
		}
	}()
	completed := map[string]time.Duration{}
	timer := time.NewTimer(0)
	defer timer.Stop()
	// A round starts what is due, asks FlowCon, takes samples, and sleeps until the next of these or the
	// end of a job.
	for waiting := jobs; len(completed) < len(jobs); {
		for len(waiting) > 0 && waiting[0].Start <= a.now() {
			if err := a.start(ctx, &waiting[0], exits); err != nil {
				return nil, err
			}
			waiting = waiting[1:]
		}
		if err := a.step(); err != nil {
			return nil, err
		}
		a.sampleIfDue()
		timer.Reset(a.wait(waiting))
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-timer.C:
		case e := <-exits:
			completed[e.Name] = a.now() - e.started
			if err := errors.Join(a.remove(e.Process), e.err); err != nil {
				return nil, fmt.Errorf("%s: %w", e.Name, err)
			}
		}
	}
	for _, j := range jobs {
		times = append(times, completed[j.Name])
	}
	return times, nil
}

// It is later than any time of a run.
const never = time.Duration(1<<63 - 1)

// All times of a run count from its start.
func (a *Agent) now() time.Duration { return time.Since(a.origin) }

// wait returns the time to the next start, step or sample.
func (a *Agent) wait(waiting []Job) time.Duration {
	next := min(a.next, a.sample)
	if len(waiting) > 0 {
		next = min(next, waiting[0].Start)
	}
	return max(0, next-a.now())
}

// The writer is told before the first step that could limit it.
func (a *Agent) start(ctx context.Context, j *Job, exits chan<- exit) error {
	began := a.now() // what the start takes is part of the job's time
	p, err := a.Runner.start(ctx, j)
	if err != nil {
		return fmt.Errorf("%s: %w", j.Name, err)
	}
	go func() { exits <- exit{p, p.finish()} }()
	p.started = began
	a.running = append(a.running, p)
	if a.Writer == nil {
		return nil
	}
	return a.Writer.add(p)
}

// A writer may still have a group for it.
func (a *Agent) remove(p *Process) error {
	a.running = slices.DeleteFunc(a.running, func(other *Process) bool { return other == p })
	delete(a.limits, p.Name)
	delete(a.applied, p.Name)
	if a.Writer == nil {
		return nil
	}
	return a.Writer.remove(p.Name)
}

// sampleIfDue notes how the running jobs stand. One that has just ended is left out.
func (a *Agent) sampleIfDue() {
	now := a.now()
	if now < a.sample {
		return
	}
	a.sample = now + a.Every
	for _, p := range a.running {
		used, err := CPUTime(p.pid)
		if err != nil {
			continue
		}
		s := Sample{At: now, Job: p.Name, Used: used, Limit: 1}
		if limit, ok := a.applied[p.Name]; ok {
			s.Limit = limit
		}
		s.Value, _, s.Valued = p.newest()
		a.Samples = append(a.Samples, s)
		a.note(p, now)
	}
}

// note gives FlowCon a reading of a job that it knows. That it has no usage, as when the job has just ended, or comes
// late is no fault.
func (a *Agent) note(p *Process, now time.Duration) {
	if a.FlowCon == nil || !p.opened {
		return
	}
	if r := p.reading(now, a.origin); !r.Missing {
		_ = a.FlowCon.Note(r)
	}
}

// step asks FlowCon and applies its limits.
// FlowCon says itself when it wants to be asked again.
func (a *Agent) step() error {
	if a.FlowCon == nil {
		return nil
	}
	now := a.now()
	readings := make([]flowcon.Reading, len(a.running))
	for i, p := range a.running {
		readings[i] = p.reading(now, a.origin)
	}
	if err := a.FlowCon.Step(now, readings, &a.decision); err != nil {
		return err
	}
	if a.decision.Trigger != flowcon.NotDue {
		for i, p := range a.running {
			if !readings[i].Missing {
				p.opened = true
			}
		}
	}
	a.next = a.decision.Next
	for _, l := range a.decision.Limits {
		a.limits[l.Job] = l.Value
	}
	return a.apply(now)
}

// reading returns the newest value and the average usage since the reading before. The first one is the
// job's first value, at its time: what a job gains before anyone looks may be the most that it ever gains.
// It is missing until the job has printed a value.
func (p *Process) reading(now time.Duration, origin time.Time) flowcon.Reading {
	value, first, ok := p.newest()
	used, err := CPUTime(p.pid)
	at := now
	if ok && !p.opened {
		value, at, used = first.value, first.at.Sub(origin), first.used
	}
	if !ok || err != nil {
		return flowcon.Reading{Job: p.Name, Missing: true}
	}
	r := flowcon.Reading{Job: p.Name, At: at, Value: value, Better: p.Better}
	if usage, measured := p.counter.Usage(at, used).Share(); measured {
		r.Usage = []float64{usage}
	}
	return r
}

// apply tells the writer what each process may use. FlowCon's limits are soft, the kernel's are not:
// what would be left over is shared first, as package sim does, and added to the limits.
// Only what has changed is written.
func (a *Agent) apply(now time.Duration) error {
	limits, demands := make([]int64, len(a.running)), make([]int64, len(a.running))
	for i, p := range a.running {
		limits[i], demands[i] = sim.ShareOf(a.limits[p.Name]), sim.Whole
	}
	for i, share := range sim.Divide(sim.Whole, limits, demands) {
		name, hard := a.running[i].Name, sim.Fraction(max(share, limits[i]))
		if a.applied[name] == hard {
			continue
		}
		a.applied[name] = hard
		if err := a.Writer.limit(name, hard); err != nil {
			return fmt.Errorf("limit of %s: %w", name, err)
		}
		fmt.Fprintf(a.Log, "%6.2f s  %-8s limit %.2f\n", now.Seconds(), name, hard)
	}
	return nil
}
