// This file tests the command line: usage, files, limits, and what can go wrong around an answer.

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apportion/apportion/examples/internal/backend"
	"github.com/apportion/apportion/internal/must"
)

func TestUsage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "claims.json")
	must.Do(t, os.WriteFile(file, []byte(smallDRF), 0o600))
	for _, test := range []struct {
		args      []string
		code      int
		out, errs string // parts of what is printed
	}{
		{nil, misused, "", "no subcommand"},
		{[]string{"help"}, answered, "usage: apportion", ""},
		{[]string{"-h"}, answered, "usage: apportion", ""},
		{[]string{"-help"}, answered, "usage: apportion", ""},
		{[]string{"help", "why"}, answered, "-job application", ""},
		{[]string{"help", "nothing"}, misused, "", "no subcommand"},
		{[]string{"dorm", "-h"}, answered, "-timeout", ""},
		{[]string{"solve", "-help"}, answered, "branch and bound", ""},
		{[]string{"mps", "-h"}, answered, "verbatim, class, disjunctive", ""},
		{[]string{"drf", file}, answered, `"containers": 4`, ""},
		{[]string{"drf", file, file}, misused, "", "one input at a time"},
		{[]string{"drf", file + ".absent"}, failed, "", "claims.json.absent"},
		{[]string{"drf", filepath.Dir(file)}, failed, "", "directory"},
		{[]string{"drf", "-timeout", "1s", file}, misused, "", "not defined: -timeout"},
		{[]string{"dorm", "-timeout", "soon", file}, misused, "", "-timeout"},
		{[]string{"dorm", "-timeout", "-1s", file}, misused, "", "-timeout -1s is negative"},
		{[]string{"dorm", "-effort", "0", file}, misused, "", "-effort"},
		{[]string{"oasis", "-h"}, answered, "-state", ""},
		{[]string{"flowcon", "-state", "x", file}, misused, "", "not defined: -state"},
		{[]string{"specon", file}, failed, "", "faults in the input"},
		{[]string{"DRF", file}, misused, "", "no subcommand"},
	} {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			code, out, errs := call(t, "", test.args...)
			if code != test.code || !strings.Contains(out, test.out) || !strings.Contains(errs, test.errs) ||
				(out == "") != (test.out == "") || (errs == "") != (test.errs == "") {
				t.Errorf("exit %d\n%s%s\nwant exit %d, %q, %q", code, out, errs, test.code, test.out, test.errs)
			}
		})
	}
}

// TestInterrupted asks with a context that has ended: there is an answer, or the existing
// allocation, and it says so.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	input := must.Have(os.ReadFile("cluster.json"))(t)
	for _, solver := range []string{backend.Embedded, backend.BranchAndBound} {
		var out, errs bytes.Buffer
		must.Equal(t, run(ctx, []string{"dorm", "-solver", solver}, bytes.NewReader(input), &out, &errs), answered, solver, "exit", &errs)
		var answer struct {
			Interrupted bool
			Allocation  map[string]map[string]int64
		}
		must.Do(t, json.Unmarshal(out.Bytes(), &answer))
		if !answer.Interrupted || len(answer.Allocation) < 2 {
			t.Errorf("%s: interrupted %v, allocation %v", solver, answer.Interrupted, answer.Allocation)
		}
	}
}

func oneLine(text string) string { return strings.ReplaceAll(text, "\n", "") }

// broken is an output that takes nothing.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("the pipe is closed") }

func TestOutputFails(t *testing.T) {
	input := must.Have(os.ReadFile("cluster.json"))(t)
	for subcommand, input := range map[string]string{"help": "", "drf": smallDRF, "dorm": smallDorm, "mps": string(input), "solve": "NAME x\nROWS\n N z\nCOLUMNS\n a z 1\nENDATA\n",
		"oasis": fullOASiS + `"options": {}}`, "flowcon": oneLine(fullFlowCon) + "\n{\"tick\": 1}", "specon": oneLine(fullSpeCon) + "\n{\"tick\": 1}"} {
		var errs bytes.Buffer
		if code := run(t.Context(), []string{subcommand}, strings.NewReader(input), broken{}, &errs); code != failed || !strings.Contains(errs.String(), "the pipe is closed") {
			t.Errorf("%s: exit %d: %s", subcommand, code, &errs)
		}
	}
}

// TestManyFaults lists a thousand faults and counts the others.
func TestManyFaults(t *testing.T) {
	input := `{"kinds":["cpu"],"capacity":[1],"claims":[` + strings.Repeat(`{"id":"a","demand":[-1]},`, 700) + `{}]}`
	code, _, errs := call(t, input, "drf")
	var answer failure
	if err := json.Unmarshal([]byte(errs), &answer); err != nil || code != failed {
		t.Fatal(code, err)
	}
	// 700 negative demands, 699 repeated ids, and the last claim has neither field.
	if len(answer.Faults) != maxFaults || answer.Error != "faults in the input: 1401" {
		t.Errorf("%d faults listed, %q", len(answer.Faults), answer.Error)
	}
}

// unlessShort is how many seeds a test takes: in the short form, which is that of the race detector, a few.
func unlessShort(seeds, short uint64) uint64 {
	if testing.Short() {
		return short
	}
	return seeds
}
