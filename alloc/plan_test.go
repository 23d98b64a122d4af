package alloc_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
)

func TestNewPlan(t *testing.T) {
	app := alloc.Application{Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1}, Max: 9}, Start: []string{"go"}, Resume: []string{"on"}}
	for _, c := range []struct {
		name                string
		previous, next      alloc.Allocation
		started, affected   []string
		suspended, finished []string
		steps               []alloc.Step
	}{
		{
			name: "nothing changes, be it written with zeros", previous: alloc.Allocation{"a": {"s": 1, "t": 0}, "b": {"s": 0}},
			next: alloc.Allocation{"a": {"s": 1}},
		},
		{
			name: "fewer on one server", previous: alloc.Allocation{"a": {"s": 2, "t": 1}}, next: alloc.Allocation{"a": {"s": 2}},
			affected: []string{"a"},
			steps: []alloc.Step{{Action: alloc.Save, Application: "a"}, {Action: alloc.Destroy, Application: "a", Server: "t", Containers: 1},
				{Action: alloc.Resume, Application: "a", Command: []string{"on"}}},
		},
		{
			name: "one starts where another shrinks", previous: alloc.Allocation{"b": {"s": 3}}, next: alloc.Allocation{"a": {"s": 2}, "b": {"s": 1}},
			started: []string{"a"}, affected: []string{"b"},
			steps: []alloc.Step{{Action: alloc.Save, Application: "b"}, {Action: alloc.Destroy, Application: "b", Server: "s", Containers: 2},
				{Action: alloc.Create, Application: "a", Server: "s", Containers: 2},
				{Action: alloc.Start, Application: "a", Command: []string{"go"}}, {Action: alloc.Resume, Application: "b", Command: []string{"on"}}},
		},
		{
			name: "one is suspended, one has finished", previous: alloc.Allocation{"a": {"s": 1}, "old": {"t": 2}, "older": {"t": 0}}, next: nil,
			suspended: []string{"a"}, finished: []string{"old"},
			steps: []alloc.Step{{Action: alloc.Save, Application: "a"}, {Action: alloc.Destroy, Application: "a", Server: "s", Containers: 1},
				{Action: alloc.Destroy, Application: "old", Server: "t", Containers: 2}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &alloc.Problem{Previous: c.previous}
			for _, id := range []string{"a", "b"} {
				app.ID = id
				p.Applications = append(p.Applications, app)
			}
			got := alloc.NewPlan(p, c.next)
			want := &alloc.Plan{Steps: c.steps, Started: c.started, Affected: c.affected, Suspended: c.suspended, Finished: c.finished}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		})
	}
}
