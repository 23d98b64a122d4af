package pattern

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
)

// patternsByTrial lists the maximal patterns of left, with at most most of a type, by trying everything.
func patternsByTrial(p *problem.Problem, left, most []int64) [][]int32 {
	var all, maximal [][]int32
	var try func(t int, left []int64, count []int32)
	try = func(t int, left []int64, count []int32) {
		if t == len(p.Types) {
			all = append(all, slices.Clone(count))
			return
		}
		rest := slices.Clone(left)
		for n := int32(0); slices.Min(append(rest, 0)) >= 0 && int64(n) <= most[t]; n++ {
			try(t+1, rest, append(count, n))
			for k, q := range p.DemandOf(int32(t)) {
				rest[k] -= q
			}
		}
	}
	try(0, left, nil)
	for _, c := range all {
		within := func(o []int32) bool {
			for t := range c {
				if o[t] < c[t] {
					return false
				}
			}
			return !slices.Equal(o, c)
		}
		if !slices.ContainsFunc(all, within) {
			maximal = append(maximal, c)
		}
	}
	return maximal
}

// The patterns of a class are all maximal ones, each once, whatever residual came first.
func TestPatternsAgainstTrial(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := problem.New(instancetest.Tiny(draws(t)))
		ps := NewLists(p, MostPatterns)
		most := make([]int64, len(p.Types))
		capped := rapid.Bool().Draw(t, "capped")
		if capped {
			ps = ps.Capped()
		}
		for at := range most {
			most[at] = math.MaxInt64
			if capped {
				most[at] = 0
				for _, i := range p.Types[at].Members {
					most[at] += p.Apps[i].Max
				}
			}
		}
		for range 5 {
			left := make([]int64, p.Kinds)
			for k := range left {
				left[k] = rapid.Int64Range(0, 7).Draw(t, "left")
			}
			g := ps.classOf(left)
			var got [][]int32
			for q := range ps.Classes[g].Size {
				got = append(got, ps.Pattern(g, q))
			}
			want := patternsByTrial(p, left, most)
			if len(p.Types) == 0 {
				continue
			}
			slices.SortFunc(got, slices.Compare)
			slices.SortFunc(want, slices.Compare)
			if !slices.EqualFunc(got, want, slices.Equal) {
				t.Fatalf("left %v: patterns %v, want %v", left, got, want)
			}
		}
		if ps.classOf([]int64{-1, 0, 0}[:p.Kinds]) != NoClass {
			t.Fatal("a negative residual has a class")
		}
	})
}
