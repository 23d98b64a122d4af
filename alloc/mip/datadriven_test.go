package mip_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/mip"
)

// TestCases runs the files of testdata/cases: "model form=verbatim|class|disjunctive" takes a problem as
// JSON and prints P2 as a program.
func TestCases(t *testing.T) {
	datadriven.Walk(t, "testdata/cases", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			p := new(alloc.Problem)
			if err := json.Unmarshal([]byte(d.Input), p); err != nil {
				return err.Error() + "\n"
			}
			var form string
			d.ScanArgs(t, "form", &form)
			model, err := mip.Build(instanceOf(t, p), mip.Form(form))
			if err != nil {
				return err.Error() + "\n"
			}
			var text strings.Builder
			if err := model.MILP.WriteLP(&text); err != nil {
				t.Fatal(err)
			}
			return text.String()
		})
	})
}
