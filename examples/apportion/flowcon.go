// This file implements "apportion flowcon": FlowCon's limits on one worker, [Zheng] Algorithms 1 and 2.

package main

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/growth"
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

// flowcon is a run over a stream.
type flowcon struct {
	clock
	kinds    apportion.Kinds
	config   growth.FlowConConfig
	options  growth.FlowConOptions
	machine  *growth.FlowCon
	meters   []*meter // of the containers on the worker, in order of arrival
	byID     map[string]*meter
	decision growth.Decision
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
func readFlowCon(l *lines) (*flowcon, error) {
	r, f := newReader(bytes.NewReader(l.text)), &flowcon{byID: map[string]*meter{}}
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
		f.machine, err = growth.NewFlowCon(f.config, &f.options)
		return err
	})
}

// handle takes one event; a tick is answered.
func (f *flowcon) handle(c *command, e *monitorEvent) error {
	if e.verb == "tick" {
		return f.step(c, e.at)
	}
	m := f.byID[e.id]
	if e.verb == "exit" {
		if m == nil {
			return unknownContainer(e.id)
		}
		delete(f.byID, e.id)
		f.meters = slices.DeleteFunc(f.meters, func(other *meter) bool { return other == m })
		return nil
	}
	if m == nil {
		m = &meter{id: e.id}
		f.byID[e.id], f.meters = m, append(f.meters, m)
	}
	if e.reads {
		m.add(e)
	}
	return nil
}

func unknownContainer(id string) error {
	return &apportion.FieldError{Item: check.Item("container", id, 0), Field: "exit", Err: apportion.ErrUnknown}
}

// step runs FlowCon and prints what it decides.
func (f *flowcon) step(c *command, now time.Duration) error {
	if err := f.tick(now); err != nil {
		return err
	}
	readings := make([]growth.Reading, len(f.meters))
	for i, m := range f.meters {
		readings[i] = growth.Reading{ID: m.id, Missing: !m.fresh, At: m.at, Value: m.value, Usage: m.usage()}
	}
	if err := f.machine.Step(now, readings, &f.decision); err != nil {
		return err
	}
	if f.decision.Trigger != growth.NotDue {
		for _, m := range f.meters {
			m.take(f.options.MinInterval)
		}
	}
	answer := flowconAnswer{
		Time: now.Seconds(), Trigger: f.decision.Trigger.String(), Interval: f.decision.Interval.Seconds(),
		Next: f.decision.Next.Seconds(), Moves: monitorMoves(f.decision.Moves), Limits: []flowconLimit{},
	}
	for _, l := range f.decision.Limits {
		answer.Limits = append(answer.Limits, flowconLimit{l.ID, f.kinds.Name(l.Kind), l.Value, l.Was, l.Rule.String()})
	}
	return c.writeLine(answer)
}
