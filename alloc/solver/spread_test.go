package solver_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/alloc/solver"
)

// Fewest is the size of the smallest set of servers that hold the containers, and all servers where none does.
func TestFewestAgainstSets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s solver.Spread
		var holds []int64
		for last := int64(9); last > 1 && rapid.Bool().Draw(t, "more"); {
			last = rapid.Int64Range(1, last-1).Draw(t, "holds")
			servers := rapid.Int64Range(1, 3).Draw(t, "servers")
			s.Rooms = append(s.Rooms, solver.Rooms{Containers: last, Servers: servers})
			for range servers {
				holds = append(holds, last)
			}
		}
		if len(holds) > 12 {
			t.Skip("too many sets")
		}
		n := rapid.Int64Range(0, 40).Draw(t, "containers")
		want := int64(len(holds))
		for set := range 1 << len(holds) {
			room, size := int64(0), int64(0)
			for j, h := range holds {
				if set>>j&1 == 1 {
					room, size = room+h, size+1
				}
			}
			if room >= n {
				want = min(want, size)
			}
		}
		if got := s.Fewest(n); got != want {
			t.Fatalf("%d servers of %v for %d, want %d", got, holds, n, want)
		}
	})
}
