// This file settles a residual problem that its bound leaves open: dynamic programming over the servers
// on what they supply, by total slack against the bound.

package leaf

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/apportion/apportion/alloc/embedded/internal/colgen"
	"github.com/apportion/apportion/alloc/solver"
)

// slackState is what the servers so far supply, with the least slack that it takes.
// supply is by type, cut off at the maxima; parent is the state of the layer before it
// came from, and pattern what the server of this layer has.
type slackState struct {
	supply  []int64
	slack   float64
	parent  int32
	pattern int32
}

// slackSearch finds out whether a residual problem has a solution worth more than cut. At the prices of
// its bound every choice has a slack, none of them negative,
//
//	pattern c on a server of class g   max_c' pi c' - pi c
//	N containers of type t             max_N' [(v - pi) N' - lambda G(N')] - [(v - pi) N - lambda G(N)]
//	a container supplied and unused    pi_t
//	a unit of loss budget unused       lambda
//
// and the bound less the value of a solution is the sum of its slacks. So only choices whose slacks sum
// to less than bound - cut matter.
// The search is exact: layers go server by server, states of equal supply in one layer are merged with the least
// slack, and a state whose slack is room or more is dropped, as slacks never sink again. Time and memory are
// those of limit states, each of types numbers.
type slackSearch struct {
	r      *colgen.Residual
	room   float64 // bound - cut
	layers [][]slackState
	of     []int32 // class of each layer, index in residual.class
	// states counts those made so far, of all layers; limit bounds them.
	states, limit int
	best          []float64 // by type: the largest (v - pi) N - lambda G(N)
	cut           float64
	// The solution, if found.
	found bool
	// count is by type, value the utilization with the kept, last the state of the last
	// layer it came from.
	count []int64
	value float64
	last  int32
}

// SettleExactly makes the best solution worth more than cut, if there is one, the best of k. It reports
// whether that took at most so many states and ctx has not ended; the residual problem must have been
// solved.
// Where it reports true without a solution, none is worth more than cut: that is a
// proof.
func (k *packing) SettleExactly(ctx context.Context, cut float64, states int) bool {
	r := k.r
	q := &slackSearch{r: r, room: r.Bound - cut, cut: cut, limit: states, count: make([]int64, len(r.S.Problem.Types))}
	// k.states is read by the caller for the work, also where the search is given up.
	defer func() { k.states = q.states }()
	// The first layer has one state: no server, no supply, no slack.
	q.layers = [][]slackState{{{supply: make([]int64, len(r.S.Problem.Types)), parent: -1, pattern: -1}}}
	// Servers of one class come one after the other: permutations among them merge into
	// one state.
	for g := range r.Class {
		// A class without types has the empty pattern alone, and a layer for it would repeat the one before.
		if len(r.S.Lists.Classes[r.Class[g]].List) == 0 {
			continue
		}
		for range int64(r.Size[g]) {
			if !q.server(ctx, int32(g)) {
				return false
			}
		}
	}
	for _, t := range r.Types {
		// best_t is taken at the N that the prices want: every other N has a slack of at least 0.
		n := r.Wanted(t, r.S.Problem.Types[t].Value-r.Pi[t], r.Lambda)
		q.best = append(q.best, q.worth(t, n))
	}
	for at := range q.layers[len(q.layers)-1] {
		if ctx.Err() != nil {
			return false
		}
		st := &q.layers[len(q.layers)-1][at]
		// count is shared by the whole depth of use, which writes an entry before it goes on.
		q.use(st, int32(at), 0, st.slack, make([]int64, len(r.S.Problem.Types)))
	}
	if q.found {
		q.trace(k)
	}
	return true
}

// worth returns (v - pi) N - lambda G(N).
func (q *slackSearch) worth(t int32, n int64) float64 {
	typ := &q.r.S.Problem.Types[t]
	return float64((typ.Value-q.r.Pi[t])*float64(n)) - float64(q.r.Lambda*q.r.Pools[t].At(typ.Delta, n))
}

// server adds a layer: the supplies with one more server of class g. It reports false where these are
// too many, or ctx has ended.
// O(states of the last layer x patterns x types). Ties of slack go to the older state, so that the
// result does not depend on the map, which is only looked up.
func (q *slackSearch) server(ctx context.Context, g int32) bool {
	r := q.r
	ps, class := r.S.Lists, r.Class[g]
	_, most := ps.Best(class, r.Pi)
	// index finds the state of next with a supply.
	// Keys are supplies by type, 8 bytes each: equal supplies have the same future, and only the least slack
	// of them matters.
	index := make(map[string]int32)
	var next []slackState
	var key []byte
	from := q.layers[len(q.layers)-1]
	types := len(r.S.Problem.Types)
	supply := make([]int64, types)
	// The context is looked at once a state: a layer may take as long as all before it.
	for at := range from {
		if ctx.Err() != nil {
			return false
		}
		for p := range ps.Classes[class].Size {
			// slack of the pattern: most - sum_t pi_t c_t.
			slack := from[at].slack + most
			copy(supply, from[at].supply)
			for _, t := range r.Types {
				c := int64(ps.Pattern(class, p)[t])
				slack -= float64(r.Pi[t] * float64(c))
				// What is beyond the maximum cannot be used: cutting it off merges states.
				// Its price is not charged then, so that slack is a lower bound: it drops less.
				supply[t] = min(supply[t]+c, r.Hi[t])
			}
			// A slack of room or more leaves a value of cut or less, whatever follows.
			if slack >= q.room {
				continue
			}
			key = key[:0]
			for _, t := range r.Types {
				key = binary.LittleEndian.AppendUint64(key, uint64(supply[t]))
			}
			to, known := index[string(key)]
			if !known {
				if q.states++; q.states > q.limit {
					return false
				}
				to = int32(len(next))
				index[string(key)] = to
				next = append(next, slackState{slices.Clone(supply), slack, int32(at), int32(p)})
			} else if slack < next[to].slack {
				next[to].slack, next[to].parent, next[to].pattern = slack, int32(at), int32(p)
			}
		}
	}
	// The layer is added even if it is empty: the search then ends without a solution, which is the proof.
	q.layers, q.of = append(q.layers, next), append(q.of, g)
	return true
}

// use tries how much of a supply to use, type by type, and keeps the best solution.
// Depth-first over the types; invariant: slack is that of the servers and of the types before typ. A count n
// costs pi_t (supply - n) for what is unused, and best_t - worth_t(n) for not being the preferred count.
func (q *slackSearch) use(st *slackState, at int32, typ int, slack float64, count []int64) {
	r := q.r
	// The test is repeated by type, so that most supplies end after the first.
	if slack >= q.room {
		return
	}
	// Slacks sum with rounding, so value and loss of a complete choice are computed
	// directly.
	if typ == len(r.Types) {
		value, loss := r.Fixed, 0.0
		for _, t := range r.Types {
			value += float64(r.S.Problem.Types[t].Value * float64(count[t]))
			loss += r.Pools[t].At(r.S.Problem.Types[t].Delta, count[t])
		}
		// The loss budget has no slack in the sum where lambda is 0, so that it is tested on its own.
		if loss <= r.Budget-solver.LossTolerance/2 && value > q.cut && (!q.found || value > q.value) {
			q.found, q.value, q.last = true, value, at
			copy(q.count, count)
		}
		return
	}
	t := r.Types[typ]
	// Downwards, as unused grows: the first n for which that alone is too much ends the
	// loop.
	for n := min(st.supply[t], r.Hi[t]); n >= r.Lo[t]; n-- {
		unused := float64(r.Pi[t] * float64(st.supply[t]-n))
		if slack+unused >= q.room {
			return
		}
		count[t] = n
		q.use(st, at, typ+1, slack+unused+q.best[typ]-q.worth(t, n), count)
	}
}

// trace makes the solution the packing's best.
// The parents lead back to the first layer, which has no server.
func (q *slackSearch) trace(k *packing) {
	// The packing is built anew from empty servers, one server a layer.
	k.clear()
	at := q.last
	for layer := len(q.layers) - 1; layer > 0; layer-- {
		st := &q.layers[layer][at]
		k.move(int(q.of[layer-1]), st.pattern, 1)
		at = st.parent
	}
	copy(k.count, q.count)
	k.measure()
	// bestLoss is that of measure, summed as every other packing's, so that the two may be compared.
	k.Found, k.BestValue, k.bestLoss = true, k.value, k.loss
	k.bestGroups = append(k.bestGroups[:0], k.groups...)
	copy(k.bestCount, k.count)
}
