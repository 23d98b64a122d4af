package lagrange

import (
	"context"
	"math"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/alloc/solver/solvertest"
	"github.com/apportion/apportion/internal/oracle/p2oracle"
)

// plenty is more work than any instance here takes.
const plenty = 1 << 30

// totalsOf joins the servers of an instance; nil where that cannot be done.
func totalsOf(inst *solver.Instance) *Totals {
	apart, _ := inst.Apart()
	p := problem.New(apart)
	if p.Impossible() {
		return nil
	}
	return NewTotals(p, inst.Choices, inst.LossBudget)
}

// most tries all choices of ways: what the best of those within the limits and the budget of losses brings.
func (t *Totals) most(at int, left []int64, losses float64) float64 {
	if losses < -1e-9 {
		return math.Inf(-1)
	}
	if at == len(t.takers) {
		return 0
	}
	best := math.Inf(-1)
	for w := range t.takers[at].ways {
		way := &t.takers[at].ways[w]
		fits := true
		for r, q := range way.use {
			left[r] -= q
			fits = fits && left[r] >= 0
		}
		if fits {
			best = math.Max(best, way.value+t.most(at+1, left, losses-way.loss))
		}
		for r, q := range way.use {
			left[r] += q
		}
	}
	return best
}

// choices returns how many choices of ways there are, at most 100000.
func (t *Totals) choices() float64 {
	n := 1.0
	for a := range t.takers {
		n = math.Min(100_000, n*float64(len(t.takers[a].ways)))
	}
	return n
}

// The bound of joined servers is above every solution, no more than that of the prices, and what the best choice of ways
// brings, which it names. Sometimes it is below that of the prices.
func TestTotalsAgainstTwin(t *testing.T) {
	seeds := uint64(400)
	if testing.Short() {
		seeds = 100
	}
	compared, below := 0, 0
	for name, draw := range map[string]func(uint64) *solver.Instance{"small": solvertest.Small, "general": solvertest.General, "worth": solvertest.Worth, "choices": solvertest.Choices} {
		for seed := range seeds {
			inst := draw(seed)
			totals := totalsOf(inst)
			if totals == nil || totals.choices() >= 100_000 {
				continue
			}
			priced := totals.Lower(t.Context(), 40)
			found := totals.Best(t.Context(), plenty, Wanted{math.Inf(-1), 4})
			bound, choices := found.Bound, found.Choices
			if math.IsInf(bound, 0) {
				continue
			}
			if best, _ := p2oracle.Best(inst); best != nil && bound < inst.Objective(best)-1e-9 {
				t.Errorf("%s %d: bound %.12g, and %.12g can be had", name, seed, bound, inst.Objective(best))
			}
			want := totals.most(0, append([]int64(nil), totals.limits...), totals.losses)
			if math.IsInf(want, -1) {
				continue // no choice: the bound is any number then
			}
			compared++
			if math.Abs(bound-want) > 1e-7*math.Max(1, math.Abs(want)) || bound > priced+1e-9 {
				t.Errorf("%s %d: bound %.12g of %.12g by prices, the best choice is %.12g", name, seed, bound, priced, want)
			}
			if bound < priced-1e-9 {
				below++
			}
			if choices == nil {
				t.Errorf("%s %d: no choice, the best one is %.12g", name, seed, want)
				continue
			}
			// The others are within the limits too, and each is worth no more than the one before it.
			for at, last := 0, want; at < len(choices); at++ {
				got, rounding := totals.valueOf(choices[at]), 1e-7*math.Max(1, math.Abs(want))
				if math.IsInf(got, -1) || got > last+rounding || at == 0 && got < want-rounding {
					t.Errorf("%s %d: choice %d, %v, brings %.12g, the best one is %.12g", name, seed, at, choices[at], got, want)
				}
				last = got
			}
			// Who has as much already learns that there is no more.
			near := 1e-6 * math.Max(1, math.Abs(want))
			if again := totals.Best(t.Context(), plenty, Wanted{want + near, 1}); again.Choices != nil || again.Bound > want+2*near {
				t.Errorf("%s %d: with %.12g attained: %+v", name, seed, want, again)
			}
		}
	}
	if compared < 100 || below < 5 {
		t.Errorf("%d bounds, %d of them below those of prices", compared, below)
	}
}

// valueOf is what numbers by application bring, -Inf where they are more than the limits or lose more than the budget.
func (t *Totals) valueOf(counts []int64) float64 {
	sum, losses, left := 0.0, t.losses+1e-9, append([]int64(nil), t.limits...)
	for a := range t.takers {
		found := -1
		for w := range t.takers[a].ways {
			way := &t.takers[a].ways[w]
			if counts[way.app] == way.n && (way.n != 0 || found < 0) {
				found = w
			}
		}
		if found < 0 {
			return math.Inf(-1)
		}
		way := &t.takers[a].ways[found]
		sum += way.value
		if losses -= way.loss; losses < 0 {
			return math.Inf(-1)
		}
		for r, q := range way.use {
			if left[r] -= q; left[r] < 0 {
				return math.Inf(-1)
			}
		}
	}
	return sum
}

// Jobs that gain nothing before their fourth container: prices take each for a part of one, whole choices do not.
func TestTotalsWhole(t *testing.T) {
	inst := instancetest.Crowd(2, 3, 3, 1, 0) // six units for three jobs
	for i := range inst.Apps {
		app := &inst.Apps[i]
		app.Min, app.Max, app.Elective = 1, 4, true
		app.Worth = []float64{0, 0, 0, 4}
	}
	inst = instancetest.Finish(inst)
	for i := range inst.Apps {
		inst.Apps[i].Value = 0
	}
	totals := totalsOf(inst)
	priced := totals.Lower(t.Context(), 100)
	if math.Abs(priced-6) > 1e-6 {
		t.Errorf("prices prove %g, want 6", priced)
	}
	if f := totals.Best(t.Context(), plenty, Wanted{math.Inf(-1), 1}); math.Abs(f.Bound-4) > 1e-6 || f.Choices == nil {
		t.Errorf("%+v, want a bound of 4", f)
	}
	// Without work it is that of the prices, or of as far as it came.
	if f := totals.Best(t.Context(), 10, Wanted{math.Inf(-1), 1}); f.Choices != nil || f.Bound < 4 || f.Bound > priced+1e-9 {
		t.Errorf("%+v without work", f)
	}
}

// Numbers beyond the budget of losses are no choice, however good: neither the best one nor those next to it.
func TestTotalsWithinLosses(t *testing.T) {
	inst := instancetest.Crowd(1, 1, 3, 1, 0)
	app := &inst.Apps[0]
	app.Min, app.Max, app.Elective, app.Worth = 1, 3, true, []float64{5, 4, 9}
	app.Losses = []solver.LossPoint{{N: 0, Loss: 0}, {N: 1, Loss: 1}, {N: 2, Loss: 3}, {N: 3, Loss: 3}}
	inst = instancetest.Finish(inst)
	inst.Apps[0].Value, inst.LossBudget = 0, 1
	totals := totalsOf(inst)
	f := totals.Best(t.Context(), plenty, Wanted{math.Inf(-1), 4})
	if len(f.Choices) == 0 || f.Choices[0][0] != 1 || math.Abs(f.Bound-5) > 1e-6 {
		t.Errorf("%+v, want one container for 5", f)
	}
	for _, choice := range f.Choices {
		if choice[0] > 1 {
			t.Errorf("%d containers lose more than there is", choice[0])
		}
	}
}

// Servers that no application may use both of have limits of their own; one application open to both joins them.
func TestTotalsCells(t *testing.T) {
	inst := instancetest.Crowd(4, 2, 4, 1, 0)
	inst.Class = []int{0, 1, 0, 1}
	for i := range inst.Apps {
		app := &inst.Apps[i]
		app.Min, app.Max, app.Elective, app.Classes = 1, 16, true, []int{i}
	}
	inst = instancetest.Finish(inst)
	value := inst.Apps[0].Value
	if bound := totalsOf(inst).Lower(t.Context(), 100); math.Abs(bound-16*value) > 1e-6 {
		t.Errorf("the bound is %g containers, want 16", bound/value)
	}
	inst.Apps[1].Classes = []int{0}
	if bound := totalsOf(inst).Lower(t.Context(), 100); math.Abs(bound-8*value) > 1e-6 {
		t.Errorf("the bound is %g containers for both on half of the servers, want 8", bound/value)
	}
	inst.Apps[1].Classes = []int{-7, 0, 1} // there are no servers of the first one
	if bound := totalsOf(inst).Lower(t.Context(), 100); math.Abs(bound-16*value) > 1e-6 {
		t.Errorf("the bound is %g containers with one on all servers, want 16", bound/value)
	}
}

// The ways of an application that runs: to stay costs nothing, to leave or to change costs its part of the budget, and to
// change the option too.
func TestTotalsBudget(t *testing.T) {
	inst := instancetest.Crowd(3, 3, 4, 1, 0)
	for i := range inst.Apps {
		app := &inst.Apps[i]
		app.Min, app.Max, app.Running, app.Cost, app.Previous = 1, 4, true, 1, []apportion.Placement{{Server: i, Count: 1}}
	}
	inst.AdjustBudget = 1
	inst = instancetest.Finish(inst)
	unit := inst.Apps[0].Value
	totals := totalsOf(inst)
	totals.Lower(t.Context(), 100)
	if f := totals.Best(t.Context(), plenty, Wanted{math.Inf(-1), 1}); math.Abs(f.Bound-6*unit) > 1e-6 || f.Choices == nil {
		t.Errorf("the bound is %g containers by %v, want 4 + 1 + 1", f.Bound/unit, f.Choices)
	}
	for seed := range uint64(4) {
		inst := alloctest.Accelerators(seed, 4, 6, true)
		totals := totalsOf(inst)
		for a := range totals.takers {
			for _, way := range totals.takers[a].ways {
				charged, runs := int64(0), inst.Apps[inst.Choices[a].Apps[0]].Running || inst.Apps[inst.Choices[a].Apps[1]].Running
				if len(way.use) > 0 && totals.limits[len(totals.limits)-1] == inst.AdjustBudget {
					charged = way.use[len(way.use)-1]
				}
				if want := int64(0); runs && way.n != Stays {
					if want = 1; charged != want {
						t.Errorf("seed %d: %d containers of %d cost %d, want %d", seed, way.n, way.app, charged, want)
					}
				} else if charged != want {
					t.Errorf("seed %d: %d containers of %d cost %d, want %d", seed, way.n, way.app, charged, want)
				}
			}
		}
	}
}

// However much work is allowed, a ledger keeps no more states than mostLedger, also within one layer, and none once its context has
// ended.
func TestLedgerIsBounded(t *testing.T) {
	const ways = 1000 // two applications have a million choices, which all use another amount
	totals := &Totals{limits: []int64{ways * ways}, descent: &Descent{Best: []float64{0, 0}}}
	for _, unit := range []int64{1, ways} {
		var one taker
		for n := range int64(ways) {
			one.ways = append(one.ways, totalWay{use: []int64{n * unit}})
		}
		totals.takers = append(totals.takers, one)
	}
	const plenty = 100 * ways * ways
	work := int64(plenty)
	if l := totals.newLedger(1); l.run(t.Context(), &work) || plenty-work > mostLedger+ways {
		t.Errorf("%d pairs were looked at", plenty-work)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	work = plenty
	if l := totals.newLedger(1); l.run(ctx, &work) || work != plenty {
		t.Errorf("%d pairs were looked at after the end", plenty-work)
	}
}
