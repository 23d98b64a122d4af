// This file accepts losses at every moment of a job's life, and checks that what follows is above all that was lost.

package checkpoint_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/internal/must"
)

func accepted(t *testing.T, epoch int64, lost, fresh string, records ...checkpoint.Record) *checkpoint.Machine {
	t.Helper()
	m := recovered(t, epoch, records...)
	must.Do(t, m.AcceptLoss(lost, fresh))
	return m
}

// Whatever a job is about when its records end: it is stopped under a new number, in the new name, and goes on; nothing that is asked for
// is below what may have been given out.
func TestAcceptLossInEveryPhase(t *testing.T) {
	m := recovered(t, 1, named("j"))
	steps(t, m, slotted("s1"), slotted("s2"), checkpoint.Submit{Job: "a", Demand: slot}, checkpoint.Adjust{Targets: map[string][]string{"a": {"s1"}}})
	phases := map[checkpoint.Phase]bool{}
	for n := 0; n < 100; n++ {
		phase := m.Look("a").Phase
		phases[phase] = true
		after := accepted(t, 2, "j", "k", m.Snapshot())
		above := after.Epoch()*checkpoint.PerEpoch - checkpoint.PerEpoch
		first := after.Ready()
		if first.Record.Journal != "k" || !slices.Equal(first.Record.Former, []string{"j"}) {
			t.Fatalf("%s: the new name is not on record: %+v", phase, first.Record)
		}
		// What is on record is the same machine, also for the master after it.
		next := recovered(t, 3, m.Snapshot(), first.Record)
		if next.Epoch() != after.Epoch()+1 || next.Journal() != "k" {
			t.Fatalf("%s: the next master has epoch %d after %d, and journal %s", phase, next.Epoch(), after.Epoch(), next.Journal())
		}
		effects := first.Effects
		for round := 0; len(effects) > 0 && round < 50; round++ {
			for _, e := range effects {
				if e.Journal != "k" || !slices.Equal(e.Former, []string{"j"}) || e.Epoch != after.Epoch() || min(e.ID, e.Attempt) <= above {
					t.Fatalf("%s: %+v may have been said before", phase, e)
				}
				if round == 0 && e.Action != checkpoint.Stop {
					t.Fatalf("%s: begins with %s", phase, e.Action)
				}
				steps(t, after, checkpoint.Reply{ID: e.ID, Job: e.Job, Outcome: checkpoint.Done})
			}
			effects = after.Ready().Effects
		}
		if j := after.Look("a"); j.Phase != checkpoint.Running && j.Phase != checkpoint.Idle {
			t.Fatalf("%s: ends as %+v", phase, j)
		}
		ready := m.Ready()
		for _, e := range ready.Effects {
			steps(t, m, checkpoint.Reply{ID: e.ID, Job: e.Job, Outcome: checkpoint.Done})
		}
		if len(ready.Effects) == 0 {
			steps(t, m, checkpoint.Adjust{Targets: map[string][]string{"a": [][]string{{"s1"}, {"s2"}, nil}[n%3]}})
		}
	}
	if len(phases) < 9 {
		t.Errorf("the phases are %v", phases)
	}
}

func TestAcceptLoss(t *testing.T) {
	const per = checkpoint.PerEpoch
	m := accepted(t, 2, "k", "l", accepted(t, 1, "j", "k", named("j")).Snapshot())
	if err := m.AcceptLoss("j", "m"); err != nil || m.Journal() != "l" {
		t.Errorf("a loss that was accepted before: %v, %s", err, m.Journal())
	}
	for _, wrong := range []string{"", "x"} {
		if err := m.AcceptLoss(wrong, "m"); !errors.Is(err, apportion.ErrConflict) || m.Journal() != "l" {
			t.Errorf("journal %q: %v", wrong, err)
		}
	}
	must.Err(t, m.AcceptLoss("l", "l"), apportion.ErrConflict, "the same name")
	steps(t, m, slotted("s2"), checkpoint.Submit{Job: "a", Demand: slot}, checkpoint.Adjust{Targets: map[string][]string{"a": {"s2"}}})
	next := m.Snapshot().Next
	for _, c := range []struct {
		journal string
		number  int64
		want    error
	}{
		{"j", 1000 * per, nil}, {"k", 1000 * per, nil}, {"j", next, nil}, {"j", next + 1, checkpoint.ErrBehind},
		{"l", next, nil}, {"l", next + 1, checkpoint.ErrBehind}, {"x", 1, apportion.ErrConflict},
	} {
		again := recovered(t, 2, m.Snapshot())
		must.Equal(t, again.Snapshot().Next, next)
		up := slotted("s1").(checkpoint.ServerUp)
		up.Witness = checkpoint.Witness{Journal: c.journal, Number: c.number}
		must.Err(t, again.Step(up), c.want, c.journal, c.number)
	}
	// A server goes over to the new journal, and not back.
	effect := func(journal string, id int64, former ...string) checkpoint.Effect {
		return checkpoint.Effect{Journal: journal, ID: id, Former: former}
	}
	w := checkpoint.Witness{Journal: "j", Number: 9}
	if w.Foreign(effect("l", 20, "j", "k")) || !w.Foreign(effect("l", 20, "k")) || !w.Foreign(effect("l", 20)) {
		t.Error("a server goes over to what has not come in the place of its journal, or not to what has")
	}
	if w = w.Heard(effect("l", 8, "j", "k")); w != (checkpoint.Witness{Journal: "l", Number: 8}) || !w.Foreign(effect("j", 30)) {
		t.Errorf("after it went over: %+v", w)
	}
	must.Fail(checkpoint.Recover(simConfig(), 1, checkpoint.Record{Journal: "j", Lift: 1 << 62}))(t, checkpoint.ErrCorrupt, "an epoch beyond all")
}

// What the store has beyond the records counts after a loss: what is above the newest on record, and was given out, of jobs that go on.
func TestFound(t *testing.T) {
	m := recovered(t, 1, named("j"))
	steps(t, m, slotted("s1"), checkpoint.Submit{Job: "a", Demand: slot}, checkpoint.Submit{Job: "b", Demand: slot}, checkpoint.Cancel{Job: "b"})
	before := m.Snapshot()
	before.Next = 10
	before.Jobs[0].Checkpoints = []checkpoint.Confirmed{{Number: 1, Step: 7}}
	const never = 1 << 62
	for name, c := range map[string]struct {
		job     string
		numbers []int64
		want    []checkpoint.Confirmed
	}{
		"none":            {"a", nil, []checkpoint.Confirmed{{Number: 1, Step: 7}}},
		"on record":       {"a", []int64{1}, []checkpoint.Confirmed{{Number: 1, Step: 7}}},
		"newer":           {"a", []int64{1, 5}, []checkpoint.Confirmed{{Number: 1, Step: 7}, {Number: 5, Step: -1}}},
		"many":            {"a", []int64{5, 6, 9}, []checkpoint.Confirmed{{Number: 6, Step: -1}, {Number: 9, Step: -1}}},
		"never given out": {"a", []int64{5, never}, []checkpoint.Confirmed{{Number: 1, Step: 7}, {Number: 5, Step: -1}}},
		"it has ended":    {"b", []int64{5}, nil},
		"nobody's":        {"c", []int64{5}, nil},
	} {
		after := accepted(t, 2, "j", "k", before)
		after.Found(c.job, c.numbers)
		if got, _ := after.Job(c.job); !slices.Equal(got.Checkpoints, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got.Checkpoints, c.want)
		}
		// What counts is on record.
		next := recovered(t, 3, before, after.Ready().Record)
		if got, _ := next.Job(c.job); !slices.Equal(got.Checkpoints, c.want) {
			t.Errorf("%s, for the next master: %+v, want %+v", name, got.Checkpoints, c.want)
		}
	}
}
