// This file implements the best schedule of a job at given prices, [OASiS] Algorithm 2, by bounds
// first: most completions are ruled out, or solved, without a dynamic program.

package primaldual

import "math"

// answer is the best schedule of a request, as workers a slot.
type answer struct {
	verdict Verdict
	last    int     // slot offset of the completion, or of the closest miss if TooExpensive
	value   float64 // utility at last
	cost    float64 // cost; a lower bound of it if TooExpensive
	// workers holds the workers of slots 0 to last if Admitted; it is valid until the next search.
	workers []int64
}

// bestSchedule finds best schedules; it keeps its storage from one job to the next.
type bestSchedule struct {
	method Method
	limit  int64 // most cells of a table

	costs   slotCosts  // C_t, slot by slot
	hulls   hulls      // hulls of the tables of costs
	shifted hulls      // hulls of costs less nu times parameter servers
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

// find returns the best schedule of the request, or why there is none. The error is ErrTooLarge.
func (b *bestSchedule) find(m *market, r *request) (answer, error) {
	switch slots := int64(len(r.values)); {
	case r.shortest() > slots:
		return answer{verdict: TooFewSlots}, nil
	case r.best() <= 0:
		return answer{verdict: Worthless}, nil
	}
	r.set(m)
	// The tables have a column for each number of workers: a job with very many chunks is limited by
	// what the servers hold.
	slots, most := int64(len(r.values)), min(r.job.Chunks, r.work)
	if most >= b.limit/slots {
		most = r.mostWorkers(m)
	}
	if err := checkCells(most+1, slots, b.limit, r.job.item(), "slots x workers"); err != nil {
		return answer{}, err
	}
	if r.work > most*slots {
		return answer{verdict: NoRoom}, nil // not even on empty servers
	}
	switch b.method {
	case CappedDP:
		return b.plain(m, r)
	case ChunkDP:
		return b.chunks(m, r)
	}
	return b.boundsFirst(m, r)
}

// boundsFirst is the exact method that bounds the payoff of all completions and then visits them in
// descending order of their bounds until the next bound is below the best payoff found.
func (b *bestSchedule) boundsFirst(m *market, r *request) (answer, error) {
	// A slot that costs as much as the whole job is worth is of no use, whatever the completion: tables end
	// there.
	r.budget = r.best()
	b.collect(m, r)
	b.rank(r)
	slack, top, chosen := r.slack(), 0.0, -1
	for i, c := range b.orders {
		if c.payoff < top-slack {
			break
		}
		// An earlier completion wins a tie, a later one must be better.
		threshold := top + slack
		if c.last < chosen {
			threshold = top - slack
		}
		cutoff := r.values[c.last] - threshold
		if b.bounds[c.last].proven >= cutoff {
			continue
		}
		// Only a schedule that costs less than cutoff changes the answer, so that the search may stop early.
		cost, result := b.exact(b.prefix(r, c.last), cutoff, slack)
		switch result {
		case tooLarge:
			return b.rest(r, i, chosen)
		case found:
			top, chosen = max(top, r.values[c.last]-cost), c.last
			b.chosen = append(b.chosen[:0], b.workers...)
			b.prove(c.last, cost)
		default:
			b.prove(c.last, cutoff)
		}
	}
	if chosen < 0 {
		return b.miss(m, r), nil
	}
	return b.admit(r, b.chosen), nil
}

// prefix returns the problem of doing the work of r by slot last.
func (b *bestSchedule) prefix(r *request, last int) *prefix {
	return &prefix{costs: &b.costs, job: r.job, work: int(r.work), last: last, limit: b.limit}
}

// exact finds the cheapest schedule of a prefix if it costs less than cutoff; it is in b.workers.
func (b *bestSchedule) exact(p *prefix, cutoff, slack float64) (float64, outcome) {
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
func (b *bestSchedule) rest(r *request, i, chosen int) (answer, error) {
	// One pass answers every completion up to the last one that is still of interest.
	last := chosen
	for _, c := range b.orders[i:] {
		last = max(last, c.last)
	}
	p := b.prefix(r, last)
	if err := b.dp.run(p); err != nil {
		return answer{}, err
	}
	return b.pickPlain(r), nil
}

// plain answers by the plain dynamic program alone.
func (b *bestSchedule) plain(m *market, r *request) (answer, error) {
	p := b.prefix(r, len(r.values)-1)
	b.costs.addAll(m, r, p.last)
	if err := b.dp.run(p); err != nil {
		return answer{}, err
	}
	return b.pickPlain(r), nil
}

// chunks answers by the dynamic program over chunk trainings.
func (b *bestSchedule) chunks(m *market, r *request) (answer, error) {
	slots := int64(len(r.values))
	if err := checkCells(r.chunks+1, slots, b.limit, r.job.item(), "slots x chunk trainings"); err != nil {
		return answer{}, err
	}
	b.costs.addAll(m, r, len(r.values)-1)
	p := b.prefix(r, len(r.values)-1)
	// From here on a unit of work is a chunk training, and the tables say what so many cost.
	p.costs, p.work = chunkTables(&b.costs, r), int(r.chunks)
	if err := b.dp.run(p); err != nil {
		return answer{}, err
	}
	found := b.pickPlain(r) // in chunk trainings
	for s, d := range found.workers {
		found.workers[s] = workersFor(r.job, d)
	}
	return found, nil
}

// pickPlain chooses among the completions of the plain dynamic program: the greatest payoff, and the
// earliest of those that are equal.
func (b *bestSchedule) pickPlain(r *request) answer {
	top, at := math.Inf(-1), -1
	for s, cost := range b.dp.least {
		top = max(top, r.values[s]-cost)
	}
	for s := len(b.dp.least) - 1; s >= 0; s-- {
		if b.dp.least[s] < inf && r.values[s]-b.dp.least[s] >= top-r.slack() {
			at = s
		}
	}
	switch {
	case at < 0:
		return answer{verdict: NoRoom}
	case top <= r.slack():
		return answer{verdict: TooExpensive, last: at, value: r.values[at], cost: b.dp.least[at]}
	}
	b.chosen = grown(b.chosen, at+1)
	b.dp.trace(b.chosen, at)
	return b.admit(r, b.chosen)
}

// admit describes the schedule workers, whose completion is the last slot with a worker.
func (b *bestSchedule) admit(r *request, workers []int64) answer {
	last := len(workers) - 1
	for workers[last] == 0 {
		last--
	}
	return answer{verdict: Admitted, last: last, value: r.values[last], workers: workers[:last+1]}
}
