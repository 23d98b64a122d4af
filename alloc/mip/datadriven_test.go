package mip_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/milp/bb"
	"github.com/apportion/apportion/alloc/mip"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/must"
)

// TestCases runs the files of testdata/cases: "model form=verbatim|class|disjunctive" takes a problem as
// JSON and prints P2 as a program; "instance" takes a solver.Instance, and with "whole" writes it without
// continuous variables.
func TestCases(t *testing.T) {
	datadriven.Walk(t, "testdata/cases", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			p, inst := new(alloc.Problem), new(solver.Instance)
			var read any = p
			if d.Cmd == "instance" {
				read = inst
			}
			if err := json.Unmarshal([]byte(d.Input), read); err != nil {
				return err.Error() + "\n"
			}
			if d.Cmd == "model" {
				inst = instanceOf(t, p)
			}
			if err := inst.Validate(); err != nil {
				return err.Error() + "\n"
			}
			var backend milp.Solver = bb.Solver{}
			if d.HasArg("whole") {
				backend = integersOnly{}
			}
			var form string
			d.ScanArgs(t, "form", &form)
			model, err := mip.BuildFor(backend, inst, mip.Form(form))
			if err != nil {
				return err.Error() + "\n"
			}
			var text strings.Builder
			must.Do(t, model.MILP.WriteLP(&text))
			return text.String()
		})
	})
}
