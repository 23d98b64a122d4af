// This file tests the parts of the twins of growth on numbers worked out by hand.

package growthoracle

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Containers are moved once at most, none is lost, and afterwards nobody can take: whoever lacks one finds no worker with two
// more that may still give.
func TestPropRebalance(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 23))
	moves := 0
	for n := range 500 {
		workers := 1 + rng.IntN(5)
		var before []Container
		for i := range rng.IntN(15) {
			before = append(before, Container{ID: string(rune('a' + i)), Worker: rng.IntN(workers), Since: rng.Int64N(5), Moved: rng.IntN(6) == 0})
		}
		kept := slices.Clone(before)
		after := Rebalance(workers, before)
		if !slices.Equal(before, kept) || len(after) != len(before) {
			t.Fatalf("%d: the list that was given became %v", n, before)
		}
		size := make([]int, workers)
		for i, c := range after {
			size[c.Worker]++
			if c.ID != before[i].ID || c.Since != before[i].Since || c.Worker != before[i].Worker && (before[i].Moved || !c.Moved) {
				t.Fatalf("%d: %+v became %+v", n, before[i], c)
			}
			if c.Worker != before[i].Worker {
				moves++
			}
		}
		goal := len(after)/workers - 1
		for w := range workers {
			for _, c := range after {
				if size[w] < goal && size[c.Worker] > size[w]+1 && !c.Moved && slices.Min(size) > 0 {
					t.Fatalf("%d: worker %d has %d of %d, and %s of %v could go there", n, w, size[w], goal, c.ID, size)
				}
			}
		}
	}
	if moves == 0 {
		t.Error("nothing was ever moved")
	}
}

// Of those who may move it is the last one marked, whatever its name; the name decides between equal marks alone.
func TestRebalanceOrder(t *testing.T) {
	for _, test := range []struct {
		containers []Container
		want       string
	}{
		{[]Container{{"b", 1, 9, false}, {"a", 1, 5, false}}, "b"},
		{[]Container{{"a", 1, 5, false}, {"b", 1, 9, false}}, "b"},
		{[]Container{{"b", 1, 5, false}, {"a", 1, 5, false}, {"c", 1, 4, false}}, "a"},
		{[]Container{{"z", 1, 7, true}, {"b", 1, 5, false}, {"a", 1, 6, false}}, "a"},
	} {
		moved := ""
		for i, c := range Rebalance(2, test.containers) {
			if c.Worker != test.containers[i].Worker {
				moved += c.ID
			}
		}
		if moved != test.want {
			t.Errorf("of %v %q has moved, want %s", test.containers, moved, test.want)
		}
	}
}
