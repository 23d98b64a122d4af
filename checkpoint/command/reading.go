// This file implements the line in which a job reports: its step and the value of its evaluation
// function.

package command

import (
	"bytes"
	"encoding/json"
	"math"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/number"
)

// Reading is one line of a job's output that reports progress.
//
// As JSON a reading of finite value is such a line itself. json.Marshal leaves out a value that is NaN, and
// json.Unmarshal takes what is left out, or null, for NaN. Infinities, which no line has, are the texts
// "+Inf" and "-Inf".
type Reading struct {
	// Step is the number of steps done, counted over all attempts.
	Step int64
	// Value is the evaluation function there, for instance the loss; NaN if the line has none or none
	// that is finite.
	Value float64
	// Done says that the job has finished its work and is about to exit.
	Done bool
}

// written is the form that a reading has as JSON. What is nil is not there.
type written struct {
	// A pointer tells a step that is missing from a step 0.
	Step  *int64        `json:"step"`
	Value *number.Float `json:"value,omitempty"`
	Done  bool          `json:"done,omitempty"`
}

// MarshalJSON returns a line that [ParseLine] reads as r, where Step is not below 0 and Value is no
// infinity.
func (r Reading) MarshalJSON() ([]byte, error) {
	w := written{Step: &r.Step, Done: r.Done}
	if value := number.Float(r.Value); !math.IsNaN(r.Value) {
		w.Value = &value
	}
	return json.Marshal(w)
}

// UnmarshalJSON reads what MarshalJSON writes. An object without a step is an error, and leaves r as it
// was.
func (r *Reading) UnmarshalJSON(data []byte) error {
	var w written
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	if w.Step == nil {
		return &apportion.FieldError{Item: apportion.Item{Kind: "reading"}, Field: "step", Err: apportion.ErrEmpty}
	}
	*r = Reading{Step: *w.Step, Value: math.NaN(), Done: w.Done}
	if w.Value != nil {
		r.Value = float64(*w.Value)
	}
	return nil
}

// maxLine is the longest line that can be a reading, in bytes.
const maxLine = 1 << 14

// ParseLine reads one line of output. A reading is a JSON object with a whole number "step" of at least
// 0, and beside it "value", a number, and "done", a truth value, or neither; other members are ignored.
// NaN and Infinity, which Python writes, count as no value. Every other line is not a reading.
func ParseLine(text []byte) (Reading, bool) {
	text = bytes.TrimSpace(text)
	// Most lines of a job are no readings: they are refused by their first byte, without parsing.
	if len(text) == 0 || text[0] != '{' || len(text) > maxLine {
		return Reading{}, false
	}
	var l struct {
		Step  *int64
		Value *float64
		Done  bool
	}
	if json.Unmarshal(text, &l) != nil {
		// The first try may have filled in some of it before it failed.
		l.Step, l.Value = nil, nil
		// These words may also stand inside of a text, which changes nothing that counts here.
		for _, word := range []string{"NaN", "-Infinity", "Infinity"} {
			text = bytes.ReplaceAll(text, []byte(word), []byte("null"))
		}
		if json.Unmarshal(text, &l) != nil {
			return Reading{}, false
		}
	}
	// A line of somebody else's JSON has no step, and negative ones would pull the progress below zero.
	if l.Step == nil || *l.Step < 0 {
		return Reading{}, false
	}
	r := Reading{Step: *l.Step, Value: math.NaN(), Done: l.Done}
	if l.Value != nil {
		r.Value = *l.Value
	}
	return r, true
}

// Readings finds readings in output that comes in pieces, as an io.Writer. It keeps the beginning of a line that has not
// ended, and forgets lines that are too long. The zero value is ready for use.
// It is for one goroutine at a time.
type Readings struct {
	// It is at most maxLine bytes long.
	partial []byte
	// skipping says that the line is too long, and everything up to its end is passed over.
	skipping bool
	last     Reading
	any      bool
}

// Write takes the next piece of output. It never fails.
func (r *Readings) Write(piece []byte) (int, error) {
	n := len(piece)
	// Each round takes one line. O(bytes) whatever the pieces are, since a partial line is only appended to.
	for {
		end := bytes.IndexByte(piece, '\n')
		line := piece
		if end >= 0 {
			line = piece[:end]
		}
		// A line without an end must not fill the memory.
		if !r.skipping && len(r.partial)+len(line) > maxLine {
			r.skipping, r.partial = true, nil
		}
		if !r.skipping {
			r.partial = append(r.partial, line...)
		}
		if end < 0 {
			return n, nil
		}
		// Of a line that was skipped partial is empty, which is no reading.
		if reading, ok := ParseLine(r.partial); ok {
			r.last, r.any = reading, true
		}
		r.partial, r.skipping, piece = r.partial[:0], false, piece[end+1:]
	}
}

// Last returns the newest reading, and whether there is one.
func (r *Readings) Last() (Reading, bool) { return r.last, r.any }

// output is the log of one process, read up to an offset.
type output struct {
	offset int64
	Readings
}
