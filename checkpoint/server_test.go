// This file tests what the machine knows of servers: who they are, and what is no news.

package checkpoint_test

import (
	"errors"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
)

func mustStep(t *testing.T, m *checkpoint.Machine, events ...checkpoint.Event) {
	t.Helper()
	for _, e := range events {
		if err := m.Step(e); err != nil {
			t.Fatalf("%+v: %v", e, err)
		}
	}
}

func newMachine(t *testing.T, config checkpoint.Config) *checkpoint.Machine {
	t.Helper()
	config.Kinds = slotKinds
	m, err := checkpoint.New(config, 1)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func up(id string, slots int64, incarnation string) checkpoint.ServerUp {
	return checkpoint.ServerUp{Server: apportion.Server{ID: id, Capacity: apportion.Resources{slots}}, Incarnation: incarnation}
}

// A server has one incarnation at a time, which the next master knows as well.
func TestIncarnation(t *testing.T) {
	m := newMachine(t, checkpoint.Config{})
	mustStep(t, m, up("s1", 4, "first"), up("s1", 5, "first"), up("s1", 6, ""))
	refused := func(m *checkpoint.Machine) {
		t.Helper()
		var fault *apportion.FieldError
		if err := m.Step(up("s1", 4, "second")); !errors.As(err, &fault) || fault.Field != "Incarnation" || !errors.Is(err, apportion.ErrConflict) {
			t.Errorf("another incarnation: %v", err)
		}
		if got := m.Hosts()[0]; got.Incarnation != "first" || got.Capacity[0] != 6 {
			t.Errorf("%+v", got)
		}
	}
	refused(m)
	next, err := checkpoint.Recover(m.Config(), 2, m.Ready().Record)
	if err != nil {
		t.Fatal(err)
	}
	refused(next)
	mustStep(t, next, checkpoint.ServerFenced{ID: "s1"}, up("s1", 4, "second"))
	if got := next.Hosts()[0].Incarnation; got != "second" {
		t.Errorf("after its loss the server is %q", got)
	}
	mustStep(t, next, up("s2", 1, ""), up("s2", 1, "named"))
	if got := next.Hosts()[1].Incarnation; got != "named" {
		t.Errorf("a server without a name has become %q", got)
	}
}

// What agents say again and again is written down once.
func TestServerUpWithoutNewsWritesNothing(t *testing.T) {
	m := newMachine(t, checkpoint.Config{})
	mustStep(t, m, up("s1", 4, "first"))
	if r := m.Ready().Record; len(r.Servers) != 1 {
		t.Fatalf("%+v", r)
	}
	mustStep(t, m, up("s1", 4, "first"), up("s1", 4, ""))
	if r := m.Ready().Record; !r.Empty() {
		t.Errorf("no news: %+v", r)
	}
	mustStep(t, m, up("s1", 5, "first"))
	if r := m.Ready().Record; len(r.Servers) != 1 || r.Servers[0].Capacity[0] != 5 {
		t.Errorf("another capacity: %+v", r)
	}
	mustStep(t, m, checkpoint.ServerFenced{ID: "s1"}, up("s1", 5, "first"))
	if r := m.Ready().Record; len(r.Servers) != 1 || len(r.Lost) != 0 {
		t.Errorf("lost and there again: %+v", r)
	}
}

// A server that is lost while a checkpoint is verified takes processes along: the checkpoint may count, and then the job is
// stopped and goes on with what is left, and does not count as running.
func TestServerLostWhileVerifying(t *testing.T) {
	m := recovered(t, 1)
	steps(t, m, slotted("s1"), slotted("s2"), checkpoint.Submit{Job: "a", Demand: slot},
		checkpoint.Adjust{Targets: map[string][]string{"a": {"s1", "s2"}}})
	var last checkpoint.Effect
	answer := func() {
		for _, last = range m.Ready().Effects {
			if last.Action != checkpoint.Verify {
				steps(t, m, checkpoint.Reply{ID: last.ID, Job: "a", Outcome: checkpoint.Done, Step: 1})
			}
		}
	}
	for m.Look("a").Phase != checkpoint.Running {
		answer()
	}
	steps(t, m, checkpoint.Checkpoint{Job: "a"})
	answer()
	answer()
	steps(t, m, checkpoint.ServerFenced{ID: "s2"}, checkpoint.Reply{ID: last.ID, Job: "a", Outcome: checkpoint.Done})
	if j := m.Look("a"); j.Phase != checkpoint.Stopping || j.Newest().Step != 1 {
		t.Errorf("%s with %v, want stopping with what was saved", j.Phase, j.Checkpoints)
	}
}

// A server that comes and goes between two records is lost in the one that follows.
func TestServerComesAndGoes(t *testing.T) {
	m := recovered(t, 1)
	steps(t, m, slotted("s1"), checkpoint.ServerFenced{ID: "s1"})
	if r := m.Ready().Record; len(r.Servers) != 0 || len(r.Lost) != 1 {
		t.Errorf("%+v", r)
	}
}

// A job whose server has not answered in all tries does not count among those in the middle of an adjustment, and one that
// has a try left does.
func TestLimitCountsJobsWithTriesLeft(t *testing.T) {
	config := simConfig()
	config.Limit, config.Retries = 1, 2
	m, err := checkpoint.New(config, 1)
	if err != nil {
		t.Fatal(err)
	}
	var stop checkpoint.Effect
	done := func() { // all is done that is asked for, but for the Stop
		for {
			effects := m.Ready().Effects
			if len(effects) == 0 {
				return
			}
			for _, e := range effects {
				if e.Action == checkpoint.Stop {
					stop = e
				} else {
					steps(t, m, checkpoint.Reply{ID: e.ID, Job: e.Job, Outcome: checkpoint.Done})
				}
			}
		}
	}
	steps(t, m, slotted("s1"), slotted("s2"), checkpoint.Submit{Job: "a", Demand: slot}, checkpoint.Submit{Job: "b", Demand: slot},
		checkpoint.Adjust{Targets: map[string][]string{"a": {"s1"}}})
	done()
	steps(t, m, checkpoint.Cancel{Job: "a"}, checkpoint.Adjust{Targets: map[string][]string{"b": {"s2"}}})
	now := time.Unix(1, 0)
	for failed := 1; failed <= 3; failed++ {
		done()
		steps(t, m, checkpoint.Reply{ID: stop.ID, Job: "a", Outcome: checkpoint.Failed})
		done()
		if got, want := m.Look("b").Phase == checkpoint.Running, failed > 2; got != want {
			t.Fatalf("the Stop of a has failed %d times, two retries are allowed: b is %s", failed, m.Look("b").Phase)
		}
		for range 5 { // longer than the pause, and not as long as an effect may take
			now = now.Add(time.Second)
			steps(t, m, checkpoint.Tick{Now: now})
		}
	}
}
