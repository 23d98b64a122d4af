// This file notes what happens to jobs, as steps of the run protocol of checkpoint/RUN.tla. Each letter is explained in model/TRACE.tla.

package main

import (
	"context"
	"slices"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/driver"
	"github.com/apportion/apportion/internal/world/summary"
)

// step is a step of one job, or of all where job is empty. A server is named by its boot, since one that boots has forgotten all.
type step struct {
	summary.Step
	job, server string
	on          []string
}

// steps are all so far; nil: none are noted.
type steps struct {
	w    *world
	list []*step
	// leads is the master that has begun last.
	leads *master
	// books and boots are the names of boots, by book and, as masters know them, by server.
	books, boots table[string]
	// attempts are the newest on record, and over the newest of which it is on record that they are over, by job.
	attempts, over table[int64]
}

// table is a map that draws nothing when it is made or looked through: whether steps are noted must change no run.
type table[V any] struct {
	keys   []string
	values []V
}

func (t *table[V]) get(key string) (v V) {
	if i := slices.Index(t.keys, key); i >= 0 {
		v = t.values[i]
	}
	return v
}

func (t *table[V]) put(key string, v V) {
	i := slices.Index(t.keys, key)
	if i < 0 {
		i = len(t.keys)
		t.keys, t.values = append(t.keys, key), append(t.values, v)
	}
	t.values[i] = v
}

func (t *table[V]) drop(key string) {
	if i := slices.Index(t.keys, key); i >= 0 {
		t.keys, t.values = slices.Delete(t.keys, i, i+1), slices.Delete(t.values, i, i+1)
	}
}

func (s *steps) note(kind string, of step) *step {
	if s == nil || s.w.summary.Faults["records lost"] > 0 {
		return &of // what is on record is not what was promised any more
	}
	of.Kind, of.At = kind, time.Since(s.w.began).Milliseconds()
	s.list = append(s.list, &of)
	return &of
}

// taken is when a stamp was taken, in milliseconds of the world; -1: on another boot than the host's.
func (h *host) taken(stamp agent.Stamp) int64 {
	if stamp.Boot != h.bootID {
		return -1
	}
	return (h.booted.Sub(h.w.began) + time.Duration(float64(stamp.At)/h.rate)).Milliseconds()
}

// begins notes a master that begins, on records of which it may be the first to know.
func (s *steps) begins(m *master, jobs []checkpoint.Job, hosts []checkpoint.Host) {
	if s == nil {
		return
	}
	r := checkpoint.Record{Jobs: jobs, Servers: hosts}
	for _, id := range s.boots.keys {
		if !slices.ContainsFunc(hosts, func(h checkpoint.Host) bool { return h.ID == id }) {
			r.Lost = append(r.Lost, id)
		}
	}
	slices.Sort(r.Lost)
	s.record(r)
	s.leads = m
	s.note("F", step{})
}

// record notes what is on record from now on.
func (s *steps) record(r checkpoint.Record) {
	for _, id := range r.Lost {
		s.note("X", step{server: s.boots.get(id)})
		s.boots.drop(id)
	}
	for _, h := range r.Servers {
		s.boots.put(h.ID, s.books.get(h.Incarnation))
	}
	for i := range r.Jobs {
		j := &r.Jobs[i]
		if before := s.attempts.get(j.Name); before > s.over.get(j.Name) && j.Stopped >= before {
			s.over.put(j.Name, j.Stopped)
			s.note("Z", step{job: j.Name, Step: summary.Step{Attempt: before}})
		}
		// An attempt has a number before it has servers, where those of the one before are lost.
		if j.Attempt > s.attempts.get(j.Name) && len(j.Containers) > 0 {
			s.attempts.put(j.Name, j.Attempt)
			of := step{job: j.Name, Step: summary.Step{Attempt: j.Attempt}}
			for _, id := range slices.Compact(slices.Clone(j.Containers)) {
				of.on = append(of.on, s.boots.get(id))
			}
			s.note("B", of)
		}
	}
}

// ear is an agent as a master has it, with what is said and heard noted.
type ear struct {
	driver.Agent
	m *master
	h *host
	// met says that the master has taken the first answer for one.
	met bool
}

// hears notes an answer. What asks for the first time hands back no stamp, and counts when its answer does.
func (e *ear) hears(stamp agent.Stamp) {
	kind := "A"
	if e.h.w.steps.leads != e.m {
		kind = "L"
	}
	if at := e.h.taken(stamp); at >= 0 {
		e.h.w.steps.note(kind, step{server: stamp.Boot, Step: summary.Step{Stamp: at}})
	}
}

func (e *ear) asks(heard agent.Stamp) {
	if e.h.w.steps != nil && !e.met && heard != (agent.Stamp{}) {
		e.met = true
		e.hears(heard)
	}
}

func (e *ear) Status(ctx context.Context, q agent.Question) (agent.Status, error) {
	e.asks(q.Heard)
	s, err := e.Agent.Status(ctx, q)
	if e.h.w.steps != nil && err == nil && ctx.Err() == nil && e.met && s.Clock.Boot == q.Heard.Boot {
		e.hears(s.Clock)
	}
	return s, err
}

func (e *ear) Do(ctx context.Context, o agent.Order) (checkpoint.Reply, error) {
	e.asks(o.Heard)
	s, of := e.h.w.steps, step{job: o.Effect.Job, server: o.Heard.Boot, Step: summary.Step{Attempt: o.Effect.Attempt, Stamp: e.h.taken(o.Heard)}}
	switch {
	case o.Effect.Action == checkpoint.Stop:
		s.note("K", of)
	case o.Effect.Action != checkpoint.Create && o.Effect.Action != checkpoint.Resume || of.Stamp < 0:
	default:
		s.note("N", of)
	}
	return e.Agent.Do(ctx, o)
}

// does notes an order that reaches an agent, which is a question as well, and returns what notes its reply.
func (s *steps) does(h *host, o agent.Order) func(checkpoint.Reply) {
	of := step{job: o.Effect.Job, server: h.bootID, Step: summary.Step{Attempt: o.Effect.Attempt, Stamp: h.taken(o.Heard)}}
	asks := &step{}
	if s != nil && of.Stamp >= 0 && s.books.get(o.Book) == h.bootID {
		asks = s.note("Q", step{server: h.bootID, Step: summary.Step{Stamp: of.Stamp}})
	}
	if begins := o.Effect.Action == checkpoint.Create || o.Effect.Action == checkpoint.Resume; begins && of.Stamp >= 0 {
		s.note("O", of)
	}
	return func(r checkpoint.Reply) {
		if r.Outcome == checkpoint.Fenced {
			asks.Stamp = -1
		}
		if o.Effect.Action == checkpoint.Stop && r.Outcome == checkpoint.Done && of.server == h.bootID {
			s.note("T", of)
		}
	}
}

// asked notes a question that reaches an agent, and returns what takes it back where that refuses it.
func (s *steps) asked(h *host, q agent.Question) func(agent.Status, error) {
	boot, of := h.bootID, s.note("Q", step{server: h.bootID, Step: summary.Step{Stamp: h.taken(q.Heard)}})
	return func(a agent.Status, err error) {
		if s == nil {
			return
		}
		if err == nil {
			s.books.put(a.Incarnation.Book, boot)
		}
		if err != nil || q.Book != "" && q.Book != a.Incarnation.Book {
			of.Stamp = -1
		}
	}
}

func (s *steps) process(kind string, p *process) {
	s.note(kind, step{job: p.run.Job, server: p.h.bootID, Step: summary.Step{Attempt: p.run.Attempt}})
}
