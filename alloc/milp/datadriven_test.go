package milp

import (
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestCases reads each case as MPS and prints it: "lp" in LP form, "mps" in MPS form. The argument
// "fixed" reads fixed form.
func TestCases(t *testing.T) {
	datadriven.Walk(t, "testdata/cases", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			model, err := ReadMPS(strings.NewReader(d.Input), &MPSOptions{Fixed: d.HasArg("fixed")})
			if err != nil {
				return err.Error() + "\n"
			}
			var text strings.Builder
			switch d.Cmd {
			case "lp":
				err = model.WriteLP(&text)
			case "mps":
				err = model.WriteMPS(&text)
			default:
				d.Fatalf(t, "unknown command %q", d.Cmd)
			}
			if err != nil {
				return err.Error() + "\n"
			}
			return text.String()
		})
	})
}
