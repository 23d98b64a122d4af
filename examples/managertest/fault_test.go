// This file tests which faults happen at the same time.

package managertest

import (
	"math/rand/v2"
	"testing"

	"github.com/apportion/apportion/internal/must"
)

// Every fault comes before any comes twice, and what is of one thing, or happens alone, is not beside another of it.
func TestDeck(t *testing.T) {
	all := []Fault{{Name: "a", Of: "x"}, {Name: "b", Of: "x"}, {Name: "c", Of: "y"}, {Name: "d", Of: "z"}, {Name: "e"}, {Name: "f", Of: "y"}}
	for seed := range uint64(50) {
		d := deck{all: all, r: rand.New(rand.NewPCG(seed, 0))}
		for round := range 3 {
			met, most := map[string]int{}, 0
			for len(met) < len(all) {
				hand := d.draw(3)
				most = max(most, len(hand))
				touched := map[string]bool{}
				for _, one := range hand {
					met[one.Name]++
					if touched[one.Of] || one.Of == "" && len(hand) > 1 {
						t.Fatalf("seed %d: %+v at the same time", seed, hand)
					}
					touched[one.Of] = true
				}
				if len(hand) > 3 {
					t.Fatalf("%d at the same time", len(hand))
				}
			}
			for name, n := range met {
				must.Equal(t, n, 1, "seed", seed, "round", round, name, "comes", "times")
			}
			if most < 2 {
				t.Errorf("seed %d: never two at the same time", seed)
			}
		}
	}
}
