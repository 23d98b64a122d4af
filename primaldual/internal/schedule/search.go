// This file implements the best schedule of a job at given prices, [OASiS] Algorithm 2, by bounds
// first: most completions are ruled out, or solved, without a dynamic program.

package schedule

import "math"

// Status says what a search has found.
type Status int

// The statuses.
const (
	// Best: Units is the schedule with the greatest payoff, which is positive.
	Best Status = iota
	// TooDear: the work can be done, but every schedule costs at least what it is worth.
	TooDear
	// Unreached: no schedule of the tables does the work. With bounds first, tables end at the budget of the job,
	// so that more room may exist at a price that nobody pays.
	Unreached
)

// Answer is the best schedule of a problem, as units a slot.
type Answer struct {
	Status Status
	Last   int     // slot of the completion, or of the closest miss
	Value  float64 // utility at Last
	Cost   float64 // of the closest miss: what ending by then costs at least
	// Units holds the units of slots 0 to Last if Status is Best; it is valid until the next search.
	Units []int64
}

// Search finds best schedules; it keeps its storage from one job to the next. The zero value needs a Limit.
type Search struct {
	// Plain takes the dynamic program alone instead of bounds first.
	Plain bool
	// Limit is the most cells of a table.
	Limit int64
	// Tables are those of the last problem, as far as they were of interest.
	Tables Tables

	hulls   hulls      // hulls of the tables
	shifted hulls      // hulls of tables less nu times parameter servers
	relax   relaxation // of the slots added so far

	bounds []bound      // by slot
	orders []completion // those that may pay, in the order of visits
	nus    []float64    // prices on parameter servers to try

	trial   rounding // the last schedule rounded
	workers []int64  // best schedule of the prefix at hand
	chosen  []int64  // best schedule so far
	reduced reduced
	dp      cappedDP
}

// Find returns the best schedule of the problem, or why there is none. The earliest completion must lie
// within p.Values and be worth something. The error is ErrTooLarge.
func (b *Search) Find(p *Problem, source Source) (Answer, error) {
	if b.Plain {
		return b.plain(p, source)
	}
	return b.boundsFirst(p, source)
}

// boundsFirst is the exact method that bounds the payoff of all completions and then visits them in
// descending order of their bounds until the next bound is below the best payoff found.
func (b *Search) boundsFirst(p *Problem, source Source) (Answer, error) {
	// A slot that costs as much as the whole job is worth is of no use, whatever the completion: tables end
	// there.
	b.collect(p, source)
	b.rank(p)
	// top is the best payoff found, chosen the completion that has it; a payoff of nothing is none.
	slack, top, chosen := p.Slack(), 0.0, -1
	for i, c := range b.orders {
		if c.payoff < top-slack {
			break
		}
		// An earlier completion wins a tie, a later one must be better.
		threshold := top + slack
		if c.last < chosen {
			threshold = top - slack
		}
		cutoff := p.Values[c.last] - threshold
		// An earlier search has shown already that nothing that ends here is cheap enough.
		if b.bounds[c.last].proven >= cutoff {
			continue
		}
		// Only a schedule that costs less than cutoff changes the answer, so that the search may stop early.
		cost, result := b.exact(b.prefix(p, c.last), cutoff, slack)
		switch result {
		case tooLarge:
			return b.rest(p, i, chosen)
		case found:
			top, chosen = max(top, p.Values[c.last]-cost), c.last
			b.chosen = append(b.chosen[:0], b.workers...)
			b.prove(c.last, cost)
		default:
			b.prove(c.last, cutoff)
		}
	}
	if chosen < 0 {
		return b.miss(p), nil
	}
	return b.admit(p, b.chosen), nil
}

// prefix returns the problem of doing the work by slot last.
func (b *Search) prefix(p *Problem, last int) *prefix {
	return &prefix{tables: &b.Tables, item: p.Item, servers: p.Servers, work: int(p.Work), last: last, limit: b.Limit}
}

// exact finds the cheapest schedule of a prefix if it costs less than cutoff; it is in b.workers.
// The bound of a prefix holds for earlier completions too, so that nothing is lost if the schedule ends
// before its last slot.
func (b *Search) exact(p *prefix, cutoff, slack float64) (float64, outcome) {
	// Three steps, each only where the one before has left a gap: rounding, prices on parameter servers, reduced
	// costs.
	bd := b.bounds[p.last]
	m := multipliers{lambda: bd.lambda, lower: bd.lower}
	upper := b.trial.round(p, &b.hulls, bd.lambda)
	b.workers = append(b.workers[:0], b.trial.workers...)
	// The hulls alone lose up to the price of one parameter server a slot: repair that first.
	if upper-m.lower > slack {
		upper = b.priceServers(p, &m, upper)
	}
	// Only a schedule between the bound and what is known already is of interest.
	gap := min(upper, cutoff) - m.lower
	if gap > slack {
		b.trial.workers = grown(b.trial.workers, p.last+1)
		switch b.reduced.search(p, m, gap, b.trial.workers) {
		case tooLarge:
			return 0, tooLarge
		case found:
			if cost := p.cost(b.trial.workers); cost < upper {
				upper = cost
				b.workers = append(b.workers[:0], b.trial.workers...)
			}
		}
	}
	if upper < cutoff {
		return upper, found
	}
	return 0, nothing
}

// rest answers by one pass of the plain dynamic program over all completions from orders[i] on and
// the one chosen so far.
// The pass answers the completions visited before as well, so that nothing of them is needed.
func (b *Search) rest(p *Problem, i, chosen int) (Answer, error) {
	// One pass answers every completion up to the last one that is still of interest.
	last := chosen
	for _, c := range b.orders[i:] {
		last = max(last, c.last)
	}
	if err := b.dp.run(b.prefix(p, last)); err != nil {
		return Answer{}, err
	}
	return b.pickPlain(p), nil
}

// plain answers by the plain dynamic program alone.
func (b *Search) plain(p *Problem, source Source) (Answer, error) {
	b.Tables.fill(source, len(p.Values))
	if err := b.dp.run(b.prefix(p, len(p.Values)-1)); err != nil {
		return Answer{}, err
	}
	return b.pickPlain(p), nil
}

// pickPlain chooses among the completions of the plain dynamic program: the greatest payoff, and the
// earliest of those that are equal.
func (b *Search) pickPlain(p *Problem) Answer {
	// The greatest payoff first; then, from the back, the earliest completion that has it up to the slack.
	top, at := math.Inf(-1), -1
	for s, cost := range b.dp.least {
		top = max(top, p.Values[s]-cost)
	}
	for s := len(b.dp.least) - 1; s >= 0; s-- {
		if b.dp.least[s] < inf && p.Values[s]-b.dp.least[s] >= top-p.Slack() {
			at = s
		}
	}
	switch {
	case at < 0:
		return Answer{Status: Unreached}
	case top <= p.Slack():
		return Answer{Status: TooDear, Last: at, Value: p.Values[at], Cost: b.dp.least[at]}
	}
	b.chosen = grown(b.chosen, at+1)
	b.dp.trace(b.chosen, at)
	return b.admit(p, b.chosen)
}

// admit describes the schedule workers, whose completion is the last slot with a worker.
func (b *Search) admit(p *Problem, workers []int64) Answer {
	// A schedule found for a later completion may end before it, and is worth what that slot is worth.
	last := len(workers) - 1
	for workers[last] == 0 {
		last--
	}
	return Answer{Status: Best, Last: last, Value: p.Values[last], Units: workers[:last+1]}
}
