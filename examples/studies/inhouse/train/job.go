// This file says what to train, and which part of it a process does.

package train

import (
	"fmt"
	"time"
)

// Job says what to train, and which part of it this process does.
type Job struct {
	// Model is "logistic" or "network"; Steps, positive, is how many steps the whole job has, over all its
	// runs; Seed makes data and first parameters; Cost, not negative, is the time that a sample takes.
	Model string
	Steps int64
	Seed  uint64
	Cost  time.Duration
	// Rank is the number of this process from 0, Size the number of processes.
	Rank, Size int
	// Dir is a directory of this attempt that all processes of it see; Restore the file with the state to
	// go on from, or empty.
	Dir, Restore string
	// Begin is told with how many steps the process begins, -1 if it does not know, and Worked of every step in which a
	// process other than 0 has done its part; nil: nobody is.
	Begin, Worked func(step int64) error
	// Report gets the loss of every step from process 0. Save is asked by process 0 after every step: it
	// calls write with the name of a file for the state if it is wanted now.
	Report func(step int64, loss float64) error
	Save   func(step int64, write func(path string) error) error
}

// Paths and functions are not looked at.
func (j *Job) check() error {
	if j.Steps < 1 || j.Cost < 0 || j.Size < 1 || j.Rank < 0 || j.Rank >= j.Size {
		return fmt.Errorf("train: steps %d, cost %v, rank %d of %d: out of range", j.Steps, j.Cost, j.Rank, j.Size)
	}
	return nil
}
