// This file checks messages that share a record: each sees what those before it have changed, though nothing of
// that is durable yet.

package driver_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/driver"
	"github.com/apportion/apportion/internal/must"
)

// gated is a journal that holds up a record until the gate is opened; nil: it holds up none.
type gated struct {
	driver.Journal
	gate    chan struct{}
	records []checkpoint.Record
}

func (g *gated) Append(r checkpoint.Record) error {
	if g.gate != nil {
		<-g.gate
	}
	g.records = append(g.records, r)
	return g.Journal.Append(r)
}

// together gives messages to the driver while it writes a record, in that order, so that they share the next one.
func (w *world) together(g *gated, messages ...func() error) {
	w.t.Helper()
	g.gate = make(chan struct{})
	errs := make(chan error, len(messages)+1)
	go func() { errs <- apply(w.d, submit("holds up")) }()
	for _, m := range messages {
		synctest.Wait() // the one before stands in the queue
		go func() { errs <- m() }()
	}
	synctest.Wait()
	close(g.gate)
	for range len(messages) + 1 {
		must.Do(w.t, take(w.t, "an answer to each message", errs))
	}
}

func gatedWorld(w *world) *gated {
	g := &gated{}
	w.wrap = func(j driver.Journal) driver.Journal { g.Journal = j; return g }
	w.options.Poll = time.Second // no tick comes between
	w.open()
	synctest.Wait() // what it writes at first is written
	return g
}

// A server that joins behind its own loss is there, and is asked how its jobs stand.
func TestLostAndJoinedTogether(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		g := gatedWorld(w)
		w.runs("lr", "s1", "s2")
		w.together(g,
			func() error { return apply(w.d, checkpoint.ServerFenced{ID: "s2"}) },
			func() error {
				w.servers["s2"].Forget() // as ServerFenced has promised
				return w.join("s2")
			})
		if s := w.d.State(); len(s.Servers) != 3 || w.d.Agent("s2") == nil {
			t.Errorf("after Join the servers are %+v", s.Servers)
		}
		w.await("lr", on("s1"))
		w.must(adjust("lr", "s2"))
		w.await("lr", on("s2"))
		w.close()
	})
}

// Of two capacities the last one counts, also if it is the one that was there before.
func TestCapacitiesTogether(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		g := gatedWorld(w)
		joinWith := func(slots int64) func() error {
			return func() error {
				return join(w.d, apportion.Server{ID: "s3", Capacity: apportion.Resources{slots}}, w.servers["s3"])
			}
		}
		w.together(g, joinWith(9), joinWith(1))
		if s := w.d.State(); !slices.Equal(s.Servers[2].Capacity, apportion.Resources{1}) {
			t.Errorf("the capacity is %v, want that of the last Join", s.Servers[2].Capacity)
		}
		w.close()
	})
}

// Messages that come while a record is written share the next one, so a busy driver writes less often.
func TestMessagesShareRecord(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		g := gatedWorld(w)
		before := len(g.records)
		var messages []func() error
		for _, job := range []string{"a", "b", "c", "d", "e"} {
			messages = append(messages, func() error { return apply(w.d, submit(job)) })
		}
		w.together(g, messages...)
		if n := len(g.records) - before; n != 2 || len(g.records[before+1].Jobs) != len(messages) {
			t.Errorf("%d records for %d messages, want 2: %+v", n, len(messages)+1, g.records[before:])
		}
		w.close()
	})
}
