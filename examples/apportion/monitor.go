// This file reads what container monitors report, for "apportion flowcon" and "apportion specon":
// samples, exits and ticks; and averages usage between two runs, [Zheng] §4.1.3.

package main

import (
	"bytes"
	"io"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/internal/check"
)

// monitorEvent is a line behind the first.
type monitorEvent struct {
	// verb is "sample", "exit" or "tick".
	verb string
	// at is the time of a sample or tick, since any origin.
	at time.Duration
	id string
	// reads says that a sample has a value, and the average usage since the sample before, by kind;
	// usage is nil where it is not given.
	reads bool
	value float64
	usage []float64
	// worker and demand say where a container is and what it holds; empty, nil: as before.
	worker string
	demand apportion.Resources
}

// monitorForm says which lines a subcommand takes.
type monitorForm struct {
	kinds apportion.Kinds
	// placed: a sample may name worker and demand, and need not have usage.
	placed bool
}

func (m *monitorForm) event(l *lines) (*monitorEvent, error) {
	e, r := &monitorEvent{verb: "sample"}, newReader(bytes.NewReader(l.text))
	for _, key := range l.keys() {
		if key == "exit" || key == "tick" {
			e.verb = key
		}
	}
	switch e.verb {
	case "exit":
		r.object("", []field{{"exit", true, func(path string) { e.id = r.id(path) }}})
	case "tick":
		r.object("", []field{{"tick", true, func(path string) { e.at = r.seconds(path) }}})
	default:
		m.sample(r, e)
	}
	return e, r.finish(m.kinds, func() error { return nil })
}

func (m *monitorForm) sample(r *reader, e *monitorEvent) {
	fields := []field{
		{"time", true, func(path string) { e.at = r.seconds(path) }},
		{"container", true, func(path string) { e.id = r.id(path) }},
		{"value", false, func(path string) { e.value, e.reads = r.reading(path), true }},
		{"usage", false, func(path string) { e.usage = r.usage(path, m.kinds) }},
	}
	if m.placed {
		fields = append(fields,
			field{"worker", false, func(path string) { e.worker = r.id(path) }},
			field{"demand", false, func(path string) {
				e.demand = r.resources(path)
				if r.err == nil {
					check.Resources(&r.faults, m.kinds, e.demand, apportion.Item{}, path)
				}
			}})
	}
	r.object("", fields)
	if e.reads && e.usage == nil && !m.placed && r.err == nil && len(r.faults) == 0 {
		r.faults.Add(apportion.Item{}, "usage", errMissing, "the value needs it")
	}
	if e.usage == nil {
		e.usage = slices.Repeat([]float64{1}, len(m.kinds)) // not measured: counts as 1
	}
	if e.id != "" {
		r.named(0, check.Item("container", e.id, 0))
	}
}

// id reads a name that is not empty.
func (r *reader) id(path string) string {
	before := len(r.faults)
	id := r.str(path)
	if id == "" && r.err == nil && len(r.faults) == before {
		r.faults.Add(apportion.Item{}, path, apportion.ErrEmpty, "")
	}
	return id
}

// maxSeconds is the longest time in seconds: what a time.Duration holds.
const maxSeconds = float64(math.MaxInt64/int64(time.Second)) - 1

// seconds reads a time, 0 or more, to the nanosecond.
func (r *reader) seconds(path string) time.Duration {
	value := r.notNegative(path)
	if value > maxSeconds {
		r.faults.Add(apportion.Item{}, path, apportion.ErrRange, jsonNumber(value)+" seconds are more than 292 years")
		return 0
	}
	return time.Duration(math.Round(value * float64(time.Second)))
}

// reading reads a number, or one of the texts for what JSON has no numbers for.
func (r *reader) reading(path string) float64 {
	token := r.next()
	text, ok := token.(string)
	if !ok {
		return r.numberOf(token, path, 0)
	}
	values := map[string]float64{"NaN": math.NaN(), "Infinity": math.Inf(1), "-Infinity": math.Inf(-1)}
	value, ok := values[text]
	if !ok {
		r.faults.Add(apportion.Item{}, path, errType, strconv.Quote(text)+`, not a number, "NaN", "Infinity" or "-Infinity"`)
	}
	return value
}

// usage reads an object with the usage of every kind.
func (r *reader) usage(path string, kinds apportion.Kinds) []float64 {
	usage := make([]float64, len(kinds))
	var fields []field
	for k, kind := range kinds {
		fields = append(fields, field{kind, true, func(path string) { usage[k] = r.notNegative(path) }})
	}
	r.object(path, fields)
	return usage
}

// meter holds the samples of one container since the last run that took them.
type meter struct {
	id string
	// at and value are of the newest sample with a value; fresh says that no run has taken it.
	at      time.Duration
	value   float64
	sampled bool
	fresh   bool
	// spent is usage times time since taken, by kind.
	spent []float64
	// taken is the time of the sample that the last run took; late as long as there was none.
	taken time.Duration
	ran   bool
	// current is the usage of the newest sample.
	current []float64
}

// add takes a sample with a value. One that is not later than the one before is dropped: the first of
// a time stands.
func (m *meter) add(e *monitorEvent) {
	if m.sampled && e.at <= m.at {
		return
	}
	span := (e.at - m.at).Seconds()
	if !m.sampled {
		span = 1 // nothing is before it, so that any weight will do
		m.taken = e.at - time.Second
	}
	if m.spent == nil {
		m.spent = make([]float64, len(e.usage))
	}
	for k, usage := range e.usage {
		m.spent[k] += float64(usage * span)
	}
	m.at, m.value, m.current, m.sampled, m.fresh = e.at, e.value, e.usage, true, true
}

// usage returns the average usage since the sample that was taken last.
func (m *meter) usage() []float64 {
	average := make([]float64, len(m.spent))
	for k, spent := range m.spent {
		average[k] = spent / (m.at - m.taken).Seconds()
	}
	return average
}

// take notes that a run has taken the newest sample, unless it is closer than least to the one before.
func (m *meter) take(least time.Duration) {
	if !m.fresh || m.ran && m.at-m.taken < least {
		return
	}
	m.taken, m.ran, m.fresh = m.at, true, false
	clear(m.spent)
}

// clock refuses ticks that go back.
type clock struct{ now time.Duration }

func (c *clock) tick(now time.Duration) error {
	if now < c.now {
		return &apportion.FieldError{Field: "tick", Err: apportion.ErrRange,
			Detail: jsonNumber(now.Seconds()) + " is before " + jsonNumber(c.now.Seconds())}
	}
	c.now = now
	return nil
}

func jsonNumber(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// monitorMove is a change of category.
type monitorMove struct {
	Container string  `json:"container"`
	From      string  `json:"from"`
	To        string  `json:"to"`
	Growth    float64 `json:"growth"`
	Reason    string  `json:"reason"`
}

func monitorMoves(moves []growth.Change) []monitorMove {
	out := make([]monitorMove, len(moves))
	for i, m := range moves {
		out[i] = monitorMove{m.Job, m.From.String(), m.To.String(), m.Growth, m.Cause.String()}
	}
	return out
}

// monitorTest is the part of the first line that chooses a classifier.
type monitorTest struct {
	alpha         float64
	normalization growth.Normalization
	prospect      bool
	confidence    float64
}

var normalizations = []growth.Normalization{growth.FirstValue, growth.Raw, growth.LargestGrowth}

// fields returns the options that choose the classifier; plain is the name of the thesis' own.
func (t *monitorTest) fields(r *reader, plain string) []field {
	return []field{
		{"normalization", false, func(path string) { t.normalization = choose(r, path, normalizations) }},
		{"classifier", false, func(path string) {
			switch name := r.str(path); {
			case name == "prospect":
				t.prospect = true
			case name != plain && r.err == nil:
				r.faults.Add(apportion.Item{}, path, apportion.ErrUnknown, strconv.Quote(name))
			}
		}},
		{"confidence", false, func(path string) { t.confidence = r.positive(path) }},
	}
}

// classifier returns nil for the thesis' own.
func (t *monitorTest) classifier() growth.Classifier {
	if t.prospect {
		return growth.Prospect{Alpha: t.alpha, Confidence: t.confidence}
	}
	return nil
}

// monitor reads a stream and hands its events on until it ends.
func monitor(l *lines, form *monitorForm, handle func(*monitorEvent) error) error {
	for {
		switch err := l.next(); {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		e, err := form.event(l)
		if err == nil {
			err = handle(e)
		}
		if err != nil {
			return atLine(l.number, err)
		}
	}
}
