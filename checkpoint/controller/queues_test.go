// This file tests queues that the cluster manager knows.

package controller

import (
	"context"
	"strings"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/must"
)

// queued is a cluster whose one queue may have three of its eight units.
type queued struct{ Cluster }

func (queued) Look(context.Context) (*View, error) {
	app := func(id, queue string) Job {
		return Job{Application: alloc.Application{ID: id, Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1}, Min: 1, Max: 8}, Queue: queue}}
	}
	return &View{Servers: []Server{{Server: apportion.Server{ID: "n1", Capacity: apportion.Resources{8}}}},
		Jobs:   []Job{app("lr", "vision"), app("lost", "speech")},
		Queues: []drf.Queue{{ID: "vision", Weight: 1, Ceiling: drf.Ceiling{3}}}}, nil
}

// A ceiling of the manager's holds, and a job of a queue that is not there is rejected.
func TestQueues(t *testing.T) {
	config := Config{Cluster: queued{}, Problem: alloc.Problem{Kinds: apportion.Kinds{"gpu"}, Theta1: 1, Theta2: 1}}
	p, _, err := problemOf(t.Context(), config, func(context.Context) (alloc.Allocation, error) { return nil, nil }, func(*View) {})
	if err != nil || len(p.Applications) != 1 || len(p.Queues) != 1 {
		t.Fatalf("%+v, %v", p, err)
	}
	d := must.Have(new(alloc.Decider).Reallocate(t.Context(), p))(t)
	must.Equal(t, d.Allocation.Containers("lr"), 3)
	view, _ := queued{}.Look(t.Context())
	sift(view, &config.Problem)
	if len(view.Jobs) != 1 || !strings.Contains(view.Rejected["lost"], "speech") {
		t.Errorf("%+v", view)
	}
}
