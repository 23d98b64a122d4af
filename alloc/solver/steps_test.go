// This file tests that bounds by prices look at prices and not at servers.

package solver

import (
	"slices"
	"testing"

	"github.com/apportion/apportion"
)

// Servers of one profit are one step, so that an application looks at prices and not at servers.
func TestStepsOfOneProfit(t *testing.T) {
	inst := &Instance{Apps: []App{{Demand: apportion.Resources{2}, Max: 100, Value: 1}}}
	f := filler{Multipliers: &Multipliers{}, inst: inst, known: map[string][]step{}}
	for j := range 60 {
		inst.Capacity = append(inst.Capacity, apportion.Resources{4 + int64(j%2)})
		f.Server = append(f.Server, []float64{float64(j%3) / 8})
	}
	f.room = inst.Capacity
	if got, want := f.ordered(0, 1), []step{{1, 40}, {0.75, 40}, {0.5, 40}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
