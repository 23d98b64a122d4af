// This file holds the golden cases of the command, inputs, answers and errors, to their schemas.

package schematest

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/apportion/apportion/internal/must"
)

// command is the folder of the command.
const command = "../../apportion"

// streams are the subcommands that read and write JSON lines.
var streams = []string{"oasis", "flowcon", "specon", "sim", "session"}

// TestCases walks the golden cases, whose answers the tests of the command compare with what it prints.
func TestCases(t *testing.T) {
	checked := 0
	datadriven.Walk(t, filepath.Join(command, "testdata/cases"), func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			out, errs, failed := strings.Cut(d.Expected, "exit ")
			if failed {
				_, errs, _ = strings.Cut(errs, "\n")
				check(t, "error.json", errs)
			}
			switch {
			case slices.Contains(streams, d.Cmd):
				checkStream(t, d.Cmd, d.Input, out, !failed)
			case d.Cmd == "mps" || failed:
			default:
				switch d.Cmd {
				case "solve": // which reads no JSON
				case "why", "what-if", "when", "plan", "fragmentation":
					check(t, "dorm.input.json", d.Input)
				case "replay", "verify":
					check(t, "record.json", d.Input)
				default:
					check(t, d.Cmd+".input.json", d.Input)
				}
				if !d.HasArg("table") {
					check(t, d.Cmd+".output.json", out)
				}
			}
			checked++
			return d.Expected
		})
	})
	if checked < 50 {
		t.Errorf("only %d cases", checked)
	}
}

// checkStream holds every line to its schema; the input only if it was taken.
func checkStream(t *testing.T, subcommand, input, output string, taken bool) {
	t.Helper()
	name := subcommand + ".header.json"
	for line := range strings.Lines(input) {
		if taken && strings.TrimSpace(line) != "" {
			check(t, name, line)
			name = subcommand + ".input.json"
		}
	}
	for line := range strings.Lines(output) {
		check(t, subcommand+".output.json", line)
	}
}

// schema compiles a schema of the command.
func schema(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	return must.Have(compiler.Compile(filepath.Join(command, "schema", name)))(t)
}

func check(t *testing.T, name, text string) {
	t.Helper()
	must.Do(t, schema(t, name).Validate(decode(t, text)), "in", text)
}
