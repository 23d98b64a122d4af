// This file checks the static partition, and the comparison with it.

package main

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/examples/live/harness"
	"github.com/apportion/apportion/examples/studies/inhouse/master"
)

// Times are counted from the arrival of each job, the makespan from the beginning.
func TestPrintTimes(t *testing.T) {
	a, b := &harness.Job{Name: "a"}, &harness.Job{Name: "b", At: 10 * time.Second}
	var out bytes.Buffer
	dorm := []harness.Outcome{{Job: a, Ended: 20 * time.Second}, {Job: b, Ended: 40 * time.Second}}
	fixed := []harness.Outcome{{Job: a, Ended: 60 * time.Second}, {Job: b, Ended: 50 * time.Second}}
	if err := printTimes(&out, dorm, fixed); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Fields(out.String()), "Seconds from arrival to end job Dorm static a 20 60 b 30 40 mean 25 50 makespan 40 60"; strings.Join(got, " ") != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestStatic(t *testing.T) {
	state := &master.State{Kinds: kinds, Servers: dormServers}
	add := func(name string, least, most int64, held ...string) {
		state.Jobs = append(state.Jobs, master.JobState{Job: checkpoint.Job{Name: name, Target: held},
			Application: alloc.Application{ID: name, Form: alloc.Form{Min: least, Max: most, Demand: apportion.Resources{1, 2}}}})
	}
	decide := func() string {
		t.Helper()
		v, err := static{}.Decide(t.Context(), state)
		if err != nil {
			t.Fatal(err)
		}
		var text []string
		for _, name := range slices.Sorted(maps.Keys(v.Targets)) {
			text = append(text, name+": "+strings.Join(v.Targets[name], " "))
		}
		return strings.Join(text, ", ")
	}
	add("runs", 1, 9, "north", "north")
	add("first", 2, 4)
	add("large", 4, 6)
	add("small", 1, 1)
	if got, want := decide(), "first: north north south"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	state.Jobs[1].Job.Target = []string{"north", "north", "south"}
	if got := decide(); got != "" {
		t.Errorf("%q while the large job waits", got)
	}
	state.Jobs = append(state.Jobs[:1], state.Jobs[2:]...)
	if got, want := decide(), "large: north north south south south, small: south"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
