// This file is the command: it picks the subcommand, reads its input and writes what it answers.

// Apportion answers the questions of a scheduler that is not written in Go: JSON in, JSON out.
// README.md beside this file lists every field.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/examples/internal/backend"
	"github.com/apportion/apportion/internal/strictjson"
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

// command is one run of a subcommand.
type command struct {
	*flag.FlagSet
	// solver, form, record, state and timeout are the flags, for the subcommands that have them.
	solver  backend.Backend
	form    string
	record  string
	state   string
	timeout time.Duration
	in      io.Reader
	out     io.Writer
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

// errUsage is what every error of the caller's command line is.
var errUsage = errors.New("usage")

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

func (c *command) stateFlag() {
	c.StringVar(&c.state, "state", "",
		"file that holds the state after every line that was answered; if it exists, the stream\nis taken up behind the last of them")
}

func (c *command) timeoutFlag() {
	c.DurationVar(&c.timeout, "timeout", 0,
		"stop after this long with the best answer so far, for instance 10s; 0: never.\nWithout it the same input has the same answer, on every machine")
}

// limited returns a context that ends with ctx or after the timeout.
func (c *command) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.timeout > 0 {
		return context.WithTimeout(ctx, c.timeout)
	}
	return context.WithCancel(ctx)
}

// write writes v as indented JSON.
func (c *command) write(v any) error { return writeJSON(c.out, v) }

func writeJSON(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}

// writeLine writes v as JSON on one line, at once.
func (c *command) writeLine(v any) error {
	encoder := json.NewEncoder(c.out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}

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
