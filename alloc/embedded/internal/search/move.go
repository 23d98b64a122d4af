// This file holds a move: what was done to a state, so that it can be taken back.

package search

import "slices"

// change is one step of a move: count containers of a type were placed on a server, or, with server < 0, an
// application was freed (count 1) or kept (count -1).
// what is a type or an application, according to server; a change is 16 bytes, and a move has some dozens.
type change struct {
	what, server int32
	count        int64
}

// move is what was done to a state since begin. A move is made while it is proposed, because each step depends
// on what the steps before it have left; it is kept by doing nothing, and taken back by undo. Its memory is used
// again for the next move.
type move struct {
	s       *State
	changes []change
	before  totals
	// touched lists the servers, each once, that lost containers or that somebody wants to be filled again.
	touched   []int32
	isTouched []bool
	// lost is scratch of losers and undo.
	lost []int32
	// freed lists the applications that the move has freed: it would be idle to keep them again.
	freed []int32
}

// newMove returns a move of nothing, for states of so many servers.
func newMove(servers int) *move { return &move{isTouched: make([]bool, servers)} }

// begin makes m a move of nothing on s as it is, and returns m.
// The marks of the last move are cleared one by one, O(touched): the array is as long as there are servers.
func (m *move) begin(s *State) *move {
	for _, j := range m.touched {
		m.isTouched[j] = false
	}
	m.s, m.before = s, s.totals
	m.changes, m.touched, m.freed = m.changes[:0], m.touched[:0], m.freed[:0]
	return m
}

// place places n containers of type t on server j; n < 0 removes some. They must fit, or be there.
func (m *move) place(j int, t int32, n int64) {
	m.changes = append(m.changes, change{t, int32(j), n})
	// Each change is noted together with its put, so that undo misses none.
	m.s.put(j, t, n)
	// Only what loses containers is filled again: what gains some has less room than before.
	if n < 0 {
		m.touch(j)
	}
}

// touch has server j filled again.
func (m *move) touch(j int) {
	if !m.isTouched[j] {
		m.isTouched[j] = true
		m.touched = append(m.touched, int32(j))
	}
}

// free frees application i, who is kept; its containers stay where they are, as free ones of its type,
// but for those on servers that are not open to it.
func (m *move) free(i int32) {
	m.changes = append(m.changes, change{i, -1, 1})
	m.freed = append(m.freed, i)
	m.s.unpin(i)
	// What it could not have anew goes with its staying.
	// The containers on closed servers were lawful only as long as i stayed: free ones there would break its
	// classes.
	if t := m.s.p.Apps[i].Type; !m.s.p.Plain {
		for _, placed := range m.s.p.Inst.Apps[i].Previous {
			if m.s.p.Fit(placed.Server, t) == 0 {
				m.place(placed.Server, t, -placed.Count)
			}
		}
	}
}

// keep keeps application i, who is free: as many free containers of its type as it held must be where it held
// them.
func (m *move) keep(i int32) {
	m.changes = append(m.changes, change{i, -1, -1})
	m.s.pin(i)
}

// losers returns the types that m has taken containers of, in the order in which it did.
func (m *move) losers() []int32 {
	m.lost = m.lost[:0]
	// Linear search suffices, as a move takes from few types; the order is that of the changes, so that it is
	// the same in every run.
	for _, c := range m.changes {
		if c.server >= 0 && c.count < 0 && !slices.Contains(m.lost, c.what) {
			m.lost = append(m.lost, c.what)
		}
	}
	return m.lost
}

// add makes what other has done, after m and to the same state, a part of m; what is to be filled again is not
// taken over.
func (m *move) add(other *move) { m.changes = append(m.changes, other.changes...) }

// undo takes everything back, the last step first. The totals come back as they were: sums of floating-point
// numbers would not.
func (m *move) undo() {
	m.lost = m.lost[:0]
	// Backward, because a step is possible only in the state that the ones before it left: containers must be
	// there before they can be pinned.
	for at := len(m.changes) - 1; at >= 0; at-- {
		c := m.changes[at]
		switch {
		case c.server >= 0:
			m.s.take(int(c.server), c.what, -c.count)
			m.s.shift(int(c.server), c.what, -c.count)
			m.s.pools[c.what].N -= c.count
			if !slices.Contains(m.lost, c.what) {
				m.lost = append(m.lost, c.what)
			}
		case c.count > 0:
			m.s.pin(c.what)
		default:
			m.s.unpin(c.what)
		}
	}
	// What follows from the number of a type is looked up once.
	for _, t := range m.lost {
		m.s.resize(t, m.s.pools[t].N)
	}
	// All this has also changed the sums by rounding errors; over millions of moves these would add up to more
	// than the tolerances.
	m.s.totals = m.before
}
