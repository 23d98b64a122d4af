// This file tests what servers beyond the fewest cost, [Program §14].

package alloc

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/apportion/apportion"
)

// halves is a cluster of servers of 8 GPUs, which are compact, with jobs of up to as many GPUs as each of most says.
func halves(servers int, most ...int64) *Problem {
	p := gpuProblem()
	for range servers {
		p.Servers = append(p.Servers, apportion.Server{ID: "s" + string(rune('0'+len(p.Servers))), Capacity: apportion.Resources{8}})
	}
	for _, n := range most {
		p.add(1, n, n)
	}
	p.Compact, p.Theta1, p.Theta2 = []string{p.Kinds[0]}, 1, 1
	return p
}

// runs lets application i have so many containers on each server.
func (p *Problem) runs(i int, on ...int64) {
	places := map[string]int64{}
	for j, n := range on {
		places[p.Servers[j].ID] = n
	}
	p.Previous[p.Applications[i].ID] = places
}

// A job of 4 on two servers of 8 loses 0.13 of 4/24, which is less than a container of 1/24: so it loses that, and 2.08/24 with jobs of 16.
func TestSpreadCosts(t *testing.T) {
	part := func(x float64) func(*Problem) { return func(p *Problem) { p.Applications[0].SpreadCost = &x } }
	for name, c := range map[string]struct {
		most   int64
		on     []int64
		change func(*Problem)
		want   float64 // in containers
	}{
		"one server":                    {8, []int64{8}, nil, 8},
		"two, and a container is more":  {4, []int64{2, 2}, nil, 3},
		"three":                         {8, []int64{4, 3, 1}, nil, 8 - 2.08},
		"two are the fewest":            {16, []int64{8, 8}, nil, 16},
		"three, and a part is more":     {16, []int64{8, 4, 4}, nil, 16 - 2.08},
		"another part":                  {16, []int64{8, 4, 4}, part(.5), 8},
		"nothing":                       {16, []int64{8, 4, 4}, part(0), 16},
		"all kinds count, and it costs": {16, []int64{8, 4, 4}, func(p *Problem) { p.Options.Worth = WorthOfAllKinds }, 16 - 2.08},
		"nothing is compact":            {16, []int64{8, 4, 4}, func(p *Problem) { p.Compact = nil }, 16},
		"stated, and nothing compact":   {16, []int64{8, 4, 4}, func(p *Problem) { part(.5)(p); p.Compact = nil }, 8},
		"the paper":                     {16, []int64{8, 4, 4}, func(p *Problem) { p.Options.Paper = true }, 16},
		"worths of its own": {16, []int64{8, 4, 4}, func(p *Problem) {
			p.Applications[0].Min, p.Applications[0].Worth, p.Applications[0].IdleWorth = 0, make([]float64, 16), 10./24
			for n := range p.Applications[0].Worth {
				p.Applications[0].Worth[n] = float64(n+11) / 24
			}
		}, 26 - 2.08},
	} {
		p := halves(3, c.most)
		p.runs(0, c.on...)
		p.Applications[0].Pinned = true // what it has counts, not what could be
		if c.change != nil {
			c.change(p)
		}
		d := mustReallocate(t, p)
		if math.Abs(d.Objective-c.want/24) > 1e-9 {
			t.Errorf("%s: worth %g containers, want %g", name, d.Objective*24, c.want)
		}
		if _, err := Verify(p, d); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A torn job comes together where that costs less than it loses, and a job that comes has its servers for the move of another one.
func TestTornIsGathered(t *testing.T) {
	more, dear := .2, .5
	for name, c := range map[string]struct {
		on   [][]int64 // by job; none: it comes
		most []int64
		cost *float64
		want int64 // servers beyond the fewest
	}{
		"it loses 1, and its restart costs 0.5": {[][]int64{{3, 1, 0}, {5, 0, 0}}, []int64{4, 5}, nil, 0},
		"it loses 1.04, and that costs 1":       {[][]int64{{6, 2, 0}, {2, 0, 0}}, []int64{8, 2}, nil, 0},
		"it loses 1.04, and that costs 1.6":     {[][]int64{{6, 2, 0}, {2, 0, 0}}, []int64{8, 2}, &more, 1},
		"it comes, and another one moves":       {[][]int64{nil, {4, 0, 0}, {0, 4, 0}, {0, 0, 7}}, []int64{8, 4, 4, 7}, nil, 0},
		"it comes, and each move costs 2":       {[][]int64{nil, {4, 0, 0}, {0, 4, 0}, {0, 0, 7}}, []int64{8, 4, 4, 7}, &dear, 1},
	} {
		p := halves(3, c.most...)
		p.Options.RestartCost = c.cost
		for i, on := range c.on {
			p.runs(i, on...)
		}
		d := mustReallocate(t, p)
		if d.Metrics.ExtraServers != c.want {
			t.Errorf("%s: %d servers too many, %v", name, d.Metrics.ExtraServers, d.Allocation)
		}
	}
}

// With worths by servers two are better than one where that is stated, and what is said is what is charged.
func TestWorthOn(t *testing.T) {
	rows := func(on ...[]float64) *Problem {
		p := halves(3, 8)
		p.Applications[0].Min, p.Applications[0].WorthOn = 7, on
		return p
	}
	for name, c := range map[string]struct {
		problem *Problem
		on      int
		want    float64
	}{
		"one":                     {rows([]float64{1}, []float64{2, 1}), 1, 2},
		"two":                     {rows([]float64{1}, []float64{2, 3, 1}), 2, 3},
		"fewer on fewer":          {rows([]float64{4, 5}, []float64{2, 3, 1}), 2, 5},
		"beyond the last":         {rows([]float64{1, 2, 9}, []float64{2, 3}), 3, 9},
		"what no servers hold":    {widerThan(rows([]float64{1}, []float64{9, 9, 3}), 3), 3, 3},
		"a number, as without it": {rows([]float64{1}, []float64{2}), 1, 2},
	} {
		d := mustReallocate(t, c.problem)
		if got := len(d.Allocation["a0"]); math.Abs(d.Objective-c.want) > 1e-9 || got != c.on && name != "a number, as without it" {
			t.Errorf("%s: worth %g on %d servers, want %g on %d", name, d.Objective, got, c.want, c.on)
		}
		if d.Bound < d.Objective || d.Gap > 1e-9 {
			t.Errorf("%s: bound %g, gap %g", name, d.Bound, d.Gap)
		}
		if _, err := Verify(c.problem, d); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// widerThan leaves so many GPUs to every server.
func widerThan(p *Problem, gpus int64) *Problem {
	for j := range p.Servers {
		p.Servers[j].Capacity = apportion.Resources{gpus}
	}
	return p
}

func TestSpreadErrors(t *testing.T) {
	cost := func(x float64) func(*Application) { return func(app *Application) { app.SpreadCost = &x } }
	for field, c := range map[string]struct {
		change func(*Application)
		want   error
	}{
		"SpreadCost":            {cost(-1), apportion.ErrNegative},
		"SpreadCost ":           {cost(math.NaN()), apportion.ErrNotFinite},
		"SpreadCost  ":          {func(app *Application) { cost(1)(app); app.WorthOn = [][]float64{{1}} }, apportion.ErrConflict},
		"WorthOn":               {func(app *Application) { app.WorthOn = [][]float64{{1}, {2}} }, apportion.ErrLength},
		"WorthOn ":              {func(app *Application) { app.Worth, app.WorthOn = []float64{1}, [][]float64{{1}} }, apportion.ErrConflict},
		"WorthOn[0]":            {func(app *Application) { app.WorthOn = [][]float64{{}} }, apportion.ErrEmpty},
		"WorthOn[0][1]":         {func(app *Application) { app.WorthOn = [][]float64{{1, math.Inf(1)}} }, apportion.ErrNotFinite},
		"Options[0].WorthOn":    {func(app *Application) { options(app, [][]float64{{1}, {1}}) }, apportion.ErrLength},
		"Options[0].WorthOn[0]": {func(app *Application) { options(app, [][]float64{{}}) }, apportion.ErrEmpty},
	} {
		p := halves(2, 8)
		c.change(&p.Applications[0])
		var faults apportion.Faults
		err := p.Validate()
		if !errors.Is(err, c.want) || !errors.As(err, &faults) {
			t.Errorf("%s: %v", field, err)
			continue
		}
		for len(field) > 0 && field[len(field)-1] == ' ' {
			field = field[:len(field)-1]
		}
		if faults[0].Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// options gives an application one option with these worths.
func options(app *Application, on [][]float64) {
	form := app.Form
	form.WorthOn = on
	app.Options, app.Form = []Option{{ID: "o", Form: form}}, Form{}
}

// A record of the time before a server more cost more than a restart is what it was.
func TestRecordBeforeSpreadAboveRestarts(t *testing.T) {
	p := halves(3, 8, 2)
	p.runs(0, 6, 2)
	p.runs(1, 2)
	tenth, stated := firstSpreadCost, *p
	stated.Applications = slices.Clone(p.Applications)
	for i := range stated.Applications {
		stated.Applications[i].SpreadCost = &tenth
	}
	d := mustReallocate(t, &stated)
	d.Settled = nil // it is of another question
	if d.Metrics.Adjusted > 0 || mustReallocate(t, p).Metrics.Adjusted == 0 {
		t.Error("the job comes together at a price that does not pay for it, or not at one that does")
	}
	old := &Record{Version: 4, Problem: p, Decision: d}
	if _, err := old.Verify(); err != nil {
		t.Error(err)
	}
	if found, err := old.Replay(t.Context(), nil); err != nil || len(found) > 0 {
		t.Error(found, err)
	}
	if _, err := (&Record{Version: RecordVersion, Problem: p, Decision: d}).Verify(); !errors.Is(err, ErrMismatch) {
		t.Errorf("a new record with the old price: %v", err)
	}
}
