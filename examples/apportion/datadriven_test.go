// This file runs the command on the cases in testdata/cases. examples/studies/schematest holds their
// inputs, outputs and errors to the schemas.

package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// A case is a subcommand with flags as name=value, and its input; the answer is what it prints, on
// standard error after the exit code where that is not 0.
func TestCases(t *testing.T) {
	datadriven.Walk(t, "testdata/cases", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			args := []string{d.Cmd}
			for _, arg := range d.CmdArgs {
				args = append(args, "-"+arg.Key+"="+arg.Vals[0])
			}
			code, out, errs := call(t, d.Input, args...)
			if code != answered {
				return fmt.Sprintf("%sexit %d\n%s", rounded(out), code, errs)
			}
			return rounded(out)
		})
	})
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
