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

// none is the age of a stamp that is none: none was ever given, or it is so old that it is never of use again, so that the states of all times
// are finitely many.
const none int8 = -1

// Config is how much is searched, and which rules hold. Lease, Late and Grace are in ticks.
type Config struct {
	Lease, Late, Grace, Attempts int8
	// Without leaves out a rule: "stamp" obeys late orders, "mark" forgets what was stopped or has lapsed, "over" begins the next attempt before
	// the one before is over, "follow" has masters hear servers on that were followed, which is Linger. Empty: none.
	Without string
}

// set has a bit for each server.
type set uint8

func (s set) has(i int8) bool { return s>>i&1 == 1 }

func (s set) with(i int8) set { return s | 1<<i }

// state is a state of everything; the names are those of the specification, with ages in the place of times.
type state struct {
	heard, runs, mark, got [servers]int8
	said                   [servers]uint8 // a bit for each age
	lost, ended, over      set
	attempt                int8
	on                     [maxAttempts + 1]set
	stamp                  [maxAttempts + 1][servers]int8
	asked                  bool
}

func initial() (s state) {
	for i := range servers {
		s.heard[i] = none
	}
	for a := range s.stamp {
		s.stamp[a] = [servers]int8{none, none}
	}
	return s
}

// newer reports whether a stamp of one age is newer than one of another.
func newer(a, b int8) bool { return a >= 0 && (b < 0 || a < b) }

// older is a stamp a tick later, of which nothing is asked any more from an age on.
func older(stamp, limit int8) int8 {
	if stamp < 0 || stamp+1 >= limit {
		return none
	}
	return stamp + 1
}

func (c *Config) next(s *state, add func(action string, i int8, t state)) {
	add("Tick", none, c.tick(*s))
	t := *s
	if t.asked = true; s.over != s.on[s.attempt] && !s.asked {
		add("AskStop", none, t)
	}
	t = *s
	t.got = [servers]int8{}
	add("Follow", none, t)
	for where := set(1); where < 1<<servers; where++ {
		t := *s
		if (s.over == s.on[s.attempt] || c.Without == "over") && s.attempt < c.Attempts && where&s.lost == 0 {
			t.attempt++
			t.on[t.attempt], t.over, t.ended, t.asked = where, 0, 0, false
			add("Begin", int8(where), t)
		}
	}
	for i := range int8(servers) {
		c.talk(s, i, add)
		c.lives(s, i, add)
		for a := int8(1); a <= s.attempt; a++ {
			c.stop(s, a, i, add)
			c.arrive(s, a, i, add)
		}
	}
}

func (c *Config) tick(t state) state {
	for i := range servers {
		t.heard[i] = older(t.heard[i], c.Lease+c.Late)
		t.said[i] = t.said[i] << 1 & (1<<c.Lease - 1)
		t.got[i] = min(t.got[i]+1, c.Grace+1)
		if t.heard[i] < 0 {
			c.dies(&t, int8(i))
		}
	}
	for a := range t.stamp {
		for i := range t.stamp[a] {
			t.stamp[a][i] = older(t.stamp[a][i], c.Lease)
		}
	}
	return t
}

func (c *Config) dies(t *state, i int8) {
	if c.Without != "mark" {
		t.mark[i] = max(t.mark[i], t.runs[i])
	}
	t.runs[i] = 0
}

// lives is Die, Lose and Stopped of a server.
func (c *Config) lives(s *state, i int8, add func(string, int8, state)) {
	t := *s
	if s.runs[i] != 0 {
		c.dies(&t, i)
		add("Die", i, t)
	}
	t = *s
	if !s.lost.has(i) && s.got[i] > c.Grace {
		t.lost, t.over = s.lost.with(i), s.over|set(0).with(i)&s.on[s.attempt]
		add("Lose", i, t)
	}
	t = *s
	if s.ended.has(i) && !s.over.has(i) {
		t.over = s.over.with(i)
		add("Stopped", i, t)
	}
}

// talk is Answer, Question and Order of a server.
func (c *Config) talk(s *state, i int8, add func(string, int8, state)) {
	for age := none; age < c.Lease; age++ {
		t := *s
		if age >= 0 {
			t.said[i] |= 1 << age
		}
		if c.Without == "follow" {
			add("Linger", i, t)
		}
		t.got[i], t.lost = 0, s.lost&^set(0).with(i)
		add("Answer", i, t)
	}
	for age := range c.Lease {
		if s.said[i]>>age&1 == 0 {
			continue
		}
		t := *s
		if newer(age, s.heard[i]) {
			t.heard[i] = age
			add("Question", i, t)
		}
		t = *s
		if (s.on[s.attempt] &^ (s.over | s.lost)).has(i) && newer(age, s.stamp[s.attempt][i]) {
			t.stamp[s.attempt][i] = age
			add("Order", i, t)
		}
	}
}

func (c *Config) arrive(s *state, a, i int8, add func(string, int8, state)) {
	for age := range c.Lease {
		known := s.said[i]>>age&1 == 1 && (c.Without == "stamp" || !newer(age, s.stamp[a][i]))
		if !known || !s.on[a].has(i) || s.mark[i] >= a || s.runs[i] >= a {
			continue
		}
		t := *s
		t.runs[i], t.mark[i] = a, a-1
		if newer(age, s.heard[i]) {
			t.heard[i] = age
		}
		add("Arrive", i, t)
	}
}

func (c *Config) stop(s *state, a, i int8, add func(string, int8, state)) {
	if !s.on[a].has(i) || a == s.attempt && !s.asked {
		return
	}
	t := *s
	if a == s.attempt {
		t.ended = s.ended.with(i)
	}
	if c.Without != "mark" {
		t.mark[i] = max(s.mark[i], a)
	}
	if s.runs[i] <= a {
		t.runs[i] = 0
	}
	add("Stop", i, t)
}

// twice reports whether the job runs twice.
func (s *state) twice() bool { return s.runs[0] != 0 && s.runs[1] != 0 && s.runs[0] != s.runs[1] }

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
