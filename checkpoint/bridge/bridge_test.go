// This file checks the bridge by tables: what jobs in each phase have, and what is handed over.

package bridge_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/bridge"
	"github.com/apportion/apportion/internal/must"
)

// servers has room for four containers on s1 and s2 and for one on s3.
var servers = []apportion.Server{
	{ID: "s1", Capacity: apportion.Resources{4}}, {ID: "s2", Capacity: apportion.Resources{4}}, {ID: "s3", Capacity: apportion.Resources{1}},
}

// job is one with containers, a target and, if order is not 0, what was asked for.
func job(name, held, target, wanted string, order int64) checkpoint.Job {
	return checkpoint.Job{Name: name, Demand: apportion.Resources{1}, Min: 1, Containers: strings.Fields(held),
		Target: strings.Fields(target), Wanted: strings.Fields(wanted), Order: order}
}

func TestPrevious(t *testing.T) {
	ending := job("ending", "s1 s1", "", "", 0)
	ending.Ending, ending.Phase = checkpoint.Completed, checkpoint.Stopping
	for _, c := range []struct {
		name string
		jobs []checkpoint.Job
		want alloc.Allocation
	}{
		{"nothing", nil, alloc.Allocation{}},
		{"at rest", []checkpoint.Job{job("a", "s1 s1 s2", "s1 s1 s2", "", 0), job("b", "", "", "", 0)}, alloc.Allocation{"a": {"s1": 2, "s2": 1}}},
		{"on the way", []checkpoint.Job{job("a", "s1 s1", "s1 s2", "", 0)}, alloc.Allocation{"a": {"s1": 1, "s2": 1}}},
		{"asked, and not begun", []checkpoint.Job{job("a", "s1 s1", "s1 s1", "s2", 5)}, alloc.Allocation{"a": {"s2": 1}}},
		{"asked for something else on the way", []checkpoint.Job{job("a", "s1", "s2", "s3", 5)}, alloc.Allocation{"a": {"s3": 1}}},
		{"to be suspended", []checkpoint.Job{job("a", "s1", "s1", "", 5)}, alloc.Allocation{}},
		{"ending", []checkpoint.Job{ending}, alloc.Allocation{}},
		{
			"a swap fits", []checkpoint.Job{job("a", "s3", "s1", "", 0), job("b", "s1", "s1", "s3", 5)},
			alloc.Allocation{"a": {"s1": 1}, "b": {"s3": 1}},
		},
		{
			"the one who was to go has come back", []checkpoint.Job{job("a", "s3", "s3", "", 0), job("b", "", "s3", "", 0)},
			alloc.Allocation{"a": {"s3": 1}},
		},
		{
			"who cannot have the goal has what is held", []checkpoint.Job{job("a", "s3", "s3", "", 0), job("b", "s1 s1", "s1 s1", "s1 s3", 5)},
			alloc.Allocation{"a": {"s3": 1}, "b": {"s1": 2}},
		},
		{
			"or what is kept of it", []checkpoint.Job{job("a", "s3", "s3", "", 0), job("b", "s1 s2 s2 s2 s2", "s1 s2 s2 s2 s2", "s1 s3", 5), job("c", "", "s2", "", 0)},
			alloc.Allocation{"a": {"s3": 1}, "b": {"s1": 1}, "c": {"s2": 1}},
		},
		{
			"first asked, first served", []checkpoint.Job{job("a", "s1", "s1", "s3", 9), job("b", "s1", "s1", "s3", 5)},
			alloc.Allocation{"a": {"s1": 1}, "b": {"s3": 1}},
		},
		{"a server that is gone", []checkpoint.Job{job("a", "", "s9", "", 0)}, alloc.Allocation{}},
	} {
		must.Equal(t, cmp.Diff(c.want, bridge.Previous(c.jobs, servers)), "", c.name)
	}
}

func problem(ids ...string) *alloc.Problem {
	p := &alloc.Problem{Kinds: apportion.Kinds{"slot"}, Servers: servers, Theta1: 1, Theta2: 1}
	for _, id := range ids {
		p.Applications = append(p.Applications, alloc.Application{ID: id, Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1}, Min: 1, Max: 8}})
	}
	return p
}

func TestTargets(t *testing.T) {
	ended := job("ended", "", "", "", 0)
	ended.Ending = checkpoint.Cancelled
	jobs := []checkpoint.Job{
		job("moves", "s1 s1", "s1 s1", "", 0), job("stays", "s2", "s2", "", 0), job("new", "", "", "", 0), job("leaves", "s1", "s1", "", 0),
		job("is there soon", "s1", "s2 s3", "", 0), job("turns back", "s1", "s1", "s3", 7), ended, job("stranger", "s1", "s1", "", 0),
	}
	next := alloc.Allocation{"moves": {"s2": 1, "s1": 2}, "stays": {"s2": 1, "s1": 0}, "new": {"s3": 1}, "is there soon": {"s3": 1, "s2": 1},
		"turns back": {"s1": 1}, "ended": {"s1": 1}}
	got, err := bridge.Targets(problem("moves", "stays", "new", "leaves", "is there soon", "turns back", "ended"), next, jobs)
	want := checkpoint.Adjust{Targets: map[string][]string{"moves": {"s1", "s1", "s2"}, "new": {"s3"}, "leaves": nil, "turns back": {"s1"}}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestTargetsFaults(t *testing.T) {
	jobs := []checkpoint.Job{job("low", "", "", "", 0), job("high", "", "", "", 0), job("both", "", "", "", 0)}
	next := alloc.Allocation{"low": {"s1": -1}, "high": {"s1": bridge.MaxContainers + 1}, "both": {"s1": bridge.MaxContainers, "s2": 1}}
	_, err := bridge.Targets(problem("low", "unknown", "high", "both"), next, jobs)
	var faults apportion.Faults
	if !errors.As(err, &faults) || len(faults) != 4 || !errors.Is(err, apportion.ErrUnknown) || !errors.Is(err, apportion.ErrRange) {
		t.Errorf("%v", err)
	}
}

func TestSubmit(t *testing.T) {
	app := problem("lr").Applications[0]
	app.Min = 0
	got, err := bridge.Submit(&app)
	if want := (checkpoint.Submit{Job: "lr", Demand: apportion.Resources{1}, Min: 1}); err != nil || !cmp.Equal(want, got) {
		t.Errorf("%+v, %v", got, err)
	}
	got.Demand[0] = 9
	must.Equal(t, app.Demand[0], 1, "the demand is shared")
	for _, least := range []int64{-1, bridge.MaxContainers + 1} {
		app.Min = least
		var field *apportion.FieldError
		if _, err := bridge.Submit(&app); !errors.As(err, &field) || field.Field != "Min" {
			t.Errorf("Min %d: %v", least, err)
		}
	}
}
