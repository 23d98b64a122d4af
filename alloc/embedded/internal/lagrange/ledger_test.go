// This file tests ledgers against every choice of ways, and the lists of ways and cells by hand.

package lagrange

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/solver"
)

// drawTotals draws up to four takers with up to four ways each, one or two rows, and whole prices and losses: sums are exact.
func drawTotals(random *rand.Rand) *Totals {
	t := &Totals{descent: &Descent{}, losses: float64(random.IntN(8))}
	for range 1 + random.IntN(2) {
		t.limits = append(t.limits, random.Int64N(12))
		t.descent.Best = append(t.descent.Best, float64(random.IntN(3)))
	}
	t.descent.Best = append(t.descent.Best, float64(random.IntN(2)))
	entries := int32(0)
	for range 1 + random.IntN(4) {
		var one taker
		for range 1 + random.IntN(4) {
			way := totalWay{app: entries, n: random.Int64N(5), value: float64(random.IntN(9)), loss: float64(random.IntN(3))}
			for range t.limits {
				way.use = append(way.use, random.Int64N(6))
			}
			one.ways = append(one.ways, way)
			entries++
		}
		t.takers = append(t.takers, one)
	}
	t.p = &problem.Problem{Apps: make([]problem.App, entries)}
	return t
}

// free is t with losses that have a price and no budget.
func (t *Totals) free() *Totals {
	free := *t
	free.losses = math.Inf(1)
	return &free
}

// cheapest tries all choices within the limits and the budget of losses, and returns what the one that loses least against the
// prices does, with what it leaves of limits and budget at their prices, and which ways it has; +Inf where there is none.
func cheapest(t *Totals, at int, used []int64, lose float64, picked []int) (float64, []int) {
	x := t.descent.Best
	if at == len(t.takers) {
		left := t.losses
		for a, w := range picked {
			left -= t.takers[a].ways[w].loss
		}
		if left < 0 {
			return math.Inf(1), nil
		}
		if !math.IsInf(left, 1) {
			lose += x[len(t.limits)] * left
		}
		for r, limit := range t.limits {
			if used[r] > limit {
				return math.Inf(1), nil
			}
			lose += x[r] * float64(limit-used[r])
		}
		return lose, slices.Clone(picked)
	}
	least, which := math.Inf(1), []int(nil)
	_, best := t.takers[at].best(x)
	for w := range t.takers[at].ways {
		way := &t.takers[at].ways[w]
		next := slices.Clone(used)
		for r, q := range way.use {
			next[r] += q
		}
		if got, ways := cheapest(t, at+1, next, lose+best-way.priced(x), append(picked, w)); got < least {
			least, which = got, ways
		}
	}
	return least, which
}

// A ledger of d finds a choice just where one within the limits loses no more than d, finds one that loses least, and names
// its numbers.
func TestLedgerAgainstAllChoices(t *testing.T) {
	found, none := 0, 0
	for seed := range uint64(2000) {
		random := rand.New(rand.NewPCG(seed, 23))
		totals := drawTotals(random)
		want, ways := cheapest(totals, 0, make([]int64, len(totals.limits)), 0, nil)
		lose := float64(random.IntN(20))
		work := int64(plenty)
		l := totals.newLedger(lose)
		l.within15 = seed%4 > 0
		if !l.within15 {
			want, ways = cheapest(totals.free(), 0, make([]int64, len(totals.limits)), 0, nil)
		}
		if !l.run(t.Context(), &work) {
			t.Fatalf("seed %d: it has stopped", seed)
		}
		const priced = 100
		best, value := l.best(priced, 3)
		if want > lose {
			if none++; len(best) > 0 {
				t.Errorf("seed %d: a choice that loses %g, the least there is loses %g of %g", seed, priced-value, want, lose)
			}
			continue
		}
		found++
		if len(best) == 0 || len(best) > 3 || value != priced-want {
			t.Errorf("seed %d: worth %g at %v, want %g", seed, value, best, priced-want)
			continue
		}
		at := best[0]
		if widest := totals.widest(); want > widest {
			t.Errorf("seed %d: a choice loses %g, any loses %g at most", seed, want, widest)
		}
		// The choice may be another of the same worth; it is one way for each taker, and no more.
		counts, sum, lost := l.counts(at), 0.0, 0.0
		used := make([]int64, len(totals.limits))
		for a := range totals.takers {
			_, best := totals.takers[a].best(totals.descent.Best)
			for w := range totals.takers[a].ways {
				way := &totals.takers[a].ways[w]
				if way.n == 0 || counts[way.app] == 0 {
					continue
				}
				if counts[way.app] != way.n {
					t.Errorf("seed %d: entry %d has %d containers, of %d", seed, way.app, counts[way.app], way.n)
				}
				sum += best - way.priced(totals.descent.Best)
				lost += way.loss
				for r, q := range way.use {
					used[r] += q
				}
			}
		}
		if len(ways) != len(totals.takers) || sum > want {
			t.Errorf("seed %d: %v lose %g by themselves, %g with what is left", seed, counts, sum, want)
		}
		if l.within15 && lost > totals.losses {
			t.Errorf("seed %d: %v lose %g of %g", seed, counts, lost, totals.losses)
		}
		for r, limit := range totals.limits {
			if used[r] > limit {
				t.Errorf("seed %d: %v use %d of %d", seed, counts, used[r], limit)
			}
		}
	}
	if found < 200 || none < 200 {
		t.Errorf("%d have a choice, %d have none", found, none)
	}
}

// Work is counted by pairs of a state and a way, and a ledger that may look at one pair less than it needs has stopped.
func TestLedgerCountsWork(t *testing.T) {
	totals := drawTotals(rand.New(rand.NewPCG(5, 23)))
	all := int64(plenty)
	if !totals.newLedger(100).run(t.Context(), &all) {
		t.Fatal("it has stopped")
	}
	for _, c := range []struct {
		work int64
		done bool
	}{{plenty - all, true}, {plenty - all - 1, false}, {0, false}} {
		work := c.work
		if got := totals.newLedger(100).run(t.Context(), &work); got != c.done {
			t.Errorf("with work for %d of %d pairs: %v", c.work, plenty-all, got)
		}
	}
	if best, value := (&ledger{t: totals}).best(7, 1); len(best) > 0 || !math.IsInf(value, -1) {
		t.Errorf("without a layer: %v with %g", best, value)
	}
}

// A context that has ended, or prices that prove what is attained, leave the bound of the prices.
func TestBestWithoutSearch(t *testing.T) {
	inst := instancetest.Crowd(2, 3, 3, 1, 0)
	for i := range inst.Apps {
		inst.Apps[i].Elective, inst.Apps[i].Max = true, 4
	}
	totals := totalsOf(inst)
	priced := totals.Lower(t.Context(), 50)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if f := totals.Best(ended, plenty, Wanted{math.Inf(-1), 1}); f.Bound != priced || f.Choices != nil {
		t.Errorf("after the end: %+v, want %g", f, priced)
	}
	if f := totals.Best(t.Context(), plenty, Wanted{priced, 1}); f.Bound != priced || f.Choices != nil {
		t.Errorf("with all attained: %+v, want %g", f, priced)
	}
	if f := totals.Best(t.Context(), plenty, Wanted{priced - 1e-3, 1}); len(f.Choices) != 1 || f.Bound > priced {
		t.Errorf("with nearly all attained: %+v", f)
	}
}

// Classes that an application may use both of are one cell, and so are those that are joined by a chain of applications; cells
// are numbered in the order of their servers.
func TestCells(t *testing.T) {
	for name, c := range map[string]struct {
		class []int
		open  [][]int
		want  []int // cell by server
		apps  []int // cell by application
	}{
		"no classes":           {nil, [][]int{nil}, []int{0, 0, 0, 0}, []int{0}},
		"nobody joins":         {[]int{7, 3, 7, 5}, [][]int{{3}, {5}, {7}}, []int{0, 1, 0, 2}, []int{1, 2, 0}},
		"two are joined":       {[]int{7, 3, 7, 5}, [][]int{{3, 5}, {7}}, []int{0, 1, 0, 1}, []int{1, 0}},
		"a chain":              {[]int{1, 2, 3, 4}, [][]int{{1, 2}, {3, 4}, {2, 3}}, []int{0, 0, 0, 0}, []int{0, 0, 0}},
		"one open to all":      {[]int{1, 2, 3, 4}, [][]int{{1}, nil}, []int{0, 0, 0, 0}, []int{0, 0}},
		"classes without any":  {[]int{1, 2, 1, 2}, [][]int{{0, 2, 9}, {8}}, []int{0, 1, 0, 1}, []int{1, -1}},
		"twice the same":       {[]int{1, 2, 1, 2}, [][]int{{1, 2}, {1, 2}}, []int{0, 0, 0, 0}, []int{0, 0}},
		"open to none":         {[]int{1, 1, 2, 2}, [][]int{{}}, []int{0, 0, 1, 1}, []int{-1}},
		"the last and a first": {[]int{4, 3, 2, 1}, [][]int{{1, 4}}, []int{0, 1, 2, 0}, []int{0}},
	} {
		inst := &solver.Instance{Class: c.class, Capacity: make([]apportion.Resources, 4)}
		for _, open := range c.open {
			inst.Apps = append(inst.Apps, solver.App{Classes: open})
		}
		cells := newCells(inst)
		for j, want := range c.want {
			if got := cells.ofServer(j); got != want {
				t.Errorf("%s: server %d is in cell %d, want %d", name, j, got, want)
			}
		}
		for i, want := range c.apps {
			if got := cells.ofApp(&inst.Apps[i]); got != want {
				t.Errorf("%s: application %d is in cell %d, want %d", name, i, got, want)
			}
		}
		if want := slices.Max(c.want) + 1; cells.count != want {
			t.Errorf("%s: %d cells, want %d", name, cells.count, want)
		}
	}
}

// waysOf lists the ways of the first application of an instance, as they are before rows are left out.
func waysOf(inst *solver.Instance) []totalWay {
	t := &Totals{p: problem.New(inst)}
	t.list(nil)
	return t.takers[0].ways
}

// The ways of an application: nothing where it may have that, what it has now at no cost, and every number that it may have
// and that there is room for.
func TestWays(t *testing.T) {
	previous := []apportion.Placement{{Server: 0, Count: 2}, {Server: 1, Count: 1}}
	for name, c := range map[string]struct {
		app  solver.App
		want []int64 // numbers
		cost int64   // of (16), of all but staying
	}{
		"new":               {solver.App{Min: 1, Max: 3}, []int64{1, 2, 3}, 0},
		"elective":          {solver.App{Min: 2, Max: 3, Elective: true}, []int64{0, 2, 3}, 0},
		"in twos":           {solver.App{Max: 5, Step: 2}, []int64{0, 2, 4}, 0},
		"no room for all":   {solver.App{Max: 99}, []int64{0, 1, 2, 3, 4, 5, 6, 7, 8}, 0},
		"runs":              {solver.App{Min: 1, Max: 3, Running: true, Cost: 2, Previous: previous}, []int64{Stays, 1, 2, 3}, 2},
		"runs, or not":      {solver.App{Max: 1, Running: true, Cost: 1, Previous: previous[1:]}, []int64{0, Stays, 1}, 1},
		"too dear to leave": {solver.App{Max: math.MaxInt64, Running: true, Cost: 4, Previous: previous}, []int64{Stays}, 0},
		"pinned":            {solver.App{Max: 3, Running: true, Pinned: true, Cost: 1, Previous: previous}, []int64{Stays}, 0},
		"must move":         {solver.App{Min: 1, Max: 2, Running: true, Displaced: true, Cost: 1, Previous: previous}, []int64{1, 2}, 1},
		"leaves at no cost": {solver.App{Min: 1, Max: 3, Running: true, Previous: previous}, []int64{Stays, 1, 2, 3}, 0},
	} {
		c.app.Demand = apportion.Resources{1}
		inst := instancetest.Finish(&solver.Instance{
			Capacity: []apportion.Resources{{4}, {4}}, AdjustBudget: 3, Apps: []solver.App{c.app},
		})
		var numbers []int64
		for _, way := range waysOf(inst) {
			numbers = append(numbers, way.n)
			n, cost := way.n, c.cost
			if n == Stays {
				n, cost = solver.Containers(c.app.Previous), 0
			}
			if way.use[0] != n || way.use[1] != cost {
				t.Errorf("%s: %d containers use %v, want %d and %d", name, way.n, way.use, n, cost)
			}
			if want := float64(n) / 8; math.Abs(way.value-want) > 1e-12 || math.Abs(way.loss-want) > 1e-12 {
				t.Errorf("%s: %d containers are worth %g and lose %g, want %g", name, way.n, way.value, way.loss, want)
			}
		}
		if !slices.Equal(numbers, c.want) {
			t.Errorf("%s: %v, want %v", name, numbers, c.want)
		}
	}
}

// What a way loses is charged at the price of loss; options of one application share the way without containers, and whoever
// takes another than the one that runs pays for its adjustment.
func TestWaysOfOptions(t *testing.T) {
	inst := threeWays(false)
	inst.Apps[1].Cost, inst.LossPrice = 3, 2
	for i := range 3 {
		inst.Apps[i].Share = 0
	}
	totals := &Totals{p: problem.New(inst)}
	if !totals.list(inst.Choices) {
		t.Fatal("there are too many ways")
	}
	if len(totals.takers) != 2 {
		t.Fatalf("%d applications, want one with options and one without", len(totals.takers))
	}
	var got []int64
	for _, way := range totals.takers[0].ways {
		got = append(got, int64(way.app), way.n, way.use[2])
		if n := max(0, way.n); way.n != Stays && math.Abs(way.value-float64(n)*inst.Apps[way.app].Value+2*way.loss) > 1e-12 {
			t.Errorf("%d containers of option %d: %g, and %g is lost", way.n, way.app, way.value, way.loss)
		}
	}
	if want := []int64{0, 1, 3, 0, 2, 3, 1, Stays, 0, 1, 1, 3, 1, 2, 3, 2, 1, 3, 2, 2, 3, 1, 0, 3}; !slices.Equal(got, want) {
		t.Errorf("option, number and cost are %v, want %v", got, want)
	}
	totals = &Totals{p: problem.New(threeWays(true))}
	totals.list(threeWays(true).Choices)
	for _, way := range totals.takers[0].ways {
		if way.n == 0 {
			t.Error("it must run, and may have nothing")
		}
	}
}

// Too many ways, kinds of cells or rows that bind are no Totals, and as many as may be are; rows that cannot be exceeded are
// left out.
func TestTotalsAreBounded(t *testing.T) {
	crowd := func(apps int, most int64) *solver.Instance {
		inst := instancetest.Crowd(1, apps, most*int64(apps)/2, 1, 0)
		for i := range inst.Apps {
			inst.Apps[i].Min, inst.Apps[i].Max = 1, most
		}
		return instancetest.Finish(inst)
	}
	if totalsOf(crowd(4, mostListed/4)) == nil {
		t.Error("as many ways as may be are too many")
	}
	if totalsOf(crowd(4, mostListed/4+1)) != nil {
		t.Error("more ways than may be are listed")
	}
	// Each kind is scarce by itself.
	kinds := func(k int) *solver.Instance {
		inst := &solver.Instance{Capacity: []apportion.Resources{make(apportion.Resources, k)}, LossBudget: 99}
		for at := range k {
			inst.Capacity[0][at] = 2
			demand := make(apportion.Resources, k)
			demand[at] = 1
			inst.Apps = append(inst.Apps, solver.App{Demand: demand, Max: 2}, solver.App{Demand: demand, Max: 1})
		}
		return instancetest.Finish(inst)
	}
	if totals := totalsOf(kinds(mostRows)); totals == nil || len(totals.limits) != mostRows {
		t.Errorf("%d rows that bind are too many", mostRows)
	}
	if totalsOf(kinds(mostRows+1)) != nil {
		t.Errorf("%d rows that bind are kept", mostRows+1)
	}
	loose := kinds(mostRows + 1)
	loose.Capacity[0][0], loose.Capacity[0][1] = 3, 3
	if totals := totalsOf(instancetest.Finish(loose)); totals == nil || len(totals.limits) != mostRows-1 {
		t.Error("rows that cannot be exceeded are kept")
	}
	// Servers of classes of their own are cells of their own.
	wide := func(classes int) *solver.Instance {
		inst := instancetest.Crowd(classes, classes, 4, 1, 0)
		for i := range inst.Apps {
			inst.Class = append(inst.Class, i)
			inst.Apps[i].Classes, inst.Apps[i].Max = []int{i}, 3
		}
		return instancetest.Finish(inst)
	}
	if totalsOf(wide(mostWide)) == nil || totalsOf(wide(mostWide+1)) != nil {
		t.Errorf("%d cells of one kind are too many, or %d are not", mostWide, mostWide+1)
	}
	below := crowd(3, 4)
	below.Groups = []solver.Group{{Apps: []int{0, 1, 2}, Ceiling: apportion.Resources{5}}}
	if totalsOf(below) != nil {
		t.Error("ceilings are left out")
	}
}
