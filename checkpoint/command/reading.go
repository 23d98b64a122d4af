// This file implements the line in which a job reports: its step and the value of its evaluation
// function.

package command

import (
	"bytes"
	"encoding/json"
	"math"
)

// Reading is one line of a job's output that reports progress.
type Reading struct {
	// Step is the number of steps done, counted over all attempts.
	Step int64
	// Value is the evaluation function there, for instance the loss; NaN if the line has none or none
	// that is finite.
	Value float64
	// Done says that the job has finished its work and is about to exit.
	Done bool
}

// maxLine is the longest line that can be a reading, in bytes.
const maxLine = 1 << 14

// ParseLine reads one line of output. A reading is a JSON object with a whole number "step" of at least
// 0, and beside it "value", a number, and "done", a truth value, or neither; other members are ignored.
// NaN and Infinity, which Python writes, count as no value. Every other line is not a reading.
func ParseLine(line []byte) (Reading, bool) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 || line[0] != '{' || len(line) > maxLine {
		return Reading{}, false
	}
	var members struct {
		Step  *int64
		Value *float64
		Done  bool
	}
	if json.Unmarshal(line, &members) != nil {
		members.Step, members.Value = nil, nil
		for _, word := range []string{"NaN", "-Infinity", "Infinity"} {
			line = bytes.ReplaceAll(line, []byte(word), []byte("null"))
		}
		if json.Unmarshal(line, &members) != nil {
			return Reading{}, false
		}
	}
	if members.Step == nil || *members.Step < 0 {
		return Reading{}, false
	}
	r := Reading{Step: *members.Step, Value: math.NaN(), Done: members.Done}
	if members.Value != nil {
		r.Value = *members.Value
	}
	return r, true
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
