// This file models the world that the protocol acts on: servers with their memory, processes,
// containers and a store. It keeps the promises of Effect and watches what must never happen.

package checkpoint_test

import (
	"fmt"
	"maps"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
)

// world is the truth. Its servers have slots; each container takes one.
type world struct {
	slots  map[string]int64
	agents map[string]*agent
	// deaf are servers that nothing reaches: their processes run on.
	deaf  map[string]bool
	store map[string]map[int64]int64 // job, number: steps
	// runs are the steps done by each attempt of each job, and best the most steps of a checkpoint that
	// a master has confirmed durably.
	runs map[string]map[int64]*run
	best map[string]checkpoint.Confirmed
	// damaged are jobs whose checkpoints were harmed behind our back.
	damaged map[string]bool
	// flaws are promises that the world breaks, for tests that must see it.
	flaws map[string]bool
	// faults are what was seen and must never be.
	faults []string
	tally  tally
}

// tally counts what happened.
type tally struct{ effects, refused, resumes, saves int }

// run is one attempt.
type run struct {
	containers []string
	step       int64
}

// agent is a server that is up.
type agent struct {
	epoch int64
	jobs  map[string]*hosted
}

// hosted is what an agent has of a job, and remembers of it.
type hosted struct {
	containers                int64
	created, started, stopped int64
	running                   int64 // the attempt whose processes live; 0: none
}

func newWorld(slots map[string]int64) *world {
	w := &world{
		slots: slots, agents: make(map[string]*agent), store: make(map[string]map[int64]int64),
		runs: make(map[string]map[int64]*run), best: make(map[string]checkpoint.Confirmed),
		damaged: make(map[string]bool), deaf: make(map[string]bool), flaws: make(map[string]bool),
	}
	for id := range slots {
		w.raise(id)
	}
	return w
}

func (w *world) raise(id string) {
	w.agents[id] = &agent{jobs: make(map[string]*hosted)}
	delete(w.deaf, id)
}

// fell takes a server down, with all that runs there.
func (w *world) fell(id string) {
	delete(w.agents, id)
	delete(w.deaf, id)
}

func (w *world) clone() *world {
	c := *w
	c.agents = make(map[string]*agent, len(w.agents))
	for id, a := range w.agents {
		b := &agent{epoch: a.epoch, jobs: make(map[string]*hosted, len(a.jobs))}
		for job, h := range a.jobs {
			copied := *h
			b.jobs[job] = &copied
		}
		c.agents[id] = b
	}
	c.store, c.runs = make(map[string]map[int64]int64, len(w.store)), make(map[string]map[int64]*run, len(w.runs))
	for job, numbers := range w.store {
		c.store[job] = maps.Clone(numbers)
	}
	for job, runs := range w.runs {
		c.runs[job] = make(map[int64]*run, len(runs))
		for attempt, r := range runs {
			copied := *r
			c.runs[job][attempt] = &copied
		}
	}
	c.best, c.damaged, c.faults = maps.Clone(w.best), maps.Clone(w.damaged), slices.Clone(w.faults)
	c.deaf = maps.Clone(w.deaf)
	return &c
}

func (w *world) fault(format string, args ...any) {
	w.faults = append(w.faults, fmt.Sprintf(format, args...))
}

// perform does an effect on all its servers and returns the reply. At the servers that fail says, it
// is not done.
func (w *world) perform(e checkpoint.Effect, fail map[string]bool) checkpoint.Reply {
	w.tally.effects++
	reply := checkpoint.Reply{ID: e.ID, Job: e.Job, Outcome: checkpoint.Done, Step: -1}
	switch e.Action {
	case checkpoint.Prune:
		for number := range w.store[e.Job] {
			if number < e.Checkpoint {
				delete(w.store[e.Job], number)
			}
		}
		return reply
	case checkpoint.Verify:
		if _, ok := w.store[e.Job][e.Checkpoint]; !ok {
			reply.Outcome, reply.Detail = checkpoint.Failed, "not in the store"
		}
		return reply
	}
	for _, server := range e.Servers {
		if outcome := w.act(e, server, fail[server]); outcome != checkpoint.Done {
			w.tally.refused++
			reply.Outcome, reply.Detail = outcome, string(outcome)+" on "+server
		}
	}
	if e.Action == checkpoint.Save && reply.Outcome == checkpoint.Done {
		reply.Step = w.save(e)
		if reply.Step < 0 {
			reply.Outcome = checkpoint.Failed
		}
	}
	w.watch()
	return reply
}

func (w *world) act(e checkpoint.Effect, server string, fail bool) checkpoint.Outcome {
	a := w.agents[server]
	if a == nil || fail || w.deaf[server] {
		return checkpoint.Failed
	}
	if e.Epoch < a.epoch && !w.flaws["epoch"] {
		return checkpoint.Fenced
	}
	a.epoch = max(a.epoch, e.Epoch)
	h := a.jobs[e.Job]
	if h == nil {
		h = &hosted{}
		a.jobs[e.Job] = h
	}
	if w.late(e, h) {
		return checkpoint.Fenced
	}
	return w.obey(e, server, h)
}

// late reports whether an effect belongs to an attempt that is over.
func (w *world) late(e checkpoint.Effect, h *hosted) bool {
	switch e.Action {
	case checkpoint.Create, checkpoint.Resume, checkpoint.Save:
		return (e.Attempt <= h.stopped || e.Attempt < h.created) && !w.flaws["attempt"]
	case checkpoint.Release:
		return e.Attempt < h.created && !w.flaws["release"]
	}
	return false
}

func (w *world) obey(e checkpoint.Effect, server string, h *hosted) checkpoint.Outcome {
	switch e.Action {
	case checkpoint.Stop:
		h.stopped = max(h.stopped, e.Attempt)
		if h.running <= e.Attempt {
			h.running = 0
		}
	case checkpoint.Release:
		h.containers = min(h.containers, on(e.Containers, server))
		if h.running != 0 && h.containers == 0 {
			w.fault("%s: containers on %s released under attempt %d", e.Job, server, h.running)
		}
	case checkpoint.Create:
		h.created = max(h.created, e.Attempt)
		h.containers = on(e.Containers, server)
	case checkpoint.Resume:
		return w.resume(e, h)
	case checkpoint.Confirm:
		if h.running != e.Attempt {
			return checkpoint.Failed
		}
	}
	return checkpoint.Done
}

func (w *world) resume(e checkpoint.Effect, h *hosted) checkpoint.Outcome {
	if e.Attempt <= h.started && !w.flaws["restart"] {
		return checkpoint.Done
	}
	step, ok := w.store[e.Job][e.Checkpoint]
	switch {
	case e.Attempt != h.created && !w.flaws["attempt"]:
		return checkpoint.Failed // the server was restarted since the Create
	case e.Checkpoint != 0 && !ok:
		return checkpoint.Damaged
	case h.containers == 0:
		w.fault("%s: attempt %d resumed where it has no containers", e.Job, e.Attempt)
	case e.Checkpoint != w.best[e.Job].Number && !w.damaged[e.Job]:
		w.fault("%s: attempt %d resumed from %d, the newest is %d", e.Job, e.Attempt, e.Checkpoint, w.best[e.Job].Number)
	}
	w.tally.resumes++
	h.started, h.running = e.Attempt, e.Attempt
	if w.runs[e.Job] == nil {
		w.runs[e.Job] = make(map[int64]*run)
	}
	if w.runs[e.Job][e.Attempt] == nil {
		w.runs[e.Job][e.Attempt] = &run{e.Containers, step}
	}
	return checkpoint.Done
}

// save commits a checkpoint of a run that is whole, and returns its steps; -1: it is not.
func (w *world) save(e checkpoint.Effect) int64 {
	if !w.whole(e.Job, e.Attempt) {
		return -1
	}
	if w.store[e.Job] == nil {
		w.store[e.Job] = make(map[int64]int64)
	}
	if step, ok := w.store[e.Job][e.Checkpoint]; ok {
		return step // committed before
	}
	w.tally.saves++
	w.store[e.Job][e.Checkpoint] = w.runs[e.Job][e.Attempt].step
	return w.runs[e.Job][e.Attempt].step
}

// whole reports whether an attempt runs on all its servers.
func (w *world) whole(job string, attempt int64) bool {
	r := w.runs[job][attempt]
	return r != nil && !slices.ContainsFunc(r.containers, func(server string) bool {
		a := w.agents[server]
		return a == nil || a.jobs[job] == nil || a.jobs[job].running != attempt
	})
}

func (w *world) alive(job string) []int64 {
	var attempts []int64
	for _, a := range w.agents {
		if h := a.jobs[job]; h != nil && h.running != 0 {
			attempts = append(attempts, h.running)
		}
	}
	slices.Sort(attempts)
	return slices.Compact(attempts)
}

func (w *world) work() {
	for job, runs := range w.runs {
		for attempt, r := range runs {
			if w.whole(job, attempt) {
				r.step++
			}
		}
	}
}

func (w *world) kill(job, server string) {
	if a := w.agents[server]; a != nil && a.jobs[job] != nil {
		a.jobs[job].running = 0
	}
}

// watch notes what must never be: two attempts of a job alive, a server with too many containers.
func (w *world) watch() {
	jobs := make(map[string]bool)
	for id, a := range w.agents {
		var used int64
		for job, h := range a.jobs {
			jobs[job] = true
			used += h.containers
			if h.running != 0 && h.containers == 0 {
				w.fault("%s runs on %s without containers", job, id)
			}
		}
		if used > w.slots[id] {
			w.fault("%d containers on %s, which has %d slots", used, id, w.slots[id])
		}
	}
	for job := range jobs {
		if attempts := w.alive(job); len(attempts) > 1 {
			w.fault("%s runs %d times: attempts %v", job, len(attempts), attempts)
		}
	}
}

func (w *world) durable(r checkpoint.Record) {
	for _, job := range r.Gone {
		delete(w.best, job)
		delete(w.damaged, job)
		delete(w.store, job)
	}
	for i := range r.Jobs {
		j := &r.Jobs[i]
		for _, c := range j.Checkpoints {
			if step, ok := w.store[j.Name][c.Number]; (!ok || step != c.Step) && !w.damaged[j.Name] {
				w.fault("%s: checkpoint %d is confirmed, the store has %d steps, %v", j.Name, c.Number, step, ok)
			}
		}
		newest := j.Newest()
		if newest.Step < w.best[j.Name].Step && !w.damaged[j.Name] {
			w.fault("%s: newest checkpoint %v after %v", j.Name, newest, w.best[j.Name])
		}
		if newest.Number != 0 {
			w.best[j.Name] = newest
		}
	}
}

// settled says what is wrong with the world where a machine has nothing left to do; "": nothing.
func (w *world) settled(m *checkpoint.Machine) string {
	for _, j := range m.Jobs() {
		if fault := w.settledJob(&j); fault != "" {
			return fmt.Sprintf("%s, %s: %s", j.Name, j.Phase, fault)
		}
	}
	for job := range w.runs {
		if _, known := m.Job(job); !known && len(w.alive(job)) > 0 {
			return job + " runs, and nobody knows"
		}
	}
	return ""
}

func (w *world) settledJob(j *checkpoint.Job) string {
	if c := j.Newest(); c.Number != 0 && !w.damaged[j.Name] {
		if step, ok := w.store[j.Name][c.Number]; !ok || step != c.Step {
			return fmt.Sprintf("its newest checkpoint %v is not in the store", c)
		}
	}
	for id, a := range w.agents {
		held, want := int64(0), on(j.Containers, id)
		if h := a.jobs[j.Name]; h != nil {
			held = h.containers
		}
		if held != want {
			return fmt.Sprintf("%d containers on %s, want %d", held, id, want)
		}
	}
	switch j.Phase {
	case checkpoint.Running:
		if !w.whole(j.Name, j.Attempt) {
			return "not all of it runs"
		}
	case checkpoint.Idle, checkpoint.Ended:
		if attempts := w.alive(j.Name); len(attempts) > 0 {
			return fmt.Sprintf("attempts %v run", attempts)
		}
	default:
		return "it is on its way and nothing moves it"
	}
	return ""
}

func on(containers []string, server string) int64 {
	count := int64(0)
	for _, id := range containers {
		if id == server {
			count++
		}
	}
	return count
}

// slot is the demand of a container, and the kinds of the model.
var (
	slot      = apportion.Resources{1}
	slotKinds = apportion.Kinds{"slot"}
)

func slotted(id string) checkpoint.Event {
	return checkpoint.ServerUp{Server: apportion.Server{ID: id, Capacity: apportion.Resources{1}}}
}
