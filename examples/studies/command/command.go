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

// Flags returns an empty set of flags that explains itself on stderr.
func Flags(name string, stderr io.Writer) *flag.FlagSet {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(stderr)
	return flags
}

// Out declares -out, the folder for the figures: by default "out" in the folder of the example.
func Out(flags *flag.FlagSet, folder *string) {
	flags.StringVar(folder, "out", filepath.Join(flags.Name(), "out"), "folder for the figures")
}

// Parse reads the flags, behind which there are no arguments. The error is flag.ErrHelp or ErrUsage.
func Parse(flags *flag.FlagSet, args []string) error {
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("%w: %w", ErrUsage, err)
	}
	if flags.NArg() > 0 {
		return Misused(flags, "what is %q?", flags.Arg(0))
	}
	return nil
}

// Misused explains on stderr what is wrong with the flags and returns ErrUsage.
func Misused(flags *flag.FlagSet, format string, args ...any) error {
	fmt.Fprintf(flags.Output(), flags.Name()+": "+format+"\n", args...)
	return ErrUsage
}
