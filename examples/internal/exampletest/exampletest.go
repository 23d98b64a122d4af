// This file implements the golden test of a small program.

// Package exampletest tests the small programs: what they print, and that they stay small.
package exampletest

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// maxLines is how long main.go of a small program may be.
const maxLines = 150

// Run compares what the program in the folder of the test prints with testdata/cases, and runs it twice, which must
// print the same. The file must be short, and its question in the table of examples/README.md.
func Run(t *testing.T, run func(io.Writer) error) {
	t.Helper()
	source, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	if lines := bytes.Count(source, []byte("\n")); lines > maxLines {
		t.Errorf("main.go has %d lines, more than %d", lines, maxLines)
	}
	checkRow(t, source)
	// make rewrite writes the cases again.
	datadriven.Walk(t, "testdata/cases", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var first, second strings.Builder
			if err := run(&first); err != nil {
				t.Fatal(err)
			}
			// Whatever depends on a clock, a map's order or a temporary name differs here.
			if err := run(&second); err != nil || first.String() != second.String() {
				t.Errorf("the second run: %v, and prints\n%s", err, &second)
			}
			return first.String()
		})
	})
}

// answers matches the question in the comment of a small program: "Deserve answers: who deserves how much?"
var answers = regexp.MustCompile(`(?m)^// [A-Z]\w+ answers: (.*\?)`)

// checkRow looks for the program and its question in the table of examples/README.md.
func checkRow(t *testing.T, source []byte) {
	t.Helper()
	// The text of the comment is the first column of the table.
	question := answers.FindSubmatch(source)
	if question == nil {
		t.Fatal("the comment of main.go says nothing of the form \"Deserve answers: who deserves how much?\"")
	}
	// Tests run in the folder of their package, which is the program's.
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	// A row has the question, the command and the packages.
	row := "\n| " + strings.ToUpper(string(question[1][:1])) + string(question[1][1:]) + " | `go run -C examples ./" + filepath.Base(folder) + "` |"
	if !strings.Contains(string(readme), row) {
		t.Errorf("examples/README.md has no row %q", row)
	}
}
