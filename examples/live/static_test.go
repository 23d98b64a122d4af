// This file checks the static partition.

package main

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/examples/studies/inhouse/master"
	"github.com/apportion/apportion/internal/must"
)

func TestStatic(t *testing.T) {
	state := &master.State{Kinds: kinds, Servers: dormServers}
	add := func(name string, least, most int64, held ...string) {
		state.Jobs = append(state.Jobs, master.JobState{Job: checkpoint.Job{Name: name, Target: held},
			Application: alloc.Application{ID: name, Form: alloc.Form{Min: least, Max: most, Demand: apportion.Resources{1, 2}}}})
	}
	decide := func() string {
		t.Helper()
		v := must.Have(static{}.Decide(t.Context(), state))(t)
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
	must.Equal(t, decide(), "", "while the large job waits")
	state.Jobs = append(state.Jobs[:1], state.Jobs[2:]...)
	if got, want := decide(), "large: north north south south south, small: south"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
