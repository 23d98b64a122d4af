// This file writes what went wrong, as JSON: the error, and where the input is to blame each fault with its item,
// its field and its line.

package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/internal/strictjson"
	"github.com/apportion/apportion/primaldual"
)

// names are those of the fields in all inputs: what the library finds wrong has the names of Go.
var names = strictjson.NamesOf(alloc.Record{}, oasisInput{}, primaldual.Job{}, flowconInput{}, speconInput{}, placedSample{})

// maxFaults is how many faults are listed.
const maxFaults = 1000

// failure is an error as JSON.
type failure struct {
	Error  string       `json:"error"`
	Faults []inputFault `json:"faults,omitempty"`
}

// inputFault is one fault of the input.
type inputFault struct {
	Item    string `json:"item"`
	Field   string `json:"field"`
	Detail  string `json:"detail"`
	Problem string `json:"problem"`
	// Line is where it stands in the text; absent for what only the whole shows, and in streams, whose
	// items name the line.
	Line int `json:"line,omitempty"`
}

func writeFailure(w io.Writer, err error) {
	f := failure{Error: err.Error()}
	var faults apportion.Faults
	var single *apportion.FieldError
	if !errors.As(err, &faults) && errors.As(err, &single) {
		faults = apportion.Faults{single}
	}
	if len(faults) > 0 {
		f.Error = fmt.Sprintf("faults in the input: %d", len(faults))
		if errors.Is(err, alloc.ErrMismatch) {
			f.Error = alloc.ErrMismatch.Error()
		}
		var text *strictjson.Error
		errors.As(err, &text)
		for i, one := range faults[:min(len(faults), maxFaults)] {
			out := inputFault{one.Item.String(), names.JSON(one.Field), one.Detail, one.Err.Error(), 0}
			if text != nil {
				out.Line = text.Lines[i]
			}
			f.Faults = append(f.Faults, out)
		}
	}
	_ = writeJSON(w, f) // there is nobody left to tell
}
