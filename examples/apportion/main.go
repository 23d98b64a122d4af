// This file is the command: it picks the subcommand, reads its input and writes what it answers.

// Apportion answers the questions of a scheduler that is not written in Go: JSON in, JSON out.
// README.md beside this file lists every field.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/apportion/apportion/examples/internal/backend"
)

const usage = `usage: apportion SUBCOMMAND [flags] [file]

  drf    who deserves how much: dominant resource fairness
  dorm   who gets how many containers on which server now: Dorm's optimizer
  mps    writes the program that dorm solves, as an MPS file
  solve  solves an MPS file

  replay  takes a decision that "dorm -record" has written again, and says where the answers differ
  verify  checks such a decision without a solver

  oasis    which job is admitted, and on which schedule of slots: OASiS, a job a line
  flowcon  who still profits from resources on one worker: FlowCon's limits, a sample a line
  specon   who moves to which worker: SpeCon's categories and migrations, a sample a line

  version  which version this is

The input is the file, or standard input. "apportion SUBCOMMAND -h" lists the flags.
Exit codes: 0 an answer, 1 bad input or no answer, 2 bad usage; errors are JSON on standard error.
`

// The exit codes.
const (
	answered = iota
	failed
	misused
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// subcommand is what a name stands for.
type subcommand struct {
	// flags declares the flags that it has.
	flags func(*command)
	// answer does the work.
	answer func(context.Context, *command) error
	// searches says that an interrupt ends a search, with the best answer so far; without it an
	// interrupt ends the process.
	searches bool
}

var subcommands = map[string]subcommand{
	"drf":     {func(*command) {}, answerDRF, false},
	"dorm":    {func(c *command) { c.solverFlag(backend.Embedded); c.timeoutFlag(); c.recordFlag() }, answerDorm, true},
	"mps":     {(*command).formFlag, answerMPS, false},
	"solve":   {func(c *command) { c.solverFlag(backend.BranchAndBound); c.timeoutFlag() }, answerSolve, true},
	"replay":  {(*command).timeoutFlag, answerReplay, true},
	"verify":  {func(*command) {}, answerVerify, false},
	"oasis":   {(*command).stateFlag, answerOASiS, false},
	"flowcon": {func(*command) {}, answerFlowCon, false},
	"specon":  {func(*command) {}, answerSpeCon, false},
	"version": {func(*command) {}, answerVersion, false},
}

// run is main with its surroundings as parameters.
func run(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	err := dispatch(ctx, args, in, out)
	switch {
	case err == nil:
		return answered
	case errors.Is(err, errUsage):
		writeFailure(errs, err)
		return misused
	}
	writeFailure(errs, err)
	return failed
}

func dispatch(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	if len(args) == 0 {
		return fmt.Errorf("%w: no subcommand; try: apportion help", errUsage)
	}
	if args[0] == "help" || args[0] == "-h" || args[0] == "--help" {
		_, err := io.WriteString(out, usage)
		return err
	}
	sub, ok := subcommands[args[0]]
	if !ok {
		return fmt.Errorf("%w: no subcommand %q; try: apportion help", errUsage, args[0])
	}
	c := &command{FlagSet: flag.NewFlagSet("apportion "+args[0], flag.ContinueOnError), in: in, out: out}
	sub.flags(c)
	var help strings.Builder
	c.SetOutput(&help)
	switch err := c.Parse(args[1:]); {
	case errors.Is(err, flag.ErrHelp):
		_, err = io.WriteString(out, help.String())
		return err
	case err != nil:
		return fmt.Errorf("%w: %w", errUsage, err)
	case c.NArg() > 1:
		return fmt.Errorf("%w: one input at a time, not %q", errUsage, c.Args())
	case c.NArg() == 1:
		file, err := os.Open(c.Arg(0))
		if err != nil {
			return err
		}
		defer file.Close()
		c.in = file
	}
	if sub.searches {
		var stop context.CancelFunc
		ctx, stop = signal.NotifyContext(ctx, os.Interrupt)
		defer stop()
	}
	return sub.answer(ctx, c)
}
