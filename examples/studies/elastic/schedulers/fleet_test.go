// This file tests types of servers, what they hold, and that packing takes the fewest servers.

package schedulers

import (
	"errors"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apportion/apportion"
)

// A type holds what its servers hold together, and knows the largest of them; servers of other types do not count.
func TestHolds(t *testing.T) {
	all := servers(4, "v", "k", "v", "v")
	all[2].Capacity = apportion.Resources{7}
	for _, test := range []struct {
		kind           int
		demand         int64
		together, most int64
	}{{0, 1, 15, 7}, {0, 2, 7, 3}, {0, 5, 1, 1}, {0, 8, 0, 0}, {1, 1, 4, 4}, {1, 3, 1, 1}} {
		together, most := kinds(all)[test.kind].holds(all, apportion.Resources{test.demand})
		if together != test.together || most != test.most {
			t.Errorf("type %d, demand %d: %d and %d, want %d and %d", test.kind, test.demand, together, most, test.together, test.most)
		}
	}
	// Servers without a label are a type like any other.
	if unnamed := kinds(servers(1, "", "v", "")); len(unnamed) != 2 || unnamed[0].name != "" || !slices.Equal(unnamed[0].servers, []int{0, 2}) {
		t.Errorf("%+v", unnamed)
	}
	if kinds(nil) != nil {
		t.Error("no servers have a type")
	}
}

// Speeds end with what a job may have or what the type holds, whichever is less, and a speed that is none is an error.
func TestSpeedsEnd(t *testing.T) {
	all := servers(4, "v", "v", "k")
	for _, test := range []struct {
		kind int
		max  int64
		want int
	}{{0, 100, 8}, {0, 5, 5}, {1, 100, 4}, {1, 1, 1}} {
		j := job("a", 0, 1, 1, test.max)
		if got, err := kinds(all)[test.kind].speeds(all, &j); err != nil || len(got) != test.want {
			t.Errorf("type %d, at most %d: %v, %v", test.kind, test.max, got, err)
		}
	}
	large := job("large", 0, 1, 1, 4)
	large.Demand = apportion.Resources{5}
	if got, err := kinds(all)[0].speeds(all, &large); err != nil || len(got) != 0 {
		t.Errorf("a container larger than a server: %v, %v", got, err)
	}
	late := job("late", 0, 1, 1, 8)
	late.SpeedOn = func(on []apportion.Placement) float64 { return 2 - float64(len(on)) }
	if _, err := kinds(all)[0].speeds(all, &late); !errors.Is(err, apportion.ErrRange) {
		t.Errorf("no speed on two servers: %v", err)
	}
}

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
		if got := pack(free, all, apportion.Resources{1}, test.n); !slices.Equal(got, test.want) {
			t.Errorf("%d into %v: %v, want %v", test.n, test.rooms, got, test.want)
		}
	}
	if got := pack(nil, nil, apportion.Resources{1}, 1); got != nil {
		t.Errorf("on no servers: %v", got)
	}
}
