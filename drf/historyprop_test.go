// This file tests histories of use against their twin in integers of any length, bit for bit.

package drf_test

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/oracle/drforacle"
)

// Every mean of every queue is that of the twin to the last bit, whatever the intervals and the amounts, while queues come and go.
func TestHistoryTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kinds := rapid.IntRange(1, 3).Draw(t, "kinds")
		halfLife := rapid.OneOf(rapid.Int64Range(1, 100), rapid.Int64Range(1, math.MaxInt64)).Draw(t, "half-life")
		h, decay := newHistory(t, kinds, halfLife), drforacle.Decay{HalfLife: halfLife, Bits: 40, FactorBits: 62}
		twin := make(map[string][]*big.Int)
		amount := rapid.OneOf(rapid.Int64Range(0, 9), rapid.Int64Range(0, math.MaxInt64), rapid.Just(int64(math.MaxInt64)))
		for range rapid.IntRange(1, 12).Draw(t, "updates") {
			// Up to some 70 half-lives, so that factors come to 0.
			interval := rapid.OneOf(rapid.Int64Range(0, 3), rapid.Int64Range(0, halfLife), rapid.Map(rapid.Int64Range(0, 70),
				func(n int64) int64 { return min(n, math.MaxInt64/halfLife) * halfLife })).Draw(t, "interval")
			used := make(use)
			for q := range 3 {
				if rapid.Bool().Draw(t, "named") {
					used[fmt.Sprint("q", q)] = rapid.SliceOfN(amount, kinds, kinds).Draw(t, "used")
				}
			}
			advance(t, h, interval, used)
			followHistory(twin, &decay, interval, used)
			want := &drf.HistoryState{HalfLife: halfLife, Kinds: kinds, Queues: []drf.QueueMean{}}
			for q := range 3 {
				if state, any := stateOf(fmt.Sprint("q", q), twin); any {
					want.Queues = append(want.Queues, state)
				}
			}
			must.Equal(t, cmp.Diff(want, h.Snapshot()), "")
		}
	})
}

// followHistory makes an update of the twin.
func followHistory(twin map[string][]*big.Int, decay *drforacle.Decay, interval int64, used use) {
	one := new(big.Int).Lsh(big.NewInt(1), 62)
	if decay.Factor(interval).Cmp(one) == 0 {
		return
	}
	for id, amounts := range used {
		for len(twin[id]) < len(amounts) {
			twin[id] = append(twin[id], new(big.Int))
		}
	}
	for id, means := range twin {
		for k := range means {
			if amounts, named := used[id]; named {
				means[k] = decay.Blend(means[k], amounts[k], interval)
			} else {
				means[k] = decay.Fade(means[k], interval)
			}
		}
	}
}

// stateOf returns a queue of the twin as a snapshot has it, and whether it has used anything.
func stateOf(id string, twin map[string][]*big.Int) (state drf.QueueMean, any bool) {
	state = drf.QueueMean{ID: id, Units: make(apportion.Resources, len(twin[id])), Parts: make([]int64, len(twin[id]))}
	for k, mean := range twin[id] {
		units, parts := new(big.Int).DivMod(mean, big.NewInt(1<<40), new(big.Int))
		state.Units[k], state.Parts[k] = units.Int64(), parts.Int64()
		any = any || mean.Sign() > 0
	}
	return state, any
}
