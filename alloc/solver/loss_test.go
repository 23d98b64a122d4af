package solver_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
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

// A bound looks at every number: the one with the least loss may be far from the share and from the ends.
func TestBoundLooksAtEveryNumber(t *testing.T) {
	inst := &solver.Instance{Capacity: []apportion.Resources{{20}}, Total: apportion.Resources{20}, LossBudget: .1}
	inst.Apps = []solver.App{{Demand: apportion.Resources{1}, Max: 20, Value: .01, Delta: .05,
		Losses: []solver.LossPoint{{N: 0, Loss: 1}, {N: 6, Loss: 1}, {N: 7, Loss: 0}, {N: 8, Loss: 1}}}}
	seven := solver.Counts{{{Server: 0, Count: 7}}}
	if err := inst.Check(seven); err != nil {
		t.Fatal(err)
	}
	m := &solver.Multipliers{Server: [][]float64{{0}}, Loss: 1}
	if bound, err := solver.DualBound(inst, m); err != nil || bound < inst.Objective(seven) {
		t.Errorf("DualBound is %g, %v, and seven bring %g", bound, err, inst.Objective(seven))
	}
	c := &solver.CopyPrices{Container: []float64{.01}, Loss: 1, Room: [][]float64{nil}}
	if bound, err := solver.CopyBound(inst, c); err != nil || bound < inst.Objective(seven) {
		t.Errorf("CopyBound is %g, %v, and seven bring %g", bound, err, inst.Objective(seven))
	}
}

// Options of one application lose the same without containers, and the sums count that once, whether their losses are
// shares or stated.
func TestStatedLossOfChoice(t *testing.T) {
	half := []solver.LossPoint{{N: 0, Loss: .5}, {N: 1, Loss: .25}}
	inst := &solver.Instance{Capacity: []apportion.Resources{{4}}, Total: apportion.Resources{4}, LossBudget: 1, Choices: []solver.Choice{{Apps: []int{0, 1}}}}
	for i := range 2 {
		inst.Apps = append(inst.Apps, solver.App{Demand: apportion.Resources{int64(i + 1)}, Max: 2, Delta: .25, Share: 1, Losses: half})
	}
	if err := inst.Validate(); err != nil {
		t.Fatal(err)
	}
	if got := inst.FairnessLoss(solver.Counts{{{Server: 0, Count: 1}}, nil}); got != .25 {
		t.Errorf("with the first option %g is lost, want 0.25", got)
	}
	// A share of a half is the same loss.
	inst.Apps[1].Losses, inst.Apps[1].Share = nil, .5
	if err := inst.Validate(); err != nil {
		t.Error(err)
	}
	inst.Apps[1].Losses = []solver.LossPoint{{N: 0, Loss: .75}}
	if inst.Validate() == nil {
		t.Error("options that lose unlike amounts without containers are accepted")
	}
}
