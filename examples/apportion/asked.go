// This file reads what questions are about: a problem, or that of a record, or of the newest decision of a controller.

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
	known := json.Unmarshal(text, &parts) == nil
	_, taken := parts["took"] // by a controller, see controller.Taken
	if known && taken && parts["problem"] == nil {
		return nil, fmt.Errorf("the controller has decided nothing yet: %s", parts["fault"])
	}
	if !known || parts["problem"] == nil {
		return readProblem(bytes.NewReader(text))
	}
	var notes []unreadNote
	var version int
	switch stated, has := parts["version"]; {
	case taken:
	case !has:
		notes = append(notes, unreadNote{"version", fmt.Sprintf("it is missing, and %d is assumed", alloc.RecordVersion)})
	case json.Unmarshal(stated, &version) != nil || version < 1 || version > alloc.RecordVersion:
		return nil, &apportion.FieldError{Field: "version", Detail: string(stated), Err: apportion.ErrRange}
	}
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		if !slices.Contains([]string{"version", "problem", "decision"}, name) && !(taken && slices.Contains([]string{"at", "took", "fault"}, name)) {
			notes = append(notes, unreadNote{name, "no record has it"})
		}
	}
	if fault := parts["fault"]; taken && fault != nil {
		notes = append(notes, unreadNote{"fault", "the controller could not decide since: " + string(fault)})
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
