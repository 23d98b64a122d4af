// This file implements the recreate half of ruin and recreate, [Schrimpf00]: missing minima first,
// then the touched servers by priced worth, then whatever lost containers.

package embedded

import "math"

const (
	// mostCandidates bounds the types that one fill looks at; of more it takes a random part.
	mostCandidates = 40
	// homes is how many servers a container without a home tries.
	homes = 12
	// leastWorth is the part of its value that a container is worth at any price.
	leastWorth = 0.01
)

// priceShares are the parts of the prices, on loss too, that a fill may charge: none makes it greedy,
// nearly all keeps what is scarce for those that need it.
var priceShares = [...]float64{0, 0.5, 0.8, 0.95}

// candidate is a type considered for a server.
type candidate struct {
	typ   int32
	worth float64 // of one container, before its size
	noise float64 // a factor
}

// recreate completes the state after a ruin.
func (a *annealer) recreate() {
	s := a.s
	if s.missing > 0 {
		a.placeMissing()
	}
	a.charge = priceShares[a.rng.below(len(priceShares))]
	a.noise = a.rng.float()
	// The list may grow on the way; filled counts how far it was worked off.
	for len(s.touched) > a.filled {
		j := int(s.touched[a.filled])
		a.filled++
		a.fill(j)
	}
	for _, t := range s.hungry {
		a.rehome(t)
	}
}

// placeMissing places containers of every type that is below its minima where they fit best.
func (a *annealer) placeMissing() {
	s := a.s
	start := a.rng.below(len(s.active))
	for at := range s.active {
		t := s.active[(start+at)%len(s.active)]
		for need := s.pools[t].missing(); need > 0; {
			j := a.bestFit(t)
			if j < 0 {
				break
			}
			n := min(need, s.room(j, t))
			s.place(j, t, n)
			need -= n
		}
	}
}

// bestFit returns the server on which a container of type t takes the largest part of what is
// left, ties to the lowest index after a random start; -1 where none has room.
func (a *annealer) bestFit(t int32) int {
	s := a.s
	best, most := -1, 0.0
	start := a.rng.below(s.p.servers)
	for at := range s.p.servers {
		j := start + at
		if j >= s.p.servers {
			j -= s.p.servers
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

// size returns sum_k d_k/left_k, how much of server j a container of type t takes.
func (a *annealer) size(j int, t int32) float64 {
	s := a.s
	var size float64
	k0 := j * s.p.kinds
	for k, q := range s.p.demandOf(t) {
		if q > 0 {
			size += float64(q) / float64(s.left[k0+k])
		}
	}
	return size
}

// priceOf returns what a container of type t costs on server j.
func (a *annealer) priceOf(j int, t int32) float64 {
	price := a.price[j*a.s.p.kinds : (j+1)*a.s.p.kinds]
	var sum float64
	for k, q := range a.s.p.demandOf(t) {
		sum += float64(price[k] * float64(q))
	}
	return sum
}

// fill places containers on server j while any brings something.
func (a *annealer) fill(j int) {
	a.collect(j)
	for len(a.cand) > 0 {
		best, most := -1, 0.0
		k0 := j * a.s.p.kinds
		for k := range a.inverse {
			a.inverse[k] = 1 / math.Max(1, float64(a.s.left[k0+k]))
		}
		for c := 0; c < len(a.cand); {
			t := a.cand[c].typ
			// What does not fit now never will: left only shrinks during a fill.
			if a.s.pools[t].n >= a.s.pools[t].max || !a.s.fitsOne(j, t) || !a.welcome(t) {
				last := len(a.cand) - 1
				a.cand[c] = a.cand[last]
				a.cand = a.cand[:last]
				continue
			}
			var size float64
			for k, q := range a.s.p.demandOf(t) {
				size += float64(float64(q) * a.inverse[k])
			}
			if score := a.cand[c].worth * a.cand[c].noise / size; best < 0 || score > most {
				best, most = c, score
			}
			c++
		}
		if best >= 0 {
			a.placeSome(j, best)
		}
	}
}

// placeSome places a few containers of candidate c on server j: one at a time while few fit.
func (a *annealer) placeSome(j, c int) {
	s, t := a.s, a.cand[c].typ
	n := min(s.room(j, t), s.pools[t].max-s.pools[t].n)
	if n > 4 {
		// In bulk where many fit, so that counts of any size take few steps.
		n = 1 + int64(float64(a.rng.float()*float64(n/2)))
	} else {
		n = 1
	}
	s.place(j, t, n)
	a.cand[c].worth = a.worth(j, t)
}

// collect lists the types that have room on server j, each with its worth and its noise.
func (a *annealer) collect(j int) {
	s := a.s
	a.cand = a.cand[:0]
	skip, n := 0, len(s.active)
	if n > mostCandidates {
		skip, n = a.rng.below(n), mostCandidates
	}
	for at := skip; n > 0; at, n = at+1, n-1 {
		if at == len(s.active) {
			at = 0
		}
		t := s.active[at]
		if s.pools[t].n >= s.pools[t].max || !s.fitsOne(j, t) {
			continue
		}
		a.cand = append(a.cand, candidate{t, a.worth(j, t), 1 + float64(a.noise*a.rng.float())})
	}
}

// worth returns max(leastWorth v, v - charge (lambda (change of loss) + p_j d)).
func (a *annealer) worth(j int, t int32) float64 {
	v := a.s.p.types[t].value
	if a.s.pools[t].missing() > 0 {
		return v + a.missingWeight
	}
	if a.charge == 0 {
		return v
	}
	price := float64(a.lambda*a.lossStep(t)) + a.priceOf(j, t)
	return math.Max(leastWorth*v, v-float64(a.charge*price))
}

// lossStep returns the change of loss by one more container of type t.
func (a *annealer) lossStep(t int32) float64 {
	q := &a.s.pools[t]
	return q.at(a.s.p.types[t].delta, q.n+1) - q.loss
}

// welcome reports whether one more container of type t raises the energy.
func (a *annealer) welcome(t int32) bool {
	s := a.s
	step := a.lossStep(t)
	if step <= 0 || s.pools[t].missing() > 0 {
		return true
	}
	excess := math.Max(0, s.loss+step-a.lossLimit) - math.Max(0, s.loss-a.lossLimit)
	return s.p.types[t].value > float64(a.lossWeight*excess)+float64(s.p.tieLoss*step)
}

// rehome tries to place containers of type t on a few servers, after they lost their place.
func (a *annealer) rehome(t int32) {
	s := a.s
	q := &s.pools[t]
	j := a.rng.below(s.p.servers)
	for range min(homes, s.p.servers) {
		if j++; j == s.p.servers {
			j = 0
		}
		for s.fitsOne(j, t) && q.n < q.max && a.welcome(t) {
			s.place(j, t, max(1, min(s.room(j, t), q.max-q.n)/4))
		}
	}
}
