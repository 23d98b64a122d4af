// This file implements "apportion dorm -record", "apportion replay" and "apportion verify": a decision as a
// document that can be taken again and checked anywhere else.

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/mip"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/checkpoint/vfs"
	"github.com/apportion/apportion/examples/internal/backend"
	"github.com/apportion/apportion/examples/internal/strictjson"
)

// replayOutput is the output of "replay".
//
// An answer that differs is printed as well, and the exit code says that it does: a script needs no
// look at the output.
type replayOutput struct {
	// Same says that there are no Differences.
	Same        bool         `json:"same"`
	Differences []difference `json:"differences"`
	// Interrupted and Warm say why the answers may differ without a fault: the recorded search was ended
	// early, or began from what an earlier decision had left.
	Interrupted bool `json:"interrupted,omitempty"`
	Warm        bool `json:"warm,omitempty"`
}

// difference is a field in which the answers differ.
type difference struct {
	// Item and Field say where, with the names of JSON.
	Item     string `json:"item"`
	Field    string `json:"field"`
	Recorded string `json:"recorded"`
	Replayed string `json:"replayed"`
}

// verifyOutput is the output of "verify". Bound is what the decision claims, ProvenBound what its
// certificate proves; absent where there is none.
type verifyOutput struct {
	// Status and Objective are those of the decision, which have been counted again.
	Status      alloc.Status `json:"status"`
	Objective   float64      `json:"objective"`
	Bound       *float64     `json:"bound,omitempty"`
	ProvenBound *float64     `json:"proven_bound,omitempty"`
	// Searched says that Bound is below ProvenBound because of a search, which "replay" repeats. Then
	// verify alone cannot prove Bound, for a certificate holds prices and no search tree.
	Searched bool `json:"searched"`
	// LeastLoss is the lower bound on the loss that the certificate of a raised budget proves.
	LeastLoss float64 `json:"least_loss,omitzero"`
	// Unchecked lists the fields that are the word of whoever took the decision.
	Unchecked []string `json:"unchecked"`
}

// recordNames are the names of the fields of a decision.
var recordNames = strictjson.NamesOf(alloc.Record{})

// recordFlag declares -record, which dorm alone has.
func (c *command) recordFlag() {
	c.StringVar(&c.record, "record", "",
		"file that problem, options, effort and decision are written to, for replay and verify;\none that exists is replaced")
}

// writeRecord writes the file of -record.
func (c *command) writeRecord(p *alloc.Problem, d *alloc.Decision) error {
	if c.record == "" {
		return nil
	}
	text, err := json.MarshalIndent(alloc.NewRecord(p, d), "", "  ")
	if err != nil {
		return err
	}
	// The file is there as a whole or as it was before: a log of decisions must not have halves.
	return vfs.WriteFile(c.record, append(text, '\n'))
}

// readRecord reads a document that -record has written.
func readRecord(in io.Reader) (*alloc.Record, error) {
	r := &alloc.Record{}
	err := strictjson.Decode(in, r, &strictjson.Options{
		// Faults below these keys are about the application that the key names.
		Items: map[string]string{"problem.previous": "application", "decision.allocation": "application"},
		// Kinds are asked for while the text is read, when the problem may not have come yet.
		Kinds: func() apportion.Kinds {
			if r.Problem == nil {
				return nil
			}
			return r.Problem.Kinds
		},
		Validate: func() error {
			if r.Problem == nil {
				return nil
			}
			return r.Problem.Validate()
		},
	})
	return r, err
}

// answerReplay takes a recorded decision again and prints where the answers differ.
func answerReplay(ctx context.Context, c *command) error {
	r, err := readRecord(c.in)
	if err != nil {
		return err
	}
	// The solver is the one that the certificate names and no choice of the caller: another one may
	// find another best allocation, which would be no fault.
	by, err := solverOf(&r.Decision.Certificate.By)
	if err != nil {
		return err
	}
	ctx, cancel := c.limited(ctx)
	defer cancel()
	// Replay compares everything but the prices, of which several may prove the same bound.
	found, err := r.Replay(ctx, by)
	if err != nil {
		return err
	}
	out := replayOutput{Same: len(found) == 0, Differences: []difference{}, Interrupted: r.Decision.Interrupted,
		Warm: r.Decision.Certificate.By.Warm}
	for _, d := range found {
		out.Differences = append(out.Differences, difference{d.Item.String(), recordNames.JSON(d.Field), d.Recorded, d.Replayed})
	}
	if err := c.write(out); err != nil || out.Same {
		return err
	}
	return fmt.Errorf("the answers differ in %s", plural(len(found), "field"))
}

// solverOf returns the solver that a certificate names; nil: the one that Record.Replay makes from it.
func solverOf(by *solver.Settings) (solver.Solver, error) {
	const field = "decision.certificate.by."
	if by.Solver == backend.Embedded {
		return nil, nil
	}
	// A record may name a solver whose library is missing here. Then Find has it, and the search says what
	// to install.
	// The settings in the certificate are all that a solver needs to search in the same way.
	b, err := backend.Find(backend.All(), by.Solver)
	if err != nil {
		return nil, &apportion.FieldError{Field: field + "solver", Err: apportion.ErrUnknown, Detail: strconv.Quote(by.Solver)}
	}
	// dorm writes no other form; one that is recorded comes from elsewhere, and would be solved as
	// another program.
	if by.Form != string(mip.Disjunctive) {
		return nil, &apportion.FieldError{Field: field + "form", Err: apportion.ErrUnknown, Detail: strconv.Quote(by.Form)}
	}
	o := mip.Options{Preference: by.Preference}
	o.Search.RelativeGap = by.Gap
	return b.P2(&o), nil
}

// answerVerify checks a recorded decision without a solver: its allocation, its numbers and its bound.
func answerVerify(_ context.Context, c *command) error {
	r, err := readRecord(c.in)
	if err != nil {
		return err
	}
	proof, err := r.Verify()
	if err != nil {
		return err
	}
	out := verifyOutput{Status: r.Decision.Status, Objective: r.Decision.Objective, Searched: proof.Searched, LeastLoss: proof.LeastLoss}
	for _, field := range proof.Unchecked {
		out.Unchecked = append(out.Unchecked, recordNames.JSON("Decision."+field))
	}
	if r.Decision.Status == alloc.Decided {
		out.Bound, out.ProvenBound = finite(r.Decision.Bound), finite(proof.Bound)
	}
	return c.write(out)
}

// plural returns "1 field" or "2 fields".
func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}
