// This file tests what Sia lets a job have, and what that costs, [Jayaram23] §3.3.

package schedulers

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/worth"
)

// numbers returns the numbers of containers of configurations on a type.
func numbers(all []configuration, kind int) (n []int64) {
	for _, c := range all {
		if c.kind == kind {
			n = append(n, c.n)
		}
	}
	return n
}

// Reference: [Jayaram23] §3.2: powers of two up to a server, then whole servers, of one type, from the least number on.
func TestPaperConfigurations(t *testing.T) {
	for _, test := range []struct {
		min, max int64
		v, k     []int64
	}{
		{1, 100, []int64{1, 2, 4, 8, 12}, []int64{1, 2, 4, 6}},
		{1, 5, []int64{1, 2, 4}, []int64{1, 2, 4}},
		{3, 100, []int64{4, 8, 12}, []int64{4, 6}},
		{0, 2, []int64{1, 2}, []int64{1, 2}},
		{13, 100, nil, nil},
	} {
		all := servers(4, "v", "v", "k", "v")
		all[2].Capacity = apportion.Resources{6}
		j := job("a", 0, 100, test.max, test.max)
		j.Min = test.min
		state := at(scenario(all, j), 0, map[string][]apportion.Placement{"a": nil})
		p := &Sia{}
		p.book = *opened(t, state)
		got := p.configurations(state, 0)
		// Six on one server are a whole server, although six is no power of two.
		if v, k := numbers(got, 0), numbers(got, 1); !slices.Equal(v, test.v) || !slices.Equal(k, test.k) {
			t.Errorf("from %d to %d: %v and %v, want %v and %v", test.min, test.max, v, k, test.v, test.k)
		}
	}
}

// Reference: [Jayaram23] §3.3: g^-1/2 by the speed in parts of the least one; for a job that runs, every configuration but
// its own counts for less by the price of a restart.
func TestPaperCosts(t *testing.T) {
	all := servers(2, "fast", "slow")
	s := scenario(all, fasterOn(job("a", 40, 1000, 1, 2), all, map[string]float64{"fast": 8, "slow": 2})) // its life begins at 40 s
	s.AdjustCost = 30 * time.Second
	restart := worth.Restart(90*time.Second, 30*time.Second, 1)
	if restart != 0.5 { // (90 - 30)/(90 + 30)
		t.Fatalf("a restart leaves %g", restart)
	}
	for _, test := range []struct {
		name string
		on   []apportion.Placement
		want [4]float64 // gains of one and two on the fast one, one and two on the slow one
	}{
		{"waits", nil, [4]float64{4, 8, 1, 2}},
		{"runs on the fast one", on(0, 1), [4]float64{4, 4, 0.5, 1}},
		{"runs with two on the slow one", on(1, 2), [4]float64{2, 4, 0.5, 2}},
	} {
		state := at(s, 130, map[string][]apportion.Placement{"a": test.on})
		p := &Sia{}
		p.book = *opened(t, state)
		p.book.jobs["a"].restarts = 1
		for i, c := range p.configurations(state, 0) {
			if want := 1 / math.Sqrt(test.want[i]); math.Abs(c.cost-want) > 1e-9 {
				t.Errorf("%s, %d on type %d: cost %g, want %g", test.name, c.n, c.kind, c.cost, want)
			}
		}
	}
}
