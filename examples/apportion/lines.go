// This file reads JSON lines: one value a line, with the number of the line in every message.

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/examples/internal/strictjson"
)

// maxLine is the longest line in bytes.
//
// Without a bound a stream without line breaks would take all memory.
const maxLine = 64 << 20

// lines reads a text line by line and skips blank ones.
type lines struct {
	// scanner splits at line breaks, and takes a carriage return before one away.
	scanner *bufio.Scanner
	// number is that of the present line, from 1; text is its content, valid until the next.
	number int
	text   []byte
}

// newLines returns a reader that stands before the first line.
func newLines(in io.Reader) *lines {
	scanner := bufio.NewScanner(in)
	scanner.Buffer(nil, maxLine)
	return &lines{scanner: scanner}
}

// next goes to the next line that is not blank. The error at the end is io.EOF.
func (l *lines) next() error {
	for l.scanner.Scan() {
		l.number++
		// JSON takes these for white space as well; other spaces of Unicode are no blank line, and the
		// reader refuses them.
		if l.text = l.scanner.Bytes(); len(bytes.Trim(l.text, " \t\r")) > 0 {
			return nil
		}
	}
	switch err := l.scanner.Err(); {
	case err == nil:
		return io.EOF
	case errors.Is(err, bufio.ErrTooLong):
		l.number++
		return atLine(l.number, strictjson.ErrTooLong)
	default:
		return err
	}
}

// firstLine returns a reader at the first line, which must be there.
func firstLine(in io.Reader) (*lines, error) {
	l := newLines(in)
	err := l.next()
	if err == io.EOF {
		err = strictjson.ErrCutOff
	}
	return l, err
}

// read sets v to the present line.
func (l *lines) read(v any, o *strictjson.Options) error { return strictjson.Unmarshal(l.text, v, o) }

// keys returns the keys of the present line if it is an object, ascending. What is wrong with the line
// is for its reader to say.
func (l *lines) keys() []string {
	var object map[string]json.RawMessage
	if json.Unmarshal(l.text, &object) != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(object))
}

// unnamedJob is what a job without an id is called; its line says more.
var unnamedJob = apportion.Item{Kind: "job"}

// atLine names the line in an error, and in every fault of one.
func atLine(number int, err error) error {
	line := fmt.Sprintf("line %d", number)
	// The list first: errors.As would find a single fault in it as well, and the others would be lost.
	var faults apportion.Faults
	var single *apportion.FieldError
	switch {
	case errors.As(err, &faults):
	case errors.As(err, &single):
		faults = apportion.Faults{single}
	default:
		return fmt.Errorf("%s: %w", line, err)
	}
	// New faults are made. Those that were given may be shared with the caller, who must not see them
	// change.
	var named apportion.Faults
	for _, fault := range faults {
		item := line
		if !fault.Item.IsZero() && fault.Item != unnamedJob {
			item += ", " + fault.Item.String()
		}
		named.Add(apportion.Item{ID: item}, fault.Field, fault.Err, fault.Detail)
	}
	return named
}
