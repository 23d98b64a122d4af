// This file tests drains with deadlines, and jobs that end while nobody understands them, on a cluster in memory.

package controller_test

import (
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/controller"
	"github.com/apportion/apportion/checkpoint/driver"
	"github.com/apportion/apportion/checkpoint/guard"
	"github.com/apportion/apportion/checkpoint/managed/managedtest"
	"github.com/apportion/apportion/internal/must"
)

// A drain that gets a deadline while it is under way hurries the jobs that are not saved yet: a job that answers no save leaves
// without it. A deadline that nobody tells would leave it there.
func TestDeadlineComesLater(t *testing.T) {
	b := newBench(t)
	b.submit(12, "a")
	b.holds(map[string]int{"a": 12})
	b.fake.Each("a", func(c *managedtest.Container) { c.Mute = true })
	b.fake.change(func(v *controller.View) { v.Servers[0].Draining = true })
	b.eventually("the job is asked for a save", func() bool { return b.job("a").Phase == checkpoint.Saving })
	time.Sleep(20 * b.config.Look)
	if j := b.job("a"); j.Phase != checkpoint.Saving || !j.Deadline.IsZero() {
		t.Fatalf("%+v", j)
	}
	b.fake.change(func(v *controller.View) { v.Servers[0].Deadline = time.Now() })
	b.holds(map[string]int{"a": 8})
	if j := b.job("a"); j.Reason.Constraint != checkpoint.Late {
		t.Errorf("it has left for another reason: %+v", j.Reason)
	}
	// The drain is over with its deadline, and the next one has its own.
	b.fake.change(func(v *controller.View) { v.Servers[0].Draining, v.Servers[0].Deadline = false, time.Time{} })
	b.holds(map[string]int{"a": 12})
	b.fake.change(func(v *controller.View) { v.Servers[0].Draining = true })
	b.holds(map[string]int{"a": 8})
	if s := b.now().State(); len(s.Draining) != 1 || s.Draining[0] != "n1" {
		t.Errorf("%v", s.Draining)
	}
}

// The next controller tells the deadline once more: the one before may have died in between.
func TestDeadlineAfterRestart(t *testing.T) {
	b := newBench(t)
	b.submit(12, "a")
	b.holds(map[string]int{"a": 12})
	b.fake.Each("a", func(c *managedtest.Container) { c.Mute = true })
	b.fake.change(func(v *controller.View) { v.Servers[0].Draining = true })
	b.eventually("the job is asked for a save", func() bool { return b.job("a").Phase == checkpoint.Saving })
	b.stop()
	b.fake.change(func(v *controller.View) { v.Servers[0].Deadline = time.Now() })
	b.begin()
	b.holds(map[string]int{"a": 8})
}

// A job that has done its work while its description makes no sense any more is told to the manager, and forgotten.
func TestRejectedAndDone(t *testing.T) {
	b := newBench(t)
	b.submit(4, "a")
	b.holds(map[string]int{"a": 4})
	b.fake.change(func(v *controller.View) {
		v.Jobs, v.Rejected = nil, map[string]string{"a": "its max is no number"}
	})
	time.Sleep(20 * b.config.Look)
	b.holds(map[string]int{"a": 4})
	b.fake.Each("a", func(c *managedtest.Container) { c.End(guard.End{}) })
	ctx := t.Context()
	must.Have(b.now().Await(ctx, func(s *driver.State) bool { return len(s.Jobs) == 0 }))(t)
	b.fake.mu.Lock()
	defer b.fake.mu.Unlock()
	must.Equal(t, b.fake.ended["a"], checkpoint.Completed, "the manager was told")
}
