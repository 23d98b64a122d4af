// This file tests Gavel's program against all divisions of time on a grid, and its rounds, [Narayanan20] §4.1, §5.

package schedulers

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
)

// Reference: [Narayanan20] §4.1: throughput(m, equal) is that of a job on every type for as much of the time as the type
// has of all its containers: on two of speed 3 and six of speed 1 it is (2 x 3 + 6 x 1)/8.
func TestPaperEqual(t *testing.T) {
	all := servers(2, "fast", "slow", "slow", "slow")
	speeds := map[string]float64{"fast": 3, "slow": 1}
	for _, test := range []struct {
		fixed int64
		want  float64
	}{{1, 1.5}, {2, 3}, {3, 3 * 6. / 8}, {7, 0}} { // three are on the slow ones only, and seven on none
		s := scenario(all, fasterOn(job("a", 0, 100, test.fixed, 8), all, speeds))
		state := at(s, 0, map[string][]apportion.Placement{"a": nil})
		p := &Gavel{}
		p.book = *opened(t, state)
		if got := p.equal(state, &state.Jobs[0]); math.Abs(got-test.want) > 1e-6 || got <= 0 {
			t.Errorf("%d containers: %g, want %g", test.fixed, got, test.want)
		}
	}
}

// On one fast and one slow accelerator two jobs gain the most that any division of their times gives the one that gains
// least: times in twentieths are tried all.
func TestGavelTwin(t *testing.T) {
	const steps = 20
	all := servers(1, "fast", "slow")
	for _, ratios := range [][2]float64{{3, 3}, {5, 1}, {1, 1}, {8, 1.5}, {2, 4}, {0.5, 3}} {
		speeds := func(i int) map[string]float64 { return map[string]float64{"fast": ratios[i], "slow": 1} }
		s := scenario(all, fasterOn(job("a", 0, 100, 1, 1), all, speeds(0)), fasterOn(job("b", 0, 100, 1, 1), all, speeds(1)))
		state := at(s, 0, map[string][]apportion.Placement{"a": nil, "b": nil})
		p := &Gavel{}
		p.book = *opened(t, state)
		must.Do(t, p.solve(t.Context(), state))
		gain := func(i int, fast, slow float64) float64 { return (fast*ratios[i] + slow) / ((ratios[i] + 1) / 2) }
		a, b := p.parts["a"], p.parts["b"]
		for _, x := range [][2]float64{{a[0] + a[1], 1}, {b[0] + b[1], 1}, {a[0] + b[0], 1}, {a[1] + b[1], 1}} {
			if x[0] > x[1]+1e-9 {
				t.Errorf("%v: parts %v and %v", ratios, a, b)
			}
		}
		got, most := min(gain(0, a[0], a[1]), gain(1, b[0], b[1])), 0.0
		for i := range (steps + 1) * (steps + 1) {
			x, y := float64(i%(steps+1))/steps, float64(i/(steps+1))/steps // of a on the fast and on the slow one
			if x+y <= 1 {
				most = max(most, min(gain(0, x, y), gain(1, min(1-x, 1), min(1-y, x)))) // b takes what is left, in 1 of its time
			}
		}
		if got < most-2e-3 {
			t.Errorf("%v: the least gain is %g with %v and %v, %g is possible", ratios, got, a, b, most)
		}
	}
}

// Time with four containers counts twice as much as time with two: of four the two jobs have a half and all of the time.
func TestGavelCountsContainers(t *testing.T) {
	s := scenario(servers(4, "v"), job("a", 0, 100, 4, 4), job("b", 0, 100, 2, 4))
	state := at(s, 0, map[string][]apportion.Placement{"a": nil, "b": nil})
	p := &Gavel{}
	p.book = *opened(t, state)
	if err := p.solve(t.Context(), state); err != nil || math.Abs(p.parts["a"][0]-0.5) > 1e-2 || math.Abs(p.parts["b"][0]-1) > 1e-2 {
		t.Errorf("parts %v, %v", p.parts, err)
	}
}

// Those come first that are behind most: who has had nothing of what it is due, then by part times age over time had; a
// part of nothing is no turn. Equals are in the order of submission.
func TestTurns(t *testing.T) {
	s := scenario(servers(1, "v", "k"), job("a", 0, 100, 1, 1), job("b", 0, 100, 1, 1), job("c", 60, 100, 1, 1))
	state := at(s, 100, map[string][]apportion.Placement{"a": nil, "b": nil, "c": nil})
	p := &Gavel{parts: map[string][]float64{"a": {0.5, 0.5}, "b": {0.25, 0}, "c": {0.25, 0.5}}}
	p.book = *opened(t, state)
	for id, had := range map[string][]float64{"a": {50, 25}, "b": {50, 50}, "c": {0, 5}} {
		p.book.jobs[id].on = had
	}
	got := ""
	for _, turn := range p.turns(state) {
		got += fmt.Sprintf("%s on %d: %g\n", s.Jobs[turn.job].ID, turn.kind, turn.behind)
	}
	must.Equal(t, got, "c on 0: +Inf\nc on 1: 4\na on 1: 2\na on 0: 1\nb on 0: 0.5\n")
}

// A round lasts what was asked for, and at least four times what a change costs. Within it nobody is moved, and who comes
// takes what is free.
func TestRounds(t *testing.T) {
	for _, test := range []struct{ round, cost, want time.Duration }{
		{0, 0, defaultRound}, {time.Minute, 0, time.Minute}, {time.Minute, 10 * time.Second, time.Minute},
		{time.Minute, 20 * time.Second, 80 * time.Second}, {0, 2 * time.Minute, 8 * time.Minute},
	} {
		s := scenario(servers(2, ""), job("a", 0, 9000, 1, 2), job("b", 0, 9000, 2, 2), job("c", 0, 9000, 1, 2))
		s.AdjustCost = test.cost
		p := &Gavel{round: test.round}
		first, err := p.Decide(t.Context(), at(s, 0, map[string][]apportion.Placement{"a": nil}))
		if err != nil || first.Next != test.want || fmt.Sprint(first.Places) != "[{a [{0 1}] [] }]" {
			t.Errorf("%v: %+v, %v", test, first, err)
		}
		within, err := p.Decide(t.Context(), at(s, 1, map[string][]apportion.Placement{"a": on(0, 1), "b": nil, "c": nil}))
		if err != nil || within.Next != test.want || fmt.Sprint(within.Places) != "[{c [{0 1}] [] }]" {
			t.Errorf("%v, within the round: %+v, %v", test, within, err)
		}
		// At its end b has had nothing, and runs.
		after, err := p.Decide(t.Context(), at(s, test.want.Seconds(), map[string][]apportion.Placement{"a": on(0, 1), "b": nil, "c": on(0, 1)}))
		if err != nil || after.Next != 2*test.want || fmt.Sprint(after.Places) != "[{b [{0 2}] [] } {a [] [] } {c [] [] }]" {
			t.Errorf("%v, after the round: %+v, %v", test, after, err)
		}
	}
}
