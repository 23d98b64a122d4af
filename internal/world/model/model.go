// Package model searches all states of the run protocol, as checkpoint/RUN.tla declares it: that file says what each action means. Each is
// written a second time, in Go, so that the search needs no Java. Where TLC is there, a test asks it for the same.
package model

// This file implements the actions and the search.

import (
	"fmt"
	"slices"
)

const (
	servers     = 2
	maxAttempts = 3
)

// Ages of stamps that are none: none was ever given, or it is older than a lease. What is older than that is never of use again, so that the
// states of all times are finitely many.
const (
	none int8 = -1
	dead int8 = -2
)

// Config is how much is searched, and which rules hold. Grace and Lease are in ticks.
type Config struct {
	Lease, Grace, Attempts int8
	// Without leaves out a rule: "stamp" obeys late orders, "mark" forgets what was stopped or has lapsed, "over" begins the next attempt before
	// the one before is over. Empty: none.
	Without string
}

// state is a state of everything; the names are those of the specification, with ages in the place of times.
type state struct {
	heard, runs, mark, known, got [servers]int8
	said                          [servers]uint8 // a bit for each age
	lost                          [servers]bool
	attempt                       int8
	server, stamp                 [maxAttempts + 1]int8 // of each order
	asked, ended, over            bool
}

func initial() state {
	s := state{over: true}
	for i := range servers {
		s.heard[i], s.known[i] = none, none
	}
	for a := range s.stamp {
		s.stamp[a] = none
	}
	return s
}

// newer returns the newer of two stamps.
func newer(a, b int8) int8 {
	switch {
	case a < 0:
		return b
	case b < 0:
		return a
	}
	return min(a, b)
}

// older is a stamp a tick later.
func (c *Config) older(stamp int8) int8 {
	switch {
	case stamp < 0:
		return stamp
	case stamp+1 < c.Lease:
		return stamp + 1
	}
	return dead
}

func (c *Config) next(s *state, add func(action string, i int8, t state)) {
	add("Tick", none, c.tick(*s))
	for i := range int8(servers) {
		c.talk(s, i, add)
	}
	for a := int8(1); a <= s.attempt; a++ {
		c.arrive(s, a, add)
	}
	c.stop(s, add)
	t := *s
	t.known, t.got = [servers]int8{none, none}, [servers]int8{}
	add("Follow", none, t)
}

func (c *Config) tick(t state) state {
	for i := range servers {
		t.heard[i], t.known[i] = c.older(t.heard[i]), c.older(t.known[i])
		t.said[i] = t.said[i] << 1 & (1<<c.Lease - 1)
		t.got[i] = min(t.got[i]+1, c.Grace+1)
		if t.heard[i] < 0 {
			if c.Without != "mark" {
				t.mark[i] = max(t.mark[i], t.runs[i])
			}
			t.runs[i] = 0
		}
	}
	for a := range t.stamp {
		t.stamp[a] = c.older(t.stamp[a])
	}
	return t
}

// talk is Answer, Question, Lose and Begin of a server.
func (c *Config) talk(s *state, i int8, add func(string, int8, state)) {
	for age := dead; age < c.Lease; age++ {
		// An answer of long ago may come late.
		if age == none || s.known[i] >= 0 && (age < 0 || age > s.known[i]) {
			continue
		}
		t := *s
		t.known[i], t.got[i], t.lost[i] = age, 0, false
		if age >= 0 {
			t.said[i] |= 1 << age
		}
		add("Answer", i, t)
	}
	for age := range c.Lease {
		if s.said[i]>>age&1 == 1 && (s.heard[i] < 0 || age < s.heard[i]) {
			t := *s
			t.heard[i] = age
			add("Question", i, t)
		}
	}
	if !s.lost[i] && s.got[i] > c.Grace {
		t := *s
		t.lost[i], t.over = true, s.over || s.attempt > 0 && s.server[s.attempt] == i
		add("Lose", i, t)
	}
	if (s.over || c.Without == "over") && s.attempt < c.Attempts && !s.lost[i] && s.known[i] != none {
		t := *s
		t.attempt++
		t.server[t.attempt], t.stamp[t.attempt] = i, s.known[i]
		t.over, t.asked, t.ended = false, false, false
		add("Begin", i, t)
	}
}

func (c *Config) arrive(s *state, a int8, add func(string, int8, state)) {
	i := s.server[a]
	heard := newer(s.heard[i], s.stamp[a])
	fresh := s.stamp[a]
	if c.Without == "stamp" {
		fresh = heard
	}
	if s.mark[i] >= a || s.runs[i] >= a || fresh < 0 {
		return
	}
	t := *s
	t.runs[i], t.heard[i], t.mark[i] = a, heard, a-1
	add("Arrive", a, t)
}

// stop is AskStop, Stop and Stopped.
func (c *Config) stop(s *state, add func(string, int8, state)) {
	t := *s
	switch {
	case !s.over && !s.asked:
		t.asked = true
		add("AskStop", none, t)
	case s.asked && !s.ended:
		i := s.server[s.attempt]
		t.ended = true
		if c.Without != "mark" {
			t.mark[i] = max(s.mark[i], s.attempt)
		}
		if s.runs[i] <= s.attempt {
			t.runs[i] = 0
		}
		add("Stop", none, t)
	case s.asked && !s.over:
		t.over = true
		add("Stopped", none, t)
	}
}

// twice reports whether the job runs twice.
func (s *state) twice() bool { return s.runs[0] != 0 && s.runs[1] != 0 }

// Search looks at every state that can be reached, breadth first, and returns how many there are, and the actions to the first in which the
// job runs twice; nil: there is none. O(states).
func (c *Config) Search() (states int, twice []string) {
	queue, before := []state{initial()}, []int{0}
	reached := map[state]bool{queue[0]: true}
	for at := 0; at < len(queue); at++ {
		bad := -1
		c.next(&queue[at], func(_ string, _ int8, t state) {
			if !reached[t] {
				reached[t] = true
				queue, before = append(queue, t), append(before, at)
				if t.twice() {
					bad = len(queue) - 1
				}
			}
		})
		if bad >= 0 {
			return len(queue), c.path(queue, before, bad)
		}
	}
	return len(queue), nil
}

func (c *Config) path(queue []state, before []int, to int) (actions []string) {
	for ; to > 0; to = before[to] {
		found := ""
		c.next(&queue[before[to]], func(action string, i int8, t state) {
			if t == queue[to] && found == "" {
				found = action
				if i >= 0 {
					found = fmt.Sprintf("%s(%d)", action, i)
				}
			}
		})
		actions = append(actions, found)
	}
	slices.Reverse(actions)
	return actions
}
