// This file implements revision: admitted jobs are planned again, each by the slot that it was promised, so that a new
// one finds room. It is no part of [OASiS], which revises nothing.
// A promise is a last slot and no set of slots: as long as each job ends by its own, slots can be
// exchanged freely, and room that lies scattered becomes room for one more.

package primaldual

import (
	"cmp"
	"slices"

	"github.com/apportion/apportion"
)

// Revision is an admitted job whose future slots were planned again. It ends early enough to be worth at least what
// was promised.
type Revision struct {
	ID string `json:"id"`
	// From is the first slot that may differ; Schedule is all that the job runs from there on.
	From     int      `json:"from"`
	Schedule Schedule `json:"schedule"`
}

// wish is work that is to be placed: a job, or what is left of one, with the number that decides ties.
// Of a job that is planned again until is its promise, of a new one the slot that its worth asks
// for.
type wish struct {
	job    *Job
	left   remainder
	until  int // the last slot in which it may end
	number uint64
	owner  *running // nil for a job that is not admitted yet
}

// plan is an answer to a wish: its schedule, the jobs that move for it, and those that go, each with the decision about what is
// left of it.
type plan struct {
	schedule Schedule
	moves    []move
	gone     []*running
	again    []Decision
}

// move is an admitted job with its new future.
type move struct {
	owner *running
	to    Schedule
}

// direct places a wish into the room that is left.
func (s *Scheduler) direct(w *wish) (plan, bool) {
	schedule, ok := s.packer.pack(&s.ledger.market, w.job, w.left, w.until)
	return plan{schedule: schedule}, ok
}

// make room for a wish: first at the cost of jobs that were promised a later slot only, then by planning all of them
// anew, earliest promise first. The ledger is as before in any case; apply carries a plan out.
func (s *Scheduler) makeRoom(w *wish) (plan, bool) {
	// Jobs promised an earlier slot would come first in the line anyway and keep the room that they have: leaving them
	// where they are moves fewer jobs and costs less time.
	later := s.revisable(w, w.until)
	if p, ok := s.repack(w, later); ok {
		return p, true
	}
	// 0 is before all slots: every promise is after it.
	all := s.revisable(w, 0)
	// With the same jobs the second attempt would end as the first.
	if len(all) == len(later) {
		return plan{}, false
	}
	return s.repack(w, all)
}

// revisable returns the jobs with work after the first slot of the wish that were promised a slot after the given one: of
// those with the latest promises as many as may be revised, and never the owner of the wish.
func (s *Scheduler) revisable(w *wish, after int) []*running {
	var jobs []*running
	for _, r := range s.byNumber() {
		// A job whose schedule has ended before the wish begins has nothing that could move.
		if r != w.owner && r.promise > after && r.schedule.completion() >= w.left.first {
			jobs = append(jobs, r)
		}
	}
	// The later a promise, the more room there is to keep it elsewhere. The sort is stable, so that of equal promises the
	// older jobs are chosen, in any run alike.
	if limit := s.learn.Revise; limit > 0 && len(jobs) > limit {
		slices.SortStableFunc(jobs, func(a, b *running) int { return cmp.Compare(b.promise, a.promise) })
		jobs = jobs[:limit]
	}
	return jobs
}

// repack places a wish and the given jobs together, earliest promise first, as early as there is room. It is false where
// one of them would miss its slot.
// Its cost is O(jobs) packings, each of which passes full slots in O(kinds).
func (s *Scheduler) repack(w *wish, jobs []*running) (plan, bool) {
	// Everybody leaves before anybody is placed: what counts is the order of the promises, not who stood where.
	// The past and slots before the wish stay as they are: what runs there has begun or cannot
	// help.
	from := w.left.first
	// The wish is one of the line, so that jobs with earlier promises come before it.
	line := []*wish{w}
	for _, r := range jobs {
		s.ledger.move(&r.job, r.schedule, from, -1)
		line = append(line, &wish{job: &r.job, left: r.left(from), until: r.promise, number: r.number, owner: r})
	}
	// A job that is not admitted yet has the greatest number: of equal promises the older one comes first.
	slices.SortFunc(line, func(a, b *wish) int {
		return cmp.Or(cmp.Compare(a.until, b.until), cmp.Compare(a.number, b.number))
	})
	// Earliest promise first is exact where one resource is divided at will; where servers and widths differ a line
	// that could be served may fail here, and the job is refused. Nobody admitted is ever worse off.
	placed := make([]Schedule, len(line))
	done, ok := 0, true
	for i, x := range line {
		if placed[i], ok = s.packer.pack(&s.ledger.market, x.job, x.left, x.until); !ok {
			break
		}
		s.ledger.move(x.job, placed[i], from, 1)
		done++
	}
	// Whatever came of it, the ledger gets back what it had: a quote must change nothing.
	for i, x := range line[:done] {
		s.ledger.move(x.job, placed[i], from, -1)
	}
	for _, r := range jobs {
		s.ledger.move(&r.job, r.schedule, from, 1)
	}
	if !ok {
		return plan{}, false
	}
	return s.planOf(w, line, placed), true
}

// planOf separates the schedule of the wish from the moves of the others, and leaves out who stays as it is.
func (s *Scheduler) planOf(w *wish, line []*wish, placed []Schedule) plan {
	var p plan
	for i, x := range line {
		switch {
		case x == w:
			p.schedule = placed[i]
		// Who is placed just as before has not moved: callers stop and start only jobs that are
		// told to.
		case !placed[i].equal(x.owner.schedule[x.owner.schedule.before(w.left.first):]):
			p.moves = append(p.moves, move{x.owner, placed[i]})
		}
	}
	slices.SortFunc(p.moves, func(a, b move) int { return cmp.Compare(a.owner.number, b.owner.number) })
	return p
}

// revisions returns the moves of a plan as the caller sees them.
// The schedules are copies: the plan's own go to the jobs when it is carried out.
func (p *plan) revisions(from int) []Revision {
	var out []Revision
	for _, m := range p.moves {
		out = append(out, Revision{ID: m.owner.job.ID, From: from, Schedule: m.to.clone()})
	}
	return out
}

// apply carries out the moves of a plan from slot from on: all leave their old slots before one takes a new one.
func (s *Scheduler) apply(p *plan, from int) {
	// A job may take slots that another is about to leave, so that one pass would take more than there is.
	for _, m := range p.moves {
		s.ledger.move(&m.owner.job, m.owner.schedule, from, -1)
	}
	for _, m := range p.moves {
		s.ledger.move(&m.owner.job, m.to, from, 1)
		// The capacity ends at kept, so that append copies: another holder of the old schedule sees
		// no change.
		kept := m.owner.schedule.before(from)
		m.owner.schedule = append(m.owner.schedule[:kept:kept], m.to...)
	}
}

// Revise plans all admitted jobs again from the current slot on, each by the slot it was promised, as early as there is
// room. It costs nobody, and is for when room has become free: a job has ended early, a server has come. It returns who
// moved, in order of admission: nobody where prices follow from bounds, and nobody where some promise would be broken, as
// can be where servers differ.
func (s *Scheduler) Revise() []Revision {
	if s.learn == nil || s.learn.Revise < 0 {
		return nil
	}
	from := s.First()
	// A wish without work takes part in the line and leaves no trace in it.
	nobody := &wish{job: &Job{Chunks: 1, WorkerBandwidth: 1, PSBandwidth: 1}, left: remainder{first: from}, until: from}
	p, ok := s.repack(nobody, s.revisable(nobody, 0))
	if !ok {
		return nil
	}
	out := p.revisions(from)
	// Nobody is worth less afterwards, so that the account of learning stays as it is.
	s.apply(&p, from)
	s.check()
	return out
}

// equal reports whether two schedules place the same containers in the same slots.
// Price takes no part: it is what a slot cost when it was chosen and says nothing of where
// containers stand.
func (s Schedule) equal(other Schedule) bool {
	return slices.EqualFunc(s, other, func(a, b SlotPlan) bool {
		return a.Slot == b.Slot && slices.Equal[[]apportion.Placement](a.Workers, b.Workers) && slices.Equal(a.PS, b.PS)
	})
}
