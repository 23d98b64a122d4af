package problem

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/solver"
)

// leastByTrial is the least loss of n containers among members, by trying everything.
func leastByTrial(p *Problem, members []int32, n int64) float64 {
	if len(members) == 0 {
		if n == 0 {
			return 0
		}
		return math.Inf(1)
	}
	best := math.Inf(1)
	a := &p.Apps[members[0]]
	for c := a.Min; c <= min(a.Max, n); c++ {
		best = math.Min(best, p.Loss(members[0], c)+leastByTrial(p, members[1:], n-c))
	}
	return best
}

// pooled draws a problem of one type with some members.
func pooled(t *rapid.T) (*Problem, []int32) {
	inst := alloctest.Table2(0, 2, 1, false)
	inst.Apps = inst.Apps[:0]
	for range rapid.IntRange(1, 4).Draw(t, "members") {
		app := solver.App{Demand: []int64{1, 0, 1}, Min: rapid.Int64Range(0, 3).Draw(t, "min")}
		app.Max = max(1, app.Min+rapid.Int64Range(0, 4).Draw(t, "more"))
		app.Share = float64(rapid.IntRange(0, 28).Draw(t, "share")) / 96 // quarters of a container
		if rapid.Bool().Draw(t, "running") {
			app.Cost = 1
			app.Running = true
			app.Previous = []apportion.Placement{{Server: 0, Count: rapid.Int64Range(1, 6).Draw(t, "held")}}
		}
		inst.Apps = append(inst.Apps, app)
	}
	p := New(instancetest.Finish(inst))
	return p, p.Types[0].Members
}

// G(n) is the least loss, and share attains it.
func TestPoolAgainstTrial(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, members := pooled(t)
		var q Pool
		for _, i := range members {
			q.Add(p, i)
		}
		for n := q.Min; n <= q.Max; n++ {
			want := leastByTrial(p, members, n)
			if got := q.At(p.Types[0].Delta, n); math.Abs(got-want) > 1e-9 {
				t.Fatalf("G(%d) = %g, want %g", n, got, want)
			}
			var loss float64
			var sum int64
			for m, c := range p.share(members, n) {
				loss += p.Loss(members[m], c)
				sum += c
				if a := &p.Apps[members[m]]; c < a.Min || c > a.Max {
					t.Fatalf("member %d gets %d", m, c)
				}
			}
			if sum != n || math.Abs(loss-want) > 1e-9 {
				t.Fatalf("share of %d: %d with loss %g, want %g", n, sum, loss, want)
			}
		}
		q.Remove(p, members[0])
		var rest Pool
		for _, i := range members[1:] {
			rest.Add(p, i)
		}
		if q.Min != rest.Min || q.Max != rest.Max || q.down != rest.down || !slices.Equal(q.slopes, rest.slopes) {
			t.Fatalf("after remove %+v, want %+v", q, rest)
		}
	})
}
