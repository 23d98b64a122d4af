// This file tests how containers by type become an allocation, on random incumbents.

package problem

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/rapidtest"
)

// drawIncumbent frees whom it must and some more, and puts containers of the types of the free on servers,
// between the minima and maxima of their pools; nil where a minimum is above its maximum.
func drawIncumbent(t *rapid.T, p *Problem) *Incumbent {
	inc := &Incumbent{Found: true, Free: make([]bool, len(p.Apps)), On: make([][]Slot, p.Servers)}
	pools := make([]Pool, len(p.Types))
	for i := range p.Apps {
		if p.Apps[i].Min > p.Apps[i].Max {
			return nil
		}
		if inc.Free[i] = !p.Apps[i].Pinnable || rapid.Bool().Draw(t, "free"); inc.Free[i] {
			pools[p.Apps[i].Type].Add(p, int32(i))
		}
	}
	for at := range pools {
		if len(pools[at].Members) == 0 {
			continue
		}
		left := rapid.Int64Range(pools[at].Min, pools[at].Max).Draw(t, "containers")
		for j := range p.Servers {
			n := left
			if j < p.Servers-1 {
				n = rapid.Int64Range(0, left).Draw(t, "here")
			}
			if left -= n; n > 0 {
				inc.On[j] = append(inc.On[j], Slot{int32(at), n})
			}
		}
	}
	return inc
}

// Whatever the incumbent: who stays has what it held, and the containers of every type are dealt where they are,
// within the bounds of each member, at the least loss that their number can have.
func TestDecodeAgainstPools(t *testing.T) {
	dealt := 0
	rapidtest.Until(t, "no type had two members", func() bool { return dealt > 0 }, func(t *rapid.T) {
		inst := instancetest.Tiny(draws(t))
		p := New(inst)
		inc := drawIncumbent(t, p)
		if inc == nil {
			t.Skip("a minimum has no room")
		}
		counts := p.Decode(inc)
		got := make([][]int64, p.Servers) // server, type: containers of the free
		for j := range got {
			got[j] = make([]int64, len(p.Types))
		}
		pools, loss := make([]Pool, len(p.Types)), make([]float64, len(p.Types))
		for i := range p.Apps {
			a := &p.Apps[i]
			if !inc.Free[i] {
				if inst.Apps[i].Adjusted(counts[i]) {
					t.Fatalf("application %d stays, but has %v", i, counts[i])
				}
				continue
			}
			n := solver.Containers(counts[i])
			if n < a.Min || n > a.Max {
				t.Fatalf("application %d has %d containers, of %d to %d", i, n, a.Min, a.Max)
			}
			pools[a.Type].Add(p, int32(i))
			pools[a.Type].N += n
			loss[a.Type] += p.Loss(int32(i), n)
			for _, placed := range counts[i] {
				got[placed.Server][a.Type] += placed.Count
			}
		}
		for j := range got {
			for at := range got[j] {
				want := int64(0)
				for _, slot := range inc.On[j] {
					if slot.Type == int32(at) {
						want += slot.Count
					}
				}
				if got[j][at] != want {
					t.Fatalf("server %d has %d containers of type %d, want %d", j, got[j][at], at, want)
				}
			}
		}
		for at := range pools {
			if len(pools[at].Members) > 1 {
				dealt++
			}
			if want := pools[at].At(p.Types[at].Delta, pools[at].N); len(pools[at].Members) > 0 && math.Abs(loss[at]-want) > 1e-9 {
				t.Fatalf("type %d loses %g, %g is the least", at, loss[at], want)
			}
		}
	})
}

// Placements come by server, each server once, and never with nothing.
func TestDecodedOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := New(instancetest.Tiny(draws(t)))
		inc := drawIncumbent(t, p)
		if inc == nil {
			t.Skip("a minimum has no room")
		}
		for i, placed := range p.Decode(inc) {
			if !inc.Free[i] {
				continue
			}
			var servers []int
			for _, here := range placed {
				if servers = append(servers, here.Server); here.Count <= 0 {
					t.Fatalf("application %d has %d containers on server %d", i, here.Count, here.Server)
				}
			}
			if !slices.IsSorted(servers) || len(slices.Compact(slices.Clone(servers))) != len(servers) {
				t.Fatalf("application %d is on %v", i, servers)
			}
		}
	})
}
