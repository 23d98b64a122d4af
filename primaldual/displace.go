// This file implements displacement: a job that finds no room takes that of jobs which are worth far less for what they still
// need. It is [Moore68]'s rule for late jobs, online. The paper on OASiS keeps every promise.
// [Moore68] schedules by deadline, and where one is missed drops the job that takes longest; here
// it is the one that is worth least for what it still takes, since jobs differ in worth.

package primaldual

import (
	"cmp"
	"slices"

	"github.com/apportion/apportion"
)

// displace places a wish for which there is no room by taking the place of others. Who goes is worth, for each unit of load
// that is left of him, less than the wish by the factor of Learning.Displace; all who go are together worth no more than the
// wish, and the account allows it. Of such jobs the least worth a unit go first, as few as make room. The ledger and the
// jobs are as before in any case; Offer carries a plan out. O(log(jobs) + jobs that go) attempts to place the wish.
func (s *Scheduler) displace(w *wish, values []float64) (plan, bool) {
	if s.learn.Displace == 0 {
		return plan{}, false
	}
	// The value asked for is what the wish is worth at the earliest completion there can be;
	// whoever is too dear for that is too dear for any later one.
	victims := s.victims(w, values[int(ceilDiv(w.left.work, w.job.perSlot()))-1])
	// Room that some leave is room that more leave too, so that halving finds the fewest.
	best, gone := plan{}, 0
	// Fewer victims than low do not make room; high of them do, or are one more than there are.
	for low, high := 1, len(victims)+1; low < high; {
		middle := (low + high) / 2
		if p, ok := s.placeWithout(w, values, victims[:middle]); ok {
			best, gone, high = p, middle, middle
		} else {
			low = middle + 1
		}
	}
	if gone == 0 {
		return plan{}, false
	}
	// The last one is needed; of the others each who is not stays, the more valuable first.
	chosen := slices.Clone(victims[:gone])
	for i := gone - 2; i >= 0; i-- {
		fewer := slices.Delete(slices.Clone(chosen), i, i+1)
		if p, ok := s.placeWithout(w, values, fewer); ok {
			best, chosen = p, fewer
		}
	}
	// The plan may end later than at the earliest, and the wish is then worth less: both limits are
	// asked again for what it really earns.
	worth := values[best.schedule.completion()-w.left.first]
	if lost := worthOf(chosen); lost > worth || !s.learn.mayDisplace(lost, worth) {
		return plan{}, false
	}
	slices.SortFunc(chosen, func(a, b *running) int { return cmp.Compare(a.number, b.number) })
	best.gone = chosen
	return best, true
}

// victims returns the jobs that may go for a wish of some worth, the least worth for each unit of what they still need first.
func (s *Scheduler) victims(w *wish, worth float64) []*running {
	// own and density are worth for each slot of the whole cluster, the wish's and that of what is
	// left of r: only so are wide short jobs and narrow long ones compared fairly.
	own := worth / (s.ledger.share(w.job) * float64(w.left.work))
	type candidate struct {
		*running
		density float64
	}
	var candidates []candidate
	for _, r := range s.byNumber() {
		// What is done of a job is done: one that is nearly through is worth all of it for little.
		rest := r.schedule[r.schedule.before(w.left.first):]
		density := r.utility / (s.ledger.share(&r.job) * float64(r.job.done(rest)))
		if len(rest) > 0 && density*s.learn.Displace <= own {
			candidates = append(candidates, candidate{r, density})
		}
	}
	slices.SortStableFunc(candidates, func(a, b candidate) int { return cmp.Compare(a.density, b.density) })
	var out []*running
	sum := 0.0
	for _, c := range candidates {
		// All who go are together worth no more than the wish, so that the worth held never falls. The list ends
		// here even if a later job is worth less: density says who goes first.
		if sum += c.utility; sum > worth {
			break
		}
		out = append(out, c.running)
	}
	return out
}

// placeWithout places a wish as if some jobs were not there.
func (s *Scheduler) placeWithout(w *wish, values []float64, without []*running) (plan, bool) {
	from := w.left.first
	for _, r := range without {
		s.ledger.move(&r.job, r.schedule, from, -1)
		delete(s.jobs, r.job.ID) // nor may they be planned again
	}
	// The ledger now is one without them. The order in which they come back does not matter:
	// quantities are integers, and prices are functions of quantities.
	p, ok := s.place(w, values)
	for _, r := range without {
		s.ledger.move(&r.job, r.schedule, from, 1)
		s.jobs[r.job.ID] = r
	}
	return p, ok
}

// offerAgain offers what is left of the jobs that go for a wish to the room that the plan leaves, in order of admission, and
// nobody moves for them. Each is worth what its utility says of the end that it finds, which may be late. The ledger is as
// before. O(jobs that go) packings.
func (s *Scheduler) offerAgain(p *plan, w *wish) {
	if len(p.gone) == 0 {
		return
	}
	// The ledger is brought to what it will be when the plan is carried out. Amounts are integers, so that
	// all of it can be taken back exactly.
	from := w.left.first
	out, in := tenancies(p.gone), []tenancy{{w.job, p.schedule}}
	for _, m := range p.moves {
		out, in = append(out, tenancy{&m.owner.job, m.owner.schedule}), append(in, tenancy{&m.owner.job, m.to})
	}
	s.swap(out, in, from)
	for _, r := range p.gone {
		d := s.goOn(r, from)
		p.again = append(p.again, d)
		// The next one finds what this one leaves.
		in = append(in, tenancy{&r.job, d.Schedule})
		s.swap(nil, in[len(in)-1:], from)
	}
	s.swap(in, out, from)
}

// tenancy is what a job holds by a schedule.
type tenancy struct {
	job      *Job
	schedule Schedule
}

// tenancies returns what jobs hold.
func tenancies(jobs []*running) []tenancy {
	var all []tenancy
	for _, r := range jobs {
		all = append(all, tenancy{&r.job, r.schedule})
	}
	return all
}

// swap takes what some hold from slot from on, and only then gives others theirs: together they might not fit.
func (s *Scheduler) swap(out, in []tenancy, from int) {
	for _, t := range out {
		s.ledger.move(t.job, t.schedule, from, -1)
	}
	for _, t := range in {
		s.ledger.move(t.job, t.schedule, from, 1)
	}
}

// goOn decides about what is left of a job that has no slots from slot from on.
func (s *Scheduler) goOn(r *running, from int) Decision {
	// The job's past lies before from even while it still holds what comes after.
	left := r.left(from)
	verdict, err := s.planner.state(&s.ledger.market, &r.job, left)
	if err != nil { // only ErrTooLarge: the utility is not checked again
		return Decision{Verdict: TooLarge, Reason: apportion.Reason{Constraint: TooLarge.String(), Text: err.Error()}}
	}
	d := Decision{Verdict: verdict}
	if verdict == Admitted {
		d = s.soonest(&r.job, left)
		d.Payoff = d.Utility
	}
	if !d.Admitted {
		d.Reason = s.planner.explain(&s.ledger.market, &d)
	}
	return d
}

// lost returns the worth that a plan costs others: what those who go were promised, less what they are worth where they go on.
func (p *plan) lost() float64 {
	lost := worthOf(p.gone)
	for i := range p.again {
		lost -= p.again[i].Utility
	}
	return lost
}

// worthOf returns what jobs were promised together.
func worthOf(jobs []*running) float64 {
	sum := 0.0
	for _, r := range jobs {
		sum += r.utility
	}
	return sum
}
