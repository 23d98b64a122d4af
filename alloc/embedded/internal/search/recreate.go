// This file implements the recreate half of ruin and recreate, [Schrimpf00]: missing minima first,
// then the touched servers by priced worth, then whatever lost containers.

package search

import (
	"context"
	"math"
)

// unchecked is how many servers a placement of minima looks at before the end of a context stops it.
// Without all minima there is no answer, so that even an interrupted search gets a chance to place them.
const unchecked = 3_000_000

// taste says how a recreate chooses among what it could place.
type taste struct {
	// charge is the part of the prices, on loss too, that containers are charged.
	charge float64
	// noise is by how much, relative, a worth is overstated at most.
	noise float64
}

// recreate completes the state after a ruin: minima first, then the touched servers one by one, then the types
// that lost containers, on any server: proofs on fresh clusters hang on these last few. Where ctx ends it leaves out
// the rest.
func (a *Annealer) recreate(ctx context.Context, m *move) {
	s := a.S
	// Without free applications there is nothing to place.
	if len(s.active) == 0 {
		return
	}
	// Ceilings come first: who was kept may have brought back more than there is room for below one.
	if s.exceeded > 0 {
		a.relieve(m)
	}
	if s.torn != nil {
		a.uproot(m)
	}
	// Step 1: minima, (7). They come before any worth, because a state without them is no solution.
	if s.missing > 0 {
		a.placeMissing(ctx, m, a.newFitter())
	}
	// charge is drawn from tuning.Numbers.PriceShares for the whole move: fills of one move that
	// differ in it would work against each other.
	by := taste{charge: a.tune.PriceShares[a.rng.Below(len(a.tune.PriceShares))], noise: a.rng.Float()}
	// Step 2: the servers that lost something, in the order in which they did. fill touches no further server,
	// so that the list does not grow.
	for _, j := range m.touched {
		if ctx.Err() != nil {
			break
		}
		a.fill(m, int(j), by)
	}
	// Step 3: what has not found its place back. rehome only adds, and so changes nothing about who has lost.
	for _, t := range m.losers() {
		a.rehome(m, t)
	}
	// Step 4: numbers that are not allowed. In the paper's P2 every number within the bounds is.
	if !s.p.Plain {
		a.trim(m)
	}
}

// trim takes containers away where the next number that is allowed could not be reached: from the servers with
// the fewest of them first.
func (a *Annealer) trim(m *move) {
	s := a.S
	for _, t := range s.active {
		// A number that is not allowed is short of one that is, so that mostly there is none to look for.
		if s.missing == 0 {
			return
		}
		if s.lacks[t] == 0 {
			continue // its number is allowed
		}
		// over falls by what is taken away: the loop ends at the next number below that is allowed.
		for over := s.pools[t].Over(); over > 0; {
			// Emptying the servers with the fewest leaves a job on fewer servers; ties go to the lowest index.
			fewest, count := -1, int64(math.MaxInt64)
			for _, host := range s.hosts[t] {
				j := int(host)
				if n := s.countOn(j, t); n < count || n == count && j < fewest {
					fewest, count = j, n
				}
			}
			n := min(over, count)
			m.place(fewest, t, -n)
			over -= n
		}
	}
}

// placeMissing places containers of every type that is below its minima where they fit best, from a random type
// on, so that no type is always the one without room. A minimum is a constraint, not a matter of worth: it comes
// before everything else, and where no server has room the energy says what that costs. So it looks at unchecked
// servers before it honours the end of ctx.
func (a *Annealer) placeMissing(ctx context.Context, m *move, find *fitter) {
	s := a.S
	start := a.rng.Below(len(s.active))
	// What is short is missing as well: where nothing is the rest needs no look.
	for at := 0; at < len(s.active) && s.missing > 0; at++ {
		// The types follow in the order of active from a random start.
		t := s.active[(start+at)%len(s.active)]
		if s.lacks[t] == 0 {
			continue
		}
		// Short and not Missing: a number between two allowed ones may be nearer to the lower one, but
		// recreate only adds.
		for need := s.pools[t].Short(); need > 0; {
			if find.looks > unchecked && ctx.Err() != nil {
				return
			}
			j := find.home(t, need)
			// A look at all servers costs about as much as that many candidates of a fill; counted as one move
			// it would make time grow with the cluster.
			a.Work += int64(1 + s.p.Servers/a.tune.MostCandidates)
			if j < 0 {
				break
			}
			// room counts at least 1 where fitsOne was true.
			n := min(need, s.room(j, t))
			m.place(j, t, n)
			find.placed(j)
			need -= n
		}
	}
}

// priceOf returns what a container of type t costs on server j at the prices of the root bound, in utilization; 0
// before there are any.
func (a *Annealer) priceOf(j int, t int32) float64 {
	price := a.price[j*a.S.p.Kinds : (j+1)*a.S.p.Kinds]
	var sum float64
	for k, q := range a.S.p.DemandOf(t) {
		sum += float64(price[k] * float64(q))
	}
	return sum
}

// fill places containers on server j while any brings something: those of most worth for the part of the
// server that they take.
func (a *Annealer) fill(m *move, j int, by taste) {
	s := a.S
	// The candidates are collected once: a fill only takes room away, so that none comes up later.
	a.collect(j, by)
	left, inverse := s.left[j*s.p.Kinds:(j+1)*s.p.Kinds], a.inverse[:s.p.Kinds]
	for a.Work++; len(a.cand) > 0; a.Work++ {
		best, most := -1, 0.0
		// The quotients are by server alone: K divisions for a round instead of K for each candidate. A kind
		// that is used up counts as 1 to keep the quotient finite.
		for k := range inverse {
			inverse[k] = 1 / max(1, float64(left[k]))
		}
		for c := 0; c < len(a.cand); {
			t := a.cand[c].typ
			// What does not fit now never will: left only shrinks during a fill.
			demand := s.p.DemandOf(t)
			if a.cand[c].full || !holdsOne(left, demand) || a.cand[c].limited && s.leave(j, t) <= 0 || !a.welcome(&a.cand[c].margin) {
				// The order of candidates means nothing, so that the last one may fill the gap. O(1).
				last := len(a.cand) - 1
				a.cand[c] = a.cand[last]
				a.cand = a.cand[:last]
				continue
			}
			var size float64
			for k, q := range demand {
				size += float64(float64(q) * inverse[k])
			}
			// score = worth noise / sum_k d_k/left_k: worth by the part of the server that it takes.
			if score := a.cand[c].worth * a.cand[c].noise / size; best < 0 || score > most {
				best, most = c, score
			}
			c++
		}
		// Where no candidate is left the loop ends by its condition.
		if best >= 0 {
			t := a.cand[best].typ
			m.place(j, t, a.some(j, t))
			// The loss of a type depends on its number, so that what is placed has another worth now; all
			// other worths stay.
			a.cand[best].full = s.pools[t].N >= s.pools[t].Max
			a.cand[best].margin = a.margin(t)
			a.cand[best].worth = a.worth(j, &a.cand[best], by)
		}
	}
}

// some returns how many containers of type t to place on server j at once: one while few fit, and a random
// part where many do, so that counts of any size take few steps.
func (a *Annealer) some(j int, t int32) int64 {
	// No more than fit and than the members may have.
	n := min(a.S.room(j, t), a.S.pools[t].Max-a.S.pools[t].N)
	// Steps of one keep small fills exact; a server that takes thousands would need as many rounds.
	if n <= 4 {
		return 1
	}
	// The number is from 1 to n/2: at most half, so that another type still gets its turn.
	return 1 + int64(float64(a.rng.Float()*float64(n/2)))
}

// collect lists the types that have room on server j, each with its worth and its noise; of more than
// MostCandidates types it looks at so many that follow each other.
func (a *Annealer) collect(j int, by taste) {
	s := a.S
	a.cand = a.cand[:0]
	// A window of the active types costs less than a sample without repeats, and every type is in it equally
	// often.
	skip, n := 0, len(s.active)
	if n > a.tune.MostCandidates {
		skip, n = a.rng.Below(n), a.tune.MostCandidates
	}
	left := s.left[j*s.p.Kinds:]
	for range n {
		t := s.active[skip]
		if skip++; skip == len(s.active) {
			skip = 0
		}
		// What does not fit is not even priced.
		if holdsOne(left, s.p.DemandOf(t)) && s.pools[t].N < s.pools[t].Max && (s.p.Plain || s.leave(j, t) > 0) {
			a.cand = append(a.cand, candidate{typ: t, limited: s.p.Types[t].Limited(), noise: 1 + float64(by.noise*a.rng.Float()), margin: a.marginOn(j, t)})
			c := &a.cand[len(a.cand)-1]
			c.worth = a.worth(j, c, by)
		}
	}
}

// worth returns what a container of a candidate is worth on server j,
//
//	max(LeastWorth v, v - charge (lambda (change of loss) + p_j d + nu d))
//
// or, while minima are missing, v and what the energy gains by one less.
func (a *Annealer) worth(j int, c *candidate, by taste) float64 {
	v := c.value
	// A missing container gains missingWeight in the energy, whatever it costs elsewhere.
	if c.short {
		return v + a.missingWeight
	}
	// saved is what the objective gains by less loss, LossPrice a share.
	saved := -float64(a.S.p.Inst.LossPrice * c.loss)
	// Without a charge the fill is greedy, and a worth below 0 counts as 0.
	if by.charge == 0 {
		return max(0, v+saved)
	}
	// price = lambda (change of loss) + p_j d + nu d - saved, at the multipliers of the root bound.
	price := float64(a.lambda*c.loss) + a.priceOf(j, c.typ) + a.surcharge[c.typ] - saved
	// A part of v remains at any price: prices too high would leave room unused that nobody else wants.
	return max(a.tune.LeastWorth*v, v-float64(by.charge*price))
}

// margin returns what one more container of type t changes: the loss in shares, negative up to the fair counts of its members and
// positive beyond.
func (a *Annealer) margin(t int32) margin {
	demanded, q := &a.S.p.Types[t], &a.S.pools[t]
	// G(N+1) - G(N), O(1).
	m := margin{q.At(demanded.Delta, q.N+1) - q.Loss, demanded.Value, q.Short() > 0}
	if demanded.Curve != nil {
		// The slope of the envelope replaces the worth itself, which may rise only after several containers more.
		m.value += q.Rise()
	}
	return m
}

// welcome reports whether one more container raises the energy: a fill that takes what does not would be undone as a whole for it.
// A container towards a minimum, or towards a fair count, is always welcome, but for one that is worth less than nothing.
func (a *Annealer) welcome(m *margin) bool {
	// A margin is about one container: fills of several may overshoot a little.
	if m.loss <= 0 && m.value >= 0 || m.short {
		return true
	}
	s := a.S
	// excess = the change of max(0, loss - limit), which is what energy is charged for.
	excess := max(0, s.loss+m.loss-a.lossLimit) - max(0, s.loss-a.lossLimit)
	// The container is welcome if value > lossWeight excess + (TieLoss + LossPrice) (change of loss).
	return m.value > float64(a.lossWeight*excess)+float64((s.p.TieLoss+s.p.Inst.LossPrice)*m.loss)
}

// rehome tries to place containers of type t on a few servers, one after the other from a random one on.
func (a *Annealer) rehome(m *move, t int32) {
	s := a.S
	q := &s.pools[t]
	j, demand := a.rng.Below(s.p.Servers), s.p.DemandOf(t)
	for range min(a.tune.Homes, s.p.Servers) {
		// Servers beyond Homes are not tried: the move stays cheap on large clusters, and another move starts
		// elsewhere.
		if j++; j == s.p.Servers {
			j = 0
		}
		for q.N < q.Max && holdsOne(s.left[j*s.p.Kinds:], demand) && (s.p.Plain || s.leave(j, t) > 0) {
			if one := a.marginOn(j, t); !a.welcome(&one) {
				break
			}
			// A quarter of what fits at a time, but at least one: welcome is asked again in between, as the
			// loss changes.
			m.place(j, t, max(1, min(s.room(j, t), q.Max-q.N)/4))
		}
	}
}
