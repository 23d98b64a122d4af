// This file tests types of servers, what they hold, and that packing takes the fewest servers.

package schedulers

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
)

// fewest returns the least number of servers whose room together is n, by looking at every set of them.
func fewest(rooms []int64, n int64) int {
	least := len(rooms) + 1
	for set := range uint(1) << len(rooms) {
		together := int64(0)
		for h, r := range rooms {
			together += r * int64(set>>h&1)
		}
		if together >= n {
			least = min(least, bits.OnesCount(set))
		}
	}
	return least
}

// Packing gives just as many containers as are asked for, within the room of every server, on the fewest servers of all
// sets, in their order; it says no only where there is no room, and changes nothing.
func TestPropPack(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	refused := 0
	for range 2000 {
		rooms, all := make([]int64, 1+rng.IntN(6)), []int{}
		free := make([]apportion.Resources, len(rooms))
		sum := int64(0)
		for h := range rooms {
			rooms[h] = rng.Int64N(6)
			free[h] = apportion.Resources{2*rooms[h] + rng.Int64N(2), 100}
			all, sum = append(all, h), sum+rooms[h]
		}
		n := 1 + rng.Int64N(sum+2)
		before := cloneAll(free)
		on := pack(free, all, apportion.Resources{2, 1}, n)
		if on == nil {
			if sum >= n {
				t.Fatalf("%d into %v: refused", n, rooms)
			}
			refused++
			continue
		}
		got := int64(0)
		for i, p := range on {
			got += p.Count
			if p.Count < 1 || p.Count > rooms[p.Server] || i > 0 && on[i-1].Server >= p.Server {
				t.Fatalf("%d into %v: %v", n, rooms, on)
			}
		}
		if got != n || len(on) != fewest(rooms, n) {
			t.Fatalf("%d into %v: %v holds %d on %d servers, the fewest are %d", n, rooms, on, got, len(on), fewest(rooms, n))
		}
		if !slices.EqualFunc(free, before, func(a, b apportion.Resources) bool { return slices.Equal(a, b) }) {
			t.Fatalf("%v became %v", before, free)
		}
	}
	if refused == 0 {
		t.Error("there was always room")
	}
}

// cloneAll copies vectors.
func cloneAll(free []apportion.Resources) []apportion.Resources {
	out := make([]apportion.Resources, len(free))
	for h := range free {
		out[h] = free[h].Clone()
	}
	return out
}

// Of servers that hold all of the rest the smallest is taken, the first of equals.
func TestPackTies(t *testing.T) {
	for _, test := range []struct {
		rooms []int64
		n     int64
		want  []apportion.Placement
	}{
		{[]int64{3, 3}, 3, []apportion.Placement{{Server: 0, Count: 3}}},
		{[]int64{5, 4, 4}, 4, []apportion.Placement{{Server: 1, Count: 4}}},
		{[]int64{3, 3, 2}, 5, []apportion.Placement{{Server: 0, Count: 3}, {Server: 2, Count: 2}}},
		{[]int64{1, 3, 3}, 4, []apportion.Placement{{Server: 0, Count: 1}, {Server: 1, Count: 3}}},
	} {
		free, all := []apportion.Resources{}, []int{}
		for h, r := range test.rooms {
			free, all = append(free, apportion.Resources{r}), append(all, h)
		}
		must.Same(t, pack(free, all, apportion.Resources{1}, test.n), test.want, test.n, "into", test.rooms)
	}
	if got := pack(nil, nil, apportion.Resources{1}, 1); got != nil {
		t.Errorf("on no servers: %v", got)
	}
}
