// This file reads what "why" and "what-if" are asked about: a problem, or the record of a decision, of which the problem is used.

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/examples/internal/strictjson"
)

// unreadNotes is what is written to standard error where a record was not read as a whole.
type unreadNotes struct {
	Unread []unreadNote `json:"unread"`
}

// unreadNote is a part of a record that was not read, and why.
type unreadNote struct {
	Item string `json:"item"`
	Why  string `json:"why"`
}

// readAsked reads a problem, or that of a record. What a record lacks or has beside it is listed; one of a newer version is refused, since
// what its problem means is not known here, as is one whose problem cannot be read.
func (c *command) readAsked() (*alloc.Problem, error) {
	text, err := io.ReadAll(c.in)
	if err != nil {
		return nil, err
	}
	var parts map[string]json.RawMessage
	if json.Unmarshal(text, &parts) != nil || parts["problem"] == nil {
		return readProblem(bytes.NewReader(text))
	}
	var notes []unreadNote
	var version int
	switch stated, has := parts["version"]; {
	case !has:
		notes = append(notes, unreadNote{"version", fmt.Sprintf("it is missing, and %d is assumed", alloc.RecordVersion)})
	case json.Unmarshal(stated, &version) != nil || version < 1 || version > alloc.RecordVersion:
		return nil, &apportion.FieldError{Field: "version", Detail: string(stated), Err: apportion.ErrRange}
	}
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		if name != "version" && name != "problem" && name != "decision" {
			notes = append(notes, unreadNote{name, "no record has it"})
		}
	}
	if parts["decision"] == nil {
		notes = append(notes, unreadNote{"decision", "it is missing, and the problem is decided anew"})
	}
	p := &alloc.Problem{}
	if err := strictjson.Decode(bytes.NewReader(parts["problem"]), p, problemOptions(p)); err != nil {
		return nil, fmt.Errorf("problem: %w", err)
	}
	if len(notes) > 0 {
		if err := writeJSON(c.errs, unreadNotes{notes}); err != nil {
			return nil, err
		}
	}
	return p, nil
}
