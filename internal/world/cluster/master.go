// This file holds masters: each opens the journal, drives, and is followed by the next.

package main

import (
	"context"
	"errors"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/driver"
	"github.com/apportion/apportion/checkpoint/journal"
	"github.com/apportion/apportion/internal/vfstest"
)

// master is one process that drives.
type master struct {
	w     *world
	life  *life
	epoch int64
	d     *driver.Driver
	end   context.CancelFunc
	full  time.Time
	// began is the journal's disk as it was when the master began, at a time; it accepts a loss then.
	began   *vfstest.Mem
	at      time.Time
	accepts bool
	ended   bool // its driver has ended
}

// lead starts a master whenever the one before has ended.
func (w *world) lead() {
	for !w.over {
		w.leads()
		time.Sleep(time.Duration(500+w.rng.IntN(3000)) * time.Millisecond)
	}
}

// leads runs one master from its start to its end.
func (w *world) leads() {
	m := &master{w: w, life: &life{}, began: w.disk.Crash(nil), at: time.Now()}
	w.masters = append(w.masters, m)
	machine, records, err := journal.Open(m.life.disk(w.disk, &m.full), checkpoint.Config{Kinds: kinds, Limit: 20,
		Timeouts: checkpoint.Timeouts{Save: 15 * time.Second, Verify: 15 * time.Second, Stop: 15 * time.Second, Create: 10 * time.Second,
			Release: 10 * time.Second, Resume: 20 * time.Second, Confirm: 20 * time.Second}})
	if err != nil {
		w.trace("no master: %v", err)
		if errors.Is(err, checkpoint.ErrCorrupt) {
			w.violated("the journal cannot be read: %v", err)
		}
		return
	}
	w.summary.Masters++
	m.epoch = machine.Epoch()
	name := machine.Journal()
	m.accepts = name == w.lost
	var recorded func(checkpoint.Record)
	if w.steps != nil {
		recorded = w.steps.record
	}
	d, err := driver.New(machine, records, driver.Config{Store: &checkpoints{w.store, w, m.life}, Grace: grace}, &driver.Options{
		Poll: time.Second, SaveEvery: time.Minute, StallAfter: 3 * time.Minute, CordonAfter: 5, Retain: 5 * time.Minute,
		AcceptLoss: w.lost, CompactBytes: 64 << 10, Recorded: recorded})
	if err != nil {
		w.violated("a driver is refused: %v", err)
		return
	}
	ctx, end := context.WithCancel(context.Background())
	m.d, m.end = d, end
	w.trace("master %d begins", m.epoch)
	w.steps.begins(m, machine.Jobs(), machine.Hosts())
	go w.truth.watch(ctx, m)
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	var cause error
	for waiting := true; waiting; {
		select {
		case cause = <-ended:
			waiting = false
		case <-time.After(time.Second):
			// A master that was killed, or was replaced while it is stopped, is not waited for.
			waiting = !m.life.dead && w.newest(m)
		}
	}
	m.ended = true
	w.trace("master %d is over: %v", m.epoch, cause)
	if errors.Is(cause, checkpoint.ErrBehind) {
		w.behind(m, name, cause)
	}
}

// newest reports whether no other master was started after m.
func (w *world) newest(m *master) bool { return w.masters[len(w.masters)-1] == m }

// behind is what an operator does whose journal has lost records: he accepts that, if it was to be.
func (w *world) behind(m *master, name string, cause error) {
	if !w.truth.tailLost {
		w.violated("master %d: %v", m.epoch, cause)
		return
	}
	w.lost = name
	w.truth.accepted()
}

// kill ends a master at this moment.
func (m *master) kill() {
	if m.life.dead {
		return
	}
	m.life.dead = true
	if m.end != nil {
		m.end()
	}
	if m.w.Bug == "old-journal" {
		m.w.changes(m.began)
	}
}

// crash is that of the machine of the masters, which takes what its disk had not synced.
func (w *world) crash() { w.changes(w.disk.Crash(w.rng)) }

// changes puts another disk in the place of the masters', and ends all that have the one before.
func (w *world) changes(to *vfstest.Mem) {
	w.disk = to
	for _, m := range w.masters {
		m.kill()
	}
}
