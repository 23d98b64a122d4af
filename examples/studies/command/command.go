// This file implements main with its flags and exit codes.

// Package command is the frame of those examples that are commands: flags, exit codes, progress.
package command

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
)

// Run is a command with its surroundings as parameters. Results go to stdout; progress, and what is
// wrong with the flags, to stderr.
type Run func(ctx context.Context, stdout, stderr io.Writer, args []string) error

// ErrUsage says that the flags are wrong, which has been explained on stderr already.
var ErrUsage = errors.New("usage")

// Main runs the command on the arguments of the process and ends it: with code 0, with 2 for bad
// flags, with 1 for any other error. An interrupt ends the context.
func Main(name string, run Run) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	stdout := &sink{Writer: os.Stdout}
	err := cmp.Or(run(ctx, stdout, os.Stderr, os.Args[1:]), stdout.err)
	stop()
	os.Exit(exitCode(name, err, os.Stderr))
}

// Help that was asked for is no failure.
func exitCode(name string, err error, stderr io.Writer) int {
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, ErrUsage):
		return 2
	}
	fmt.Fprintf(stderr, "%s: %v\n", name, err)
	return 1
}

// Body is a command whose flags have been read.
type Body func(ctx context.Context, stdout, stderr io.Writer) error

// Of returns the command of a name: declare declares its flags and returns what runs when they have been read. What is wrong with
// the flags is explained on stderr, and the error is flag.ErrHelp or ErrUsage. There are no arguments behind the flags unless the name
// tells of some behind a --.
func Of(name string, declare func(flags *flag.FlagSet) Body) Run {
	return func(ctx context.Context, stdout, stderr io.Writer, args []string) error {
		flags := flag.NewFlagSet(name, flag.ContinueOnError)
		flags.SetOutput(stderr)
		body := declare(flags)
		if err := flags.Parse(args); err != nil {
			return fmt.Errorf("%w: %w", ErrUsage, err)
		}
		var err error
		if flags.NArg() > 0 && !strings.Contains(name, " -- ") {
			err = Misused("what is %q?", flags.Arg(0))
		} else {
			err = body(ctx, stdout, stderr)
		}
		if wrong := misuse(""); errors.As(err, &wrong) {
			fmt.Fprintf(stderr, "%s: %s\n", name, string(wrong))
			return ErrUsage
		}
		return err
	}
}

// Out declares -out, the folder for the figures: by default "out" in the folder of the example.
func Out(flags *flag.FlagSet, folder *string) {
	flags.StringVar(folder, "out", filepath.Join(flags.Name(), "out"), "folder for the figures")
}

// misuse is what is wrong with flags.
type misuse string

// Error implements error.
func (m misuse) Error() string { return string(m) }

// Misused is the error of a Body whose flags are wrong in a way that the flags themselves do not tell.
func Misused(format string, args ...any) error { return misuse(fmt.Sprintf(format, args...)) }
