// This file runs the command as a user does, with few schedules.

package main

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/apportion/apportion/examples/internal/chart/charttest"
)

// TestCases runs the commands of testdata/cases and compares what they print, errors included.
func TestCases(t *testing.T) {
	datadriven.Walk(t, "testdata/cases", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var text bytes.Buffer
			out := t.TempDir()
			args := []string{"-out", out}
			for _, arg := range d.CmdArgs {
				args = append(args, argument(arg.String()))
			}
			if err := run(&text, &text, args); err != nil {
				text.WriteString("error: " + err.Error() + "\n")
			}
			return strings.ReplaceAll(text.String(), out, "OUT")
		})
	})
}

// The figures are files that viewers can open, and the same every time.
func TestFigures(t *testing.T) {
	charttest.Twice(t, func(out string) error {
		return run(io.Discard, io.Discard, []string{"-seeds", "1", "-out", out})
	}, 10, "VAE-P", "Prospect")
}

func TestFolderThatCannotBeMade(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(io.Discard, io.Discard, []string{"-seeds", "1", "-out", file}); err == nil {
		t.Error("no error for a folder that is a file")
	}
}

func TestHelp(t *testing.T) {
	var text bytes.Buffer
	if err := run(io.Discard, &text, []string{"-h"}); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("error %v, want %v", err, flag.ErrHelp)
	}
	for _, name := range []string{"-seeds", "-interference", "-out"} {
		if !strings.Contains(text.String(), name) {
			t.Errorf("help does not mention %s", name)
		}
	}
}

// argument turns key=value of a case into a flag.
func argument(text string) string {
	if strings.Contains(text, "=") {
		return "-" + text
	}
	return text
}
