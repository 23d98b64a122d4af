// This file tests the bounds on completions: their order, when they end, and what is learnt from a proof.

package schedule

import (
	"slices"
	"testing"

	"github.com/apportion/apportion/internal/must"
)

// Completions come best bound first; of equal bounds the earliest, then the latest, and those that pay nothing not at all.
func TestRank(t *testing.T) {
	p := &Problem{Work: 1, Shortest: 1, Values: []float64{10, 10, 9, 9, 5, 3}}
	for _, test := range []struct {
		lower []float64
		want  []int
	}{
		{[]float64{8, 4, 4, 1, 1, 1}, []int{3, 1, 2, 4, 5, 0}},
		{[]float64{5, 5, 4, 4, 0, inf}, []int{0, 4, 3, 2, 1}},
		{[]float64{10, 10, 9, 9, 5, 3}, nil},
		{[]float64{10, 9, 9, 8.5, 5, 3}, []int{1, 3}},
	} {
		b := &Search{}
		for _, lower := range test.lower {
			b.bounds = append(b.bounds, bound{lower: lower, proven: lower})
		}
		b.rank(p)
		var got []int
		for _, c := range b.orders {
			got = append(got, c.last)
		}
		must.Same(t, got, test.want, "bounds", test.lower, "visited in the order")
	}
}

// What no schedule that ends by a slot goes below, none that ends earlier goes below either; nothing is unlearnt.
func TestProve(t *testing.T) {
	b := &Search{bounds: []bound{{proven: 5}, {proven: 1}, {proven: 2}, {proven: 1}}}
	b.prove(2, 3)
	for s, want := range []float64{5, 3, 3, 1} {
		must.Equal(t, b.bounds[s].proven, want, "slot", s)
	}
}

// The search asks for no slot after the last that can pay: where even the lowest prices cost more than what a schedule
// found by then leaves, or more than the job is worth.
func TestCollectEnds(t *testing.T) {
	tables := make([][]float64, 50)
	for s := range tables {
		tables[s] = []float64{0, 1, 2, 3}
	}
	values := func(fall float64) []float64 {
		var out []float64
		for s := range tables {
			out = append(out, max(0, 20-fall*float64(s)))
		}
		return out
	}
	for _, test := range []struct {
		name        string
		fall, floor float64
		most        int
	}{
		{"falls by one a slot", 1, 6, 4},
		{"does not fall, and the floor is not known", 0, 0, 50},
		{"does not fall, and the floor is what it costs", 0, 6, 3},
		{"falls at once", 15, 6, 3},
	} {
		source := &counted{listed: listed{tables: tables}}
		b := &Search{Limit: DefaultMaxCells}
		p := &Problem{Work: 6, Shortest: 2, Values: values(test.fall), Floor: test.floor, Servers: ratio{1, 1}}
		got, err := b.Find(p, source)
		if err != nil || len(source.budgets) > test.most {
			t.Errorf("%s: %d slots asked for, %v", test.name, len(source.budgets), err)
		}
		if got.Status == Best && got.Last != 1 || got.Status != Best && test.fall < 15 {
			t.Errorf("%s: %+v, want completion in slot 1", test.name, got)
		}
		for _, budget := range source.budgets {
			must.Equal(t, budget, p.best(), test.name, "a budget of", "for a job worth")
		}
	}
}

// Storage is kept from one problem to the next, and nothing of the one before is left in an answer.
func TestSearchAgain(t *testing.T) {
	b := &Search{Limit: DefaultMaxCells}
	for round := range 3 {
		for seed := range uint64(200) {
			p, tables := drawProblem(fromSeed(seed))
			fresh := &Search{Limit: DefaultMaxCells}
			want, errWant := fresh.Find(p, &listed{tables: tables})
			got, err := b.Find(p, &listed{tables: tables})
			if err != nil || errWant != nil || got.Status != want.Status || got.Last != want.Last || got.Value != want.Value || got.Cost != want.Cost || !slices.Equal(got.Units, want.Units) {
				t.Fatalf("round %d, seed %d: %+v, %v, want %+v, %v", round, seed, got, err, want, errWant)
			}
		}
	}
}
