// This file runs the command as a user does, with small settings.

package main

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"flag"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
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
	first, again := t.TempDir(), t.TempDir()
	for _, out := range []string{first, again} {
		if err := run(t.Context(), io.Discard, io.Discard, []string{"-small", "-trace", "-solver", "first-fit", "-out", out}); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"summary", "figure-6", "figure-7", "figure-8", "figure-8-total", "figure-9a"} {
		for _, format := range formats {
			path := filepath.Join("trace", name+"."+format)
			data, err := os.ReadFile(filepath.Join(first, path))
			if err != nil {
				t.Fatal(err)
			}
			checkPicture(t, path, format, data)
			if same, err := os.ReadFile(filepath.Join(again, path)); err != nil || !bytes.Equal(data, same) {
				t.Errorf("%s differs in a second run (%v)", path, err)
			}
		}
	}
}

func checkPicture(t *testing.T, path, format string, data []byte) {
	t.Helper()
	if format == "png" {
		picture, err := png.Decode(bytes.NewReader(data))
		if err != nil || picture.Bounds().Dx() < 800 {
			t.Errorf("%s: %v, want a picture of at least 800 points", path, err)
		}
		return
	}
	decoder := xml.NewDecoder(bytes.NewReader(data))
	for {
		if _, err := decoder.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	if !bytes.Contains(data, []byte("Dorm-2")) {
		t.Errorf("%s has no legend", path)
	}
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
