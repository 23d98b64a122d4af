// This file tests sets of containers and the room of servers, against counting.

package checkpoint

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
)

func containers() *rapid.Generator[[]string] {
	return rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "ab", "b", "c"}), 0, 6), sorted)
}

// TestContainers compares each operation with counts per server.
func TestContainers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := containers().Draw(t, "a"), containers().Draw(t, "b")
		all := merge(a, b, func(_, _ bool) bool { return true })
		for _, server := range []string{"a", "ab", "b", "c", "d"} {
			inA, inB := onServer(a, server), onServer(b, server)
			for what, pair := range map[string][2]int64{
				"both":  {onServer(both(a, b), server), min(inA, inB)},
				"minus": {onServer(minus(a, b), server), max(0, inA-inB)},
				"all":   {onServer(all, server), max(inA, inB)},
			} {
				must.Equal(t, pair[0], pair[1], what, "of", a, "and", b, "on", server)
			}
			if rest := without(a, server); onServer(rest, server) != 0 || int64(len(rest)) != int64(len(a))-inA || !slices.IsSorted(rest) {
				t.Fatalf("%v without %s is %v", a, server, rest)
			}
		}
		if !slices.IsSorted(all) || len(distinct(a)) > 4 {
			t.Fatalf("%v, %v", all, distinct(a))
		}
	})
}

func TestRoom(t *testing.T) {
	free := room{"a": {2, math.MaxInt64}, "b": {math.MinInt64 + 1, 0}}
	for _, test := range []struct {
		containers []string
		demand     apportion.Resources
		want       bool
	}{
		{nil, apportion.Resources{1, 1}, true},
		{[]string{"a", "a"}, apportion.Resources{1, 1}, true},
		{[]string{"a", "a", "a"}, apportion.Resources{1, 1}, false},
		{[]string{"a", "a", "a"}, apportion.Resources{0, math.MaxInt64 / 3}, true},
		{[]string{"a", "a", "a", "a"}, apportion.Resources{0, math.MaxInt64 / 3}, false},
		{[]string{"b"}, apportion.Resources{0, 0}, true},
		{[]string{"b"}, apportion.Resources{1, 0}, false},
		{[]string{"c"}, apportion.Resources{0, 0}, false},
	} {
		must.Equal(t, free.fits(test.containers, test.demand), test.want, "fits(", test.containers, test.demand)
	}
	free.take([]string{"b", "b"}, apportion.Resources{5, 5})
	if free["b"][0] != math.MinInt64 || free["b"][1] != -10 {
		t.Errorf("%v: below the least integer", free["b"])
	}
}

func TestPause(t *testing.T) {
	config := Config{Kinds: apportion.Kinds{"slot"}}.filled()
	for tries, want := range []float64{1: 1, 2: 2, 3: 4, 5: 16, 6: 30, 7: 30, 1000: 30} {
		if want != 0 && config.pause(tries).Seconds() != want {
			t.Errorf("pause(%d) = %v, want %v s", tries, config.pause(tries), want)
		}
	}
	for _, kind := range []Action{Save, Verify, Stop, Release, Create, Resume, Confirm} {
		must.Equal(t, config.timeout(kind), DefaultTimeout, "timeout(", kind)
	}
}

func onServer(containers []string, server string) int64 {
	count := int64(0)
	for _, id := range containers {
		if id == server {
			count++
		}
	}
	return count
}
