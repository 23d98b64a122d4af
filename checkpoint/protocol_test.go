// This file tests what the scripts do not show: determinism, who owns what, what Ready hands over.

package checkpoint_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/internal/must"
)

// TestDeterministic gives the same events 50 times: the order of maps must not show.
func TestDeterministic(t *testing.T) {
	run := func() string {
		m := must.Have(checkpoint.New(checkpoint.Config{Kinds: slotKinds, Limit: 3}, 1))(t)
		targets := [2]map[string][]string{{}, {}}
		for i := range 8 {
			job, server := fmt.Sprint("job", i), fmt.Sprint("s", i)
			for _, e := range []checkpoint.Event{
				checkpoint.ServerUp{Server: apportion.Server{ID: server, Capacity: apportion.Resources{1}}}, checkpoint.Submit{Job: job, Demand: slot, Min: 0},
			} {
				must.Do(t, m.Step(e))
			}
			targets[0][job] = []string{server}
			targets[1][job] = []string{fmt.Sprint("s", (i+3)%8)}
		}
		var text strings.Builder
		for _, target := range targets {
			for events := []checkpoint.Event{checkpoint.Adjust{Targets: target}}; len(events) > 0; events = events[1:] {
				must.Do(t, m.Step(events[0]))
				ready := m.Ready()
				fmt.Fprintln(&text, ready)
				for _, e := range ready.Effects {
					events = append(events, checkpoint.Reply{ID: e.ID, Job: e.Job, Outcome: checkpoint.Done})
				}
			}
		}
		for _, j := range m.Jobs() {
			if j.Phase != checkpoint.Running || j.Containers[0] != targets[1][j.Name][0] {
				t.Fatalf("%s: %s on %v", j.Name, j.Phase, j.Containers)
			}
		}
		return text.String()
	}
	first := run()
	for range 50 {
		must.Equal(t, run(), first, "and then")
	}
}

// TestOwnership changes what went in and what came out: the machine must not notice.
func TestOwnership(t *testing.T) {
	m := must.Have(checkpoint.New(checkpoint.Config{Kinds: slotKinds}, 1))(t)
	capacity, demand, target := apportion.Resources{2}, apportion.Resources{1}, []string{"s2", "s1"}
	events := []checkpoint.Event{
		checkpoint.ServerUp{Server: apportion.Server{ID: "s1", Capacity: capacity}}, checkpoint.ServerUp{Server: apportion.Server{ID: "s2", Capacity: capacity}},
		checkpoint.Submit{Job: "a", Demand: demand, Min: 0}, checkpoint.Adjust{Targets: map[string][]string{"a": target}},
	}
	for _, e := range events {
		must.Do(t, m.Step(e))
	}
	must.Equal(t, target[0], "s2", "the target was sorted in place")
	before := fmt.Sprint(m.Snapshot())
	capacity[0], demand[0], target[0] = -1, -1, "x"
	ready := m.Ready()
	ready.Record.Jobs[0].Containers[0], ready.Record.Servers[0].Capacity[0], ready.Effects[0].Containers[0] = "x", -1, "x"
	ready.Effects[0].Servers[0] = "y"
	j, _ := m.Job("a")
	j.Target[0], j.Demand[0] = "x", -1
	m.Jobs()[0].Containers[0] = "x"
	m.Servers()[0].Capacity[0] = -1
	must.Equal(t, fmt.Sprint(m.Snapshot()), before, "has become")
}

// A job that is given up has failed, and says why for as long as it is known; what is over by then stays as it ended.
func TestGivenUp(t *testing.T) {
	m := must.Have(checkpoint.New(checkpoint.Config{Kinds: slotKinds}, 3))(t)
	steps(t, m, checkpoint.Submit{Job: "a", Demand: slot}, checkpoint.Submit{Job: "b", Demand: slot}, checkpoint.Cancel{Job: "b"},
		checkpoint.Cancel{Job: "a", Failed: "six runs have died"}, checkpoint.Cancel{Job: "b", Failed: "late"}, checkpoint.Cancel{Job: "a"})
	for _, want := range []checkpoint.Job{{Name: "a", Ending: checkpoint.GivenUp, Reason: apportion.Reason{Constraint: checkpoint.Futile, Text: "six runs have died"}},
		{Name: "b", Ending: checkpoint.Cancelled}} {
		for _, got := range m.Jobs() {
			if got.Name == want.Name && (got.Ending != want.Ending || got.Reason.Text != want.Reason.Text || got.Reason.Constraint != want.Reason.Constraint) {
				t.Errorf("%+v, want %+v", got, want)
			}
		}
	}
}

// TestReady hands everything over once, and nothing where nothing has changed.
func TestReady(t *testing.T) {
	m := must.Have(checkpoint.New(checkpoint.Config{Kinds: slotKinds}, 3))(t)
	if r := m.Ready(); !r.Record.Empty() || len(r.Effects) != 0 {
		t.Errorf("a new machine: %+v", r)
	}
	for _, e := range []checkpoint.Event{checkpoint.Submit{Job: "a", Demand: slot, Min: 0}, checkpoint.Submit{Job: "b", Demand: slot, Min: 0}, checkpoint.Cancel{Job: "a"}, checkpoint.Forget{Job: "a"}} {
		must.Do(t, m.Step(e))
	}
	r := m.Ready().Record
	if r.Empty() || len(r.Jobs) != 1 || r.Jobs[0].Name != "b" || len(r.Gone) != 1 {
		t.Errorf("record %+v", r)
	}
	if again := m.Ready(); !again.Record.Empty() {
		t.Errorf("handed over twice: %+v", again)
	}
	for _, e := range []checkpoint.Event{checkpoint.Tick{Now: time.Unix(5, 0)}, checkpoint.Exited{Job: "b", Attempt: 1}, checkpoint.Reply{ID: 1, Job: "b"}, checkpoint.ServerFenced{ID: "s"}} {
		if err := m.Step(e); err != nil || !m.Ready().Record.Empty() {
			t.Errorf("%+v is on record: %v", e, err)
		}
	}
	// A record that says nothing is the zero Record, also once numbers were given out.
	for _, e := range []checkpoint.Event{slotted("s1"), checkpoint.Adjust{Targets: map[string][]string{"b": {"s1"}}}} {
		must.Do(t, m.Step(e))
	}
	if r := m.Ready(); r.Record.Empty() || r.Record.Next == 0 {
		t.Errorf("record %+v", r.Record)
	}
	if r := m.Ready().Record; !r.Empty() || r.Next != 0 {
		t.Errorf("handed over twice: %+v", r)
	}
	if (checkpoint.Record{Next: 1}).Empty() {
		t.Error("a number that was given out is nothing")
	}
	if m.Stale() != 2 || m.Epoch() != 3 {
		t.Errorf("stale %d, epoch %d", m.Stale(), m.Epoch())
	}
	if _, ok := m.Job("a"); ok {
		t.Error("a is still there")
	}
}

// TestNew refuses what cannot be.
func TestNew(t *testing.T) {
	for _, test := range []struct {
		config checkpoint.Config
		epoch  int64
		want   error
	}{
		{checkpoint.Config{Kinds: slotKinds}, 0, apportion.ErrRange},
		{checkpoint.Config{}, 1, apportion.ErrEmpty},
		{checkpoint.Config{Kinds: apportion.Kinds{"a", "a"}}, 1, apportion.ErrDuplicate},
		{checkpoint.Config{Kinds: slotKinds, Limit: -1}, 1, apportion.ErrNegative},
		{checkpoint.Config{Kinds: slotKinds, Keep: -1}, 1, apportion.ErrNegative},
		{checkpoint.Config{Kinds: slotKinds, Timeouts: checkpoint.Timeouts{Room: -1}}, 1, apportion.ErrNegative},
		{checkpoint.Config{Kinds: slotKinds, MaxTick: -1}, 1, apportion.ErrNegative},
	} {
		must.Fail(checkpoint.New(test.config, test.epoch))(t, test.want, "New(", test.config, test.epoch)
	}
}

// TestClock: a clock that jumps is taken for MaxTick at most, and never runs backward.
func TestClock(t *testing.T) {
	config := checkpoint.Config{Kinds: slotKinds, MaxTick: 10 * time.Second, Timeouts: checkpoint.Timeouts{Create: 25 * time.Second}}
	for _, test := range []struct {
		name  string
		ticks []int // seconds
		tries int
	}{
		{"steady", []int{0, 10, 20, 24}, 0},
		{"over", []int{0, 10, 20, 25}, 1},
		{"forward", []int{0, 1 << 30, 2 << 30}, 0},
		{"forward and on", []int{0, 1 << 30, 2 << 30, 3 << 30}, 1},
		{"backward", []int{0, 20, -1 << 30, 0, -5}, 0},
		{"backward and on", []int{0, 10, -100, -90, -80}, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := must.Have(checkpoint.New(config, 1))(t)
			for _, e := range []checkpoint.Event{checkpoint.Tick{Now: time.Unix(0, 0)}, slotted("s1"), checkpoint.Submit{Job: "a", Demand: slot, Min: 0}, checkpoint.Adjust{Targets: map[string][]string{"a": {"s1"}}}} {
				must.Do(t, m.Step(e))
			}
			for _, second := range test.ticks {
				must.Do(t, m.Step(checkpoint.Tick{Now: time.Unix(int64(second), 0)}))
			}
			if j, _ := m.Job("a"); j.Tries != test.tries {
				t.Errorf("%d tries have failed, want %d", j.Tries, test.tries)
			}
		})
	}
}

// TestHugeQuantities: demands near the largest integer neither overflow nor overfill.
func TestHugeQuantities(t *testing.T) {
	m := must.Have(checkpoint.New(checkpoint.Config{Kinds: slotKinds}, 1))(t)
	huge := apportion.Resources{math.MaxInt64}
	half := apportion.Resources{math.MaxInt64/2 + 1}
	for _, e := range []checkpoint.Event{
		checkpoint.ServerUp{Server: apportion.Server{ID: "s", Capacity: huge}}, checkpoint.Submit{Job: "a", Demand: half, Min: 0}, checkpoint.Submit{Job: "b", Demand: half, Min: 0},
		checkpoint.Adjust{Targets: map[string][]string{"a": {"s"}, "b": {"s"}}},
	} {
		must.Do(t, m.Step(e))
	}
	a, _ := m.Job("a")
	b, _ := m.Job("b")
	if a.Phase != checkpoint.Creating || b.Phase != checkpoint.Idle || b.Reason.Constraint != checkpoint.NoRoom {
		t.Errorf("a %s, b %s %v", a.Phase, b.Phase, b.Reason)
	}
	must.Do(t, m.Step(checkpoint.ServerUp{Server: apportion.Server{ID: "s", Capacity: apportion.Resources{0}}}))
	must.Do(t, m.Step(checkpoint.Adjust{Targets: map[string][]string{"b": {"s"}}}))
	if a, _ = m.Job("a"); a.Phase != checkpoint.Creating {
		t.Errorf("a server that shrank has taken a to %s", a.Phase)
	}
}

// TestReasonIsText: what a server says may be anything, and must fit into a record.
func TestReasonIsText(t *testing.T) {
	m := must.Have(checkpoint.New(checkpoint.Config{Kinds: slotKinds, Retries: -1}, 1))(t)
	for _, e := range []checkpoint.Event{slotted("s1"), checkpoint.Submit{Job: "a", Demand: slot, Min: 0}, checkpoint.Adjust{Targets: map[string][]string{"a": {"s1"}}}} {
		must.Do(t, m.Step(e))
	}
	j, _ := m.Job("a")
	must.Do(t, m.Step(checkpoint.Reply{ID: j.Effect, Job: "a", Outcome: checkpoint.Failed, Detail: "\xff" + strings.Repeat("ä", 5000)}))
	record := m.Ready().Record
	payload, err := json.Marshal(record)
	if err != nil || len(payload) > 2000 {
		t.Fatalf("%d bytes, %v", len(payload), err)
	}
	if got := record.Jobs[0].Reason.Text; !utf8.ValidString(got) || got == "" {
		t.Errorf("the reason is %q", got)
	}
}

// A job that is cancelled while it waits for room has ended, and one that was forgotten is on no record.
func TestCancelledWhileItWaits(t *testing.T) {
	m := must.Have(checkpoint.New(checkpoint.Config{Kinds: slotKinds}, 3))(t)
	steps(t, m, slotted("s1"), checkpoint.Submit{Job: "a", Demand: slot}, checkpoint.Submit{Job: "b", Demand: slot},
		checkpoint.Adjust{Targets: map[string][]string{"a": {"s1"}}})
	must.Do(t, m.Step(checkpoint.Adjust{Targets: map[string][]string{"a": {}, "b": {"s1"}}}))
	phase := func() checkpoint.Phase { j, _ := m.Job("b"); return j.Phase }
	must.Equal(t, phase(), checkpoint.Waiting, "for what a is to release")
	must.Do(t, m.Step(checkpoint.Cancel{Job: "b"}))
	must.Equal(t, phase(), checkpoint.Ended, "cancelled")
	first := m.Snapshot()
	m.Ready()
	must.Do(t, m.Step(checkpoint.Forget{Job: "b"}))
	m = must.Have(checkpoint.Recover(checkpoint.Config{Kinds: slotKinds}, 4, first, m.Ready().Record))(t)
	must.Do(t, m.Step(checkpoint.Submit{Job: "b", Demand: slot}), "a job of the name of one that was forgotten")
}

// A machine of which a server says that another master has spoken there takes nothing more.
func TestFencedByAServer(t *testing.T) {
	m := must.Have(checkpoint.New(checkpoint.Config{Kinds: slotKinds}, 3))(t)
	steps(t, m, slotted("s1"), checkpoint.Submit{Job: "a", Demand: slot}, checkpoint.Adjust{Targets: map[string][]string{"a": {"s1"}}})
	e := m.Ready().Effects[0]
	must.Err(t, m.Step(checkpoint.Reply{ID: e.ID, Job: e.Job, Outcome: checkpoint.Fenced, Step: -1}), checkpoint.ErrFenced)
	must.Err(t, m.Step(checkpoint.Tick{Now: time.Unix(5, 0)}), checkpoint.ErrFenced, "after it")
}
