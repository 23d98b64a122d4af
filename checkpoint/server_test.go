// This file tests what the machine knows of servers: who they are, and what is no news.

package checkpoint_test

import (
	"errors"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/internal/must"
)

func mustStep(t *testing.T, m *checkpoint.Machine, events ...checkpoint.Event) {
	t.Helper()
	for _, e := range events {
		must.Do(t, m.Step(e), e)
	}
}

func newMachine(t *testing.T, config checkpoint.Config) *checkpoint.Machine {
	t.Helper()
	config.Kinds = slotKinds
	return must.Have(checkpoint.New(config, 1))(t)
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
	next := must.Have(checkpoint.Recover(m.Config(), 2, m.Ready().Record))(t)
	refused(next)
	mustStep(t, next, checkpoint.ServerFenced{ID: "s1"}, up("s1", 4, "second"))
	must.Equal(t, next.Hosts()[0].Incarnation, "second", "after its loss the server")
	mustStep(t, next, up("s2", 1, ""), up("s2", 1, "named"))
	must.Equal(t, next.Hosts()[1].Incarnation, "named", "a server without a name has become")
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
	m := must.Have(checkpoint.New(config, 1))(t)
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

// TestNonsenseIsNoWitness: a registration that says nonsense of its server is a fault of that server, whatever else it says. A
// witness in it would end the master.
func TestNonsenseIsNoWitness(t *testing.T) {
	m := recovered(t, 5, named("j"))
	bad := up("s1", 1, "")
	bad.Witness = checkpoint.Witness{Journal: "j", Number: 1 << 40}
	bad.Server.Capacity = apportion.Resources{1, 2, 3}
	if err := m.Step(bad); !errors.Is(err, apportion.ErrLength) || errors.Is(err, checkpoint.ErrBehind) {
		t.Errorf("%v, want the fault of the capacity alone", err)
	}
	mustStep(t, m, up("s2", 1, ""))
	if !m.Knows("s2") || m.Knows("s1") {
		t.Errorf("s2 is there: %v, s1: %v", m.Knows("s2"), m.Knows("s1"))
	}
	// The same witness of a server that is one ends it.
	bad.Server.Capacity = apportion.Resources{1}
	must.Err(t, m.Step(bad), checkpoint.ErrBehind)
}

// TestDrainHurriesWhoLeaves: a job that is already on its way from a server which is drained has the sooner of the two
// deadlines.
func TestDrainHurriesWhoLeaves(t *testing.T) {
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(minutes int) time.Time {
		if minutes == 0 {
			return time.Time{}
		}
		return began.Add(time.Duration(minutes) * time.Minute)
	}
	// Minutes from the beginning; 0: none.
	for _, c := range []struct{ adjust, drain, want int }{{0, 0, 0}, {0, 5, 5}, {9, 5, 5}, {5, 9, 5}, {5, 0, 5}, {5, 5, 5}} {
		m := newMachine(t, checkpoint.Config{})
		mustStep(t, m, checkpoint.Tick{Now: began}, up("s1", 1, ""), up("s2", 1, ""), checkpoint.Submit{Job: "lr", Demand: apportion.Resources{1}},
			checkpoint.Adjust{Targets: map[string][]string{"lr": {"s1"}}})
		for m.Look("lr").Phase != checkpoint.Running {
			effects := m.Ready().Effects
			if len(effects) == 0 {
				t.Fatalf("it stands still in %s", m.Look("lr").Phase)
			}
			for _, e := range effects {
				if e.Action != checkpoint.Prune {
					mustStep(t, m, checkpoint.Reply{ID: e.ID, Job: e.Job, Outcome: checkpoint.Done, Step: -1})
				}
			}
		}
		mustStep(t, m, checkpoint.Adjust{Targets: map[string][]string{"lr": {"s2"}}, Deadline: at(c.adjust)})
		must.Equal(t, m.Look("lr").Phase, checkpoint.Saving, "it is in")
		mustStep(t, m, checkpoint.Drain{ID: "s1", Deadline: at(c.drain)})
		if got := m.Look("lr").Deadline; !got.Equal(at(c.want)) {
			t.Errorf("adjusted by minute %d, drained by %d: its deadline is %v, want minute %d", c.adjust, c.drain, got, c.want)
		}
	}
}

// TestForgottenJobComesAgain: a job of the name of one that is forgotten is another, in the books as well.
func TestForgottenJobComesAgain(t *testing.T) {
	m := newMachine(t, checkpoint.Config{})
	mustStep(t, m, up("s1", 2, ""))
	for round := range 3 {
		mustStep(t, m, checkpoint.Submit{Job: "lr", Demand: apportion.Resources{1}}, checkpoint.Adjust{Targets: map[string][]string{"lr": {"s1"}}})
		must.Equal(t, m.Audit(), "", "round", round, "begun")
		mustStep(t, m, checkpoint.Cancel{Job: "lr"})
		for m.Look("lr").Phase != checkpoint.Ended {
			for _, e := range m.Ready().Effects {
				if e.Action != checkpoint.Prune {
					mustStep(t, m, checkpoint.Reply{ID: e.ID, Job: e.Job, Outcome: checkpoint.Done, Step: -1})
				}
			}
		}
		mustStep(t, m, checkpoint.Forget{Job: "lr"})
		if what := m.Audit(); what != "" || m.Look("lr") != nil {
			t.Fatalf("round %d, forgotten: %s", round, what)
		}
	}
}
