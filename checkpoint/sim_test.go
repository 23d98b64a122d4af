// This file runs masters against the model of the world: messages are in flight, masters crash and
// open their journal again.

package checkpoint_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/journal"
	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/vfs"
	"github.com/apportion/apportion/internal/vfstest"
)

// sim is a world, a disk, and the masters that are alive.
type sim struct {
	world  *world
	mem    *vfstest.Mem
	hook   vfstest.Hook // on the disk; nil: none
	config checkpoint.Config
	now    time.Time

	flushes  int
	masters  []*master
	inflight []*message
	history  []*message // what was delivered, to be delivered again
	replies  []answer

	late []*message // delayed
	fate func(*message) fate
	// down says that the machine has crashed: no master gets anything out of its disk until it is opened again.
	down bool
	// crash is asked at every point where a master could crash; true: it does.
	crash func(point string) bool
}

// master is one process.
type master struct {
	m    *checkpoint.Machine
	j    *journal.Journal
	fold *checkpoint.Machine // of the records: what a successor would know
	dead bool
}

// message is an effect on its way, and the servers that it will not reach.
type message struct {
	e     checkpoint.Effect
	lost  map[string]bool
	owner *master
}

// answer is a reply on its way.
type answer struct {
	r     checkpoint.Reply
	owner *master
}

// simConfig is patient enough for anything but a clock that ticks by hours.
func simConfig() checkpoint.Config {
	return checkpoint.Config{Kinds: slotKinds, Retries: 1, Restarts: 1, MaxTick: time.Hour}
}

func newSim(slots map[string]int64) *sim {
	return &sim{
		world: newWorld(slots), mem: vfstest.NewMem(), config: simConfig(), now: time.Unix(0, 0),
		crash: func(string) bool { return false }, fate: func(*message) fate { return well },
	}
}

func (s *sim) fsys() vfs.FS {
	if s.hook == nil {
		return s.mem
	}
	return vfstest.Hooked(s.mem, s.hook)
}

// open starts a master; nil if it could not.
func (s *sim) open() *master {
	s.down = false
	m, j, err := journal.Open(s.fsys(), s.config)
	if err != nil {
		if errors.Is(err, store.ErrCorrupt) {
			s.world.fault("open: %v", err)
		}
		return nil
	}
	s.world.durable(m.Snapshot())
	for job := range s.world.best {
		if _, known := m.Job(job); !known {
			s.world.fault("%s has a confirmed checkpoint, and the journal does not know it", job)
		}
	}
	fold, err := checkpoint.Recover(s.config, 1, m.Snapshot())
	if err != nil {
		s.world.fault("recover: %v", err)
		return nil
	}
	ms := &master{m: m, j: j, fold: fold}
	s.masters = append(s.masters, ms)
	s.flush(ms)
	if ms.dead {
		return nil
	}
	return ms
}

// alive returns the newest master that is alive; nil: none.
func (s *sim) alive() *master {
	s.masters = slices.DeleteFunc(s.masters, func(ms *master) bool { return ms.dead })
	if len(s.masters) == 0 {
		return nil
	}
	return s.masters[len(s.masters)-1]
}

// step gives an event to a master and does what a driver does then.
func (s *sim) step(ms *master, event checkpoint.Event) error {
	if ms.dead {
		return nil
	}
	if s.crash("before the record") {
		ms.dead = true
		return nil
	}
	err := ms.m.Step(event)
	if errors.Is(err, checkpoint.ErrFenced) {
		ms.dead = true
		return nil
	}
	s.flush(ms)
	return err
}

func (s *sim) flush(ms *master) {
	ready := ms.m.Ready()
	if err := ms.j.Append(ready.Record); err != nil {
		ms.dead = true
		return
	}
	s.world.durable(ready.Record)
	ms.fold.Fold(ready.Record)
	if s.flushes++; s.flushes%8 == 0 {
		s.compare(ms)
	}
	if s.crash("after the record") {
		ms.dead = true
		return
	}
	for _, e := range ready.Effects {
		s.inflight = append(s.inflight, &message{e, make(map[string]bool), ms})
	}
	if ms.j.Bytes() > 1<<11 && ms.j.Compact(ms.m.Snapshot()) != nil {
		ms.dead = true
	}
}

func (s *sim) compare(ms *master) {
	if fold, state := fmt.Sprint(ms.fold.Snapshot()), fmt.Sprint(ms.m.Snapshot()); fold != state {
		s.world.fault("the records say\n%s\nand the machine\n%s", fold, state)
	}
}

// fate is how an effect goes.
type fate string

// The fates.
const (
	well       fate = ""
	refused    fate = "refused"    // it is not done, and the master hears so
	partly     fate = "partly"     // it is not done on one server, and the master hears so
	unanswered fate = "unanswered" // it is done, and the master hears nothing
	vanished   fate = "vanished"   // it is not done, and the master hears nothing
	delayed    fate = "delayed"    // it is done much later
)

// deliver takes the i-th message and does its effect; the reply is on its way then.
func (s *sim) deliver(i int) {
	msg := s.inflight[i]
	s.inflight = slices.Delete(s.inflight, i, i+1)
	s.history = append(s.history, msg)
	way := s.fate(msg)
	reply := checkpoint.Reply{ID: msg.e.ID, Job: msg.e.Job, Outcome: checkpoint.Failed, Detail: string(way)}
	switch way {
	case delayed:
		s.late = append(s.late, msg)
		return
	case vanished:
		return
	case refused:
		s.world.tally.effects++
	case partly:
		missed := msg.e.Servers[len(msg.e.Servers)-1:]
		s.do(msg, missed...)
	default:
		reply = s.do(msg)
	}
	if msg.e.Action != checkpoint.Prune && way != unanswered {
		s.replies = append(s.replies, answer{reply, msg.owner})
	}
}

// do does an effect, but for some servers, and returns the reply.
func (s *sim) do(msg *message, missed ...string) checkpoint.Reply {
	fail := maps.Clone(msg.lost)
	for _, server := range missed {
		fail[server] = true
	}
	reply := s.world.perform(msg.e, fail)
	if s.crash("after the effect") {
		msg.owner.dead = true
	}
	return reply
}

// again does an effect once more, long after.
func (s *sim) again(msg *message) {
	reply := s.do(msg)
	if msg.e.Action != checkpoint.Prune {
		s.replies = append(s.replies, answer{reply, msg.owner})
	}
}

func (s *sim) answer(i int) {
	a := s.replies[i]
	s.replies = slices.Delete(s.replies, i, i+1)
	_ = s.step(a.owner, a.r) // replies are never refused
}

func (s *sim) tick(d time.Duration) {
	s.now = s.now.Add(d)
	for _, ms := range slices.Clone(s.masters) {
		_ = s.step(ms, checkpoint.Tick{Now: s.now})
	}
}

func (s *sim) fell(id string) { s.world.fell(id) }

// raise brings a server back, which remembers nothing and does nothing that was sent to it before.
func (s *sim) raise(id string) {
	s.world.raise(id)
	for _, msg := range slices.Concat(s.inflight, s.history, s.late) {
		msg.lost[id] = true
	}
}

func (s *sim) poll(ms *master) {
	if ms.dead {
		return
	}
	for _, server := range ms.m.Servers() {
		if s.world.agents[server.ID] == nil {
			_ = s.step(ms, checkpoint.ServerFenced{ID: server.ID})
		} else if s.world.deaf[server.ID] {
			_ = s.step(ms, checkpoint.ServerSilent{ID: server.ID})
		} else if ms.m.Silent(server.ID) {
			_ = s.step(ms, checkpoint.ServerUp{Server: server})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(s.world.slots)) {
		if !ms.m.Knows(id) && s.world.agents[id] != nil && !ms.dead {
			_ = s.step(ms, checkpoint.ServerUp{Server: apportion.Server{ID: id, Capacity: apportion.Resources{s.world.slots[id]}}})
		}
	}
	for _, j := range ms.m.Jobs() {
		if checkpoint.Runs[j.Phase] && j.Phase != checkpoint.Resuming && j.Phase != checkpoint.Confirming && !s.world.whole(j.Name, j.Attempt) {
			_ = s.step(ms, checkpoint.Exited{Job: j.Name, Attempt: j.Attempt, Detail: "processes are gone"})
		}
	}
}

// drain lets all go well from now on, until nothing moves, and returns what is wrong then; "": nothing.
func (s *sim) drain() string {
	s.hook, s.crash, s.fate = nil, func(string) bool { return false }, func(*message) fate { return well }
	clear(s.world.deaf)
	ms := s.open() // those before may not know yet that they are replaced
	for range 400 {
		if len(s.world.faults) > 0 {
			return s.world.faults[0]
		}
		s.poll(ms)
		for len(s.inflight) > 0 {
			s.deliver(0)
		}
		for len(s.replies) > 0 {
			s.answer(0)
		}
		for _, msg := range s.late {
			s.again(msg)
		}
		s.late = nil
		if len(s.inflight) > 0 {
			continue
		}
		if s.still(ms) {
			if fault := s.world.settled(ms.m); fault != "" {
				return fault
			}
			return s.reopened(ms)
		}
		s.tick(2 * time.Minute)
	}
	return "it never comes to rest"
}

// still reports whether a master has nothing to do and the newest word of the world.
func (s *sim) still(ms *master) bool {
	if ms.dead || len(ms.m.Servers()) != len(s.world.agents) {
		return false
	}
	return !slices.ContainsFunc(ms.m.Jobs(), func(j checkpoint.Job) bool {
		return j.Order != 0 || j.Phase == checkpoint.Waiting || j.Phase.Action() != "" || j.Phase == checkpoint.Running && !s.world.whole(j.Name, j.Attempt)
	})
}

// reopened opens the journal twice more: recovery must neither change nor issue anything.
func (s *sim) reopened(ms *master) string {
	// Only the numbers go on with the epoch.
	state := func(ms *master) string {
		r := ms.m.Snapshot()
		r.Next, r.Gaps = 0, nil
		return fmt.Sprint(r)
	}
	before := state(ms)
	for range 2 {
		again := s.open()
		if again == nil {
			return "it cannot be opened again"
		}
		if after := state(again); after != before || len(s.inflight) > 0 {
			return fmt.Sprintf("recovered as\n%s\nand not as\n%s", after, before)
		}
	}
	return ""
}
