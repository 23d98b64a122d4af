// This file writes what went wrong, as JSON: the error, and where the input is to blame each fault with its item,
// its field and its line.

package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/examples/internal/strictjson"
	"github.com/apportion/apportion/primaldual"
)

// names are those of the fields in all inputs: what the library finds wrong has the names of Go.
var names = strictjson.NamesOf(alloc.Record{}, oasisInput{}, primaldual.Job{}, flowconInput{}, speconInput{}, placedSample{}, adjustInput{}, question{}, knowledge{}, replays{})

// maxFaults is how many faults are listed.
const maxFaults = 1000

// failure is an error as JSON.
type failure struct {
	Error  string       `json:"error"`
	Faults []inputFault `json:"faults,omitempty"`
}

// inputFault is one fault of the input.
// Item names what is at fault, as `application "lr"`, and is empty for the input as a whole. Field is a
// path with the names of JSON. Problem is one of the library's sentinels, word by word, so that a program
// can compare it; Detail has the numbers.
type inputFault struct {
	Item    string `json:"item"`
	Field   string `json:"field"`
	Detail  string `json:"detail"`
	Problem string `json:"problem"`
	// Line is where it stands in the text; absent for what only the whole shows, and in streams, whose
	// items name the line.
	Line int `json:"line,omitempty"`
}

// writeFailure writes an error.
func writeFailure(w io.Writer, err error) {
	_ = writeJSON(w, failureOf(err)) // there is nobody left to tell
}

func failureOf(err error) *failure {
	f := failure{Error: err.Error()}
	var faults apportion.Faults
	var single *apportion.FieldError
	// Faults is looked for first: errors.As would find the first of several in it as a single one.
	if !errors.As(err, &faults) && errors.As(err, &single) {
		faults = apportion.Faults{single}
	}
	if len(faults) > 0 {
		f.Error = fmt.Sprintf("faults in the input: %d", len(faults))
		// The input is right in itself, and what it claims is not: "faults in the input" would send
		// the reader to the wrong place.
		if errors.Is(err, alloc.ErrMismatch) {
			f.Error = alloc.ErrMismatch.Error()
		}
		// text.Lines has a line for each fault, in the same order; streams have no text.
		var text *strictjson.Error
		errors.As(err, &text)
		for i, one := range faults[:min(len(faults), maxFaults)] {
			// The library knows fields by their Go names, and whoever wrote the input knows only those of
			// JSON.
			out := inputFault{one.Item.String(), names.JSON(one.Field), one.Detail, one.Err.Error(), 0}
			if text != nil {
				out.Line = text.Lines[i]
			}
			f.Faults = append(f.Faults, out)
		}
	}
	return &f
}
