// This file implements the recreate half of ruin and recreate, [Schrimpf00]: missing minima first,
// then the touched servers by priced worth, then whatever lost containers.

package search

import (
	"context"
	"math"
)

// unheeded is how many servers a placement of minima looks at before the end of a context stops it.
const unheeded = 3_000_000

// candidate is a type considered for a server.
type candidate struct {
	typ   int32
	worth float64 // of one container, before its size
	noise float64 // a factor
}

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
	if len(s.active) == 0 {
		return
	}
	if s.missing > 0 {
		a.placeMissing(ctx, m)
	}
	by := taste{charge: a.tune.PriceShares[a.rng.Below(len(a.tune.PriceShares))], noise: a.rng.Float()}
	for _, j := range m.touched {
		if ctx.Err() != nil {
			break
		}
		a.fill(m, int(j), by)
	}
	for _, t := range m.losers() {
		a.rehome(m, t)
	}
	if !s.p.Plain {
		a.trim(m)
	}
}

// trim takes containers away where the next number that is allowed could not be reached: from the servers with
// the fewest of them first.
func (a *Annealer) trim(m *move) {
	s := a.S
	for _, t := range s.active {
		for over := s.pools[t].Over(); over > 0; {
			fewest, count := -1, int64(math.MaxInt64)
			for j := range s.on {
				if n := s.countOn(j, t); n > 0 && n < count {
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
// before everything else, and where no server has room the energy says what that costs. So it looks at unheeded
// servers before it honours the end of ctx.
func (a *Annealer) placeMissing(ctx context.Context, m *move) {
	s := a.S
	start, looks := a.rng.Below(len(s.active)), 0
	for at := range s.active {
		t := s.active[(start+at)%len(s.active)]
		for need := s.pools[t].Short(); need > 0; {
			if looks += s.p.Servers; looks > unheeded && ctx.Err() != nil {
				return
			}
			j := a.bestFit(t)
			a.Work += int64(1 + s.p.Servers/a.tune.MostCandidates)
			if j < 0 {
				break
			}
			n := min(need, s.room(j, t))
			m.place(j, t, n)
			need -= n
		}
	}
}

// bestFit returns the server on which a container of type t takes the largest part of what is
// left, ties to the lowest index after a random start; -1 where none has room.
func (a *Annealer) bestFit(t int32) int {
	s := a.S
	best, most := -1, 0.0
	start := a.rng.Below(s.p.Servers)
	for at := range s.p.Servers {
		j := start + at
		if j >= s.p.Servers {
			j -= s.p.Servers
		}
		if !s.fitsOne(j, t) {
			continue
		}
		if part := a.size(j, t) + float64(a.priceOf(j, t)*1e-3); best < 0 || part > most {
			best, most = j, part
		}
	}
	return best
}

// size returns sum_k d_k/left_k, how much of server j a container of type t takes: a kind that is nearly used up
// there weighs most. The container must fit, so that no quotient is by 0.
func (a *Annealer) size(j int, t int32) float64 {
	s := a.S
	var size float64
	k0 := j * s.p.Kinds
	for k, q := range s.p.DemandOf(t) {
		if q > 0 {
			size += float64(q) / float64(s.left[k0+k])
		}
	}
	return size
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
	a.collect(j, by)
	for a.Work++; len(a.cand) > 0; a.Work++ {
		best, most := -1, 0.0
		for k := range a.inverse {
			a.inverse[k] = 1 / math.Max(1, float64(s.left[j*s.p.Kinds+k]))
		}
		for c := 0; c < len(a.cand); {
			t := a.cand[c].typ
			// What does not fit now never will: left only shrinks during a fill.
			if s.pools[t].N >= s.pools[t].Max || !s.fitsOne(j, t) || !a.welcome(t) {
				last := len(a.cand) - 1
				a.cand[c] = a.cand[last]
				a.cand = a.cand[:last]
				continue
			}
			var size float64
			for k, q := range s.p.DemandOf(t) {
				size += float64(float64(q) * a.inverse[k])
			}
			if score := a.cand[c].worth * a.cand[c].noise / size; best < 0 || score > most {
				best, most = c, score
			}
			c++
		}
		if best >= 0 {
			t := a.cand[best].typ
			m.place(j, t, a.some(j, t))
			a.cand[best].worth = a.worth(j, t, by)
		}
	}
}

// some returns how many containers of type t to place on server j at once: one while few fit, and a random
// part where many do, so that counts of any size take few steps.
func (a *Annealer) some(j int, t int32) int64 {
	n := min(a.S.room(j, t), a.S.pools[t].Max-a.S.pools[t].N)
	if n <= 4 {
		return 1
	}
	return 1 + int64(float64(a.rng.Float()*float64(n/2)))
}

// collect lists the types that have room on server j, each with its worth and its noise; of more than
// MostCandidates types it looks at so many that follow each other.
func (a *Annealer) collect(j int, by taste) {
	s := a.S
	a.cand = a.cand[:0]
	skip, n := 0, len(s.active)
	if n > a.tune.MostCandidates {
		skip, n = a.rng.Below(n), a.tune.MostCandidates
	}
	for at := range n {
		t := s.active[(skip+at)%len(s.active)]
		if s.pools[t].N < s.pools[t].Max && s.fitsOne(j, t) {
			a.cand = append(a.cand, candidate{t, a.worth(j, t, by), 1 + float64(by.noise*a.rng.Float())})
		}
	}
}

// worth returns what a container of type t is worth on server j,
//
//	max(LeastWorth v, v - charge (lambda (change of loss) + p_j d))
//
// or, while minima are missing, v and what the energy gains by one less.
func (a *Annealer) worth(j int, t int32, by taste) float64 {
	s := a.S
	v := a.value(t)
	if s.pools[t].Short() > 0 {
		return v + a.missingWeight
	}
	saved := -float64(s.p.Inst.LossPrice * a.lossStep(t))
	if by.charge == 0 {
		return math.Max(0, v+saved)
	}
	price := float64(a.lambda*a.lossStep(t)) + a.priceOf(j, t) - saved
	return math.Max(a.tune.LeastWorth*v, v-float64(by.charge*price))
}

// value returns v, what one more container of type t brings.
func (a *Annealer) value(t int32) float64 {
	demanded := &a.S.p.Types[t]
	if demanded.Curve == nil {
		return demanded.Value
	}
	return demanded.Value + demanded.Tally(a.S.pools[t].N).Rise
}

// lossStep returns the change of loss by one more container of type t, in shares: negative up to the fair counts of
// its members, positive beyond.
func (a *Annealer) lossStep(t int32) float64 {
	q := &a.S.pools[t]
	return q.At(a.S.p.Types[t].Delta, q.N+1) - q.Loss
}

// welcome reports whether one more container of type t raises the energy: a fill that takes what does not would be
// undone as a whole for it. A container towards a minimum, or towards a fair count, is always welcome, but for one
// that is worth less than nothing.
func (a *Annealer) welcome(t int32) bool {
	s := a.S
	step, value := a.lossStep(t), a.value(t)
	if step <= 0 && value >= 0 || s.pools[t].Short() > 0 {
		return true
	}
	excess := math.Max(0, s.loss+step-a.lossLimit) - math.Max(0, s.loss-a.lossLimit)
	return value > float64(a.lossWeight*excess)+float64((s.p.TieLoss+s.p.Inst.LossPrice)*step)
}

// rehome tries to place containers of type t on a few servers, one after the other from a random one on.
func (a *Annealer) rehome(m *move, t int32) {
	s := a.S
	q := &s.pools[t]
	start := a.rng.Below(s.p.Servers)
	for at := range min(a.tune.Homes, s.p.Servers) {
		j := (start + 1 + at) % s.p.Servers
		for s.fitsOne(j, t) && q.N < q.Max && a.welcome(t) {
			m.place(j, t, max(1, min(s.room(j, t), q.Max-q.N)/4))
		}
	}
}
