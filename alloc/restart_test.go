// This file tests the price of a restart, [Program §10].

package alloc

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/drf"
)

// ring is a server of some GPUs with a job of as many as held that may grow to most.
func ring(gpus, held, most int64) *Problem {
	p := gpuProblem(gpus)
	p.add(1, 1, most, held)
	p.Theta1, p.Theta2 = 1, 1
	return p
}

// Nobody is restarted for an eighth more of what it has, and everybody for more than that: by default, by another price, and by a
// least gain in containers.
func TestRestartForMoreThanItCosts(t *testing.T) {
	price := func(part float64) Options { return Options{RestartCost: &part} }
	for name, c := range map[string]struct {
		held, most int64
		options    Options
		want       int64
	}{
		"an eighth more":             {8, 9, Options{}, 8},
		"more than an eighth":        {8, 10, Options{}, 10},
		"a seventh":                  {7, 8, Options{}, 8},
		"twice the price":            {8, 10, price(.25), 8},
		"twice the price and paid":   {8, 11, price(.25), 11},
		"no price":                   {8, 9, price(0), 9},
		"less than two containers":   {4, 6, Options{MinGain: 2}, 4},
		"more than two containers":   {4, 7, Options{MinGain: 2}, 7},
		"the paper knows no restart": {8, 9, Options{Rule: Rule{Paper: true}}, 9},
	} {
		p := ring(12, c.held, c.most)
		p.Options = c.options
		d := mustReallocate(t, p)
		if got := d.Shares[0].Containers; got != c.want {
			t.Errorf("%s: %d of %d containers, want %d", name, got, c.most, c.want)
		}
		if d.Objective > d.Bound || d.Bound > 1+1e-9 {
			t.Errorf("%s: objective %g, bound %g", name, d.Objective, d.Bound)
		}
	}
}

// What is charged is in the objective and in the share of the one that pays it, in the bound, and in the words that say why another
// one stays as it is.
func TestRestartIsSaid(t *testing.T) {
	p := ring(12, 8, 10)
	d := mustReallocate(t, p)
	if want := (10 - 1.) / 12; math.Abs(d.Objective-want) > 1e-8 || math.Abs(d.Bound-want) > 1e-8 || d.Metrics.ResourceUtilization != 10./12 {
		t.Errorf("objective %g of %g, utilization %g; want %g", d.Objective, d.Bound, d.Metrics.ResourceUtilization, want)
	}
	e, err := Explain(p, d)
	if err != nil || e.Applications[0].Constraint != Maximum {
		t.Errorf("%+v, %v", e, err)
	}
	p = ring(12, 8, 9)
	e, err = Explain(p, mustReallocate(t, p))
	if want := "there is room, but its restart costs 0.08333, and 1 more would bring 0.08333"; err != nil || e.Applications[0].Constraint != Restart || e.Applications[0].Text != want {
		t.Errorf("%+v, %v", e.Applications, err)
	}
	p.Options.Paper, p.Options.MinGain = true, 1
	e, err = Explain(p, mustReallocate(t, p))
	if want := "restart_cost, min_gain and min_run have no effect with paper_rule"; err != nil || !strings.Contains(strings.Join(e.Warnings, "\n"), want) {
		t.Errorf("%q, %v", e.Warnings, err)
	}
}

// What a job states of its own restarts stands in place of the price, and one that must move pays nothing.
func TestRestartOfItsOwn(t *testing.T) {
	p := ring(12, 8, 9)
	stay := 8. / 12
	p.Applications[0].StayWorth = &stay
	if d := mustReallocate(t, p); d.Shares[0].Containers != 9 || d.Objective != .75 {
		t.Errorf("%+v, worth %g", d.Shares, d.Objective)
	}
	// A price of its own stands in place of the options'.
	for _, c := range []struct {
		all, own float64
		want     int64
	}{{0, .25, 8}, {1, .25, 11}, {1, 0, 11}} {
		p = ring(12, 8, 11)
		if c.want == 8 {
			p = ring(12, 8, 10)
		}
		p.Options.RestartCost, p.Applications[0].RestartCost = &c.all, &c.own
		d := mustReallocate(t, p)
		if d.Shares[0].Containers != c.want {
			t.Errorf("%g of its own beside %g: %d containers, want %d", c.own, c.all, d.Shares[0].Containers, c.want)
		}
		if _, err := Verify(p, d); err != nil {
			t.Error(err)
		}
	}
	p = ring(12, 8, 9)
	p.Servers = append(p.Servers, apportion.Server{ID: "s1", Capacity: apportion.Resources{12}})
	p.Servers[0].Capacity[0] = 7
	if d := mustReallocate(t, p); !d.Shares[0].Forced || d.Objective != 9./19 {
		t.Errorf("%+v, worth %g", d.Shares, d.Objective)
	}
}

func TestRestartErrors(t *testing.T) {
	nan, below := math.NaN(), -.5
	for field, c := range map[string]struct {
		options Options
		want    error
	}{
		"Options.RestartCost": {Options{RestartCost: &nan}, apportion.ErrNotFinite},
		"Options.MinGain":     {Options{MinGain: below}, apportion.ErrNegative},
		"Options.MinRun":      {Options{MinRun: math.Inf(1)}, apportion.ErrNotFinite},
	} {
		p := ring(8, 1, 2)
		p.Options = c.options
		var faults apportion.Faults
		if err := p.Validate(); !errors.Is(err, c.want) || !errors.As(err, &faults) || faults[0].Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestRestartErrorsOfAnApplication(t *testing.T) {
	nan, below, one := math.NaN(), -.5, 1.
	for want, spoil := range map[error]func(a *Application){
		apportion.ErrNotFinite: func(a *Application) { a.RestartCost = &nan },
		apportion.ErrNegative:  func(a *Application) { a.RestartCost = &below },
		apportion.ErrConflict:  func(a *Application) { a.RestartCost, a.StayWorth = &one, &one },
	} {
		p := ring(8, 1, 2)
		spoil(&p.Applications[0])
		var faults apportion.Faults
		if err := p.Validate(); !errors.Is(err, want) || !errors.As(err, &faults) || faults[0].Field != "RestartCost" || faults[0].Item.ID != p.Applications[0].ID {
			t.Errorf("%v: %v", want, err)
		}
	}
}

// What has changed lately is left alone: what is better for it, what is worth more, and what has a higher priority wait for MinRun. What must
// go, a drain and a guarantee do not.
func TestMinRun(t *testing.T) {
	young, old := 3., 10.
	queues := []drf.Queue{{ID: "q", Weight: 1, Guarantee: apportion.Resources{4}}, {ID: "r", Weight: 1}}
	newcomer := func(p *Problem) *Application {
		p.Applications[0].Min, p.Applications[0].Preemptible, p.Options.Preempt = 8, true, true
		return p.add(1, 4, 4)
	}
	for name, c := range map[string]struct {
		with       func(p *Problem)
		late, soon int64 // what the job has where it is protected no more, and where it is
	}{
		"growth":        {func(p *Problem) {}, 12, 8},
		"shrinking":     {func(p *Problem) { p.Servers[0].Capacity[0] = 8; p.add(1, 4, 4) }, 4, 8},
		"priority":      {func(p *Problem) { newcomer(p).Priority, p.Servers[0].Capacity[0] = 1, 8 }, 0, 8},
		"a lost server": {func(p *Problem) { p.Servers[0].Capacity[0] = 6 }, 6, 6},
		"a drain": {func(p *Problem) {
			p.Servers = append(p.Servers, apportion.Server{ID: "t", Capacity: apportion.Resources{10}})
			p.Servers[0].Cordoned = true
		}, 10, 10},
		"a guarantee": {func(p *Problem) {
			newcomer(p).Queue, p.Applications[0].Queue, p.Queues, p.Servers[0].Capacity[0] = "q", "r", queues, 8
		}, 0, 0},
		"the paper": {func(p *Problem) { p.Options.Paper = true }, 12, 12},
	} {
		for held, want := range map[*float64]int64{nil: c.late, &old: c.late, &young: c.soon} {
			p := ring(12, 8, 12)
			p.Options.MinRun, p.Applications[0].Held = 10, held
			c.with(p)
			d := mustReallocate(t, p)
			if got := d.Shares[0].Containers; got != want {
				t.Errorf("%s, held %v: %d containers, want %d", name, held, got, want)
			}
			if _, err := Verify(p, d); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	// It is said to both.
	p := ring(12, 8, 12)
	p.Options.MinRun, p.Applications[0].Held = 10, &young
	e, err := Explain(p, mustReallocate(t, p))
	if want := "there is room, but it has had what it has for 3 of 10"; err != nil || e.Applications[0].Text != want || e.Applications[0].Need != 10 {
		t.Errorf("%+v, %v", e.Applications, err)
	}
	p.Servers[0].Capacity[0] = 8
	p.add(1, 4, 4)
	d := mustReallocate(t, p)
	if !slices.ContainsFunc(d.Waiting[0].Reason.Blockers, func(b apportion.Blocker) bool {
		return b.Cause == ByMinRun && b.Free == 8 && slices.Equal(b.Applications, []string{p.Applications[0].ID})
	}) {
		t.Errorf("%+v", d.Waiting)
	}
	if inst, _ := resolve(p).openInstance(); inst.Apps[0].Pinned {
		t.Error("no other choice may drain it, or take it by a guarantee")
	}
}

// For one that is due room is made by those alone that have had what they have for long: here both are needed, and the budget pays for one.
func TestMinRunBesideReservation(t *testing.T) {
	for held, want := range map[float64]bool{3: false, 10: true} {
		p := gpuProblem(8)
		p.add(1, 1, 4, 4)
		p.add(1, 1, 4, 4).Held = &held
		p.add(1, 6, 6).Passed = 9
		p.Theta1, p.Theta2, p.Options.MinRun = 1, .5, 10
		d := mustReallocate(t, p)
		if shrunk := d.Shares[0].Adjusted || d.Shares[1].Adjusted; shrunk != want {
			t.Errorf("held %g: %+v, reserved %+v", held, d.Shares, d.Reservations)
		}
	}
}

// A record that was written before restarts had a price is what it was: the absent price is none.
func TestRecordBeforeRestartCost(t *testing.T) {
	p := ring(12, 8, 9)
	free := *p
	free.Options.RestartCost = new(float64)
	d := mustReallocate(t, &free)
	d.Settled = nil // nor was there this
	old := &Record{Version: 2, Problem: p, Decision: d}
	if _, err := old.Verify(); err != nil {
		t.Error(err)
	}
	if found, err := old.Replay(t.Context(), nil); err != nil || len(found) > 0 {
		t.Error(found, err)
	}
	if p.Options.RestartCost != nil {
		t.Error("the problem of the record has been changed")
	}
	if _, err := (&Record{Version: RecordVersion, Problem: p, Decision: d}).Verify(); !errors.Is(err, ErrMismatch) {
		t.Errorf("a new record without the price: %v", err)
	}
}

// Of equal answers less their prices the one that adjusts nobody is given: a decision whose gains are all eighths moves none.
func TestPropTieMovesNobody(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := ring(rapid.Int64Range(9, 9).Draw(t, "gpus"), 8, 9)
		for range rapid.IntRange(0, 3).Draw(t, "more") {
			p.Servers = append(p.Servers, apportion.Server{ID: "t" + string(rune('a'+len(p.Servers))), Capacity: apportion.Resources{9}})
			id := "b" + string(rune('a'+len(p.Applications)))
			p.Applications = append(p.Applications, Application{ID: id, Weight: rapid.Float64Range(.5, 4).Draw(t, "weight"), Form: Form{Demand: apportion.Resources{1}, Min: 1, Max: 9}})
			p.Previous[id] = map[string]int64{p.Servers[len(p.Servers)-1].ID: 8}
		}
		if d, err := Reallocate(t.Context(), p, nil); err != nil || d.Metrics.Adjusted > 0 {
			t.Fatalf("%+v, %v", d, err)
		}
	})
}
