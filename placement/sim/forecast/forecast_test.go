// This file tests forecasts: by hand, of bad input, and that they are what their replays say.

package forecast_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/placement/sim/forecast"
	"github.com/apportion/apportion/placement/sim/policies"
)

// gang is an application of so many containers of one unit, which ends by then; negative: nobody knows.
func gang(id string, containers int64, ends float64) alloc.Application {
	app := alloc.Application{ID: id, Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1}, Min: containers, Max: containers}}
	if ends >= 0 {
		app.Ends = &ends
	}
	return app
}

// cluster is one server of four units, of which a holds three: b and c wait.
func cluster(ends ...float64) *alloc.Problem {
	p := &alloc.Problem{Kinds: apportion.Kinds{"gpu"}, Servers: []apportion.Server{{ID: "s", Capacity: apportion.Resources{4}}}, Theta1: 0.1, Theta2: 0.1}
	for i, id := range []string{"a", "b", "c"} {
		p.Applications = append(p.Applications, gang(id, 3, ends[i]))
	}
	p.Previous = alloc.Allocation{"a": {"s": 3}}
	return p
}

func forecastOf(t *testing.T, p *alloc.Problem, known []forecast.Known, o *forecast.Options) *forecast.Forecast {
	t.Helper()
	return must.Have(forecast.New(t.Context(), p, known, o))(t)
}

// seconds returns a quantile as a number, infinity beyond the horizon.
func seconds(at *float64) float64 {
	if at == nil {
		return math.Inf(1)
	}
	return *at
}

func TestLimits(t *testing.T) {
	f := forecastOf(t, cluster(100, 50, 20), nil, nil)
	if len(f.Jobs) != 2 || f.Jobs[0].ID != "b" || f.Jobs[1].ID != "c" {
		t.Fatalf("%+v", f.Jobs)
	}
	// Lengths are certain, so that all quantiles are one.
	b, c := f.Jobs[0], f.Jobs[1]
	for _, got := range [][2]float64{{seconds(b.Start.P10), 100}, {seconds(b.Start.P90), 100}, {seconds(b.End.P50), 150}, {seconds(c.Start.P50), 150}, {seconds(c.End.P90), 170}} {
		if math.Abs(got[0]-got[1]) > 1e-6 {
			t.Errorf("%g, want %g: %+v", got[0], got[1], f.Jobs)
		}
	}
	if f.Replays != 32 || f.Decisions != 1+32*2 {
		t.Errorf("%d decisions in %d replays", f.Decisions, f.Replays)
	}
}

// What is left is one of four: the third, 17th and 30th of 32 draws.
func TestLeft(t *testing.T) {
	f := forecastOf(t, cluster(-1, 50, 20), []forecast.Known{{ID: "a", Left: []float64{10, 20, 30, 40}}}, &forecast.Options{Replays: 1000})
	b := f.Jobs[0].Start
	if seconds(b.P10) != 10 || math.Abs(seconds(b.P50)-25) > 5.1 || seconds(b.P90) != 40 {
		t.Errorf("%g, %g, %g", seconds(b.P10), seconds(b.P50), seconds(b.P90))
	}
}

// Of four replays the truth is before the least with probability 1/5, and before the third with 3/5: P10 is the least, P50 the third, since the second has
// less than a half, and P90 the largest. Of a hundred and nine P10 is the eleventh.
func TestQuantiles(t *testing.T) {
	known := []forecast.Known{{ID: "a"}}
	for left := range 1000 {
		known[0].Left = append(known[0].Left, float64(left))
	}
	for _, test := range []struct{ replays, p10, p50, p90 int }{{4, 1, 3, 4}, {109, 11, 55, 99}} {
		b := forecastOf(t, cluster(-1, 50, 20), known, &forecast.Options{Replays: test.replays}).Jobs[0]
		at := func(rank int) float64 { return b.Starts[rank-1] }
		if seconds(b.Start.P10) != at(test.p10) || seconds(b.Start.P50) != at(test.p50) || seconds(b.Start.P90) != at(test.p90) {
			t.Errorf("%d replays: %g, %g, %g", test.replays, seconds(b.Start.P10), seconds(b.Start.P50), seconds(b.Start.P90))
		}
	}
}

// a has run for 60 s of its user's 100, which all used; b's user has used a tenth or all of the limit, and c is of that user, too.
func TestHistory(t *testing.T) {
	history, err := forecast.NewHistory([]forecast.Run{
		{User: "u", Length: 50, Limit: 50}, {User: "v", Length: 10, Limit: 100}, {User: "v", Length: 100, Limit: 100},
	}, &forecast.Shrinkage{Strength: 1e-9})
	must.Do(t, err)
	known := []forecast.Known{{ID: "a", User: "u", Ran: 60}, {ID: "b", User: "v"}, {ID: "c", User: "v"}}
	f := forecastOf(t, cluster(40, 50, 20), known, &forecast.Options{Replays: 99, History: history})
	b, c := f.Jobs[0], f.Jobs[1]
	if seconds(b.Start.P10) != 40 || seconds(b.Start.P90) != 40 {
		t.Errorf("b starts from %g to %g, want 40", seconds(b.Start.P10), seconds(b.Start.P90))
	}
	if seconds(b.End.P10) != 45 || seconds(b.End.P90) != 90 || seconds(c.End.P10) != 47 || seconds(c.End.P90) != 110 {
		t.Errorf("b ends from %g to %g, c from %g to %g", seconds(b.End.P10), seconds(b.End.P90), seconds(c.End.P10), seconds(c.End.P90))
	}
	// What both draw is one number: c ends at 47 or 110, and for itself also at 65 and 92.
	ends := func(o *forecast.Options) map[float64]bool {
		at := make(map[float64]bool)
		for seed := range uint64(30) {
			o.Replays, o.Seed, o.History = 1, seed, history
			at[seconds(forecastOf(t, cluster(40, 50, 20), known, o).Jobs[1].End.P50)] = true
		}
		return at
	}
	if shared, alone := ends(&forecast.Options{}), ends(&forecast.Options{Alone: true}); len(shared) != 2 || len(alone) != 4 {
		t.Errorf("c ends at %v, and drawn for itself at %v", shared, alone)
	}
}

func TestUnknown(t *testing.T) {
	f := forecastOf(t, cluster(-1, -1, -1), nil, nil)
	if f.Reason.Constraint != forecast.UnknownLengths || len(f.Jobs) != 0 || len(f.Unknown) != 3 {
		t.Errorf("nothing is known: %+v", f)
	}
	// Of a alone nothing is known: it may run for ever, and b after it.
	f = forecastOf(t, cluster(-1, 50, 20), nil, nil)
	if f.Reason.Constraint != "" || len(f.Unknown) != 1 || f.Jobs[0].Start.P10 != nil {
		t.Errorf("a is not known: %+v", f)
	}
	// c alone is asked for.
	f = forecastOf(t, cluster(10, 50, 20), nil, &forecast.Options{Asked: []string{"c"}, StartsOnly: true})
	if len(f.Jobs) != 1 || f.Jobs[0].ID != "c" || seconds(f.Jobs[0].Start.P50) != 60 {
		t.Errorf("c is asked for: %+v", f.Jobs)
	}
}

func TestHorizon(t *testing.T) {
	f := forecastOf(t, cluster(100, 50, 20), nil, &forecast.Options{Horizon: 120})
	if b, c := f.Jobs[0], f.Jobs[1]; b.Start.P90 == nil || b.End.P10 != nil || c.Start.P10 != nil {
		t.Errorf("%+v, %+v", b, c)
	}
}

// What arrives delays those behind it under a policy that knows no order, and none before.
func TestArrivals(t *testing.T) {
	p := cluster(100, 50, 20)
	p.Applications[1] = gang("b", 4, 50)
	o := &forecast.Options{Policy: func() sim.Policy { return &policies.FIFO{} }, Horizon: 1000}
	without := forecastOf(t, p, nil, o)
	for i := range 50 {
		o.Arrivals = append(o.Arrivals, forecast.Arrival{At: float64(i * 10), Application: gang("x", 1, 400), Length: 400})
	}
	if with := forecastOf(t, p, nil, o); !reflect.DeepEqual(with.Jobs, without.Jobs) {
		t.Errorf("first come, first served: %+v, %+v", with.Jobs, without.Jobs)
	}
	o.Policy = func() sim.Policy { return &policies.FIFO{Backfill: true} }
	if with := forecastOf(t, p, nil, o); seconds(with.Jobs[0].Start.P50) <= 100 {
		t.Errorf("b is passed by nobody: %+v", with.Jobs)
	}
}

func TestFaults(t *testing.T) {
	for _, test := range []struct {
		field string
		known []forecast.Known
		o     forecast.Options
		want  error
	}{
		{"ID", []forecast.Known{{ID: "z"}}, forecast.Options{}, apportion.ErrUnknown},
		{"Ran", []forecast.Known{{ID: "a", Ran: -1}}, forecast.Options{}, apportion.ErrNegative},
		{"Left", []forecast.Known{{ID: "a", Left: []float64{math.NaN()}}}, forecast.Options{}, apportion.ErrNotFinite},
		{"ID", nil, forecast.Options{Asked: []string{"z"}}, apportion.ErrUnknown},
		{"Replays", nil, forecast.Options{Replays: -1}, apportion.ErrNegative},
		{"Decisions", nil, forecast.Options{Decisions: -1}, apportion.ErrNegative},
		{"Horizon", nil, forecast.Options{Horizon: 1e12}, apportion.ErrRange},
		{"AdjustCost", nil, forecast.Options{AdjustCost: -1}, apportion.ErrNegative},
		{"At", nil, forecast.Options{Arrivals: []forecast.Arrival{{At: -1}}}, apportion.ErrNegative},
		{"Length", nil, forecast.Options{Arrivals: []forecast.Arrival{{Length: -1}}}, apportion.ErrNegative},
	} {
		_, err := forecast.New(t.Context(), cluster(1, 1, 1), test.known, &test.o)
		var faults apportion.Faults
		if !errors.As(err, &faults) || !errors.Is(err, test.want) || faults[0].Field != test.field {
			t.Errorf("%s: %v, want %v", test.field, err, test.want)
		}
	}
	must.Fail(forecast.New(t.Context(), &alloc.Problem{}, nil, nil))(t, apportion.ErrEmpty, "a problem that is none")
}

// drawn is a cluster of a few servers, full of applications of all sorts, of which some wait.
func drawn(seed uint64) (*alloc.Problem, []forecast.Known) {
	random := rand.New(rand.NewPCG(seed, 5))
	p := &alloc.Problem{Kinds: apportion.Kinds{"cpu", "gpu"}, Theta1: 0.1, Theta2: 0.2, Previous: alloc.Allocation{}}
	var known []forecast.Known
	for j := range 2 + random.IntN(3) {
		p.Servers = append(p.Servers, apportion.Server{ID: fmt.Sprint("s", j), Capacity: apportion.Resources{8, 4}})
	}
	for i := range 4 + random.IntN(5) {
		app := gang(fmt.Sprint("a", i), 1+random.Int64N(3), 100*float64(1+random.IntN(9)))
		app.Demand = apportion.Resources{1 + random.Int64N(3), random.Int64N(2)}
		if random.IntN(3) == 0 {
			app.Max += 2
		}
		if random.IntN(4) == 0 {
			app.Options, app.Form = []alloc.Option{{ID: "o", Form: app.Form}, {ID: "p", Form: app.Form}}, alloc.Form{}
		}
		p.Applications = append(p.Applications, app)
		known = append(known, forecast.Known{ID: app.ID, User: fmt.Sprint("u", i%3), Ran: float64(random.IntN(50))})
	}
	if d, err := alloc.Reallocate(context.Background(), p, nil); err == nil {
		for i := range p.Applications[:len(p.Applications)/2] {
			if id := p.Applications[i].ID; d.Allocation[id] != nil {
				p.Previous[id] = d.Allocation[id]
			}
		}
	}
	return p, known
}

// The same input has the same forecast; quantiles ascend; whatever was given stays as it was.
func TestProperties(t *testing.T) {
	history, err := forecast.NewHistory([]forecast.Run{{User: "u0", Length: 10, Limit: 100}, {User: "u1", Length: 90, Limit: 100}}, nil)
	must.Do(t, err)
	for seed := range uint64(30) {
		p, known := drawn(seed)
		o := &forecast.Options{Replays: 9, History: history, Seed: seed, Decisions: int(seed % 3 * 4)}
		f, again := forecastOf(t, p, known, o), forecastOf(t, p, known, o)
		if !reflect.DeepEqual(f, again) {
			t.Fatalf("seed %d: two forecasts", seed)
		}
		if q, k := drawn(seed); !reflect.DeepEqual(p, q) || !reflect.DeepEqual(k, known) {
			t.Fatalf("seed %d: the problem has changed", seed)
		}
		for _, job := range f.Jobs {
			if seconds(job.Start.P10) > seconds(job.Start.P50) || seconds(job.Start.P50) > seconds(job.Start.P90) || seconds(job.End.P50) < seconds(job.Start.P50) {
				t.Errorf("seed %d: %+v", seed, job)
			}
		}
	}
}
