// This file tests how elastic jobs make way for work of others that waits, on a cluster in memory.

package controller_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/controller"
	"github.com/apportion/apportion/checkpoint/managed/managedtest"
)

// plain is work of others that waits: so many parts of a GPU each.
func plain(id string, parts int64) controller.Waiting {
	return controller.Waiting{ID: id, Demand: apportion.Resources{1}, Count: parts}
}

// An elastic job that has the whole cluster makes way for a plain job that waits, once, and has what that leaves and all again when it
// is over. The thresholds are those of a program that nobody has set.
func TestMakesWay(t *testing.T) {
	b := newBench(t)
	b.stop()
	b.config.Problem.Theta1, b.config.Problem.Theta2 = 0.2, 0.3
	b.begin()
	b.watch("a")
	b.submit(12, "a")
	b.holds(map[string]int{"a": 12})
	b.fake.change(func(v *controller.View) { v.Waiting = []controller.Waiting{plain("theirs", 6)} })
	b.holds(map[string]int{"a": 6})
	shrunk := b.job("a")
	// The manager begins it where there is room, which the next look sees.
	b.fake.change(func(v *controller.View) {
		v.Waiting = nil
		for i := range v.Servers {
			held := int64(strings.Count(strings.Join(shrunk.Containers, " "), v.Servers[i].ID))
			v.Servers[i].Capacity = apportion.Resources{held}
		}
	})
	b.eventually("it is seen", func() bool { return len(b.now().View().Waiting) == 0 })
	time.Sleep(20 * b.config.Settle)
	if j := b.job("a"); j.Attempt != shrunk.Attempt {
		t.Errorf("it was moved once more when the work began: attempt %d, before %d", j.Attempt, shrunk.Attempt)
	}
	b.fake.change(func(v *controller.View) {
		for i := range v.Servers {
			v.Servers[i].Capacity = apportion.Resources{4}
		}
	})
	b.holds(map[string]int{"a": 12})
}

// Many jobs make way at once, though one decision may move but a part of them by its own will, and those that may be suspended are.
func TestManyMakeWay(t *testing.T) {
	b := newBench(t)
	b.stop()
	b.config.Problem.Theta1, b.config.Problem.Theta2 = 0.2, 0.3
	b.begin()
	b.submit(3, "a", "b", "c", "d")
	b.holds(map[string]int{"a": 3, "b": 3, "c": 3, "d": 3})
	b.fake.change(func(v *controller.View) { v.Waiting = []controller.Waiting{plain("theirs", 8)} })
	b.holds(map[string]int{"a": 1, "b": 1, "c": 1, "d": 1})
	b.fake.change(func(v *controller.View) {
		v.Waiting = []controller.Waiting{plain("theirs", 11)}
		for i := range v.Jobs[:3] {
			v.Jobs[i].Application.Preemptible = true
		}
	})
	b.holds(map[string]int{"d": 1})
}

// What elastic jobs leave free on each server is theirs at no time.
func TestReserve(t *testing.T) {
	b := newBench(t)
	b.stop()
	b.config.Reserve = []controller.Reserve{{Headroom: []controller.Headroom{{Part: 0.3}}}}
	b.begin()
	b.submit(12, "a")
	b.holds(map[string]int{"a": 6})
	// Work that needs a whole server gets one, headroom included.
	b.fake.change(func(v *controller.View) {
		v.Waiting = []controller.Waiting{{ID: "whole", Demand: apportion.Resources{4}}}
	})
	b.holds(map[string]int{"a": 4})
}

// Jobs that come one after the other move the first one no more often than its runs allow, and it has its share in the end.
func TestNoChurn(t *testing.T) {
	b := newBench(t)
	b.stop()
	b.config.MinRun = time.Second
	b.begin()
	begun := time.Now()
	b.submit(12, "a")
	b.holds(map[string]int{"a": 12})
	for i := range 5 {
		time.Sleep(50 * time.Millisecond)
		b.submit(12, string(rune('b'+i)))
	}
	all := map[string]int{"a": 2, "b": 2, "c": 2, "d": 2, "e": 2, "f": 2}
	b.holds(all)
	took := time.Since(begun)
	if took < b.config.MinRun {
		t.Errorf("the first was moved after %v", took)
	}
	runs := map[int64]bool{}
	b.fake.Each("a", func(c *managedtest.Container) { runs[c.Attempt] = true })
	if most := 2 + int(took/b.config.MinRun); len(runs) > most {
		t.Errorf("%d runs in %v", len(runs), took)
	}
}

// Work of others waits for no job to rest, and neither does what must leave.
func TestNobodyRestsForOthers(t *testing.T) {
	b := newBench(t)
	b.stop()
	b.config.MinRun = time.Hour
	b.begin()
	b.submit(12, "a")
	b.holds(map[string]int{"a": 12})
	b.fake.change(func(v *controller.View) { v.Waiting = []controller.Waiting{plain("theirs", 6)} })
	b.holds(map[string]int{"a": 6})
	drained := b.job("a").Containers[0]
	b.fake.change(func(v *controller.View) {
		v.Waiting = nil
		for i := range v.Servers {
			v.Servers[i].Draining = v.Servers[i].ID == drained
		}
	})
	b.eventually("nothing is on a server that is drained", func() bool {
		j := b.job("a")
		return j.Phase == checkpoint.Running && !slices.Contains(j.Containers, drained)
	})
}

// While nothing changes looks become seldom, and a change makes them frequent again.
func TestIdleLooks(t *testing.T) {
	b := newBench(t)
	b.stop()
	b.config.Idle = 100 * b.config.Look
	b.begin()
	b.submit(12, "a")
	b.holds(map[string]int{"a": 12})
	looks := func(during time.Duration) int64 {
		before := b.fake.looks.Load()
		time.Sleep(during)
		return b.fake.looks.Load() - before
	}
	b.eventually("looks are seldom", func() bool { return looks(2*b.config.Idle) <= 5 })
	seen, began := b.fake.looks.Load(), time.Now()
	b.submit(12, "b")
	b.holds(map[string]int{"a": 6, "b": 6})
	n, seldom := b.fake.looks.Load()-seen, int64(time.Since(began)/b.config.Idle)+1
	if n <= seldom {
		t.Errorf("%d looks after a job has come, and seldom ones are %d", n, seldom)
	}
}
