// This file runs the command as a user does, with small settings.

package main

import (
	"bytes"
	"context"
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
				args = append(args, arg.String())
			}
			if err := run(t.Context(), &text, &text, args); err != nil {
				text.WriteString("error: " + err.Error() + "\n")
			}
			return strings.ReplaceAll(text.String(), out, "OUT")
		})
	})
}

// With the library's own solver every decision keeps the thresholds, and applications run faster
// than under Swarm.
func TestEmbedded(t *testing.T) {
	o, err := parse([]string{"-small"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	s := shortStudy(o)
	if err := play(t.Context(), io.Discard, []*study{s}); err != nil {
		t.Fatal(err)
	}
	for i, runs := range s.runs {
		for p, run := range runs[1:] {
			if got := speedup(s, run, runs[0]); !(got > 1.5) {
				t.Errorf("workload %d, %s: speed-up %v, want more than 1.5", i, s.policies[p+1], got)
			}
			if run.decisions == 0 || len(run.gaps)+run.kept != run.decisions {
				t.Errorf("workload %d, %s: %d decisions, %d kept, %d gaps", i, s.policies[p+1], run.decisions, run.kept, len(run.gaps))
			}
		}
	}
}

// The figures are files that viewers can open, and the same every time.
func TestFigures(t *testing.T) {
	charttest.Twice(t, func(out string) error {
		return run(t.Context(), io.Discard, io.Discard, []string{"-small", "-trace", "-solver", "first-fit", "-out", out})
	}, 6, "Dorm-2")
}

func TestFolderThatCannotBeMade(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), io.Discard, io.Discard, []string{"-small", "-trace", "-solver", "first-fit", "-out", file}); err == nil {
		t.Error("no error for a folder that is a file")
	}
}

func TestHelp(t *testing.T) {
	var text bytes.Buffer
	if err := run(t.Context(), io.Discard, &text, []string{"-h"}); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("error %v, want %v", err, flag.ErrHelp)
	}
	for _, name := range []string{"-seeds", "-hours", "-apps", "-solver", "-trace", "-sweep", "-out", "-small"} {
		if !strings.Contains(text.String(), name) {
			t.Errorf("help does not mention %s", name)
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range [][]string{{"-small"}, {"-small", "-sweep"}} {
		if err := run(ctx, io.Discard, io.Discard, args); !errors.Is(err, context.Canceled) {
			t.Errorf("%v: error %v, want %v", args, err, context.Canceled)
		}
	}
}
