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

// Beyond what its members may have G goes on as it would: below their minima each missing container costs another delta. Where
// prices choose the number it is the best one between the bounds.
func TestPoolWantsTheBest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, members := pooled(t)
		q := Pool{Members: members}
		q.Rebuild(p)
		delta := p.Types[0].Delta
		for n := range q.Min {
			if got, want := q.At(delta, n), q.At(delta, q.Min)+delta*float64(q.Min-n); math.Abs(got-want) > 1e-9 {
				t.Fatalf("G(%d) = %g below a minimum of %d, want %g", n, got, q.Min, want)
			}
		}
		price, lambda := rapid.Float64Range(-0.1, 0.1).Draw(t, "price"), rapid.SampledFrom([]float64{0, 0.25, 1, 4}).Draw(t, "lambda")
		worth := func(n int64) float64 { return price*float64(n) - lambda*q.At(delta, n) }
		best := math.Inf(-1)
		for n := q.Min; n <= q.Max; n++ {
			best = math.Max(best, worth(n))
		}
		if n := q.Wanted(price, lambda, delta); n < q.Min || n > q.Max || worth(n) < best-1e-9 {
			t.Fatalf("%d of %d to %d are wanted, worth %g; the best is worth %g", n, q.Min, q.Max, worth(n), best)
		}
		// At a price that no container is worth, and at one that pays for any, the answer is at the ends.
		if lambda > 0 {
			if n := q.Wanted(-2*lambda*delta, lambda, delta); n != q.Min {
				t.Fatalf("%d are wanted at a loss, want %d", n, q.Min)
			}
			if n := q.Wanted(-lambda*delta, lambda, delta); n != q.Min {
				t.Fatalf("%d are wanted where they just do not pay, want %d", n, q.Min)
			}
		}
		if n := q.Wanted(2*lambda*delta+1, lambda, delta); n != q.Max {
			t.Fatalf("%d are wanted where all pay, want %d", n, q.Max)
		}
	})
}

// How far a number is from one that the only member may have agrees with asking about every number.
func TestPoolOfNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		app := solver.App{Min: rapid.Int64Range(0, 4).Draw(t, "min")}
		app.Max = max(1, app.Min+rapid.Int64Range(0, 5).Draw(t, "more"))
		app.Elective = rapid.Bool().Draw(t, "elective")
		switch rapid.IntRange(0, 2).Draw(t, "numbers") {
		case 0:
			app.Step = rapid.Int64Range(1, 3).Draw(t, "step")
		case 1:
			for n := max(1, app.Min); n <= app.Max; n++ {
				if n == app.Max || rapid.Bool().Draw(t, "allowed") {
					app.Counts = append(app.Counts, n)
				}
			}
		}
		for n := max(1, app.Min); n <= app.Max; n++ {
			if app.Allows(n) {
				app.Worth = append(app.Worth, float64(rapid.IntRange(-4, 8).Draw(t, "worth")))
			}
		}
		p := New(oneServer(app))
		own := p.Types[0].Own
		q := Pool{Members: p.Types[0].Members}
		q.Rebuild(p)
		for n := int64(0); n <= p.Apps[0].Max; n++ {
			q.Set(p.Types[0].Delta, n)
			below, above := int64(-1), int64(-1)
			for m := n; m >= 0 && below < 0; m-- {
				if own.Allows(m) {
					below = n - m
				}
			}
			for m := n; m <= own.Max && above < 0; m++ {
				if own.Allows(m) {
					above = m - n
				}
			}
			missing := below
			if below < 0 || above >= 0 && above < below {
				missing = above
			}
			if missing < 0 {
				missing = 1 // nothing is allowed: no number looks like a solution
			}
			missing = max(missing, p.Apps[0].Min-n)
			if got := q.Missing(); got != missing {
				t.Fatalf("%+v: %d are %d away, want %d", app, n, got, missing)
			}
			if got := q.Short(); got != max(0, above) {
				t.Fatalf("%+v: %d are short of %d, want %d", app, n, got, max(0, above))
			}
			if got := q.Over(); got != max(0, below) {
				t.Fatalf("%+v: %d are over by %d, want %d", app, n, got, max(0, below))
			}
			if own.Allows(n) && q.Extra != own.Extra(n) {
				t.Fatalf("%+v: %d are worth %g, want %g", app, n, q.Extra, own.Extra(n))
			}
		}
	})
}
