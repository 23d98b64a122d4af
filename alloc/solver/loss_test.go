package solver_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/must"
)

// A stated loss is that of its point, on the line between two, and the last one beyond.
func TestStatedLoss(t *testing.T) {
	app := solver.App{Delta: .5, Share: 1, Losses: []solver.LossPoint{{N: 0, Loss: 1}, {N: 2, Loss: 0}, {N: 6, Loss: 2}}}
	for n, want := range map[int64]float64{0: 1, 1: .5, 2: 0, 3: .5, 5: 1.5, 6: 2, 7: 2, math.MaxInt64: 2} {
		if got := app.Loss(n); got != want {
			t.Errorf("Loss(%d) = %g, want %g", n, got, want)
		}
	}
	app.Losses = nil
	if got := app.Loss(5); got != 1.5 {
		t.Errorf("without points %g, want that of shares", got)
	}
}

// The least and the largest loss between two numbers are what a walk over them finds.
func TestLossBetween(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		app := solver.App{Max: 12, Delta: float64(rapid.IntRange(0, 3).Draw(t, "delta")) / 8, Share: float64(rapid.IntRange(0, 8).Draw(t, "share")) / 7}
		if rapid.Bool().Draw(t, "stated") {
			app.Losses = []solver.LossPoint{{Loss: rapid.Float64Range(0, 2).Draw(t, "none")}}
			for n := int64(1); n < 12; n++ {
				if rapid.Bool().Draw(t, "point") {
					app.Losses = append(app.Losses, solver.LossPoint{N: n, Loss: rapid.Float64Range(0, 2).Draw(t, "loss")})
				}
			}
		}
		least := rapid.Int64Range(0, 12).Draw(t, "least")
		most := rapid.Int64Range(least, 12).Draw(t, "most")
		low, high := math.Inf(1), 0.0
		for n := least; n <= most; n++ {
			low, high = math.Min(low, app.Loss(n)), math.Max(high, app.Loss(n))
		}
		if got := app.LeastLoss(least, most); math.Abs(got-low) > 1e-15 {
			t.Fatalf("%+v: LeastLoss(%d, %d) = %g, want %g", app, least, most, got, low)
		}
		if got := app.MostLoss(least, most); math.Abs(got-high) > 1e-15 {
			t.Fatalf("%+v: MostLoss(%d, %d) = %g, want %g", app, least, most, got, high)
		}
	})
}

// lossy draws one application that states its losses, at unlike prices of three servers, and may have steps, listed numbers
// or nothing.
func lossy(t *rapid.T) (*solver.Instance, *solver.Multipliers) {
	inst := &solver.Instance{Total: apportion.Resources{0}, LossBudget: 1}
	m := &solver.Multipliers{Loss: rapid.Float64Range(0, 2).Draw(t, "price of loss")}
	for range 3 {
		size := rapid.Int64Range(0, 6).Draw(t, "size")
		inst.Capacity, inst.Total[0] = append(inst.Capacity, apportion.Resources{size}), inst.Total[0]+size
		m.Server = append(m.Server, []float64{float64(rapid.IntRange(0, 8).Draw(t, "price")) / 8})
	}
	app := solver.App{
		Demand: apportion.Resources{1}, Min: rapid.Int64Range(0, 4).Draw(t, "min"), Value: .5, Delta: .1, Share: .3,
		Step: rapid.Int64Range(0, 3).Draw(t, "step"), Elective: rapid.Bool().Draw(t, "elective"),
	}
	app.Max = app.Min + rapid.Int64Range(1, 15).Draw(t, "more")
	if rapid.Bool().Draw(t, "listed") {
		app.Counts = []int64{1, 3, 4, 6, 9, 12}
	}
	for n := int64(0); n < 16; n += rapid.Int64Range(1, 7).Draw(t, "gap") {
		app.Losses = append(app.Losses, solver.LossPoint{N: n, Loss: float64(rapid.IntRange(0, 9).Draw(t, "loss")) / 4})
	}
	inst.Apps = []solver.App{app}
	return inst, m
}

// The bounds look at the points of the losses alone, and find what a walk over all numbers finds, at any prices.
func TestBoundsByPoints(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inst, m := lossy(t)
		must.Do(t, inst.Validate())
		app := &inst.Apps[0]
		// The profits of all places, dearest last: the n cheapest are the best to fill.
		base := m.Loss * (inst.LossBudget + solver.LossTolerance)
		var profits []float64
		for j, capacity := range inst.Capacity {
			base += m.Server[j][0] * float64(capacity[0])
			for range capacity[0] {
				profits = append(profits, app.Value-m.Server[j][0])
			}
		}
		slices.Sort(profits)
		slices.Reverse(profits)
		dual, copies, filled := math.Inf(-1), math.Inf(-1), 0.0
		for n := range int64(len(profits) + 1) {
			if n > 0 {
				filled += profits[n-1]
			}
			if app.Allows(n) {
				dual = math.Max(dual, filled-m.Loss*app.Loss(n))
				copies = math.Max(copies, app.Value*float64(n)-m.Loss*app.Loss(n))
			}
		}
		if got, err := solver.DualBound(inst, m); err != nil || !near(got, base+dual) {
			t.Errorf("DualBound %.12g, %v; by all numbers %.12g", got, err, base+dual)
		}
		// A container is worth nothing to a server here, since its price is its value.
		c := &solver.CopyPrices{Container: []float64{app.Value}, Loss: m.Loss, Room: [][]float64{nil}}
		copies += m.Loss * (inst.LossBudget + solver.LossTolerance)
		if got, err := solver.CopyBound(inst, c); err != nil || !near(got, copies) {
			t.Errorf("CopyBound %.12g, %v; by all numbers %.12g", got, err, copies)
		}
	})
}

// Where an application may have 2^40 or any number of containers the bounds look at no more of them than where it may have a
// few: whoever goes through all of them does not come to an end here. It loses nothing with half of the cluster, and at a
// price of 2 each container beyond that costs more than it brings.
func TestBoundsOfManyNumbers(t *testing.T) {
	for _, most := range []int64{8, 1 << 40, math.MaxInt64 - 1} {
		for _, app := range []solver.App{{Max: most}, {Max: math.MaxInt64}, {Max: most, Step: 2}, {Min: 2, Max: most, Elective: true}} {
			size := float64(most)
			inst := &solver.Instance{Capacity: []apportion.Resources{{most / 2}, {most - most/2}}, Total: apportion.Resources{most}, LossBudget: .25}
			app.Demand, app.Value, app.Delta, app.Share = apportion.Resources{1}, 1/size, 1/size, 1
			app.Losses = []solver.LossPoint{{Loss: 1}, {N: most / 2}, {N: most, Loss: 1}}
			inst.Apps = []solver.App{app}
			m := &solver.Multipliers{Server: [][]float64{{0}, {0}}, Loss: 2}
			if got, err := solver.DualBound(inst, m); err != nil || math.Abs(got-1) > 1e-8 {
				t.Errorf("%d of %d: DualBound %g, %v, want 1", app.Max, most, got, err)
			}
			c := &solver.CopyPrices{Container: []float64{1 / size}, Loss: 2, Room: [][]float64{nil}}
			if got, err := solver.CopyBound(inst, c); err != nil || math.Abs(got-1) > 1e-8 {
				t.Errorf("%d of %d: CopyBound %g, %v, want 1", app.Max, most, got, err)
			}
			if got := inst.Cap(); got > 1+1e-9 {
				t.Errorf("%d of %d: Cap %g, want 1", app.Max, most, got)
			}
		}
	}
}

// A fair number beyond all int64 is the largest one there is: the loss falls as far as containers go.
func TestFairBeyondNumbers(t *testing.T) {
	app := solver.App{Demand: apportion.Resources{1}, Max: math.MaxInt64, Delta: 1e-20, Share: 1}
	if got, want := app.LeastLoss(0, math.MaxInt64), app.Loss(math.MaxInt64); got != want {
		t.Errorf("LeastLoss %g, want %g, that of the largest number", got, want)
	}
}
