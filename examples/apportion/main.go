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
	"syscall"

	"github.com/apportion/apportion/examples/internal/backend"
)

// usage is what "apportion help" prints. It names every subcommand once, in the order of the questions:
// one cluster now, then streams.
const usage = `usage: apportion SUBCOMMAND [flags] [file]

  drf    who deserves how much: dominant resource fairness
  dorm   who gets how many containers on which server now: Dorm's optimizer
  mps    writes the program that dorm solves, as an MPS file
  solve  solves an MPS file

  import  a problem from what Slurm, Kubernetes, Nomad or YARN print of a cluster

  plan           what a decision does, step by step
  fragmentation  which pieces of what is free still fit, and which moves would make larger ones

  why      what keeps an application from more containers, and which change would give it some
  when     when what waits starts and ends, by replays of the decisions
  what-if  who has more or less if a server goes, an application comes, a setting changes

  session  dorm's decisions one after the other: a problem, then what changes, a line each

  serve    sessions and single questions for programs of this machine, by HTTP

  replay  takes a decision that "dorm -record" has written again, and says where the answers differ
  verify  checks such a decision without a solver

  oasis    which job is admitted, and on which schedule of slots: OASiS, a job a line
  flowcon  who still profits from resources on one worker: FlowCon's limits, a sample a line
  specon   who moves to which worker: SpeCon's categories and migrations, a sample a line

  sim      how jobs fare under a policy, one of the library's or one's own: states out, orders in, a line each

  try  a simulated cluster on a page of this machine, a hundred times as fast as time

  adjust  how jobs are resized without losing their work: the protocol, an event a line in, effects out

  version     which version this is
  completion  names and flags for Bash: source <(apportion completion)

The input is the file, or standard input; plan, fragmentation, why, when and what-if take a problem, a record or the address of a
controller. "apportion help SUBCOMMAND" lists the flags. For example

$ apportion plan cluster.json
$ apportion plan -token user.token http://127.0.0.1:8080
$ apportion why -job app-3 cluster.json
$ apportion what-if -drain slave-2 cluster.json
$ apportion when -without app-1 cluster.json

Exit codes: 0 an answer, 1 bad input or no answer, 2 bad usage; errors are JSON on standard error.
`

// The exit codes.
const (
	// answered: there is an answer on standard output, even if it is that nothing can be had.
	answered = iota
	// failed: the input is bad, or it has no answer, or the answer could not be written.
	failed
	// misused: the call itself is wrong, so the input was not looked at.
	misused
)

// main never returns an error: run has written it, and the exit code says so.
func main() {
	ctx := context.Background()
	if len(os.Args) > 1 && subcommands[os.Args[1]].manner == searching {
		// Service managers end a process by SIGTERM.
		ctx, _ = signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	}
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// subcommand is what a name stands for.
type subcommand struct {
	// flags declares the flags that it has.
	flags func(*command)
	// answer does the work.
	answer func(context.Context, *command) error
	manner manner
}

// manner is how a subcommand goes from its input to its answer.
type manner int

const (
	// atOnce reads all and answers soon: an interrupt ends the process.
	atOnce manner = iota
	// searching may take long: an interrupt ends the search with the best answer so far, which is no failure.
	searching
	// byLine reads lines, and answers each before it reads the next one.
	byLine
)

// subcommands is the only list of names: dispatch looks them up here, and usage describes each in
// words.
var subcommands = map[string]subcommand{
	"drf": {func(*command) {}, answerDRF, atOnce},
	// The defaults differ: dorm has a solver for P2 alone, which is faster; solve needs one for any
	// program.
	"dorm":   {func(c *command) { c.solverFlag(backend.Embedded); c.effortFlag(); c.timeoutFlag(); c.recordFlag() }, answerDorm, searching},
	"mps":    {(*command).formFlag, answerMPS, atOnce},
	"solve":  {func(c *command) { c.solverFlag(backend.BranchAndBound); c.timeoutFlag() }, answerSolve, searching},
	"import": {func(*command) {}, answerImport, atOnce},
	"plan": {func(c *command) {
		c.solverFlag(backend.Embedded)
		c.effortFlag()
		c.timeoutFlag()
		c.askedFlags()
	}, answerPlan, searching},
	"fragmentation": {(*command).askedFlags, answerFragmentation, atOnce},
	"why": {func(c *command) {
		c.solverFlag(backend.Embedded)
		c.effortFlag()
		c.timeoutFlag()
		c.askedFlags()
		c.StringVar(&c.job, "job", "", "the `application` that is asked about")
	}, answerWhy, searching},
	"what-if": {func(c *command) {
		c.solverFlag(backend.Embedded)
		c.effortFlag()
		c.timeoutFlag()
		c.askedFlags()
		c.changeFlags()
	}, answerWhatIf, searching},
	"when":       {func(c *command) { c.whenFlags(); c.askedFlags() }, answerWhen, atOnce},
	"session":    {func(c *command) { c.effortFlag(); c.strictFlag() }, answerSession, byLine},
	"serve":      {(*command).serviceFlags, answerServe, searching}, // an interrupt lets it end what was begun
	"replay":     {(*command).timeoutFlag, answerReplay, searching},
	"verify":     {func(*command) {}, answerVerify, atOnce},
	"oasis":      {func(c *command) { c.stateFlag(); c.strictFlag() }, answerOASiS, byLine},
	"flowcon":    {(*command).strictFlag, answerFlowCon, byLine},
	"specon":     {(*command).strictFlag, answerSpeCon, byLine},
	"sim":        {func(*command) {}, answerSim, byLine},
	"try":        {(*command).tryFlags, answerTry, searching},
	"adjust":     {(*command).journalFlag, answerAdjust, byLine},
	"version":    {func(*command) {}, answerVersion, atOnce},
	"completion": {func(*command) {}, answerCompletion, atOnce},
}

// run is main with its surroundings as parameters, and returns the exit code.
func run(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	err := dispatch(ctx, args, in, out, errs)
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

// dispatch carries out one call: 1. find the subcommand, 2. read its flags, 3. open its input, 4.
// answer. ctx ends searches, in is read where no file is named, out gets the answer alone, and errs what is to be said beside it. Flags come before the file, as package flag has it.
func dispatch(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) error {
	if len(args) == 0 {
		return fmt.Errorf("%w: no subcommand; try: apportion help", errUsage)
	}
	// Help that was asked for is an answer and goes to out; help for a wrong call would be text on errs,
	// whose readers expect JSON.
	switch args[0] {
	case "help", "-h", "-help", "--help":
		if len(args) > 1 {
			return dispatch(ctx, []string{args[1], "-h"}, in, out, errs)
		}
		_, err := io.WriteString(out, usage)
		return err
	}
	if args[0] == "--version" {
		args = append([]string{"version"}, args[1:]...)
	}
	sub, ok := subcommands[args[0]]
	if !ok {
		return fmt.Errorf("%w: no subcommand %q; try: apportion help", errUsage, args[0])
	}
	c := &command{FlagSet: flag.NewFlagSet("apportion "+args[0], flag.ContinueOnError), in: in, out: out, errs: errs, dispatch: dispatch}
	c.declare(subcommands)
	sub.flags(c)
	// Package flag writes its help to an output at once, and so would mix text into the JSON of an
	// error: it is kept here, and printed only where it was asked for.
	var help strings.Builder
	c.SetOutput(&help)
	switch err := c.Parse(args[1:]); {
	case errors.Is(err, flag.ErrHelp):
		_, err = io.WriteString(out, help.String())
		return err
	case err != nil:
		return fmt.Errorf("%w: %w", errUsage, err)
	case c.timeout < 0:
		return fmt.Errorf("%w: -timeout %v is negative", errUsage, c.timeout)
	}
	rest := c.Args()
	if len(rest) == 2 && c.Lookup("job") != nil && c.job == "" {
		c.job, rest = rest[0], rest[1:]
	}
	// A second file would be left unread without a word; a flag behind the file would be taken for
	// one.
	if len(rest) > 1 {
		return fmt.Errorf("%w: one input at a time, not %q", errUsage, rest)
	}
	if len(rest) == 1 {
		file, err := c.open(ctx, rest[0])
		if err != nil {
			return err
		}
		defer file.Close()
		c.in = file
	}
	return sub.answer(ctx, c)
}

// open opens a file or, for a question, what a controller has decided.
func (c *command) open(ctx context.Context, name string) (io.ReadCloser, error) {
	if c.Lookup("token") != nil && isAddress(name) {
		return c.newestDecision(ctx, name)
	}
	return os.Open(name)
}
