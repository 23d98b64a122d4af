// This file tests how an answer is written, and what a shell completes.

package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/apportion/apportion/internal/must"
)

// A terminal gets a table, a file and -json get JSON.
func TestTerminal(t *testing.T) {
	null := must.Have(os.OpenFile(os.DevNull, os.O_WRONLY, 0))(t)
	defer null.Close()
	file := must.Have(os.Create(t.TempDir() + "/out"))(t)
	defer file.Close()
	if isTerminal(null) || isTerminal(file) || isTerminal(&strings.Builder{}) {
		t.Error("a file is no terminal")
	}
	script, err := exec.LookPath("script")
	if err != nil {
		t.Skip(err) // of util-linux: gives a command a terminal
	}
	if testing.Short() {
		t.Skip("builds the command")
	}
	bin := t.TempDir() + "/apportion"
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for flags, want := range map[string]string{"": "what would help", " -json": `"helps"`} {
		out, err := exec.Command(script, "-qec", bin+" why -job app-3"+flags+" cluster.json", os.DevNull).CombinedOutput()
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%q: %v\n%s", flags, err, out)
		}
	}
}

// Bash completes subcommands, their flags, and files.
func TestCompletion(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	code, script, errs := call(t, "", "completion")
	must.Equal(t, code, answered, errs)
	for words, want := range map[string]string{
		"apportion wh":               "what-if when why",
		"apportion why -j":           "-job -json",
		"apportion what-if -a":       "-arrive",
		"apportion drf -":            "",
		"apportion why -job x -tabl": "-table",
	} {
		program := script + "COMP_WORDS=(" + words + "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _apportion; echo ${COMPREPLY[*]}"
		out, err := exec.Command(bash, "-c", program).CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("%s: %q, want %q (%v)", words, got, want, err)
		}
	}
}
