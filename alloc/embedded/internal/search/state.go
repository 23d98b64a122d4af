// This file holds the state of the search: which applications are free, where the containers of
// every type are, and what is left of every server.

package search

import (
	"slices"

	"github.com/apportion/apportion/alloc/embedded/internal/problem"
)

// State is a partial solution that always respects the capacities (6), but not always the ceilings (G). Kept applications hold
// exactly what they held before and are pinned; free ones share the containers of their type.
// Invariant: left_j = c_j - what kept applications hold on j - sum over slots of j of Count d_t >= 0;
// objective, loss and missing are the sums over pools and kept applications, so that a move costs what it
// changes, not what there is. loss is in shares, missing in containers.
type State struct {
	p    *problem.Problem
	left []int64          // server j, kind k at j*kinds+k
	on   [][]problem.Slot // free containers on server j
	// below is what every ceiling leaves, negative where it is exceeded.
	below []int64
	// pools[t] is the free applications of type t; active lists the types that have any.
	pools  []problem.Pool
	active []int32
	// lacks[t] is what missing has of type t.
	lacks []int64
	// free[i]: application i is in its pool. freed counts the pinnable ones among them.
	free []bool
	// Freed is what those of them weigh that are pinnable, and loose how many they are.
	Freed, loose int64
	// hosts[t] lists the servers with free containers of type t, in no order.
	hosts [][]int32
	// torn is what each type loses by its servers, which is off the objective; nil: none can.
	torn []float64
	// owed is what of Freed each type takes by its number of containers; nil: none does.
	owed []int64
	totals
}

// totals are the sums that a move saves whole.
type totals struct {
	objective float64
	loss      float64
	missing   int64 // containers short of the minima
	exceeded  int   // ceilings
}

// NewState returns the state that keeps whom it can: the applications that may stay, in order, as
// far as they fit together; what the others hold stays in place as free containers where it fits.
func NewState(p *problem.Problem) *State {
	s := keeping(p)
	// Those who could not be kept leave their containers in place, as far as they fit: those need not move.
	for i := range p.Apps {
		if s.free[i] {
			s.placeHeld(int32(i))
		}
	}
	return s
}

// keeping is NewState without any free container.
func keeping(p *problem.Problem) *State {
	s := nobody(p)
	for i := range p.Apps {
		// The order is that of submission: who is kept depends on who came before, and greedily keeping is no
		// more than a start.
		if p.Apps[i].Pinnable && s.holds(int32(i)) {
			s.settle(int32(i))
		}
	}
	s.formPools()
	return s
}

// stateOf returns the state that a solution was recorded in. Its sums are those recorded, so that a solution
// does not change its figures on the way.
func stateOf(p *problem.Problem, inc *problem.Incumbent) *State {
	s := nobody(p)
	for i := range p.Apps {
		// The set was a solution, so that everybody in it fits.
		if !inc.Free[i] {
			s.settle(int32(i))
		}
	}
	s.formPools()
	for j, slots := range inc.On {
		for _, slot := range slots {
			s.put(j, slot.Type, slot.Count)
		}
	}
	// objective is without the price of the loss, which Incumbent.Objective includes: worth subtracts it
	// again.
	s.objective, s.loss = inc.Objective+float64(p.Inst.LossPrice*inc.Loss), inc.Loss
	return s
}

// nobody returns the beginnings of a state: the servers are empty, and nobody is kept. It is none before its
// pools are formed.
func nobody(p *problem.Problem) *State {
	s := &State{
		p: p, left: slices.Clone(p.Capacity), below: p.Limits(), on: make([][]problem.Slot, p.Servers), pools: make([]problem.Pool, len(p.Types)), lacks: make([]int64, len(p.Types)),
		free: slices.Repeat([]bool{true}, len(p.Apps)), loose: p.Pinnable, hosts: make([][]int32, len(p.Types)),
	}
	if p.Grows {
		s.owed = make([]int64, len(p.Types))
	}
	if p.Spreads {
		s.torn = make([]float64, len(p.Types))
	}
	for i := range p.Apps {
		// Everybody is free at first, and weighs; settle takes the weights of those who stay out again.
		s.Freed += p.Apps[i].Weight
	}
	// Most servers hold a few types: their slots share one allocation.
	const few = 8
	// The third index caps each slice: one that outgrows its part moves elsewhere, and never writes into its
	// neighbour's.
	backing := make([]problem.Slot, few*p.Servers)
	for j := range s.on {
		s.on[j] = backing[few*j : few*j : few*j+few]
	}
	return s
}

// worth returns the objective: the utilization less what the loss costs.
func (s *State) worth() float64 { return s.objective - float64(s.p.Inst.LossPrice*s.loss) }

// settle keeps application i before the pools are formed. What it holds is taken from its servers for good: it is
// in no slot, so that no move can remove it without freeing i first. That it fits is for the caller to know.
func (s *State) settle(i int32) {
	t := s.p.Apps[i].Type
	// Kept containers count their Value here, since they are in no pool.
	for _, placed := range s.p.Inst.Apps[i].Previous {
		s.take(placed.Server, t, placed.Count)
		s.objective += float64(s.p.Types[t].Value * float64(placed.Count))
	}
	s.loss += s.p.Apps[i].HeldLoss
	s.objective += s.p.Apps[i].HeldExtra
	s.free[i] = false
	s.Freed -= s.p.Apps[i].Weight
	s.loose--
}

// formPools makes the pools of those who are free, without containers. Every type has a pool, but only those with
// members are active: moves draw types from the active ones, and a type of kept applications alone costs nothing.
// The sums then hold what the free lose with nothing, and all their minima as missing.
func (s *State) formPools() {
	for t := range s.pools {
		q := &s.pools[t]
		// Members are in ascending order, since those of a type are.
		for _, i := range s.p.Types[t].Members {
			if s.free[i] {
				q.Members = append(q.Members, i)
			}
		}
		if len(q.Members) > 0 {
			s.active = append(s.active, int32(t))
		}
		// One Rebuild for all members, O(members log members), where adding them one by one would take the
		// square.
		q.Rebuild(s.p)
		q.Set(s.p.Types[t].Delta, 0)
		s.loss += q.Loss
		s.objective += q.Extra
		s.charge(int32(t))
		s.lacks[t] = q.Missing()
		s.missing += s.lacks[t]
	}
}

// holds reports whether what application i holds fits into what is left, of servers and ceilings.
func (s *State) holds(i int32) bool {
	if a := &s.p.Apps[i]; s.p.Below(a.Type, s.below) < a.Held {
		return false
	}
	for _, placed := range s.p.Inst.Apps[i].Previous {
		// space asks for the resources alone: what i has already may stay where it could not be had anew.
		if s.space(placed.Server, s.p.Apps[i].Type) < placed.Count {
			return false
		}
	}
	return true
}

// placeHeld puts free containers where application i holds some, as many as fit and it may have. A type's
// containers are anybody's of the type; what matters is that they are where somebody held them, since the decoder
// gives them back to whoever did, and nothing moves.
func (s *State) placeHeld(i int32) {
	t := s.p.Apps[i].Type
	// Neither the application's maximum nor the pool's may be exceeded: decoding needs a member for each
	// container.
	want := s.p.Apps[i].Max
	for _, placed := range s.p.Inst.Apps[i].Previous {
		n := min(placed.Count, want, s.pools[t].Max-s.pools[t].N, s.room(placed.Server, t))
		if n > 0 {
			s.put(placed.Server, t, n)
			want -= n
		}
	}
}

// take lowers what is left of server j and of the ceilings by n containers of type t; n may be negative. Quantities
// are exact, so that taking and giving back leave no trace, in any order. O(kinds + ceilings of the type).
func (s *State) take(j int, t int32, n int64) {
	left := s.left[j*s.p.Kinds : (j+1)*s.p.Kinds]
	for k, q := range s.p.DemandOf(t)[:len(left)] {
		left[k] -= n * q
	}
	for _, use := range s.p.Types[t].Uses {
		was := s.below[use.Ceiling]
		is := was - n*use.Units
		s.below[use.Ceiling] = is
		switch {
		case was >= 0 && is < 0:
			s.exceeded++
		case was < 0 && is >= 0:
			s.exceeded--
		}
	}
}

// put places n containers of type t on server j (n < 0: removes); they must fit, or be there.
func (s *State) put(j int, t int32, n int64) {
	s.take(j, t, n)
	s.relabel(j, t, n)
	v := s.p.Types[t].Value
	// The objective is (10): v_t for each container.
	s.objective += float64(v * float64(n))
}

// relabel changes how many containers on server j are free ones of type t, and with them the pool. It leaves the
// capacity alone: containers of a kept application become free ones of its type where they are.
func (s *State) relabel(j int, t int32, n int64) {
	s.shift(j, t, n)
	s.resize(t, s.pools[t].N+n)
}

// shift changes how many containers on server j are free ones of type t, of no pool. The slots of a server are few and in no
// order, so that a search through them is shorter than any index; the last one fills the gap of one that is empty.
// O(types on the server).
func (s *State) shift(j int, t int32, n int64) {
	slots := s.on[j]
	at := 0
	for at < len(slots) && slots[at].Type != t {
		at++
	}
	if at == len(slots) {
		// A slot without count is made only to be filled at once: no slot of 0 outlives this function.
		slots = append(slots, problem.Slot{Type: t})
		s.hosts[t] = append(s.hosts[t], int32(j))
	}
	slots[at].Count += n
	if slots[at].Count == 0 {
		last := len(slots) - 1
		slots[at] = slots[last]
		slots = slots[:last]
		s.hosts[t] = without(s.hosts[t], int32(j))
	}
	s.on[j] = slots
}

// resize sets the pool's containers and refreshes loss, worth and missing: the loss of a type depends on how many
// containers it has in all, [problem.Pool], so that a move costs O(1) for it, whoever gets them in the end.
func (s *State) resize(t int32, n int64) {
	q := &s.pools[t]
	loss, extra := q.Loss, q.Extra
	q.Set(s.p.Types[t].Delta, n)
	// loss changes by G(n) - G(N), O(1) each.
	s.loss += q.Loss - loss
	s.objective += q.Extra - extra
	if s.torn != nil {
		torn := s.p.Torn(t, n, int64(len(s.hosts[t])))
		s.objective -= torn - s.torn[t]
		s.torn[t] = torn
	}
	s.charge(t)
	lacks := q.Missing()
	s.missing += lacks - s.lacks[t]
	s.lacks[t] = lacks
}

// charge brings Freed up to date with what type t takes of it by its number of containers.
func (s *State) charge(t int32) {
	if s.owed == nil {
		return
	}
	owed := int64(0)
	if len(s.pools[t].Members) > 0 {
		owed = s.p.Owed(t, s.pools[t].N)
	}
	s.Freed += owed - s.owed[t]
	s.owed[t] = owed
}

// unpin frees a kept application: its containers stay where they are, as free ones of its type. What i may
// have counts towards the pool's maximum from now on. Its own loss leaves the sum, and the pool's, which is that of
// all its members together, is computed anew. O(members + servers of i).
func (s *State) unpin(i int32) {
	t := s.p.Apps[i].Type
	s.free[i] = true
	// Freed is in weights (16), loose in heads: the two differ where costs do.
	s.Freed += s.p.Apps[i].Weight
	s.loose++
	s.loss -= s.p.Apps[i].HeldLoss
	s.objective -= s.p.Apps[i].HeldExtra
	q := &s.pools[t]
	if len(q.Members) == 0 {
		s.active = append(s.active, t)
	}
	// The member's minimum enters before its containers do; resize then takes them into account.
	q.Add(s.p, i)
	// Capacity does not change: the containers stay on their servers, and only their name does.
	for _, placed := range s.p.Inst.Apps[i].Previous {
		s.relabel(placed.Server, t, placed.Count)
	}
	s.resize(t, q.N)
}

// pin is unpin backwards: free containers of its type are where application i held some. The pool may be left with
// more containers than its other members may have; whoever pins sheds these.
func (s *State) pin(i int32) {
	t := s.p.Apps[i].Type
	q := &s.pools[t]
	for _, placed := range s.p.Inst.Apps[i].Previous {
		s.relabel(placed.Server, t, -placed.Count)
	}
	s.free[i] = false
	s.Freed -= s.p.Apps[i].Weight
	s.loose--
	s.loss += s.p.Apps[i].HeldLoss
	s.objective += s.p.Apps[i].HeldExtra
	q.Remove(s.p, i)
	s.resize(t, q.N)
	if len(q.Members) == 0 {
		s.deactivate(t)
	}
}

// deactivate drops t from active. The order of the active types changes, and undoing a move does not bring it back:
// the order decides only which random number means which type, the same in every run.
func (s *State) deactivate(t int32) {
	s.active = without(s.active, t)
}

// without takes what out of a list in which it is once; the last of the list takes its place.
func without(list []int32, what int32) []int32 {
	last := len(list) - 1
	list[slices.Index(list, what)] = list[last]
	return list[:last]
}
