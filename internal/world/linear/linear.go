// This file implements the judgement: a search over the orders of calls.

// Package linear judges whether what callers have seen of a job can be explained by calls that took effect one after the other, each between
// its beginning and its end.
//
// A job is a register that goes one way: it is absent, live, ended and gone. Calls make it live, and what happens beside them, its end and
// that it is forgotten, may happen at any moment while it can. So the state is a set of these four, and a search over the orders of calls,
// which remembers what it has tried [Lowe17], is short: jobs are judged apart, and calls that overlap are few. No checker of general objects
// is needed for that, and none of the library's users gets one more module.
package linear

import (
	"slices"
	"time"
)

// State is a set of states of a job.
type State uint8

// The states.
const (
	Absent State = 1 << iota
	Live
	Ended
	Gone
)

// Kind is what a call is.
type Kind uint8

// The kinds.
const (
	// Submit makes an absent job live.
	Submit Kind = iota
	// Touch is a call that a live job alone takes: to move it, save it or cancel it. It stays live, for it ends later.
	Touch
	// Read has found the job in Call.Found.
	Read
)

// Call is a call of one job. One without an answer, of which nobody knows whether it took effect, is Unknown and has no end; a Read is known.
type Call struct {
	Kind       Kind
	Found      State
	Begin, End time.Duration
	Unknown    bool
}

// later is what may become of a job without any call.
func later(s State) State {
	if s&Live != 0 {
		s |= Ended
	}
	if s&Ended != 0 {
		s |= Gone
	}
	return s
}

// after is what a job may be after a call; 0: the call is impossible.
func after(s State, c *Call) State {
	s = later(s)
	switch {
	case c.Kind == Submit && s&Absent != 0, c.Kind == Touch && s&Live != 0:
		return Live
	case c.Kind == Read:
		return s & c.Found
	}
	return 0
}

// Check reports whether the calls of one job are linearizable, from an absent job on. O(calls) where they do not overlap, and exponential in
// those that overlap at one moment.
func Check(calls []Call) bool {
	calls = slices.Clone(calls)
	slices.SortFunc(calls, func(a, b Call) int { return int(a.Begin - b.Begin) })
	s := search{calls: calls, done: make([]byte, len(calls)), tried: map[string]bool{}}
	return s.from(Absent)
}

// search is a depth-first search over the orders.
type search struct {
	calls []Call
	done  []byte
	tried map[string]bool
}

// from reports whether the calls that are not done can be, from a state on.
func (s *search) from(state State) bool {
	key := string(s.done) + string(rune(state))
	if s.tried[key] {
		return false
	}
	s.tried[key] = true
	// What has ended first among those that are left bounds what may come next.
	first, left := time.Duration(1<<63-1), false
	for i := range s.calls {
		if c := &s.calls[i]; s.done[i] == 0 && !c.Unknown {
			first, left = min(first, c.End), true
		}
	}
	if !left {
		return true
	}
	for i := range s.calls {
		c := &s.calls[i]
		if c.Begin > first {
			break
		}
		if s.done[i] != 0 {
			continue
		}
		if next := after(state, c); next != 0 {
			s.done[i] = 1
			if s.from(next) {
				return true
			}
			s.done[i] = 0
		}
	}
	return false
}
