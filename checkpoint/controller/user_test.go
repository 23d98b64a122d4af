// This file tests jobs of an ordinary user, below a controller that is root's.

package controller_test

import (
	"os"
	"testing"

	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/managed/managedtest"
)

// A job of an ordinary user is resized twice, and goes on each time from what was saved.
func TestUserIsResized(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root gives files away")
	}
	b := newBench(t)
	b.fake.SetUser(&command.User{UID: 64401, GID: 64402}, nil)
	// goesOn is the step of the containers that run, if it is that of all.
	goesOn := func(want int64) {
		t.Helper()
		b.eventually("it goes on from what was saved", func() bool {
			all := true
			b.fake.Each("a", func(c *managedtest.Container) { all = all && (!c.Alive() || c.State.Progress.Step == want) })
			return all
		})
	}
	b.submit(12, "a")
	b.holds(map[string]int{"a": 12})
	b.submit(12, "b")
	b.holds(map[string]int{"a": 6, "b": 6})
	goesOn(1)
	b.submit(12, "c")
	b.holds(map[string]int{"a": 4, "b": 4, "c": 4})
	goesOn(2)
	b.fake.Each("", func(c *managedtest.Container) {
		if c.Fault != nil {
			t.Errorf("attempt %d of %s: %v", c.Attempt, c.Job, c.Fault)
		}
	})
}
