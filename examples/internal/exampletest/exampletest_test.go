// This file tests the golden test of small programs: one that keeps the rules passes, and each rule has a program
// that breaks it and fails.

package exampletest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apportion/apportion/internal/must"
)

// folder makes a program with its golden case and a README beside it, and goes there.
func folder(t *testing.T, comment, row string, lines int) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "greet")
	for name, text := range map[string]string{
		"main.go":              comment + "\npackage main\n" + strings.Repeat("\n", lines),
		"testdata/cases/greet": "greet\n----\nhello\n",
		"../README.md":         "| question | program |\n| --- | --- |\n" + row + "\n",
	} {
		path := filepath.Join(dir, name)
		must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)))
	}
	t.Chdir(dir)
}

const (
	comment = "// Greet answers: who is there?"
	row     = "| Who is there? | `go run -C examples ./greet` | `fmt` |"
)

// hello is a program that keeps the rules.
func hello(w io.Writer) error {
	_, err := fmt.Fprintln(w, "hello")
	return err
}

func TestRun(t *testing.T) {
	folder(t, comment, row, 10)
	Run(t, hello)
}

// count is how often counted has run.
var count int

// counted prints something else each time.
func counted(w io.Writer) error {
	count++
	_, err := fmt.Fprintln(w, "hello", count)
	return err
}

// broken are programs that break one rule each, with what is said about them.
var broken = map[string]struct {
	comment, row string
	lines        int
	run          func(io.Writer) error
	want         string
}{
	"long":              {comment, row, 200, hello, "more than 150"},
	"without_question":  {"// Greet greets.", row, 0, hello, "says nothing of the form"},
	"not_in_the_table":  {comment, "| Who? | `go run -C examples ./greet` |", 0, hello, "has no row"},
	"other_each_time":   {comment, row, 0, counted, "the second run"},
	"other_than_golden": {comment, row, 0, func(w io.Writer) error { _, err := fmt.Fprintln(w, "bye"); return err }, "bye"},
	"failing":           {comment, row, 0, func(io.Writer) error { return errors.New("nobody is there") }, "nobody is there"},
}

const brokenVariable = "APPORTION_EXAMPLETEST_BROKEN"

// TestBroken fails on purpose, in a child of TestBrokenPrograms only.
func TestBroken(t *testing.T) {
	if os.Getenv(brokenVariable) == "" {
		t.Skip("it is run by TestBrokenPrograms")
	}
	for name, b := range broken {
		t.Run(name, func(t *testing.T) {
			folder(t, b.comment, b.row, b.lines)
			Run(t, b.run)
		})
	}
}

// Each rule is kept by force: a program that breaks it fails, and is told why.
func TestBrokenPrograms(t *testing.T) {
	program := must.Have(os.Executable())(t)
	for name, b := range broken {
		child := exec.CommandContext(t.Context(), program, "-test.run=^TestBroken$/^"+name+"$", "-test.timeout=30s")
		child.Env = append(os.Environ(), brokenVariable+"=1")
		if output, err := child.CombinedOutput(); err == nil || !strings.Contains(string(output), b.want) {
			t.Errorf("%s: %v\n%s\nwant %q", name, err, output, b.want)
		}
	}
}
