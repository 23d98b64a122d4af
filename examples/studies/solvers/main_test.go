// This file runs the command as a user does, on the smallest instances.

package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/apportion/apportion/alloc/milp/ortools"
	"github.com/apportion/apportion/examples/studies/command/commandtest"
	"github.com/apportion/apportion/internal/must"
)

func TestCases(t *testing.T) { commandtest.Cases(t, run) }

// hasty are flags for a run whose answers do not matter.
var hasty = []string{"-instances", "table2_20x30_prev_0", "-solvers", "bb,embedded", "-forms", "disjunctive", "-limit", "20ms"}

func TestCancelled(t *testing.T) { commandtest.Cancelled(t, run, hasty...) }

// interrupting is an output that ends a context when the table of an instance is there.
type interrupting struct {
	bytes.Buffer
	stop func()
}

func (i *interrupting) Write(text []byte) (int, error) {
	if bytes.Contains(text, []byte("thorough")) {
		i.stop()
	}
	return i.Buffer.Write(text)
}

// An interrupt after the first instance leaves its table and its figures.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	text := &interrupting{stop: cancel}
	out := t.TempDir()
	err := run(ctx, text, io.Discard, []string{"-instances", "table2_20x30_fresh", "-solvers", "embedded", "-limit", "20ms", "-out", out})
	if !errors.Is(err, context.Canceled) || strings.Count(text.String(), "applications, best known") != 1 || !strings.Contains(text.String(), "Figures, PNG and SVG") {
		t.Errorf("%v, want %v, and one of three instances:\n%s", err, context.Canceled, text)
	}
	must.Have(os.Stat(filepath.Join(out, "found-table2-fresh.svg")))(t)
}

// The embedded solver and branch and bound find the optimum, and the second proves it.
func TestTiny(t *testing.T) {
	if testing.Short() {
		t.Skip("searches on a whole instance")
	}
	var text bytes.Buffer
	args := []string{"-instances", "table2_20x30_prev_0", "-solvers", "bb,embedded", "-forms", "disjunctive", "-limit", "1m", "-out", t.TempDir()}
	must.Do(t, run(t.Context(), &text, io.Discard, args))
	const seconds = `[0-9.e-]+ +`
	for _, line := range []string{
		`embedded +quick +(` + seconds + `){5}2.12`,
		`embedded +default +(` + seconds + `){5}2.12`,
		`embedded +thorough +(` + seconds + `){5}2.12`,
		`bb +disjunctive +(` + seconds + `){5}2.123438 +0.000 % +0.000 %`,
		`table2_20x30_prev_0 +2.123438 +` + seconds,
		`Times sooner, median: `,
	} {
		if !regexp.MustCompile(`(?m)^` + line).MatchString(text.String()) {
			t.Errorf("no line %s in\n%s", line, &text)
		}
	}
	if strings.Contains(text.String(), "FAILED") {
		t.Error(text.String())
	}
}

// Without the library its engines are left out, loudly, and the others go on.
func TestAbsentLibrary(t *testing.T) {
	t.Setenv(ortools.EnvLibrary, t.TempDir())
	var text bytes.Buffer
	args := []string{"-instances", "table2_20x30_fresh_0", "-solvers", "embedded,cp-sat,highs,scip", "-limit", "20ms", "-out", t.TempDir()}
	must.Do(t, run(t.Context(), &text, io.Discard, args))
	for _, part := range []string{"SKIPPED: cp-sat, highs, scip: ", "install OR-Tools", "\nembedded  default"} {
		if !strings.Contains(text.String(), part) {
			t.Errorf("no %q in\n%s", part, &text)
		}
	}
	if strings.Contains(text.String(), "Times sooner") {
		t.Errorf("compares with nobody:\n%s", &text)
	}
	text.Reset()
	args = []string{"-instances", "table2_20x30_fresh_0", "-solvers", "highs", "-out", t.TempDir()}
	if err := run(t.Context(), &text, io.Discard, args); !errors.Is(err, ortools.ErrUnavailable) || text.Len() > 0 {
		t.Errorf("without any solver: %v, want %v; printed\n%s", err, ortools.ErrUnavailable, &text)
	}
}
