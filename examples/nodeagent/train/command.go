// This file turns a job into the arguments of a command and back.

package train

import (
	"errors"
	"fmt"
	"io"
	"strconv"
)

// Arguments are those with which [Command] runs the job.
func (j Job) Arguments() []string {
	return []string{fmt.Sprint(j.Epochs), fmt.Sprint(j.Hidden), fmt.Sprint(j.Rate), fmt.Sprint(j.Seed)}
}

// Command runs the job that the arguments EPOCHS HIDDEN RATE SEED describe, see [Run].
// All faults of the numbers are told at once.
func Command(w io.Writer, args []string) error {
	if len(args) != 4 {
		return errors.New("train takes EPOCHS HIDDEN RATE SEED")
	}
	epochs, err1 := strconv.Atoi(args[0])
	hidden, err2 := strconv.Atoi(args[1])
	rate, err3 := strconv.ParseFloat(args[2], 64)
	seed, err4 := strconv.ParseUint(args[3], 10, 64)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return err
	}
	return Run(w, Job{Epochs: epochs, Hidden: hidden, Rate: rate, Seed: seed})
}

// ReadLine takes the loss from a line that Run has written; ok is false for any other line.
func ReadLine(line []byte) (loss float64, ok bool) {
	var epoch int
	n, _ := fmt.Sscan(string(line), &epoch, &loss)
	return loss, n == 2
}
