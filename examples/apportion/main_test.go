// This file tests the command line: usage, files, limits, and what can go wrong around an answer.

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apportion/apportion/alloc/milp/ortools"
)

func TestUsage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "claims.json")
	if err := os.WriteFile(file, []byte(smallDRF), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args      []string
		code      int
		out, errs string // parts of what is printed
	}{
		{nil, misused, "", "no subcommand"},
		{[]string{"help"}, answered, "usage: apportion", ""},
		{[]string{"-h"}, answered, "usage: apportion", ""},
		{[]string{"dorm", "-h"}, answered, "-timeout", ""},
		{[]string{"solve", "-help"}, answered, "branch and bound", ""},
		{[]string{"mps", "-h"}, answered, "verbatim, class, disjunctive", ""},
		{[]string{"drf", file}, answered, `"containers": 4`, ""},
		{[]string{"drf", file, file}, misused, "", "one input at a time"},
		{[]string{"drf", file + ".absent"}, failed, "", "claims.json.absent"},
		{[]string{"drf", filepath.Dir(file)}, failed, "", "directory"},
		{[]string{"drf", "-timeout", "1s", file}, misused, "", "not defined: -timeout"},
		{[]string{"dorm", "-timeout", "soon", file}, misused, "", "-timeout"},
		{[]string{"DRF", file}, misused, "", "no subcommand"},
	} {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			code, out, errs := call(t, "", test.args...)
			if code != test.code || !strings.Contains(out, test.out) || !strings.Contains(errs, test.errs) ||
				(out == "") != (test.out == "") || (errs == "") != (test.errs == "") {
				t.Errorf("exit %d\n%s%s\nwant exit %d, %q, %q", code, out, errs, test.code, test.out, test.errs)
			}
			if errs != "" {
				checkSchema(t, "error.json", errs)
			}
		})
	}
}

// TestInterrupted asks with a context that has ended: there is an answer, or the existing
// allocation, and it says so.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	input, err := os.ReadFile("cluster.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, solver := range []string{embedded, branchAndBound} {
		var out, errs bytes.Buffer
		if code := run(ctx, []string{"dorm", "-solver", solver}, bytes.NewReader(input), &out, &errs); code != answered {
			t.Fatalf("%s: exit %d: %s", solver, code, &errs)
		}
		checkSchema(t, "dorm.output.json", out.String())
		var answer struct {
			Interrupted bool
			Allocation  map[string]map[string]int64
		}
		if err := json.Unmarshal(out.Bytes(), &answer); err != nil {
			t.Fatal(err)
		}
		if !answer.Interrupted || len(answer.Allocation) < 2 {
			t.Errorf("%s: interrupted %v, allocation %v", solver, answer.Interrupted, answer.Allocation)
		}
	}
}

// TestORTools has the engines of OR-Tools decide; without the library they say what is missing.
func TestORTools(t *testing.T) {
	input, err := os.ReadFile("cluster.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, solver := range []string{"highs", "scip"} {
		var out, errs bytes.Buffer
		code := run(t.Context(), []string{"dorm", "-solver", solver}, bytes.NewReader(input), &out, &errs)
		if strings.Contains(errs.String(), ortools.ErrUnavailable.Error()) && os.Getenv("APPORTION_REQUIRE_ORTOOLS") == "" {
			t.Skip("the library of OR-Tools is not available")
		}
		var answer struct{ Objective, Bound float64 }
		if err := json.Unmarshal(out.Bytes(), &answer); code != answered || err != nil {
			t.Fatalf("%s: exit %d, %v: %s", solver, code, err, &errs)
		}
		checkSchema(t, "dorm.output.json", out.String())
		if math.Abs(answer.Objective-3) > 1e-6 || answer.Bound < answer.Objective-1e-6 {
			t.Errorf("%s: objective %g, bound %g, want 3", solver, answer.Objective, answer.Bound)
		}
	}
	if code := run(t.Context(), []string{"dorm", "-solver", "cp-sat"}, bytes.NewReader(input), io.Discard, io.Discard); code != misused {
		t.Errorf("cp-sat for dorm: exit %d, want %d", code, misused)
	}
}

// broken is an output that takes nothing.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("the pipe is closed") }

func TestOutputFails(t *testing.T) {
	input, err := os.ReadFile("cluster.json")
	if err != nil {
		t.Fatal(err)
	}
	for subcommand, input := range map[string]string{"help": "", "drf": smallDRF, "dorm": smallDorm, "mps": string(input), "solve": "NAME x\nROWS\n N z\nCOLUMNS\n a z 1\nENDATA\n"} {
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
