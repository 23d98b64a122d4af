// This file runs the command as a user does, with small settings.

package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/apportion/apportion/examples/internal/chart"
	"github.com/apportion/apportion/examples/internal/command"
	"github.com/apportion/apportion/examples/internal/command/commandtest"
)

// TestCases runs the commands of testdata/cases and compares what they print, errors included.
func TestCases(t *testing.T) {
	datadriven.Walk(t, "testdata/cases", func(t *testing.T, path string) {
		if testing.Short() && filepath.Base(path) == "trace" {
			t.Skip("plays two traces on eight clusters")
		}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var text bytes.Buffer
			out := t.TempDir()
			args := []string{"-out", out}
			for _, arg := range d.CmdArgs {
				args = append(args, "-"+arg.String())
			}
			if err := run(t.Context(), &text, &text, args); err != nil {
				text.WriteString("error: " + err.Error() + "\n")
			}
			return strings.ReplaceAll(text.String(), out, "OUT")
		})
	})
}

// The figures are files that viewers can open, and the same every time.
func TestFigures(t *testing.T) {
	first, again := t.TempDir(), t.TempDir()
	for _, out := range []string{first, again} {
		if err := run(t.Context(), io.Discard, io.Discard, []string{"-small", "-seeds", "1", "-tiny", "1", "-out", out}); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"summary", "utility", "bound", "seeds", "sensitive", "critical"} {
		for _, format := range chart.Formats {
			file := name + "." + format
			data, err := os.ReadFile(filepath.Join(first, file))
			if err != nil {
				t.Fatal(err)
			}
			checkPicture(t, file, data)
			if same, err := os.ReadFile(filepath.Join(again, file)); err != nil || !bytes.Equal(data, same) {
				t.Errorf("%s differs in a second run (%v)", file, err)
			}
		}
	}
}

func checkPicture(t *testing.T, name string, data []byte) {
	t.Helper()
	if strings.HasSuffix(name, "png") {
		if picture, err := png.Decode(bytes.NewReader(data)); err != nil || picture.Bounds().Dx() < 800 {
			t.Errorf("%s: %v, want a picture of at least 800 points", name, err)
		}
		return
	}
	decoder := xml.NewDecoder(bytes.NewReader(data))
	for {
		if _, err := decoder.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	names := policyNames
	if strings.HasPrefix(name, "seeds") {
		names = policyNames[:2]
	}
	for _, policy := range names {
		if !bytes.Contains(data, []byte(policy)) {
			t.Errorf("%s has no legend for %s", name, policy)
		}
	}
}

func TestFolderThatCannotBeMade(t *testing.T) {
	commandtest.FileForFolder(t, run, "-small", "-seeds", "1", "-tiny", "1")
}

func TestHelp(t *testing.T) { commandtest.Help(t, run, "seeds", "tiny", "out", "small", "trace") }

// An argument that is no flag is refused.
func TestArgument(t *testing.T) {
	var text bytes.Buffer
	if err := run(t.Context(), io.Discard, &text, []string{"sideways"}); !errors.Is(err, command.ErrUsage) || text.Len() == 0 {
		t.Errorf("error %v, message %q", err, text.String())
	}
}
