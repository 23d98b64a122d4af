//go:build linux

// This file implements the agent: it starts the jobs on their schedule and applies FlowCon's limits,
// [Zheng] §5.1.

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/internal/nodesim"
)

// agent runs jobs on one CPU.
type agent struct {
	log    io.Writer
	runner runner
	// writer and flowcon are nil without limits.
	writer  writer
	flowcon *growth.FlowCon

	origin   time.Time
	running  []*process
	limits   map[string]float64 // FlowCon's
	applied  map[string]float64 // what the writer was told
	decision growth.Decision
	next     time.Duration
}

// run runs the jobs, which are in the order of their start, to their end and returns the completion
// time of each, from its start.
func (a *agent) run(ctx context.Context, jobs []job) (times []time.Duration, err error) {
	ctx, cancel := context.WithCancel(ctx)
	a.origin, a.next = time.Now(), never
	a.running, a.limits, a.applied = nil, map[string]float64{}, map[string]float64{}
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
	for waiting := jobs; len(completed) < len(jobs); {
		for len(waiting) > 0 && waiting[0].start <= a.now() {
			if err := a.start(ctx, waiting[0], exits); err != nil {
				return nil, err
			}
			waiting = waiting[1:]
		}
		if err := a.step(); err != nil {
			return nil, err
		}
		timer.Reset(a.wait(waiting))
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-timer.C:
		case e := <-exits:
			completed[e.name] = a.now() - e.started
			if err := errors.Join(a.remove(e.process), e.err); err != nil {
				return nil, fmt.Errorf("%s: %w", e.name, err)
			}
		}
	}
	for _, j := range jobs {
		times = append(times, completed[j.name])
	}
	return times, nil
}

const never = time.Duration(1<<63 - 1)

func (a *agent) now() time.Duration { return time.Since(a.origin) }

// wait returns the time to the next start or the next step.
func (a *agent) wait(waiting []job) time.Duration {
	next := a.next
	if len(waiting) > 0 {
		next = min(next, waiting[0].start)
	}
	return max(0, next-a.now())
}

func (a *agent) start(ctx context.Context, j job, exits chan<- exit) error {
	began := a.now() // what the start takes is part of the job's time
	p, err := a.runner.start(ctx, j)
	if err != nil {
		return fmt.Errorf("%s: %w", j.name, err)
	}
	go func() { exits <- exit{p, p.finish()} }()
	p.started, p.readAt = began, began
	a.running = append(a.running, p)
	if a.writer == nil {
		return nil
	}
	return a.writer.add(p)
}

func (a *agent) remove(p *process) error {
	a.running = slices.DeleteFunc(a.running, func(other *process) bool { return other == p })
	delete(a.limits, p.name)
	delete(a.applied, p.name)
	if a.writer == nil {
		return nil
	}
	return a.writer.remove(p.name)
}

// step asks FlowCon and applies its limits.
func (a *agent) step() error {
	if a.flowcon == nil {
		return nil
	}
	now := a.now()
	readings := make([]growth.Reading, len(a.running))
	used := make([]time.Duration, len(a.running))
	for i, p := range a.running {
		readings[i], used[i] = p.reading(now)
	}
	if err := a.flowcon.Step(now, readings, &a.decision); err != nil {
		return err
	}
	if a.decision.Trigger != growth.NotDue {
		for i, p := range a.running {
			if !readings[i].Missing {
				p.readAt, p.readUsed = now, used[i]
			}
		}
	}
	a.next = a.decision.Next
	for _, l := range a.decision.Limits {
		a.limits[l.ID] = l.Value
	}
	return a.apply(now)
}

// reading returns the newest loss and the average usage since the reading before.
func (p *process) reading(now time.Duration) (growth.Reading, time.Duration) {
	loss, ok := p.newest()
	used, err := cpuTime(p.pid)
	if !ok || err != nil || now <= p.readAt {
		return growth.Reading{ID: p.name, Missing: true}, 0
	}
	usage := float64(used-p.readUsed) / float64(now-p.readAt)
	return growth.Reading{ID: p.name, At: now, Value: loss, Usage: []float64{usage}}, used
}

// apply tells the writer what each process may use. FlowCon's limits are soft, the kernel's are not:
// what would be left over is shared first, as package nodesim does, and added to the limits.
func (a *agent) apply(now time.Duration) error {
	limits, demands := make([]nodesim.Share, len(a.running)), make([]nodesim.Share, len(a.running))
	for i, p := range a.running {
		limits[i], demands[i] = nodesim.ShareOf(a.limits[p.name]), nodesim.Whole
	}
	for i, share := range nodesim.Divide(nodesim.Whole, limits, demands) {
		name, hard := a.running[i].name, max(share, limits[i]).Fraction()
		if a.applied[name] == hard {
			continue
		}
		a.applied[name] = hard
		if err := a.writer.limit(name, hard); err != nil {
			return fmt.Errorf("limit of %s: %w", name, err)
		}
		fmt.Fprintf(a.log, "%6.2f s  %-8s limit %.2f\n", now.Seconds(), name, hard)
	}
	return nil
}
