// This file tests what residents leave against freeing every set of them.

package problem

import (
	"math/bits"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/rapidtest"
)

// crowd draws two servers with up to four residents each that may stay.
func crowd(t *rapid.T) *Problem {
	inst := &solver.Instance{LossBudget: 9, AdjustBudget: 9, Capacity: []apportion.Resources{{9, 9}, {9, 9}}}
	for range rapid.IntRange(1, 4).Draw(t, "applications") {
		app := solver.App{Demand: apportion.Resources{rapid.Int64Range(0, 3).Draw(t, "cpu"), 1}, Max: 9, Running: true, Cost: 1}
		for j := range inst.Capacity {
			if n := rapid.Int64Range(0, 3).Draw(t, "held"); n > 0 {
				app.Previous = append(app.Previous, apportion.Placement{Server: j, Count: n})
			}
		}
		inst.Apps = append(inst.Apps, app)
	}
	return New(instancetest.Finish(inst))
}

// residualByTrial returns what a server has at most of one kind over all sets of residents that the choices and
// the budget let be free.
func residualByTrial(p *Problem, j, k int, choices []Choice, budget int64) int64 {
	most := int64(0)
	for set := range 1 << len(p.Residents[j]) {
		left, freed, allowed := p.Capacity[j*p.Kinds+k], int64(0), true
		for s, i := range p.Residents[j] {
			free := set>>s&1 != 0
			switch choices[i] {
			case Open:
				if free {
					freed++
				}
			case Kept:
				allowed = allowed && !free
			case Freed:
				allowed = allowed && free
			}
			if !free {
				left -= p.Holding[j][s] * p.DemandOf(p.Apps[i].Type)[k]
			}
		}
		if allowed && freed <= budget {
			most = max(most, left)
		}
	}
	return most
}

// The residual capacity is the most that any choice of whom to free leaves, kind by kind, and never negative.
func TestResidualCapacityAgainstTrial(t *testing.T) {
	crowded := 0
	rapidtest.Until(t, "no server had two residents", func() bool { return crowded > 0 }, func(t *rapid.T) {
		p := crowd(t)
		choices := make([]Choice, len(p.Apps))
		for i := range choices {
			choices[i] = rapid.SampledFrom([]Choice{Open, Open, Kept, Freed}).Draw(t, "choice")
		}
		budget := rapid.Int64Range(0, 3).Draw(t, "budget")
		got := make([]int64, len(p.Capacity))
		p.ResidualCapacity(got, choices, budget)
		for j := range p.Servers {
			if len(p.Residents[j]) > 1 {
				crowded++
			}
			for k := range p.Kinds {
				if want := residualByTrial(p, j, k, choices, budget); got[j*p.Kinds+k] != want {
					t.Fatalf("server %d has %d of kind %d, want %d", j, got[j*p.Kinds+k], k, want)
				}
			}
		}
		// Nobody has chosen: the same as if all were open.
		open := make([]int64, len(p.Capacity))
		p.ResidualCapacity(got, nil, budget)
		if p.ResidualCapacity(open, make([]Choice, len(p.Apps)), budget); !slices.Equal(got, open) {
			t.Fatalf("%v without choices, %v where all are open", got, open)
		}
	})
}

// What is left beside those that stay is the capacity less what they hold, which may be more than there is.
func TestResidualOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := crowd(t)
		left := make([]int64, p.Kinds)
		for j := range p.Servers {
			for set := range uint(1) << len(p.Residents[j]) {
				p.ResidualOf(left, j, func(s int, _ int32) bool { return set>>s&1 != 0 })
				for k := range p.Kinds {
					want := p.Capacity[j*p.Kinds+k]
					for rest := set; rest != 0; rest &= rest - 1 {
						s := bits.TrailingZeros(rest)
						want -= p.Holding[j][s] * p.DemandOf(p.Apps[p.Residents[j][s]].Type)[k]
					}
					if left[k] != want {
						t.Fatalf("server %d has %d of kind %d beside %b, want %d", j, left[k], k, set, want)
					}
				}
			}
		}
	})
}
