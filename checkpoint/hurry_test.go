// This file checks what becomes of jobs that answer no save when their containers are to change.

package checkpoint_test

import (
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/internal/must"
)

// saving plays a job that runs and is asked to be saved, and lets time pass in ticks of a second. It returns after how many seconds the
// job was stopped without, 0: it was not in an hour.
func saving(t *testing.T, change func(*checkpoint.Config), took int, event checkpoint.Event, answers bool) int {
	t.Helper()
	config := simConfig()
	config.Timeouts.Save, config.MaxTick = time.Hour, time.Minute
	change(&config)
	m := must.Have(checkpoint.Recover(config, 1, named("j")))(t)
	now := time.Unix(1763836000, 0)
	pass := func(n int) {
		now = now.Add(time.Duration(n) * time.Second)
		steps(t, m, checkpoint.Tick{Now: now})
	}
	play := func(until checkpoint.Phase, save int) {
		for round := 0; m.Look("a").Phase != until && round < 20; round++ {
			for _, e := range m.Ready().Effects {
				if e.Action == checkpoint.Save {
					pass(save)
				}
				steps(t, m, checkpoint.Reply{ID: e.ID, Job: e.Job, Outcome: checkpoint.Done})
			}
		}
	}
	steps(t, m, slotted("s1"), slotted("s2"), checkpoint.Submit{Job: "a", Demand: slot}, checkpoint.Adjust{Targets: map[string][]string{"a": {"s1"}}})
	pass(0)
	play(checkpoint.Running, 0)
	if took > 0 {
		steps(t, m, checkpoint.Checkpoint{Job: "a"})
		play(checkpoint.Running, took)
	}
	steps(t, m, event)
	for second := range 3600 {
		for _, e := range m.Ready().Effects {
			if e.Action == checkpoint.Save && answers {
				steps(t, m, checkpoint.Reply{ID: e.ID, Job: e.Job, Outcome: checkpoint.Failed, Detail: "the store is full"})
			}
		}
		if j := m.Look("a"); j.Phase == checkpoint.Stopping {
			must.Equal(t, j.Reason.Constraint, checkpoint.Late, "the reason", j.Reason)
			return second
		}
		pass(1)
	}
	return 0
}

func TestHungSave(t *testing.T) {
	move := checkpoint.Adjust{Targets: map[string][]string{"a": {"s2"}}}
	suspend := checkpoint.Adjust{Targets: map[string][]string{"a": nil}}
	same := func(*checkpoint.Config) {}
	for name, c := range map[string]struct {
		change  func(*checkpoint.Config)
		took    int
		event   checkpoint.Event
		answers bool
		want    int
	}{
		"it is to move":                   {same, 0, move, false, 62},
		"it is to be suspended":           {same, 0, suspend, false, 62},
		"its saves take 3 s":              {same, 3, move, false, 62},
		"its saves take 30 s":             {same, 30, move, false, 302},
		"a limit":                         {func(c *checkpoint.Config) { c.SaveLimit = 5 * time.Minute }, 0, move, false, 302},
		"a time-out that is shorter":      {func(c *checkpoint.Config) { c.Timeouts.Save = 20 * time.Second }, 30, move, false, 42},
		"no limit":                        {func(c *checkpoint.Config) { c.SaveLimit = -1 }, 0, move, false, 0},
		"it stays where it is":            {same, 0, checkpoint.Checkpoint{Job: "a"}, false, 0},
		"it answers, and cannot be saved": {same, 0, move, true, 0},
	} {
		must.Equal(t, saving(t, c.change, c.took, c.event, c.answers), c.want, name, "stopped after", "s")
	}
}
