// This file implements the books: what the order of adjustments depends on, kept up to date job by job, so that a step
// costs what it changes and not what there is.

package checkpoint

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"
)

// books are an index of the machine's jobs and servers. All of it follows from them: [Machine.audit] says so.
//
// A job that waits is looked at again only when something has changed that its answer depends on: itself, the room of a
// server that it names, or, where Config has a Limit, how many others are on their way.
type books struct {
	// accounts are what the books have of each job. touched are jobs that have changed since.
	accounts map[string]*account
	touched  map[string]bool
	// waiting are the jobs that wait for room, by name, and asked those of which something is asked, in that order.
	waiting []string
	asked   []request
	// busy counts the jobs that are on their way, and stuck those whose servers do not answer.
	busy, stuck int

	// stale says that servers have changed: now, later and the marks are made anew when somebody waits. now is what may
	// be taken at once. later is what will be free when all jobs have arrived where they are on their way to: what does
	// not fit into that will never fit.
	stale      bool
	now, later room
	// interested are the jobs that wait, by server that they name. marked are those to be looked at.
	interested map[string]map[string]bool
	marked     map[string]bool
	// turns are the marked jobs in the order of their turns, a heap. One that is not marked any more, or waits for
	// something else by now, is passed over.
	turns turns
}

// request is a job of which something is asked.
type request struct {
	order int64
	name  string
}

// account is what the books have of one job.
type account struct {
	job *Job
	// charged and remaining are the containers of which the room is taken from now and later.
	charged, remaining []string
	// servers are those that it names while it waits, each once; waits says whether it does, and order is 0 for one that
	// has stopped.
	waits       bool
	order       int64
	servers     []string
	busy, stuck bool
}

// newBooks returns the books of a machine without jobs. They are stale, so that rooms are made when a job waits for the first
// time.
func newBooks() books {
	return books{accounts: map[string]*account{}, touched: map[string]bool{}, stale: true}
}

func (b *books) change(name string) { b.touched[name] = true }

// mark has a job looked at again, if it waits.
func (b *books) mark(name string) {
	if a := b.accounts[name]; a != nil && a.waits && !b.stale && !b.marked[name] {
		b.marked[name] = true
		heap.Push(&b.turns, request{a.order, name})
	}
}

// markAll has all jobs looked at again that wait.
func (b *books) markAll() {
	for _, name := range b.waiting {
		b.mark(name)
	}
	for _, r := range b.asked {
		b.mark(r.name)
	}
}

// markServers has the jobs looked at again that name one of these servers.
func (b *books) markServers(servers []string) {
	for _, id := range servers {
		for name := range b.interested[id] {
			b.mark(name)
		}
	}
}

// accountOf is what the books are to have of a job; nil: there is none.
func (m *Machine) accountOf(j *Job) *account {
	if j == nil {
		return nil
	}
	a := &account{job: j, charged: charged(j), remaining: remaining(j), busy: m.busy(j)}
	a.stuck = j.Phase.Action() != "" && !a.busy
	switch {
	// A request of a job in any other phase is not looked at before that phase is over.
	case j.Order != 0 && (j.Phase == Running || j.Phase == Idle || j.Phase == Waiting):
		a.waits, a.order, a.servers = true, j.Order, distinct(j.Wanted)
	// It has stopped and lacks room. Its order stays 0, which comes before that of all requests.
	case j.Phase == Waiting:
		a.waits, a.servers = true, distinct(j.Target)
	}
	return a
}

// update brings the books up to date with the jobs that have changed. O(their containers, and those who wait for these).
func (m *Machine) update() {
	b := &m.books
	busy := b.busy
	// In any order: each account is entered by itself, and the lists and the heap have orders of their own.
	for name := range b.touched {
		before, after := b.accounts[name], m.accountOf(m.jobs[name])
		b.enter(before, -1)
		b.enter(after, 1)
		if after == nil {
			delete(b.accounts, name)
			delete(b.marked, name)
			continue
		}
		b.accounts[name] = after
		// What the heap has of the job under an old order is passed over there.
		delete(b.marked, name)
		b.mark(name)
	}
	// A new map, for one that was large once is slow to walk through for ever.
	b.touched = map[string]bool{}
	// A place below the Limit has become free or was taken: all who were passed over for want of one look again.
	if m.config.Limit > 0 && busy != b.busy {
		b.markAll()
	}
}

// enter enters an account, or with -1 takes it out.
func (b *books) enter(a *account, sign int) {
	if a == nil {
		return
	}
	if a.busy {
		b.busy += sign
	}
	if a.stuck {
		b.stuck += sign
	}
	if a.waits {
		b.list(a, sign)
	}
	// Rooms that are stale are made from all accounts.
	if b.stale {
		return
	}
	move := room.take
	if sign < 0 {
		move = room.give
	}
	move(b.now, a.charged, a.job.Demand)
	move(b.later, a.remaining, a.job.Demand)
	// Who waits for room on these servers looks again, whether there is more of it or less.
	b.markServers(a.charged)
	b.markServers(a.remaining)
	if a.waits {
		b.follow(a, sign)
	}
}

// list puts a job that waits into its list, or with -1 takes it out.
func (b *books) list(a *account, sign int) {
	if a.order == 0 {
		at, _ := slices.BinarySearch(b.waiting, a.job.Name)
		if sign > 0 {
			b.waiting = slices.Insert(b.waiting, at, a.job.Name)
		} else {
			b.waiting = slices.Delete(b.waiting, at, at+1)
		}
		return
	}
	at, _ := slices.BinarySearchFunc(b.asked, a.order, func(r request, order int64) int { return cmp.Compare(r.order, order) })
	if sign > 0 {
		b.asked = slices.Insert(b.asked, at, request{a.order, a.job.Name})
	} else {
		b.asked = slices.Delete(b.asked, at, at+1)
	}
}

// follow notes which servers a job names that waits, or with -1 forgets it.
func (b *books) follow(a *account, sign int) {
	for _, id := range a.servers {
		if b.interested[id] == nil {
			b.interested[id] = map[string]bool{}
		}
		if sign > 0 {
			b.interested[id][a.job.Name] = true
		} else {
			delete(b.interested[id], a.job.Name)
		}
	}
}

// audit says what in the books does not follow from the jobs and servers; "": nothing.
// It makes the rooms anew for each server, which is for tests and the tag invariants alone.
func (m *Machine) audit() string {
	m.update()
	kept := &m.books
	anew := newBooks()
	for name, j := range m.jobs {
		a := m.accountOf(j)
		anew.accounts[name] = a
		anew.enter(a, 1)
	}
	switch {
	// What is kept of jobs that are forgotten is kept for ever.
	case len(kept.accounts) != len(m.jobs):
		return fmt.Sprintf("there are %d jobs, and the books have %d accounts", len(m.jobs), len(kept.accounts))
	case !slices.Equal(kept.waiting, anew.waiting) || !slices.Equal(kept.asked, anew.asked):
		return fmt.Sprintf("%v and %v wait, and the books have %v and %v", anew.waiting, anew.asked, kept.waiting, kept.asked)
	case kept.busy != anew.busy || kept.stuck != anew.stuck:
		return fmt.Sprintf("%d jobs are on their way and %d stuck, and the books have %d and %d", anew.busy, anew.stuck, kept.busy, kept.stuck)
	case kept.stale:
		return ""
	}
	for id := range m.servers {
		now, later := m.room(charged)[id], m.room(remaining)[id]
		if !kept.now[id].Equal(now) || !kept.later[id].Equal(later) {
			return fmt.Sprintf("server %s has %v and will have %v, and the books have %v and %v", id, now, later, kept.now[id], kept.later[id])
		}
	}
	return ""
}

// renew makes the rooms and the marks anew. O(servers + containers).
func (m *Machine) renew() {
	b := &m.books
	b.stale = false
	b.now, b.later = m.room(charged), m.room(remaining)
	b.interested, b.marked = map[string]map[string]bool{}, map[string]bool{}
	b.turns = nil
	for _, a := range b.accounts {
		if a.waits {
			b.follow(a, 1)
			b.mark(a.job.Name)
		}
	}
}

// next returns the marked job whose turn it is: first those that have stopped, by name, then what was asked, in that
// order. It is not marked any more then. nil: none is. O(log jobs that are marked).
func (b *books) next() *account {
	for len(b.turns) > 0 {
		r, _ := heap.Pop(&b.turns).(request)
		if a := b.accounts[r.name]; b.marked[r.name] && a.order == r.order {
			delete(b.marked, r.name)
			return a
		}
	}
	return nil
}

// turns is a heap of requests; order 0 is that of a job that has stopped.
type turns []request

func (t turns) Len() int { return len(t) }

func (t turns) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(t[i].order, t[j].order), cmp.Compare(t[i].name, t[j].name)) < 0
}

func (t turns) Swap(i, j int) { t[i], t[j] = t[j], t[i] }

func (t *turns) Push(x any) { *t = append(*t, x.(request)) }

func (t *turns) Pop() any {
	last := len(*t) - 1
	r := (*t)[last]
	*t = (*t)[:last]
	return r
}
