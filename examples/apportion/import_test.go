//go:build !js

// This file tests "apportion import": its answer is what the other subcommands read, and what it lacks is said.

package main

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestImport(t *testing.T) {
	const documents = `{"meta":{},"errors":[],"nodes":[{"name":"n1","state":"idle","cpus":8,"real_memory":16000,"gres":"gpu:2"},{"name":"n2","state":"down"}]}
		{"meta":{},"errors":[],"jobs":[{"job_id":1,"name":"lr","job_state":"PENDING","cpus":4,"node_count":1,"memory_per_cpu":500,"tres_per_node":"gres:gpu:1","priority":10}]}`
	code, problem, errs := call(t, documents, "import")
	var notes importNotes
	if err := json.Unmarshal([]byte(errs), &notes); code != answered || err != nil || len(notes.Unread) != 1 || notes.Unread[0].Item != `node "n2"` {
		t.Fatal(code, errs, err)
	}
	for subcommand, want := range map[string]string{"dorm": `"lr.1": {`, "plan": `"start"`, "fragmentation": `"gpu"`} {
		if code, out, errs := call(t, problem, subcommand); code != answered || !strings.Contains(out, want) || errs != "" {
			t.Errorf("%s: exit %d, %s%s", subcommand, code, out, errs)
		}
	}
	for _, bad := range []string{"", "{}", "nonsense", documents[:50], `{"meta":{},"errors":[],"nodes":[]}`} {
		if code, out, errs := call(t, bad, "import"); code != failed || out != "" || errs == "" {
			t.Errorf("%q: exit %d, %s%s", bad, code, out, errs)
		}
	}
}
