// This file tests how errors are written, and the frame around all subcommands.

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/internal/must"
)

// written returns what writeFailure makes of an error.
func written(t *testing.T, err error) failure {
	t.Helper()
	var out bytes.Buffer
	writeFailure(&out, err)
	var f failure
	if fault := json.Unmarshal(out.Bytes(), &f); fault != nil {
		t.Fatal(fault)
	}
	return f
}

func TestWriteFailure(t *testing.T) {
	job := apportion.Item{Kind: "job", ID: "a"}
	single := &apportion.FieldError{Item: job, Field: "PSBandwidth", Err: apportion.ErrRange, Detail: "0"}
	faults := apportion.Faults{single, {Field: "Kinds", Err: apportion.ErrEmpty}}
	listed := inputFault{`job "a"`, "ps_bandwidth", "0", apportion.ErrRange.Error(), 0}
	other := inputFault{"", "kinds", "", apportion.ErrEmpty.Error(), 0}
	for _, test := range []struct {
		name string
		err  error
		want failure
	}{
		{"plain", errors.New("the disk is gone"), failure{"the disk is gone", nil}},
		{"wrapped", fmt.Errorf("upper bound: %w", errors.New("no memory")), failure{"upper bound: no memory", nil}},
		{"one fault", single, failure{"faults in the input: 1", []inputFault{listed}}},
		{"one fault, wrapped", fmt.Errorf("outside: %w", single), failure{"faults in the input: 1", []inputFault{listed}}},
		{"several", faults, failure{"faults in the input: 2", []inputFault{listed, other}}},
		{"a claim that does not hold", apportion.Faults{{Field: "Metrics", Err: alloc.ErrMismatch, Detail: "1 for 2"}},
			failure{alloc.ErrMismatch.Error(), []inputFault{{"", "Metrics", "1 for 2", alloc.ErrMismatch.Error(), 0}}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := written(t, test.err)
			if test.name == "a claim that does not hold" {
				got.Faults[0].Field = "Metrics" // its name in JSON is a matter of the record
			}
			must.Equal(t, cmp.Diff(test.want, got), "")
		})
	}
}

// What the text alone shows has the line in which it stands; what only the whole shows has none.
func TestFailureLines(t *testing.T) {
	const text = `{
  "kinds": ["cpu"],
  "capacity": ["four"],
  "claims": [
    {"id": "a", "demand": [1]},
    {"id": "a", "demand": [2], "luck": 1}
  ]
}`
	_, err := readDRF(strings.NewReader(text))
	got := map[string]int{}
	for _, fault := range written(t, err).Faults {
		got[fault.Field] = fault.Line
	}
	must.Equal(t, cmp.Diff(map[string]int{"capacity[cpu]": 3, "luck": 6, "id": 0}, got), "", "lines of the faults")
	// Lines are those of an editor: a text that begins with blank lines has its faults below them.
	_, err = readDRF(strings.NewReader("\n\n" + text))
	for _, fault := range written(t, err).Faults {
		if want := got[fault.Field] + 2; fault.Field != "id" && fault.Line != want {
			t.Errorf("%s in line %d, want %d", fault.Field, fault.Line, want)
		}
	}
}

// A stream names the line in its items and has no line field; a single text is the other way around.
func TestFailureOfStreams(t *testing.T) {
	for _, stream := range streams {
		code, _, errs := call(t, "\n"+`{"kinds": 7}`, stream)
		var f failure
		if err := json.Unmarshal([]byte(errs), &f); err != nil || code != failed || len(f.Faults) == 0 {
			t.Fatalf("%s: exit %d, %v: %s", stream, code, err, errs)
		}
		for _, fault := range f.Faults {
			if !strings.HasPrefix(fault.Item, "line 2") || fault.Line != 0 {
				t.Errorf("%s: %+v", stream, fault)
			}
		}
	}
}

// Names come out as they went in: neither form escapes what HTML would, and a line is one line.
func TestNamesAreNotEscaped(t *testing.T) {
	const name = "a<b>&\u2028\"c\"\n"
	for form, write := range map[string]func(*command, any) error{"indented": (*command).write, "line": (*command).writeLine} {
		var out bytes.Buffer
		must.Do(t, write(&command{out: &out}, map[string]any{"id": name, "list": []int{}}))
		text := out.String()
		var back struct {
			ID   string
			List []int
		}
		if err := json.Unmarshal([]byte(text), &back); err != nil || back.ID != name || !strings.Contains(text, "a<b>&") {
			t.Errorf("%s: %s, %v", form, text, err)
		}
		if n := strings.Count(text, "\n"); (n == 1) != (form == "line") || !strings.HasSuffix(text, "\n") {
			t.Errorf("%s: %d lines", form, n)
		}
	}
}

// The usage names every subcommand, and nothing else in its list; each has help of its own.
func TestUsageListsSubcommands(t *testing.T) {
	listed := map[string]bool{}
	for line := range strings.Lines(usage) {
		if name, ok := strings.CutPrefix(line, "  "); ok {
			listed[strings.Fields(name)[0]] = true
		}
	}
	for name := range subcommands {
		if !listed[name] {
			t.Errorf("the usage does not list %s", name)
		}
		delete(listed, name)
		if code, out, errs := call(t, "", name, "-h"); code != answered || !strings.Contains(out, "apportion "+name) || errs != "" {
			t.Errorf("%s -h: exit %d, %q, %q", name, code, out, errs)
		}
		if code, out, errs := call(t, "", name, "-luck"); code != misused || out != "" || !strings.Contains(errs, "-luck") {
			t.Errorf("%s -luck: exit %d, %q, %q", name, code, out, errs)
		}
	}
	if len(listed) > 0 {
		t.Errorf("the usage lists %v, which are none", listed)
	}
}
