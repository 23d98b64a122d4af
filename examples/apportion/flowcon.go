//go:build !js

// This file implements "apportion flowcon": FlowCon's limits on one worker, [Zheng] Algorithms 1 and 2.

package main

import (
	"context"
	"slices"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/examples/internal/strictjson"
	"github.com/apportion/apportion/growth/flowcon"
)

// flowconAnswer answers a tick. Times are in seconds.
//
// Next is the time of the next run: a tick is due then, or earlier. Trigger says what has made it run.
type flowconAnswer struct {
	Time float64 `json:"time"`
	// Interval is the present time between two runs, which backs off while nobody grows.
	Trigger  string  `json:"trigger"`
	Interval float64 `json:"interval"`
	Next     float64 `json:"next"`
	// Moves are changes of category, Limits those of limits: a limit that stays is not listed.
	Moves  []monitorMove  `json:"moves"`
	Limits []flowconLimit `json:"limits"`
}

// Limit and Was are shares of the worker in [0, 1], after and before; Reason is the rule that has set
// it.
type flowconLimit struct {
	Container string `json:"container"`
	// Kind is the name of the resource that is limited; a container has one limit of each.
	Kind   string  `json:"kind"`
	Limit  float64 `json:"limit"`
	Was    float64 `json:"was"`
	Reason string  `json:"reason"`
}

// flowconRun is a run over a stream.
type flowconRun struct {
	clock
	// kinds is the order of usage in a reading, and of limits in a decision.
	kinds   apportion.Kinds
	config  flowcon.Config
	options flowcon.Options
	// machine is the library's state machine: this program adds the reading of lines and nothing else.
	machine  *flowcon.Executor
	readings []flowcon.Reading // the newest of each container on the worker, in order of arrival
	// decision is kept between ticks so that its lists are allocated once.
	decision flowcon.Decision
}

// answerFlowCon plays a stream: the first line sets FlowCon up, each tick is answered by a line.
func answerFlowCon(_ context.Context, c *command) error {
	l, err := firstLine(c.in)
	if err != nil {
		return err
	}
	f, err := readFlowCon(l)
	if err != nil {
		return atLine(l.number, err)
	}
	// Workers and demands mean nothing here: FlowCon knows one worker.
	return monitor(c, l, &monitorForm{kinds: f.kinds}, func(e *monitorEvent) error { return f.handle(c, e) })
}

// flowconInput is the first line.
type flowconInput struct {
	Kinds apportion.Kinds `json:"kinds"`
	// Interval is the time between two runs while any container grows.
	Interval seconds `json:"interval"`
	// Alpha is the growth efficiency below which a container is slow; the thesis uses 0.01 to 0.15.
	Alpha positive `json:"alpha"`
	// Options that are left out are zero, which the library takes for its own defaults; the types of
	// the fields refuse a zero that is written.
	Options struct {
		testInput
		Classifier flowconClassifier `json:"classifier,omitempty"`
		// Steering is the name of the kind whose efficiency moves containers between the lists.
		Steering id `json:"steering,omitempty"`
		// Beta sets the least limit, 1/(beta n) on a worker with n containers; the library refuses values
		// below 1.
		Beta positive `json:"beta,omitempty"`
		// MaxInterval caps the back-off, MinInterval is the least time over which growth is measured.
		MaxInterval seconds `json:"max_interval,omitempty"`
		MinInterval seconds `json:"min_interval,omitempty"`
		// BoundConvergedOnly applies the least limit to converged containers alone, as line 22 is printed.
		BoundConvergedOnly bool `json:"bound_converged_only,omitempty"`
		// The three are what a published program of FlowCon's authors does: no measurement counts as no
		// growth, at first or later, and the least limit is 1/(n+1).
		UnmeasuredIsZero bool `json:"unmeasured_is_zero,omitempty"`
		MissingIsZero    bool `json:"missing_is_zero,omitempty"`
		BoundOneMore     bool `json:"bound_one_more,omitempty"`
	} `json:"options,omitzero"`
}

// readFlowCon reads the first line.
func readFlowCon(l *lines) (*flowconRun, error) {
	in, f := &flowconInput{}, &flowconRun{}
	return f, l.read(in, &strictjson.Options{Validate: func() error { return f.take(in) }})
}

// take sets the run up as the first line says.
func (f *flowconRun) take(in *flowconInput) (err error) {
	o := &in.Options
	f.kinds = in.Kinds
	if err := f.kinds.Validate(); err != nil {
		return err
	}
	f.config = flowcon.Config{Interval: time.Duration(in.Interval), Alpha: float64(in.Alpha), Kinds: len(f.kinds)}
	f.options = flowcon.Options{
		Normalization: o.Normalization, Classifier: o.classifier(string(o.Classifier), in.Alpha), Beta: float64(o.Beta),
		MaxInterval: time.Duration(o.MaxInterval), MinInterval: time.Duration(o.MinInterval), BoundConvergedOnly: o.BoundConvergedOnly,
		Silence: time.Duration(o.Silence), UnmeasuredIsZero: o.UnmeasuredIsZero, MissingIsZero: o.MissingIsZero, BoundOneMore: o.BoundOneMore,
	}
	if f.options.Steering, err = steeringKind(f.kinds, o.Steering); err != nil {
		return err
	}
	f.machine, err = flowcon.New(f.config, &f.options)
	return err
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
	// A container is there from its first sample on, with or without a value: Missing says that there
	// is none to judge it by.
	case at < 0:
		at, f.readings = len(f.readings), append(f.readings, flowcon.Reading{Job: e.id, Missing: true})
	}
	if !e.reads {
		return nil
	}
	// A sample that is older than the newest is late and changes nothing.
	if r := &f.readings[at]; r.Missing || e.at > r.At {
		*r = flowcon.Reading{Job: e.id, At: e.at, Value: e.value, Better: e.better, Usage: e.usage}
	}
	// The executor sees each sample when it comes and not only at ticks, for its averages are over all
	// of them.
	return f.machine.Note(f.readings[at])
}

// An exit of a container that never was is a fault: the caller's list and ours differ, and one of them
// decides about limits.
func unknownContainer(id string) error {
	return &apportion.FieldError{Item: apportion.Item{Kind: "container", ID: id}, Field: "exit", Err: apportion.ErrUnknown}
}

// step runs FlowCon and prints what it decides.
func (f *flowconRun) step(c *command, now time.Duration) error {
	// Time is checked here and not in monitor, for only ticks must not go back: late samples are let pass.
	if err := f.tick(now); err != nil {
		return err
	}
	if err := f.machine.Step(now, f.readings, &f.decision); err != nil {
		return err
	}
	answer := flowconAnswer{
		Time: now.Seconds(), Trigger: string(f.decision.Trigger), Interval: f.decision.Interval.Seconds(),
		Next: f.decision.Next.Seconds(), Moves: monitorMoves(f.decision.Changes), Limits: []flowconLimit{},
	}
	for _, l := range f.decision.Limits {
		answer.Limits = append(answer.Limits, flowconLimit{l.Job, f.kinds.Name(l.Kind), l.Value, l.Was, string(l.Rule)})
	}
	return c.writeLine(answer)
}
