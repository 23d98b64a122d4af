// This file says what becomes of a stream when one of its lines is at fault: the line is answered with its faults, and changes
// nothing.

package main

import (
	"errors"
	"fmt"

	"github.com/apportion/apportion"
)

// Several programs may write into one stream, and none of them should lose its answers by the fault of another.
func (c *command) strictFlag() {
	c.BoolVar(&c.strict, "strict", false, "end at the first line that is at fault, instead of answering it with its faults")
}

// refusal is the answer to a line that is at fault: an error as on standard error, with the number of the line.
type refusal struct {
	Line int `json:"line"`
	*failure
}

// refuse answers a line that is at fault; with -strict it returns the error, which ends the run.
func (c *command) refuse(line int, err error) error {
	err = atLine(line, err)
	if c.strict {
		return err
	}
	c.refused++
	return c.writeLine(refusal{line, failureOf(err)})
}

// refusals returns the error of a run that has refused lines.
func (c *command) refusals() error {
	if c.refused == 0 {
		return nil
	}
	return fmt.Errorf("lines that were refused: %d", c.refused)
}

// isFault reports whether an error is the input's: another one, as of a full disk, ends the run.
func isFault(err error) bool {
	var faults apportion.Faults
	var single *apportion.FieldError
	return errors.As(err, &faults) || errors.As(err, &single)
}
