//go:build !js

// This file reads what container monitors report, for "apportion flowcon" and "apportion specon":
// samples, exits and ticks, [Zheng] §4.1.3.

package main

import (
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/examples/internal/strictjson"
	"github.com/apportion/apportion/growth"
)

// monitorEvent is a line behind the first.
type monitorEvent struct {
	// verb is "sample", "exit" or "tick".
	verb string
	// at is the time of a sample or tick, since any origin.
	at time.Duration
	id string
	// reads says that a sample has a value. usage is the average since the sample before, by kind; 1 for
	// every kind where it is not given.
	// value is the evaluation function as the job reports it: a loss or an accuracy; better says which way
	// is the good one, where the sample does.
	reads  bool
	value  float64
	usage  []float64
	better growth.Direction
	// worker and demand say where a container is and what it holds; empty, nil: as before.
	worker string
	demand apportion.Resources
}

// monitorForm says which lines a subcommand takes.
type monitorForm struct {
	// kinds are the names that usage may have; a list of demands has their order.
	kinds apportion.Kinds
	// placed: a sample may name worker and demand, and need not have usage.
	placed bool
}

// The lines behind the first. A sample may name worker and demand only where the form says so.
type (
	// exitInput says that a container has ended.
	exitInput struct {
		Exit id `json:"exit"`
	}
	// tickInput asks for a decision now. Without ticks nothing is decided, whatever the samples say.
	tickInput struct {
		Tick seconds `json:"tick"`
	}
	// sampleInput is one measurement. Value is absent where the job has not reported anything yet, and
	// Usage has fractions of the whole worker by the name of the kind.
	sampleInput struct {
		Time      seconds                `json:"time"`
		Container id                     `json:"container"`
		Value     *reading               `json:"value,omitempty"`
		Usage     map[string]notNegative `json:"usage,omitempty"`
		// Direction says which values are better, beside one; once said it stands until a sample says otherwise.
		Direction *growth.Direction `json:"direction,omitempty"`
	}
	// placedSample says as well where the container is and what it holds of each kind.
	placedSample struct {
		sampleInput
		Worker id                  `json:"worker,omitempty"`
		Demand apportion.Resources `json:"demand,omitempty"`
	}
)

// event reads the present line.
func (m *monitorForm) event(l *lines) (*monitorEvent, error) {
	keys := l.keys()
	switch {
	case slices.Contains(keys, "tick"):
		var in tickInput
		err := l.read(&in, nil)
		return &monitorEvent{verb: "tick", at: time.Duration(in.Tick)}, err
	case slices.Contains(keys, "exit"):
		var in exitInput
		err := l.read(&in, nil)
		return &monitorEvent{verb: "exit", id: string(in.Exit)}, err
	case m.placed:
		in := &placedSample{}
		return m.sample(l, in, in)
	}
	// Only the inner part is shown to the reader, so that worker and demand are unknown fields for
	// flowcon.
	in := &placedSample{}
	return m.sample(l, &in.sampleInput, in)
}

// sample reads the present line into v, a part of in.
func (m *monitorForm) sample(l *lines, v any, in *placedSample) (*monitorEvent, error) {
	err := l.read(v, &strictjson.Options{
		Keys: func(string) []string { return m.kinds },
		Item: func() apportion.Item {
			if in.Container == "" {
				return apportion.Item{}
			}
			return apportion.Item{Kind: "container", ID: string(in.Container)}
		},
		Validate: func() error { return m.validate(in) },
	})
	e := &monitorEvent{verb: "sample", at: time.Duration(in.Time), id: string(in.Container), worker: string(in.Worker), demand: in.Demand}
	if in.Direction != nil {
		e.better = *in.Direction
	}
	if in.Value != nil {
		e.value, e.reads = float64(*in.Value), true
	}
	// A usage has every kind or is absent: the reader refuses one that leaves a kind out, which might
	// mean that it was not used or that it was not measured.
	for _, kind := range m.kinds {
		usage := 1.0 // not measured: counts as 1
		if in.Usage != nil {
			usage = float64(in.Usage[kind])
		}
		e.usage = append(e.usage, usage)
	}
	return e, err
}

// validate returns what is wrong with a sample beyond its single values.
//
// FlowCon weighs growth against usage, so a value without usage says nothing there. SpeCon takes an
// unmeasured usage for 1.
func (m *monitorForm) validate(in *placedSample) error {
	var faults apportion.Faults
	item := apportion.Item{Kind: "container", ID: string(in.Container)}
	if in.Value != nil && in.Usage == nil && !m.placed {
		faults.Add(item, "Usage", apportion.ErrMissing, "the value needs it")
	}
	if in.Direction != nil && in.Value == nil {
		faults.Add(item, "Value", apportion.ErrMissing, "the direction needs it")
	}
	if in.Demand != nil {
		checkVector(&faults, m.kinds, in.Demand, item, "Demand")
	}
	return faults.Err()
}

// clock refuses ticks that go back.
type clock struct{ now time.Duration }

// tick moves the clock to now, or returns a fault and leaves it where it is.
func (c *clock) tick(now time.Duration) error {
	if now < c.now {
		return &apportion.FieldError{Field: "tick", Err: apportion.ErrRange,
			Detail: jsonNumber(now.Seconds()) + " is before " + jsonNumber(c.now.Seconds())}
	}
	c.now = now
	return nil
}

// monitorMove is a change of category.
type monitorMove struct {
	Container string `json:"container"`
	From      string `json:"from"`
	To        string `json:"to"`
	// Growth is what was compared with alpha, in the units of the classifier, and Reason the rule that has
	// moved the container.
	Growth float64 `json:"growth"`
	Reason string  `json:"reason"`
}

func monitorMoves(moves []growth.Change) []monitorMove {
	out := make([]monitorMove, len(moves))
	for i, m := range moves {
		out[i] = monitorMove{m.Job, m.From.String(), m.To.String(), m.Growth, string(m.Cause)}
	}
	return out
}

// testInput is the part of the first line that chooses a classifier, and how long a container may be silent.
type testInput struct {
	Silence       seconds              `json:"silence,omitempty"`
	Normalization growth.Normalization `json:"normalization,omitempty"`
	Confidence    positive             `json:"confidence,omitempty"`
}

// prospect is the name of the classifier that noise does not fool.
const prospect = "prospect"

// classifier returns the one with that name; nil: the thesis' own.
func (t *testInput) classifier(name string, alpha positive) growth.Classifier {
	if name != prospect {
		return nil
	}
	// It has no normalization of its own: it judges what is still to come against what has been.
	return growth.Prospect{Alpha: float64(alpha), Confidence: float64(t.Confidence)}
}

// The names of classifiers: the thesis' own for each algorithm, and prospect.
type (
	flowconClassifier string
	speconClassifier  string
)

// UnmarshalText refuses every other name.
func (c *flowconClassifier) UnmarshalText(text []byte) error {
	return oneOf((*string)(c), string(text), "threshold", prospect)
}

// UnmarshalText refuses every other name.
func (c *speconClassifier) UnmarshalText(text []byte) error {
	return oneOf((*string)(c), string(text), "decline", prospect)
}

// oneOf sets value to name if that is one of the names.
func oneOf(value *string, name string, names ...string) error {
	if !slices.Contains(names, name) {
		return fault(apportion.ErrUnknown, strconv.Quote(name))
	}
	*value = name
	return nil
}

// steeringKind returns the position of the kind of that name; empty: the first.
func steeringKind(kinds apportion.Kinds, name id) (int, error) {
	if name == "" {
		return 0, nil
	}
	at := kinds.Index(string(name))
	if at < 0 {
		return 0, apportion.Faults{{Field: "options.steering", Err: apportion.ErrUnknown, Detail: strconv.Quote(string(name))}}
	}
	return at, nil
}

// monitor reads a stream and hands its events on until it ends.
func monitor(c *command, l *lines, form *monitorForm, handle func(*monitorEvent) error) error {
	for {
		switch err := l.next(); {
		case err == io.EOF:
			return c.refusals()
		case err != nil:
			return err
		}
		e, err := form.event(l)
		if err == nil {
			if err = handle(e); err != nil && !isFault(err) {
				return err
			}
		}
		if err != nil {
			if err := c.refuse(l.number, err); err != nil {
				return err
			}
		}
	}
}
