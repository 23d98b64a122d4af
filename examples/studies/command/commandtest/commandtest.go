// This file tests what every command has in common.

// Package commandtest tests the commands of the examples: golden cases and interrupts.
package commandtest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/apportion/apportion/examples/studies/command"
)

// Cases runs the commands of testdata/cases and compares what they print, errors included. -out is a
// fresh folder, OUT in what is printed; an argument with a = in it is a flag with its value, and may
// leave out the dash. The files that are named slow are left out in short mode.
func Cases(t *testing.T, run command.Run, slow ...string) {
	datadriven.Walk(t, "testdata/cases", func(t *testing.T, path string) {
		if testing.Short() && slices.Contains(slow, filepath.Base(path)) {
			t.Skip("takes long")
		}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string { return output(t, run, d) })
	})
}

// recordsVariable asks for the complete runs as well, which take minutes each: `make records` sets it.
const recordsVariable = "APPORTION_RECORDS"

// Records does the same with the complete runs in testdata/record, whose output the READMEs show. Those that are named
// quick run always, the others where `make records` asks for them. What differs from run to run, like seconds, is taken out
// by mask, which may be nil.
func Records(t *testing.T, run command.Run, mask func(string) string, quick ...string) {
	datadriven.Walk(t, "testdata/record", func(t *testing.T, path string) {
		asked := os.Getenv(recordsVariable) != ""
		if !asked && (testing.Short() || !slices.Contains(quick, filepath.Base(path))) {
			t.Skipf("a complete run: %s=1 asks for it", recordsVariable)
		}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			text := output(t, run, d)
			if mask != nil {
				text = mask(text)
			}
			// Records end with their last line that is not empty, as files of text do.
			return strings.TrimRight(text, "\n") + "\n"
		})
	})
}

// output runs a case and returns all that it prints.
func output(t *testing.T, run command.Run, d *datadriven.TestData) string {
	var text bytes.Buffer
	out := t.TempDir()
	args := []string{"-out", out}
	for _, arg := range d.CmdArgs {
		args = append(args, argument(arg.String()))
	}
	if err := run(t.Context(), &text, &text, args); err != nil {
		text.WriteString("error: " + err.Error() + "\n")
	}
	return strings.ReplaceAll(text.String(), out, "OUT")
}

// argument turns name=value of a case into a flag.
func argument(text string) string {
	if strings.Contains(text, "=") && !strings.HasPrefix(text, "-") {
		return "-" + text
	}
	return text
}

// Cancelled runs the command with a context that has ended.
func Cancelled(t *testing.T, run command.Run, args ...string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := run(ctx, io.Discard, io.Discard, append(args, "-out", t.TempDir())); !errors.Is(err, context.Canceled) {
		t.Errorf("%v: error %v, want %v", args, err, context.Canceled)
	}
}
