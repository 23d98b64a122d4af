// This file checks what the paper says of the protocol.

package checkpoint_test

import (
	"slices"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/internal/must"
)

// order plays all effects and returns their kinds and jobs, in the order in which they are issued.
func order(t *testing.T, m *checkpoint.Machine, event checkpoint.Event) (issued []string) {
	t.Helper()
	for events := []checkpoint.Event{event}; len(events) > 0; events = events[1:] {
		must.Do(t, m.Step(events[0]))
		for _, e := range m.Ready().Effects {
			if e.Action != checkpoint.Prune {
				issued = append(issued, string(e.Action)+" "+e.Job)
				events = append(events, checkpoint.Reply{ID: e.ID, Job: e.Job, Outcome: checkpoint.Done})
			}
		}
	}
	return issued
}

func paperMachine(t *testing.T, servers ...apportion.Server) *checkpoint.Machine {
	t.Helper()
	m := must.Have(checkpoint.New(checkpoint.Config{Kinds: apportion.Kinds{"cpu", "gpu", "memory"}}, 1))(t)
	for _, s := range servers {
		must.Do(t, m.Step(checkpoint.ServerUp{Server: s}))
	}
	return m
}

// Reference: [Dorm] §III-C2: save the state to reliable storage, then kill the application, create and
// destroy containers on the servers, resume from the saved state with the new resources.
func TestOrderOfSteps(t *testing.T) {
	m := paperMachine(t,
		apportion.Server{ID: "slave1", Capacity: apportion.Resources{4, 4, 32}},
		apportion.Server{ID: "slave2", Capacity: apportion.Resources{4, 4, 32}})
	must.Do(t, m.Step(checkpoint.Submit{Job: "app", Demand: apportion.Resources{2, 1, 8}, Min: 0}))
	start := order(t, m, checkpoint.Adjust{Targets: map[string][]string{"app": {"slave1", "slave1"}}})
	must.Same(t, start, []string{"create app", "resume app", "confirm app"}, "start")
	resize := order(t, m, checkpoint.Adjust{Targets: map[string][]string{"app": {"slave1", "slave2"}}})
	want := []string{"save app", "verify app", "stop app", "release app", "create app", "resume app", "confirm app"}
	must.Same(t, resize, want, "resize")
}

// Reference: [Dorm] §III-C3, Fig. 5: two containers of App2 on DormSlave 1 are destroyed, and two of
// App3 are created there; App2's state is saved before it is killed; then App3 is started and App2
// resumed. App1 is not touched.
func TestFigure5(t *testing.T) {
	container := apportion.Resources{2, 1, 8}
	m := paperMachine(t, apportion.Server{ID: "slave1", Capacity: apportion.Resources{12, 6, 48}})
	for _, app := range []string{"app1", "app2", "app3"} {
		must.Do(t, m.Step(checkpoint.Submit{Job: app, Demand: container, Min: 1}))
	}
	two, four := []string{"slave1", "slave1"}, []string{"slave1", "slave1", "slave1", "slave1"}
	order(t, m, checkpoint.Adjust{Targets: map[string][]string{"app1": two, "app2": four}})
	before, _ := m.Job("app1")

	got := order(t, m, checkpoint.Adjust{Targets: map[string][]string{"app1": two, "app2": two, "app3": two}})
	place := func(what string) int { return slices.Index(got, what) }
	for _, pair := range [][2]string{
		{"save app2", "verify app2"}, {"verify app2", "stop app2"}, {"stop app2", "release app2"},
		{"release app2", "create app3"}, {"create app3", "resume app3"}, {"release app2", "resume app2"},
	} {
		if place(pair[0]) < 0 || place(pair[0]) > place(pair[1]) {
			t.Errorf("%q is not before %q: %v", pair[0], pair[1], got)
		}
	}
	if after, _ := m.Job("app1"); after.Attempt != before.Attempt || slices.Contains(got, "save app1") {
		t.Errorf("app1 was touched: %v", got)
	}
	for _, app := range []string{"app1", "app2", "app3"} {
		if j, _ := m.Job(app); j.Phase != checkpoint.Running || !slices.Equal(j.Containers, two) {
			t.Errorf("%s: %s on %v", app, j.Phase, j.Containers)
		}
	}
}
