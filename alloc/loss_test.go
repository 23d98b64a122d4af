package alloc_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/rapidtest"
)

// eight is a problem of a job that runs no faster beyond two GPUs and of one that does, on a server of eight: four are fair.
func eight() *alloc.Problem {
	return &alloc.Problem{
		Kinds: apportion.Kinds{"gpu"}, Theta1: .25, Theta2: 1, Options: alloc.Options{Rule: alloc.Rule{NoCeil15: true}},
		Servers: []apportion.Server{{ID: "s", Capacity: apportion.Resources{8}}},
		Applications: []alloc.Application{
			{ID: "flat", Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1}, Max: 8, Worth: []float64{1, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5}}},
			{ID: "steep", Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1}, Max: 8, Worth: []float64{1, 2, 3, 4, 5, 6, 7, 8}}},
		},
	}
}

// In shares a job loses what it could not use; in worth it loses nothing, and the budget is for those that do. Without speeds
// it is as fast as its share is large, and a budget of none leaves everybody its fair part.
func TestLossInWorth(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(p *alloc.Problem)
		steep  int64
		loss   float64
	}{
		// theta1 2m = 0.5: two GPUs lost by one, and won by the other, a fourth each.
		{"in shares", func(p *alloc.Problem) { p.Theta1 = .125 }, 5, .25},
		// theta1 times two: half of what the steep one is due.
		{"in worth", func(p *alloc.Problem) { p.Options.Loss = alloc.LossInWorth }, 6, .5},
		{"in worth, more", func(p *alloc.Problem) { p.Options.Loss, p.Theta1 = alloc.LossInWorth, .6 }, 7, .75 + 1./3},
		{"no budget", func(p *alloc.Problem) { p.Options.Loss, p.Theta1 = alloc.LossInWorth, 0 }, 4, 0},
		{"as fast as shares", func(p *alloc.Problem) {
			p.Options.Loss = alloc.LossInWorth
			p.Applications[0].Speed, p.Applications[1].Speed = nil, nil
		}, 5, .5},
	} {
		p := eight()
		for i := range p.Applications {
			p.Applications[i].Speed = p.Applications[i].Worth
		}
		c.change(p)
		d := decide(t, p)
		if got := d.Allocation.Containers("steep"); got != c.steep || math.Abs(d.Metrics.FairnessLoss-c.loss) > 1e-9 {
			t.Errorf("%s: %d GPUs, loss %g of %g; want %d, %g", c.name, got, d.Metrics.FairnessLoss, d.Metrics.LossBudget, c.steep, c.loss)
		}
	}
}

// The loss of every application is |speed/fair speed - 1|, by the words of the problem: the fair speed lies on the line
// between the numbers next to the fair one.
func TestLossesByTheWord(t *testing.T) {
	lossy := 0
	rapidtest.Until(t, "nobody loses anything", func() bool { return lossy > 0 }, func(t *rapid.T) {
		p := using(genProblem(t), nil)
		p.Options.Loss = alloc.LossInWorth
		genSpeeds(t, p)
		for i := range p.Applications { // of an option that is gone
			if p.Applications[i].Demand.IsZero() {
				p.Applications[i].Demand[0] = 1
			}
		}
		p.Options.Paper, p.Previous = false, nil
		d, err := recorded(t, context.Background(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		total := make(apportion.Resources, len(p.Kinds))
		for _, s := range p.Servers {
			for k := range total {
				if !s.Cordoned {
					total[k] += s.Capacity[k]
				}
			}
		}
		for i, share := range d.Shares {
			app := &p.Applications[i]
			delta, _ := app.Demand.DominantShare(total)
			want := 0.0
			if share.Theoretical > 0 {
				// A fair number that is a rounding error off a speed of 0 has next to no speed, and a loss that is cut.
				want = min(solver.MaxWorth, math.Abs(speedAt(app, float64(share.Containers), delta)/speedAt(app, share.Theoretical/delta, delta)-1))
				if speedAt(app, share.Theoretical/delta, delta) == 0 {
					want = 0
				}
			}
			if math.Abs(share.Loss-want) > 1e-9*(1+want) {
				t.Fatalf("%s with %d of %g: loss %g, want %g", app.ID, share.Containers, share.Theoretical/delta, share.Loss, want)
			}
			if want > 0 && want != 1 {
				lossy++
			}
		}
	})
}

// speedAt is how fast an application is with n containers, walked through number by number.
func speedAt(app *alloc.Application, n, delta float64) float64 {
	if app.Speed == nil {
		return n * delta
	}
	below, before, at := 0., 0., 0
	for c := max(1, app.Min); c <= app.Max; c++ {
		if c%max(1, app.Step) != 0 || app.Counts != nil && !slices.Contains(app.Counts, c) {
			continue
		}
		speed := app.Speed[at]
		at++
		if n <= float64(c) {
			return before + (speed-before)*(n-below)/(float64(c)-below)
		}
		below, before = float64(c), speed
	}
	return before
}

// genSpeeds lets some applications state speeds that rise, fall or stand still.
func genSpeeds(t *rapid.T, p *alloc.Problem) {
	for i := range p.Applications {
		app := &p.Applications[i]
		if app.Options != nil || !rapid.Bool().Draw(t, "states speeds") {
			continue
		}
		app.Speed = []float64{}
		for range numbersAbove0(app) {
			app.Speed = append(app.Speed, float64(rapid.IntRange(0, 12).Draw(t, "speed"))/4)
		}
	}
}

// All options lose against one speed, that of the first of them that can be had at its fair number.
func TestLossOfOptions(t *testing.T) {
	p := &alloc.Problem{
		Kinds: apportion.Kinds{"v100", "a100"}, Theta1: 1, Theta2: 1, Options: alloc.Options{Loss: alloc.LossInWorth},
		Servers: []apportion.Server{{ID: "s", Capacity: apportion.Resources{4, 2}}},
		Applications: []alloc.Application{{ID: "net", Weight: 1, Options: []alloc.Option{
			{ID: "v100", Form: alloc.Form{Demand: apportion.Resources{1, 0}, Max: 4, Worth: []float64{1, 2, 3, 4}, Speed: []float64{1, 2, 3, 4}}},
			{ID: "a100", Form: alloc.Form{Demand: apportion.Resources{0, 1}, Max: 2, Worth: []float64{3, 6}, Speed: []float64{3, 6}}},
		}}},
	}
	d := decide(t, p)
	if s := d.Shares[0]; s.Option != "a100" || s.Containers != 2 || s.Loss != .5 || s.Theoretical != 1 {
		t.Errorf("%+v, want both of the a100, half as fast again as due", s)
	}
	// None of the first kind is left: the other option says what is fair.
	p.Servers[0].Capacity[0] = 0
	p.Applications[0].Options[1].Worth[1] = 1
	if s := decide(t, p).Shares[0]; s.Loss != .5 || s.Containers != 1 {
		t.Errorf("%+v, want half of what is due", s)
	}
}

// Where the budget in worth cannot be held it is the least loss, which is proven to be one, and a warning says where it
// cannot bind; the ceiling of (15) is no part of it.
func TestBudgetInWorth(t *testing.T) {
	p := eight()
	p.Options.Loss = alloc.LossInWorth
	p.Theta1, p.Servers[0].Capacity[0] = 0, 5
	d := decide(t, p)
	// Two and three of 2.5.
	if d.LeastLoss == nil || math.Abs(d.LeastLoss.Loss-.4) > 1e-9 || math.Abs(d.LeastLoss.Bound-.4) > 1e-6 || d.Allocation.Containers("steep") != 3 {
		t.Errorf("the least loss is %+v", d.LeastLoss)
	}
	// One that must stay is a thousand times as fast as due, and nothing is too much for the least loss.
	p = eight()
	p.Options.Loss, p.Theta1, p.Previous = alloc.LossInWorth, 0, alloc.Allocation{"flat": {"s": 7}}
	p.Applications[0].Pinned, p.Applications[0].Speed = true, []float64{1, 1, 1, 1, 1000, 1000, 1000, 1000}
	d = decide(t, p)
	if want := 999 + .75; d.LeastLoss == nil || math.Abs(d.LeastLoss.Loss-want) > 1e-9 || d.Allocation.Containers("steep") != 1 {
		t.Errorf("the least loss is %+v, want %g", d.LeastLoss, want)
	}
	p = eight()
	p.Options.Loss, p.Options.NoCeil15, p.Theta1 = alloc.LossInWorth, false, .1
	d = decide(t, p)
	e, err := alloc.Explain(p, d)
	if err != nil || len(e.Warnings) != 0 || math.Abs(d.Metrics.LossBudget-.2) > 1e-12 {
		t.Errorf("budget %g, warnings %q, %v", d.Metrics.LossBudget, e.Warnings, err)
	}
	for i := range p.Applications {
		p.Applications[i].Min, p.Applications[i].Speed, p.Applications[i].Worth = 3, []float64{1, 1.01, 1.01, 1.01, 1.01, 1.01}, nil
	}
	if e, err = alloc.Explain(p, decide(t, p)); err != nil || len(e.Warnings) != 1 {
		t.Errorf("all are nearly as fast with 3 as with 8, and the warnings are %q, %v", e.Warnings, err)
	}
}

// Bad speeds are refused, each by its own fault.
func TestBadSpeeds(t *testing.T) {
	option := func(id string, speed []float64) alloc.Option {
		return alloc.Option{ID: id, Form: alloc.Form{Demand: apportion.Resources{1}, Max: 2, Speed: speed}}
	}
	for name, c := range map[string]struct {
		change func(p *alloc.Problem)
		field  string
		want   error
	}{
		"no such measure": {func(p *alloc.Problem) { p.Options.Loss = "speed" }, "Options.Loss", apportion.ErrUnknown},
		"too few":         {func(p *alloc.Problem) { p.Applications[0].Speed = []float64{1, 2} }, "Speed", apportion.ErrLength},
		"none":            {func(p *alloc.Problem) { p.Applications[0].Speed = []float64{} }, "Speed", apportion.ErrLength},
		"no number": {func(p *alloc.Problem) {
			p.Applications[0].Speed = make([]float64, 8)
			p.Applications[0].Speed[3] = math.NaN()
		}, "Speed[3]", apportion.ErrNotFinite},
		"infinite": {func(p *alloc.Problem) {
			p.Applications[0].Speed = make([]float64, 8)
			p.Applications[0].Speed[0] = math.Inf(1)
		}, "Speed[0]", apportion.ErrNotFinite},
		"below nothing": {func(p *alloc.Problem) { p.Applications[0].Speed = make([]float64, 8); p.Applications[0].Speed[7] = -1 }, "Speed[7]", apportion.ErrNegative},
		"beside options": {func(p *alloc.Problem) {
			p.Applications[0] = alloc.Application{ID: "flat", Weight: 1, Form: alloc.Form{Speed: []float64{1}}, Options: []alloc.Option{option("a", nil)}}
		}, "Speed", apportion.ErrConflict},
		"of some options": {func(p *alloc.Problem) {
			p.Applications[0] = alloc.Application{ID: "flat", Weight: 1, Options: []alloc.Option{option("a", nil), option("b", []float64{1, 2})}}
		}, "Options[1].Speed", apportion.ErrConflict},
		"too few of option": {func(p *alloc.Problem) {
			p.Applications[0] = alloc.Application{ID: "flat", Weight: 1, Options: []alloc.Option{option("a", []float64{1})}}
		}, "Options[0].Speed", apportion.ErrLength},
	} {
		p := eight()
		c.change(p)
		var fault *apportion.FieldError
		if err := p.Validate(); !errors.As(err, &fault) || fault.Field != c.field || !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v of %s", name, err, c.want, c.field)
		}
	}
}

// Nobody who is due nothing loses anything, a speed of nothing is no due, and one that is tiny makes no loss without end.
func TestLossesAtTheEdge(t *testing.T) {
	p := eight()
	p.Options.Loss, p.Theta1 = alloc.LossInWorth, 1
	p.Applications[0].Speed = make([]float64, 8)
	if d := decide(t, p); d.Shares[0].Loss != 0 {
		t.Errorf("a speed of nothing: %+v", d.Shares[0])
	}
	p.Applications[0].Speed = []float64{1e-300, 1e-300, 1e-300, 1e-300, 1, 1, 1, 1}
	inst, _, err := p.Instance()
	if err != nil || inst.Validate() != nil || inst.Apps[0].Loss(5) != solver.MaxWorth || inst.Apps[0].Loss(0) != 1 {
		t.Errorf("%+v, %v", inst.Apps[0].Losses, err)
	}
	decide(t, p)
	text, err := json.Marshal(p)
	var back alloc.Problem
	if err != nil || json.Unmarshal(text, &back) != nil || !cmp.Equal(p, &back) {
		t.Errorf("%s, %v", text, err)
	}
}

// Losses in worth are stated by points, and quantities may be bytes: a decision, its proof and its explanation take no longer
// where an application may have as many containers as the cluster has bytes. Whoever goes through all numbers does not come
// to an end here.
func TestLossInWorthOfManyNumbers(t *testing.T) {
	for _, size := range []int64{1 << 10, 1 << 40, math.MaxInt64 - 1} {
		for _, least := range []int64{0, size/2 - 1} {
			p := &alloc.Problem{
				Kinds: apportion.Kinds{"memory"}, Theta1: .5, Theta2: 1, Options: alloc.Options{Loss: alloc.LossInWorth, Rule: alloc.Rule{NoCeil15: true}},
				Servers: []apportion.Server{{ID: "a", Capacity: apportion.Resources{size / 2}}, {ID: "b", Capacity: apportion.Resources{size - size/2}}},
				Applications: []alloc.Application{
					{ID: "small", Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1}, Min: least, Max: math.MaxInt64}},
					{ID: "large", Weight: 1, Form: alloc.Form{Demand: apportion.Resources{size / 8}, Max: math.MaxInt64}},
				},
			}
			d, err := recorded(t, t.Context(), p, nil)
			if err != nil {
				t.Fatalf("%d from %d on: %v", size, least, err)
			}
			proof, err := alloc.Verify(p, d)
			if err != nil || proof.Bound < d.Objective-1e-9 || proof.Bound > 1+1e-6 {
				t.Errorf("%d from %d on: %v, bound %g of %g, %v", size, least, d.Status, proof.Bound, d.Objective, err)
			}
			if _, err := alloc.Explain(p, d); err != nil {
				t.Errorf("%d from %d on: %v", size, least, err)
			}
		}
	}
}
