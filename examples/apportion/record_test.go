// This file tests recorded decisions: taken again they are the same, checked they hold, and nothing that is
// changed in a document goes unnoticed.

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/examples/internal/backend"
	"github.com/apportion/apportion/internal/must"
)

// recorded takes the decision of a problem and returns its document; "" where there is none.
func recorded(t *testing.T, problem string, args ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "record")
	if code, _, _ := call(t, problem, append([]string{"dorm", "-record", path}, args...)...); code != answered {
		return ""
	}
	return contents(t, path)
}

// Every golden decision, of either solver, is verified and the same when it is taken again.
func TestRecord(t *testing.T) {
	n := 0
	datadriven.RunTest(t, "testdata/cases/dorm", func(t *testing.T, d *datadriven.TestData) string {
		if d.Cmd != "dorm" || d.HasArg("timeout") {
			return d.Expected
		}
		for _, solver := range []string{backend.Embedded, backend.BranchAndBound} {
			record := recorded(t, d.Input, "-solver", solver)
			if record == "" {
				continue
			}
			n++
			if code, out, errs := call(t, record, "verify"); code != answered || !strings.Contains(out, `"searched"`) {
				t.Errorf("%s: %s: verify exits %d: %s%s", d.Pos, solver, code, out, errs)
			}
			if code, out, errs := call(t, record, "replay"); code != answered || !strings.Contains(out, `"same": true`) {
				t.Errorf("%s: %s: replay exits %d: %s%s", d.Pos, solver, code, out, errs)
			}
		}
		return d.Expected
	})
	if n < 10 {
		t.Errorf("only %d decisions were recorded", n)
	}
}

// clusterRecord is the document of the decision about cluster.json.
func clusterRecord(t *testing.T) string {
	t.Helper()
	problem := must.Have(os.ReadFile("cluster.json"))(t)
	return recorded(t, string(problem))
}

// altered sets the value at a path of a document, or takes it out where value is nil. A value that is a
// func(float64) float64 is applied to what is there.
func altered(t *testing.T, record string, value any, path ...string) string {
	t.Helper()
	var document map[string]any
	must.Do(t, json.Unmarshal([]byte(record), &document))
	var at any = document
	for _, key := range path[:len(path)-1] {
		at = step(t, at, key)
	}
	last := path[len(path)-1]
	f, isFunc := value.(func(float64) float64)
	if isFunc {
		value = f(step(t, at, last).(float64))
	}
	switch at := at.(type) {
	case map[string]any:
		if at[last] = value; value == nil {
			delete(at, last)
		}
	case []any:
		at[last[0]-'0'] = value
	}
	text := must.Have(json.Marshal(document))(t)
	return string(text)
}

func step(t *testing.T, at any, key string) any {
	t.Helper()
	switch at := at.(type) {
	case map[string]any:
		if value, ok := at[key]; ok {
			return value
		}
	case []any:
		return at[key[0]-'0']
	}
	t.Fatalf("no %s in %v", key, at)
	return nil
}

// TestTampered changes a document in one place each. Verify refuses it, and says what does not fit.
func TestTampered(t *testing.T) {
	record := clusterRecord(t)
	plus := func(x float64) any { return func(y float64) float64 { return y + x } }
	for _, test := range []struct {
		value any
		path  string
		want  string // in what verify says
	}{
		{plus(1), "decision allocation app-1 slave-1", "application 0 has 7 containers"},
		{plus(-1), "decision allocation app-1 slave-1", "(15): loss 0.19841"},
		{1.0, "decision allocation app-3 slave-2", "application 2 has 3 containers"},
		{1.0, "decision allocation app-3 slave-9", "slave-9"},
		{map[string]any{"slave-1": 1}, "decision allocation app-9", "app-9"},
		{plus(-1), "decision allocation app-2 slave-1", "(15): loss 0.19841"},
		{nil, "decision allocation app-3", "application 2 has 0 containers"},
		{plus(0.01), "decision objective", "objective"},
		{plus(-0.01), "decision bound", "bound"},
		{plus(0.01), "decision gap", "gap"},
		{plus(0.01), "decision metrics fairness_loss", "metrics.fairness_loss"},
		{plus(1), "decision metrics adjusted", "metrics.adjusted"},
		{plus(0.01), "decision shares 1 actual", "shares.actual"},
		{plus(0.01), "decision shares 1 theoretical", "shares.theoretical"},
		{"kept", "decision status", "allocation"},
		{"done", "decision status", "status"},
		{"all", "decision proven", "decision.proven"},
		{[]any{map[string]any{"id": "app-3", "reason": map[string]any{"need": 1, "have": 0, "text": "x"}}}, "decision waiting", "waiting"},
		{plus(-1), "problem servers 2 capacity 0", "server 2 uses"},
		{plus(1), "problem applications 2 demand 0", "server 0 uses"},
		{plus(1), "problem applications 2 weight", "shares"},
		{0.0, "problem theta2", "adjustments cost 1, budget 0"},
		{nil, "problem previous", "multipliers"},
		{float64(alloc.RecordVersion + 1), "version", "version"},
		{nil, "decision", "decision"},
		{nil, "problem", "problem"},
		{[]any{}, "decision certificate multipliers server", "multipliers"},
		{1.0, "decision luck", "luck"},
		{"two", "decision allocation app-1 slave-1", `application \"app-1\"`},
		{1.5, "problem previous app-2 slave-1", `application \"app-2\"`},
	} {
		path := strings.Fields(test.path)
		code, out, errs := call(t, altered(t, record, test.value, path...), "verify")
		if code != failed || out != "" || !strings.Contains(errs, test.want) {
			t.Errorf("%s set to %v: exit %d, %s%s\nwant %q in the error", test.path, test.value, code, out, errs, test.want)
		}
	}
}

// A record that names any effort is taken again, and never ends the command with a trace.
func TestReplayAtAnyEffort(t *testing.T) {
	// No allocation holds the loss budget of this one.
	problem := `{"kinds": ["cpu", "gpu", "mem"], "servers": [{"id": "s1", "capacity": [6, 11, 7]}, {"id": "s2", "capacity": [19, 14, 6]}],
		"applications": [{"id": "a0", "demand": [6, 7, 1], "max": 2}, {"id": "a1", "demand": [2, 2, 0], "max": 8, "per_server": 2}], "theta1": 0, "theta2": 0.1}`
	record := recorded(t, problem)
	for _, effort := range []float64{1, 200, 1000} {
		code, out, errs := call(t, altered(t, record, effort, "decision", "certificate", "by", "effort"), "replay")
		if code != answered && code != failed || code == failed && !strings.Contains(errs, `"error"`) {
			t.Errorf("effort %g: exit %d, %s%s", effort, code, out, errs)
		}
	}
}

// The effort that was asked for is on record, and is that of a replay.
func TestEffort(t *testing.T) {
	record := recorded(t, smallDorm, "-effort", "20")
	if !strings.Contains(record, `"effort": 20`) {
		t.Errorf("not on record: %s", record)
	}
	if code, out, errs := call(t, record, "replay"); code != answered {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
}

// The words of a record of version 1 are left unchecked, and what follows from its allocation is not.
func TestOldRecord(t *testing.T) {
	record := recorded(t, `{"kinds": ["cpu"], "theta1": 1, "theta2": 1, "servers": [{"id": "one", "capacity": [4]}],
		"applications": [{"id": "a", "demand": [1], "max": 3}, {"id": "big", "demand": [5], "max": 1}]}`)
	record = altered(t, record, "it needs 1 containers, and 0 fit the empty cluster", "decision", "waiting", "0", "reason", "text")
	if code, _, errs := call(t, record, "verify"); code != failed || !strings.Contains(errs, "waiting[0]") {
		t.Errorf("in other words: exit %d, %s", code, errs)
	}
	old := altered(t, record, 1.0, "version")
	if code, out, errs := call(t, old, "verify"); code != answered || !strings.Contains(out, `"decision.waiting[0].reason"`) {
		t.Errorf("version 1: exit %d, %s%s", code, out, errs)
	}
	if code, _, errs := call(t, altered(t, old, 7.0, "decision", "objective"), "verify"); code != failed {
		t.Errorf("another objective: exit %d, %s", code, errs)
	}
}

// What a search has proven beyond the prices verify cannot see, and says so; replay finds it.
func TestReplayFindsOtherAnswer(t *testing.T) {
	record := clusterRecord(t)
	code, out, errs := call(t, altered(t, record, "utility", "decision", "proven"), "replay")
	if code != failed || out != "" || !strings.Contains(errs, `decision.proven`) {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	for path, value := range map[string]any{"proven": "utilization", "interrupted": true, "bound": 3.01} {
		text := `"field": "` + path + `"`
		code, out, errs := call(t, altered(t, record, value, "decision", path), "replay")
		if code != failed || !strings.Contains(out, text) || !strings.Contains(errs, "the answers differ in 1 field") {
			t.Errorf("%s: exit %d: %s%s", path, code, out, errs)
		}
	}
	for solver, want := range map[string]string{"oracle": "solver", "highs": "form"} {
		code, _, errs := call(t, altered(t, record, solver, "decision", "certificate", "by", "solver"), "replay")
		if code != failed || !strings.Contains(errs, "decision.certificate.by."+want) {
			t.Errorf("%s: exit %d: %s", solver, code, errs)
		}
	}
}

// A file that cannot be written is an error.
func TestRecordUnwritable(t *testing.T) {
	if code, _, errs := call(t, smallDorm, "dorm", "-record", filepath.Join(t.TempDir(), "absent", "record")); code != failed || !strings.Contains(errs, "absent") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// FuzzRecord reads any text as a recorded decision.
func FuzzRecord(f *testing.F) {
	f.Add([]byte(`{"version": 1}`))
	f.Add([]byte(`{"version":1,"problem":` + smallDorm + `,"decision":{"status":"decided","allocation":{"a":{"s":3}},"objective":0.75,"bound":0.75,` +
		`"gap":0,"proven":"order","metrics":{"utilization":[0.75],"resource_utilization":0.75,"fairness_loss":0,"adjusted":0,"loss_budget":2,"adjust_budget":0},` +
		`"shares":[{"id":"a","containers":3,"actual":0.75,"theoretical":0.75,"loss":0,"adjusted":false}]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		code, out, errs := call(t, string(text), "verify")
		answer := out
		if code != answered {
			answer = errs
		}
		if !json.Valid([]byte(answer)) || code == answered && !json.Valid(text) {
			t.Errorf("exit %d: %s%s", code, out, errs)
		}
	})
}
