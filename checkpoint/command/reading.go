// This file implements the line in which a job reports: its step and the value of its evaluation
// function.

package command

import (
	"bytes"
	"encoding/json"
	"math"

	"github.com/apportion/apportion"
)

// Reading is one line of a job's output that reports progress.
//
// As JSON it is such a line itself: json.Marshal leaves out a value that is NaN, and json.Unmarshal takes
// what is left out, or null, for NaN.
type Reading struct {
	// Step is the number of steps done, counted over all attempts.
	Step int64
	// Value is the evaluation function there, for instance the loss; NaN if the line has none or none
	// that is finite.
	Value float64
	// Done says that the job has finished its work and is about to exit.
	Done bool
}

// line is the form that a reading has as text. What is nil is not there.
type line struct {
	Step  *int64   `json:"step"`
	Value *float64 `json:"value,omitempty"`
	Done  bool     `json:"done,omitempty"`
}

// reading returns what a line says, and whether it is a reading at all.
func (l line) reading() (Reading, bool) {
	if l.Step == nil || *l.Step < 0 {
		return Reading{}, false
	}
	r := Reading{Step: *l.Step, Value: math.NaN(), Done: l.Done}
	if l.Value != nil {
		r.Value = *l.Value
	}
	return r, true
}

// MarshalJSON returns a line that [ParseLine] reads as r.
func (r Reading) MarshalJSON() ([]byte, error) {
	l := line{Step: &r.Step, Done: r.Done}
	if !math.IsNaN(r.Value) && !math.IsInf(r.Value, 0) {
		l.Value = &r.Value
	}
	return json.Marshal(l)
}

// UnmarshalJSON reads what MarshalJSON writes. An object without a step, or with one below 0, is an
// error.
func (r *Reading) UnmarshalJSON(data []byte) error {
	var l line
	if err := json.Unmarshal(data, &l); err != nil {
		return err
	}
	read, ok := l.reading()
	if !ok {
		return &apportion.FieldError{Item: apportion.Item{Kind: "reading"}, Field: "step", Err: apportion.ErrRange}
	}
	*r = read
	return nil
}

// maxLine is the longest line that can be a reading, in bytes.
const maxLine = 1 << 14

// ParseLine reads one line of output. A reading is a JSON object with a whole number "step" of at least
// 0, and beside it "value", a number, and "done", a truth value, or neither; other members are ignored.
// NaN and Infinity, which Python writes, count as no value. Every other line is not a reading.
func ParseLine(text []byte) (Reading, bool) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 || text[0] != '{' || len(text) > maxLine {
		return Reading{}, false
	}
	var l line
	if json.Unmarshal(text, &l) != nil {
		l = line{}
		for _, word := range []string{"NaN", "-Infinity", "Infinity"} {
			text = bytes.ReplaceAll(text, []byte(word), []byte("null"))
		}
		if json.Unmarshal(text, &l) != nil {
			return Reading{}, false
		}
	}
	return l.reading()
}

// readings finds readings in output that comes in pieces. It keeps the beginning of a line that has not
// ended, and forgets lines that are too long.
type readings struct {
	partial []byte
	// skipping says that the line is too long, and everything up to its end is passed over.
	skipping bool
	last     Reading
	any      bool
}

// Write takes the next piece of output. It never fails.
func (r *readings) Write(piece []byte) (int, error) {
	n := len(piece)
	for {
		end := bytes.IndexByte(piece, '\n')
		line := piece
		if end >= 0 {
			line = piece[:end]
		}
		if !r.skipping && len(r.partial)+len(line) > maxLine {
			r.skipping, r.partial = true, nil
		}
		if !r.skipping {
			r.partial = append(r.partial, line...)
		}
		if end < 0 {
			return n, nil
		}
		if reading, ok := ParseLine(r.partial); ok {
			r.last, r.any = reading, true
		}
		r.partial, r.skipping, piece = r.partial[:0], false, piece[end+1:]
	}
}

// output is the log of one process, read up to an offset.
type output struct {
	offset int64
	readings
}
