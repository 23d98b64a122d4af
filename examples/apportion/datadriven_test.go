// This file runs the command on the cases in testdata/cases and holds every input, output and error
// to its schema.

package main

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A case is a subcommand with flags as name=value, and its input; the answer is what it prints, on
// standard error after the exit code where that is not 0.
func TestCases(t *testing.T) {
	datadriven.Walk(t, "testdata/cases", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			args := []string{d.Cmd}
			for _, arg := range d.CmdArgs {
				args = append(args, "-"+arg.Key, arg.Vals[0])
			}
			code, out, errs := call(t, d.Input, args...)
			if slices.Contains(streams, d.Cmd) {
				checkStream(t, d.Cmd, d.Input, out, code == answered)
			}
			if code != answered {
				checkSchema(t, "error.json", errs)
				return fmt.Sprintf("%sexit %d\n%s", rounded(out), code, errs)
			}
			if d.Cmd == "drf" || d.Cmd == "dorm" {
				checkSchema(t, d.Cmd+".input.json", d.Input)
			}
			if d.Cmd != "mps" && !slices.Contains(streams, d.Cmd) {
				checkSchema(t, d.Cmd+".output.json", out)
			}
			return rounded(out)
		})
	})
}

// streams are the subcommands that read and write JSON lines.
var streams = []string{"oasis", "flowcon", "specon"}

// checkStream holds every line to its schema; the input only if it was taken.
func checkStream(t *testing.T, command, input, output string, taken bool) {
	t.Helper()
	name := command + ".header.json"
	for line := range strings.Lines(input) {
		if taken && strings.TrimSpace(line) != "" {
			checkSchema(t, name, line)
			name = command + ".input.json"
		}
	}
	for line := range strings.Lines(output) {
		checkSchema(t, command+".output.json", line)
	}
}

var fraction = regexp.MustCompile(`-?[0-9]+\.[0-9]+(e[-+]?[0-9]+)?`)

// rounded returns text with its fractions rounded to six digits.
func rounded(text string) string {
	return fraction.ReplaceAllStringFunc(text, func(digits string) string {
		value, err := strconv.ParseFloat(digits, 64)
		if err != nil {
			return digits
		}
		return fmt.Sprintf("%.6g", value)
	})
}

// call runs the command twice and makes sure that both runs print the same.
func call(t *testing.T, input string, args ...string) (code int, out, errs string) {
	t.Helper()
	for try := range 2 {
		var outBuffer, errBuffer bytes.Buffer
		c := run(t.Context(), args, strings.NewReader(input), &outBuffer, &errBuffer)
		if try > 0 && (c != code || outBuffer.String() != out || errBuffer.String() != errs) {
			t.Errorf("%v: the second run prints\n%s%s, the first\n%s%s", args, &outBuffer, &errBuffer, out, errs)
		}
		code, out, errs = c, outBuffer.String(), errBuffer.String()
	}
	return code, out, errs
}

// schemas holds those that were compiled.
var schemas = map[string]*jsonschema.Schema{}

// schema returns a schema of the folder beside this file.
func schema(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	if s := schemas[name]; s != nil {
		return s
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	s, err := compiler.Compile("schema/" + name)
	if err != nil {
		t.Fatal(err)
	}
	schemas[name] = s
	return s
}

func checkSchema(t *testing.T, name, text string) {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if err := schema(t, name).Validate(value); err != nil {
		t.Errorf("%v\nin\n%s", err, text)
	}
}
