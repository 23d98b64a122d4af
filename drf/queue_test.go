// This file tests the heap of sorters against a sorted list, operation by operation, with its invariants, and that of vessels.

package drf

import (
	"cmp"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
)

// heapClient returns a client of a cluster of 100 that holds so much.
func heapClient(id string, weight float64, held int64) *Client {
	c := newClient(id, weight, apportion.Resources{held})
	c.rate(apportion.Resources{100}, nil)
	return &c
}

// checkHeap holds a queue to its promises: everybody knows its place, nobody comes before its parent, and the level and the rank beside
// each client are its own.
func checkHeap(t *testing.T, g *group, what string) {
	t.Helper()
	list := g.rest.list
	for i := root; i < len(list); i++ {
		c := g.clients[list[i].slot]
		must.Equal(t, int(g.places[c.slot]), i, what, c.id, "is at", "and believes to be at", g.places[c.slot])
		must.Equal(t, list[i], c.entry(), what, c.id, "its entry")
		if up := i/4 + 2; i > root && g.before(&list[i], &list[up]) {
			t.Fatalf("%s: %s comes before %s, which is above it", what, c.id, g.clients[list[up].slot].id)
		}
	}
}

// newHeap returns a queue of the tree without children.
func newHeap() *group {
	g := new(group)
	g.rest.mark = 2
	return g
}

// byLevel is the order of the twin: exact fractions of a hundred, which small weights of powers of two leave exact, then IDs.
func byLevel(a, b *Client) int {
	return cmp.Or(cmp.Compare(float64(a.held[0])/a.weight, float64(b.held[0])/b.weight), cmp.Compare(a.id, b.id))
}

// Random pushes, removals and changes leave a heap whose sorted form is the sorted list of those that are in it, while clients
// come and go with names before, between and after those of others.
func TestHeapAgainstList(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 31))
	for n := range 60 {
		g := newHeap()
		var all []*Client
		born := func() {
			c := heapClient(fmt.Sprintf("c%04d", rng.IntN(10_000)), []float64{0.5, 1, 2, 4, 1 << 60, 3e-40}[rng.IntN(4+n%3)], rng.Int64N(8))
			if slices.ContainsFunc(all, func(other *Client) bool { return other.id == c.id }) {
				return
			}
			c.parent = g
			g.enlist(c)
			all = append(all, c)
		}
		for len(all) < 25 {
			born()
		}
		for step := range 160 {
			c := all[rng.IntN(len(all))]
			switch {
			case g.places[c.slot] < 0 && rng.IntN(3) == 0:
				all = slices.DeleteFunc(all, func(other *Client) bool { return other == c })
				g.strike(c)
				born()
			case g.places[c.slot] < 0:
				g.push(&g.rest, c)
			case rng.IntN(3) == 0:
				g.remove(&g.rest, c)
				if g.places[c.slot] >= 0 {
					t.Fatalf("%d: %s is out and believes to be at %d", n, c.id, g.places[c.slot])
				}
			default:
				c.held[0] = rng.Int64N(8)
				c.rate(apportion.Resources{100}, nil)
				g.fix(&g.rest, c)
			}
			checkHeap(t, g, fmt.Sprint("run ", n, ", step ", step))
			var want []*Client
			for _, c := range all {
				if g.places[c.slot] >= 0 {
					want = append(want, c)
				}
			}
			slices.SortFunc(want, byLevel)
			if g.rest.size() != len(want) || len(want) > 0 && g.top() != want[0] {
				t.Fatalf("%d, %d: %d in the heap, %d in the list", n, step, g.rest.size(), len(want))
			}
			// Now and then, after few changes and after many, the order is asked for; the heap stays one.
			if step%40 > 10 && rng.IntN(10) > 0 {
				continue
			}
			sorted := g.inOrder(&g.rest)
			for i := range want {
				if len(sorted) != len(want) || g.clients[sorted[i].slot] != want[i] {
					t.Fatalf("%d, %d: %s at %d of %d, want %s of %d", n, step, g.clients[sorted[i].slot].id, i, len(sorted), want[i].id, len(want))
				}
			}
		}
	}
}

// A heap that is made of a list in any order, after all levels have changed at once.
func TestHeapify(t *testing.T) {
	for n := range 40 {
		g := newHeap()
		for i := range n {
			c := heapClient(fmt.Sprint("c", i), 1, int64(i))
			g.enlist(c)
			g.push(&g.rest, c)
		}
		for i, c := range g.clients {
			c.held[0] = int64((i * 37) % 41)
			c.rate(apportion.Resources{100}, nil)
		}
		g.heapify(&g.rest)
		checkHeap(t, g, fmt.Sprint(n, " clients"))
	}
}

// Who is not in the heap is neither removed nor fixed.
func TestHeapWithout(t *testing.T) {
	g := newHeap()
	in, out := heapClient("in", 1, 1), heapClient("out", 1, 0)
	g.enlist(in)
	g.enlist(out)
	g.push(&g.rest, in)
	g.remove(&g.rest, out)
	g.fix(&g.rest, out)
	if g.rest.size() != 1 || g.top() != in || g.places[out.slot] != -1 {
		t.Errorf("%d in the heap, out at %d", g.rest.size(), g.places[out.slot])
	}
	checkHeap(t, g, "one client")
}

// Levels are rounded to the nearest float, and equal ones that tell so are equal.
func TestLevelRounded(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	number := func() int64 { return 1 + rng.Int64()>>[]int{58, 38, 11, 10, 9, 0}[rng.IntN(6)] }
	for range 20_000 {
		weight := []float64{1, 2, 3, .5, .1, MinWeight, MaxWeight, 1 + rng.Float64()}[rng.IntN(8)]
		a := level{number(), number(), newRatio(weight)}
		exact := new(big.Rat).Quo(big.NewRat(a.amount, a.total), new(big.Rat).SetFloat64(weight))
		want, _ := exact.Float64()
		got, tells := a.rounded(weight)
		must.Equal(t, got, want, a, "rounds to")
		// A neighbour is the same float more often than not where numbers are large.
		b := a
		b.amount, b.total = max(1, a.amount+rng.Int64N(2)), max(1, a.total-rng.Int64N(2))
		if other, alike := b.rounded(weight); other == got && tells && alike && compareLevels(&a, &b) != 0 {
			t.Fatalf("%v and %v are both %.17g", a, b, got)
		}
	}
}

// Where the exact level lies in the middle between two floats, the even one is taken, whichever way it is found.
func TestLevelInTheMiddle(t *testing.T) {
	for middle := int64(1<<53 + 1); middle < 1<<53+4000; middle += 2 {
		for _, by := range []int64{1, 3, 7} {
			l := level{middle * by * 5, by, newRatio(5)}
			if got, tells := l.rounded(5); got != float64(middle) || tells {
				t.Fatalf("%d rounds to %.17g, want %.17g", middle, got, float64(middle))
			}
		}
	}
}

// Property: whatever comes, goes and changes, a heap of vessels has the least first, and knows the place of each.
func TestPropVesselHeap(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 0))
		h := vesselHeap{byDue: seed%2 == 0}
		draw := func(v *vessel) { *h.key(v) = clock{hi: float64(r.IntN(20))} }
		for step := range 100 {
			switch n := len(h.list); {
			case n == 0 || r.IntN(3) == 0:
				v := &vessel{position: step}
				draw(v)
				h.push(v)
			case r.IntN(2) == 0:
				v := h.list[r.IntN(n)]
				draw(v)
				h.fix(v)
			default:
				h.remove(h.list[r.IntN(n)])
			}
			for at, v := range h.list {
				if v.place != at || h.before(v, h.list[0]) {
					t.Fatalf("seed %d, step %d: the vessel at %d knows %d, and is before the first: %v", seed, step, at, v.place, h.before(v, h.list[0]))
				}
			}
		}
	}
}
