// This file implements "apportion flowcon": FlowCon's limits on one worker, [Zheng] Algorithms 1 and 2.

package main

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/growth/flowcon"
	"github.com/apportion/apportion/internal/check"
)

// flowconAnswer answers a tick. Times are in seconds.
type flowconAnswer struct {
	Time     float64        `json:"time"`
	Trigger  string         `json:"trigger"`
	Interval float64        `json:"interval"`
	Next     float64        `json:"next"`
	Moves    []monitorMove  `json:"moves"`
	Limits   []flowconLimit `json:"limits"`
}

type flowconLimit struct {
	Container string  `json:"container"`
	Kind      string  `json:"kind"`
	Limit     float64 `json:"limit"`
	Was       float64 `json:"was"`
	Reason    string  `json:"reason"`
}

// flowconRun is a run over a stream.
type flowconRun struct {
	clock
	kinds    apportion.Kinds
	config   flowcon.Config
	options  flowcon.Options
	machine  *flowcon.Executor
	readings []flowcon.Reading // the newest of each container on the worker, in order of arrival
	decision flowcon.Decision
}

func answerFlowCon(_ context.Context, c *command) error {
	l := newLines(c.in)
	if err := l.first(); err != nil {
		return err
	}
	f, err := readFlowCon(l)
	if err != nil {
		return atLine(l.number, err)
	}
	return monitor(l, &monitorForm{kinds: f.kinds}, func(e *monitorEvent) error { return f.handle(c, e) })
}

// readFlowCon reads the first line.
func readFlowCon(l *lines) (*flowconRun, error) {
	r, f := newReader(bytes.NewReader(l.text)), &flowconRun{}
	var test monitorTest
	var steering string
	r.object("", []field{
		{"kinds", true, func(path string) { f.kinds = r.strs(path) }},
		{"interval", true, func(path string) { f.config.Interval = r.seconds(path) }},
		{"alpha", true, func(path string) { test.alpha = r.positive(path) }},
		{"options", false, func(path string) {
			r.object(path, append(test.fields(r, "threshold"),
				field{"steering", false, func(path string) { steering = r.id(path) }},
				field{"beta", false, func(path string) { f.options.Beta = r.positive(path) }},
				field{"max_interval", false, func(path string) { f.options.MaxInterval = r.seconds(path) }},
				field{"min_interval", false, func(path string) { f.options.MinInterval = r.seconds(path) }},
				field{"bound_converged_only", false, func(path string) { f.options.BoundConvergedOnly = r.boolean(path) }},
			))
		}},
	})
	return f, r.finish(f.kinds, func() (err error) {
		if err := f.kinds.Validate(); err != nil {
			return err
		}
		f.config.Alpha, f.config.Kinds = test.alpha, len(f.kinds)
		f.options.Normalization, f.options.Classifier = test.normalization, test.classifier()
		if steering != "" {
			if f.options.Steering = f.kinds.Index(steering); f.options.Steering < 0 {
				return apportion.Faults{{Field: "options.steering", Err: apportion.ErrUnknown, Detail: strconv.Quote(steering)}}
			}
		}
		f.machine, err = flowcon.New(f.config, &f.options)
		return err
	})
}

// handle takes one event; a tick is answered.
func (f *flowconRun) handle(c *command, e *monitorEvent) error {
	if e.verb == "tick" {
		return f.step(c, e.at)
	}
	at := slices.IndexFunc(f.readings, func(r flowcon.Reading) bool { return r.Job == e.id })
	switch {
	case e.verb == "exit" && at < 0:
		return unknownContainer(e.id)
	case e.verb == "exit":
		f.readings = slices.Delete(f.readings, at, at+1)
		return nil
	case at < 0:
		at, f.readings = len(f.readings), append(f.readings, flowcon.Reading{Job: e.id, Missing: true})
	}
	if !e.reads {
		return nil
	}
	if r := &f.readings[at]; r.Missing || e.at > r.At {
		*r = flowcon.Reading{Job: e.id, At: e.at, Value: e.value, Usage: e.usage}
	}
	return f.machine.Note(f.readings[at])
}

func unknownContainer(id string) error {
	return &apportion.FieldError{Item: check.Item("container", id, 0), Field: "exit", Err: apportion.ErrUnknown}
}

// step runs FlowCon and prints what it decides.
func (f *flowconRun) step(c *command, now time.Duration) error {
	if err := f.tick(now); err != nil {
		return err
	}
	if err := f.machine.Step(now, f.readings, &f.decision); err != nil {
		return err
	}
	answer := flowconAnswer{
		Time: now.Seconds(), Trigger: f.decision.Trigger.String(), Interval: f.decision.Interval.Seconds(),
		Next: f.decision.Next.Seconds(), Moves: monitorMoves(f.decision.Changes), Limits: []flowconLimit{},
	}
	for _, l := range f.decision.Limits {
		answer.Limits = append(answer.Limits, flowconLimit{l.Job, f.kinds.Name(l.Kind), l.Value, l.Was, l.Rule.String()})
	}
	return c.writeLine(answer)
}
