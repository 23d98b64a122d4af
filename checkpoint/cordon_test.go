// This file tests what is on record of a cordon; testdata/cases/cordon has what it does.

package checkpoint_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/internal/must"
)

func TestCordonOnRecord(t *testing.T) {
	m := must.Have(checkpoint.New(checkpoint.Config{Kinds: slotKinds}, 1))(t)
	server := apportion.Server{ID: "s1", Capacity: apportion.Resources{2}}
	until := time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("", 3600))
	free := checkpoint.Host{Server: server}
	closed := checkpoint.Host{Server: apportion.Server{ID: "s1", Capacity: apportion.Resources{2}, Cordoned: true}, Detail: "no disk", Until: until.UTC()}
	for i, step := range []struct {
		event checkpoint.Event
		want  checkpoint.Host
		news  bool
	}{
		{checkpoint.ServerUp{Server: server}, free, true},
		{checkpoint.Cordon{ID: "s1", Detail: "no disk", Until: until}, closed, true},
		{checkpoint.Cordon{ID: "s1", Detail: "no disk", Until: until}, closed, false},
		{checkpoint.ServerUp{Server: server}, closed, false},
		{checkpoint.Cordon{ID: "s1", Detail: "whatever", Until: until, Over: true}, free, true},
		{checkpoint.Cordon{ID: "s1", Over: true}, free, false},
		{checkpoint.Cordon{ID: "s1", Detail: "no disk", Until: until}, closed, true},
		{checkpoint.Tick{Now: until.Add(-time.Second)}, closed, false},
		{checkpoint.Tick{Now: until}, free, true},
	} {
		must.Do(t, m.Step(step.event), "step", i)
		if host, _ := m.Host("s1"); !reflect.DeepEqual(host, step.want) {
			t.Errorf("step %d: %+v, want %+v", i, host, step.want)
		}
		must.Equal(t, len(m.Ready().Record.Servers) > 0, step.news, "step", i, "is on record")
	}
	must.Err(t, m.Step(checkpoint.Cordon{ID: "s1", Until: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}), apportion.ErrRange, "a time that no journal can hold")
}

// TestCordonedPlaces: on a cordoned server a target may name as many containers as the job has there, also while it is asked
// for fewer.
func TestCordonedPlaces(t *testing.T) {
	m := newMachine(t, checkpoint.Config{})
	ask := func(target ...string) error {
		return m.Step(checkpoint.Adjust{Targets: map[string][]string{"lr": target}})
	}
	mustStep(t, m, up("s1", 4, ""), checkpoint.Submit{Job: "lr", Demand: apportion.Resources{1}})
	must.Do(t, ask("s1", "s1"))
	mustStep(t, m, checkpoint.Cordon{ID: "s1"})
	must.Do(t, ask("s1"))
	must.Do(t, ask("s1", "s1"))
	must.Err(t, ask("s1", "s1", "s1"), apportion.ErrConflict, "more than the job")
}
