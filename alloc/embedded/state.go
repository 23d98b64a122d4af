// This file holds the state of the search: which applications are free, where the containers of
// every type are, what is left of every server; with a journal that undoes any move exactly.

package embedded

import "math"

// slot is some free containers of one type on one server.
type slot struct {
	typ   int32
	count int64
}

// op is one journalled change: count containers of a type on a server, or, with server < 0, an
// application that was freed (count 1) or kept (count -1).
type op struct {
	what, server int32
	count        int64
}

// state is a partial solution that always respects the capacities (6). Kept applications hold
// exactly what they held before and are pinned; free ones share the containers of their type.
type state struct {
	p    *problem
	left []int64  // server j, kind k at j*kinds+k
	on   [][]slot // free containers on server j
	// pools[t] is the free applications of type t; active lists the types that have any.
	pools  []pool
	active []int32
	// free[i]: application i is in its pool. freed counts the keepable ones among them.
	free  []bool
	freed int64
	totals
	journal []op
	start   point // of the move
	// touched servers had free containers removed or capacity released since the last point.
	touched   []int32
	isTouched []bool
	// hungry types lost containers since the last point.
	hungry   []int32
	isHungry []bool
}

// totals are what a journal entry need not undo: they are saved whole.
type totals struct {
	objective float64
	loss      float64
	missing   int64 // containers short of the minima
}

// point is a point within a move that it may come back to.
type point struct {
	journal int
	totals
}

// newState returns the state that keeps whom it can: the applications that may stay, in order, as
// far as they fit together; what the others hold stays in place as free containers where it fits.
func newState(p *problem) *state {
	s := &state{
		p: p, left: append([]int64(nil), p.capacity...), on: make([][]slot, p.servers),
		pools: make([]pool, len(p.types)), free: make([]bool, len(p.apps)),
		isTouched: make([]bool, p.servers), isHungry: make([]bool, len(p.types)),
	}
	backing := make([]slot, 8*p.servers)
	for j := range s.on {
		s.on[j] = backing[8*j : 8*j : 8*j+8]
	}
	for i := range p.apps {
		if p.apps[i].keepable && s.holds(int32(i)) {
			s.pinInitially(int32(i))
			continue
		}
		s.free[i] = true
		if p.apps[i].keepable {
			s.freed++
		}
		q := &s.pools[p.apps[i].typ]
		q.members = append(q.members, int32(i))
	}
	for t := range s.pools {
		q := &s.pools[t]
		if len(q.members) > 0 {
			s.active = append(s.active, int32(t))
		}
		q.rebuild(p)
		q.loss = q.at(p.types[t].delta, 0)
		s.loss += q.loss
		s.missing += q.missing()
	}
	for i := range p.apps {
		if s.free[i] && p.inst.Apps[i].Running {
			s.placeHeld(int32(i))
		}
	}
	s.begin()
	return s
}

// holds reports whether what application i holds fits into what is left.
func (s *state) holds(i int32) bool {
	for _, placed := range s.p.inst.Apps[i].Previous {
		if s.room(placed.Server, s.p.apps[i].typ) < placed.Count {
			return false
		}
	}
	return true
}

func (s *state) pinInitially(i int32) {
	t := s.p.apps[i].typ
	for _, placed := range s.p.inst.Apps[i].Previous {
		s.take(placed.Server, t, placed.Count)
		s.objective += float64(s.p.types[t].value * float64(placed.Count))
	}
	s.loss += s.p.apps[i].heldLoss
}

// placeHeld puts free containers where application i holds some, as many as fit and it may have.
func (s *state) placeHeld(i int32) {
	t := s.p.apps[i].typ
	want := s.p.apps[i].max
	for _, placed := range s.p.inst.Apps[i].Previous {
		n := min(placed.Count, want, s.pools[t].max-s.pools[t].n, s.room(placed.Server, t))
		if n > 0 {
			s.place(placed.Server, t, n)
			want -= n
		}
	}
}

// begin starts a move: undo comes back to here.
func (s *state) begin() {
	s.journal = s.journal[:0]
	s.start = s.here()
}

// undo takes back everything since begin.
func (s *state) undo() { s.undoTo(s.start) }

// here returns the present point of a move; nothing is touched or hungry any more.
func (s *state) here() point {
	for _, j := range s.touched {
		s.isTouched[j] = false
	}
	for _, t := range s.hungry {
		s.isHungry[t] = false
	}
	s.touched, s.hungry = s.touched[:0], s.hungry[:0]
	return point{len(s.journal), s.totals}
}

// undoTo takes back everything since a point of this move.
func (s *state) undoTo(p point) {
	for at := len(s.journal) - 1; at >= p.journal; at-- {
		o := s.journal[at]
		switch {
		case o.server >= 0:
			s.put(int(o.server), o.what, -o.count)
		case o.count > 0:
			s.pin(o.what)
		default:
			s.unpin(o.what)
		}
	}
	s.journal, s.totals = s.journal[:p.journal], p.totals
	s.here()
}

// take lowers what is left of server j by n containers of type t; n may be negative.
func (s *state) take(j int, t int32, n int64) {
	k0 := j * s.p.kinds
	for k, q := range s.p.demandOf(t) {
		s.left[k0+k] -= n * q
	}
}

// put places n containers of type t on server j (n < 0: removes) without journal or touching.
func (s *state) put(j int, t int32, n int64) {
	s.take(j, t, n)
	s.relabel(j, t, n)
	v := s.p.types[t].value
	s.objective += float64(v * float64(n))
}

// relabel changes how many containers on server j are free ones of type t, and with them the pool.
func (s *state) relabel(j int, t int32, n int64) {
	slots := s.on[j]
	at := 0
	for at < len(slots) && slots[at].typ != t {
		at++
	}
	if at == len(slots) {
		slots = append(slots, slot{typ: t})
	}
	slots[at].count += n
	if slots[at].count == 0 {
		last := len(slots) - 1
		slots[at] = slots[last]
		slots = slots[:last]
	}
	s.on[j] = slots
	s.resize(t, s.pools[t].n+n)
}

// resize sets the pool's containers and refreshes loss and missing.
func (s *state) resize(t int32, n int64) {
	q := &s.pools[t]
	s.missing -= q.missing()
	q.n = n
	s.missing += q.missing()
	loss := q.at(s.p.types[t].delta, n)
	s.loss += loss - q.loss
	q.loss = loss
}

// place is a journalled put; it marks what a later recreate must look at.
func (s *state) place(j int, t int32, n int64) {
	s.journal = append(s.journal, op{t, int32(j), n})
	s.put(j, t, n)
	if n < 0 {
		s.touch(j)
		if !s.isHungry[t] {
			s.isHungry[t] = true
			s.hungry = append(s.hungry, t)
		}
	}
}

func (s *state) touch(j int) {
	if !s.isTouched[j] {
		s.isTouched[j] = true
		s.touched = append(s.touched, int32(j))
	}
}

// unpin frees a kept application: its containers stay where they are, as free ones of its type.
func (s *state) unpin(i int32) {
	t := s.p.apps[i].typ
	s.free[i] = true
	s.freed++
	s.loss -= s.p.apps[i].heldLoss
	q := &s.pools[t]
	if len(q.members) == 0 {
		s.active = append(s.active, t)
	}
	s.missing -= q.missing()
	q.add(s.p, i)
	s.missing += q.missing()
	for _, placed := range s.p.inst.Apps[i].Previous {
		s.relabel(placed.Server, t, placed.Count)
	}
	s.resize(t, q.n)
}

// pin is unpin backwards: free containers of its type are where application i held some.
func (s *state) pin(i int32) {
	t := s.p.apps[i].typ
	q := &s.pools[t]
	for _, placed := range s.p.inst.Apps[i].Previous {
		s.relabel(placed.Server, t, -placed.Count)
	}
	s.free[i] = false
	s.freed--
	s.loss += s.p.apps[i].heldLoss
	s.missing -= q.missing()
	q.remove(s.p, i)
	s.missing += q.missing()
	s.resize(t, q.n)
	if len(q.members) == 0 {
		s.deactivate(t)
	}
}

// deactivate drops t from active.
func (s *state) deactivate(t int32) {
	for at, other := range s.active {
		if other == t {
			last := len(s.active) - 1
			s.active[at] = s.active[last]
			s.active = s.active[:last]
			return
		}
	}
}

// room returns how many more containers of type t fit on server j.
func (s *state) room(j int, t int32) int64 {
	n := int64(math.MaxInt64)
	k0 := j * s.p.kinds
	for k, q := range s.p.demandOf(t) {
		if q > 0 {
			if s.left[k0+k] < q {
				return 0
			}
			n = min(n, s.left[k0+k]/q)
		}
	}
	return n
}

// fitsOne reports whether one more container of type t fits on server j.
func (s *state) fitsOne(j int, t int32) bool {
	k0 := j * s.p.kinds
	for k, q := range s.p.demandOf(t) {
		if s.left[k0+k] < q {
			return false
		}
	}
	return true
}

// countOn returns the free containers of type t on server j.
func (s *state) countOn(j int, t int32) int64 {
	for _, sl := range s.on[j] {
		if sl.typ == t {
			return sl.count
		}
	}
	return 0
}
