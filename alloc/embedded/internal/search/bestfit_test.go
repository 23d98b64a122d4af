// This file tests that groups of servers give the answers of a look at each, with few looks.

package search

import (
	"context"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
	"github.com/apportion/apportion/alloc/embedded/internal/tuning"
	"github.com/apportion/apportion/alloc/solver"
)

// Whatever is placed, the groups name the server that a look at all of them names, with limits on how applications are spread, classes
// and prices too.
func TestPropFitOfGroups(t *testing.T) {
	grouped := 0
	rapid.Check(t, func(t *rapid.T) {
		inst := &solver.Instance{Total: apportion.Resources{0, 0}, LossBudget: 100}
		for j := range 240 {
			inst.Capacity = append(inst.Capacity, apportion.Resources{4, 6 + int64(j%2)*2})
			inst.Class = append(inst.Class, j/2%2)
			inst.Total[0], inst.Total[1] = inst.Total[0]+4, inst.Total[1]+6+int64(j%2)*2
		}
		// Few demands, so that servers with containers of unlike applications are alike.
		for i := range 6 {
			app := solver.App{Demand: apportion.Resources{1, 1 + int64(i%2)}, Max: 30, Value: 1, Delta: 1. / 240}
			app.PerServer, app.MaxServers = rapid.Int64Range(0, 2).Draw(t, "perServer"), rapid.Int64Range(0, 9).Draw(t, "maxServers")
			if i%3 == 0 {
				app.Classes = []int{1}
			}
			inst.Apps = append(inst.Apps, app)
		}
		p := problem.New(inst)
		a := New(NewState(p), 1, tuning.Standard())
		for j := range p.Servers {
			for k := range p.Kinds {
				a.price[j*p.Kinds+k] = float64(j % 3 * k)
			}
		}
		m, f := a.move.begin(a.S), fitter{a: a}
		f.group()
		for range 120 {
			typ := a.S.active[rapid.IntRange(0, len(a.S.active)-1).Draw(t, "type")]
			start := a.rng.Below(p.Servers)
			want := f.scan(typ, start)
			if f.groups != nil {
				grouped++
				if got := f.ofGroups(typ, start); got != want {
					t.Fatalf("type %d from %d on: %d by groups, %d by all", typ, start, got, want)
				}
			}
			// Best fit alone would fill one server after the other.
			if j := a.rng.Below(p.Servers); want >= 0 && a.S.fitsOne(j, typ) {
				want = j
			}
			if want < 0 || a.S.pools[typ].N >= a.S.pools[typ].Max {
				continue
			}
			m.place(want, typ, 1)
			f.placed(want)
		}
	})
	if grouped == 0 {
		t.Error("no servers were in groups")
	}
}

// A fitter that remembers what has found no room names the servers that fitters without a memory name.
func TestPropFitRemembers(t *testing.T) {
	saved := make(map[string]int)
	rapid.Check(t, func(t *rapid.T) {
		of := rapid.SampledFrom([]string{"the paper", "limits", "servers that cost"}).Draw(t, "P2 of")
		inst := &solver.Instance{Total: apportion.Resources{0, 0}, LossBudget: 100}
		for range rapid.IntRange(1, 30).Draw(t, "servers") {
			c := apportion.Resources{rapid.Int64Range(1, 9).Draw(t, "cpu"), rapid.Int64Range(1, 9).Draw(t, "memory")}
			inst.Capacity = append(inst.Capacity, c)
			inst.Total[0], inst.Total[1] = inst.Total[0]+c[0], inst.Total[1]+c[1]
		}
		for range rapid.IntRange(2, 9).Draw(t, "types") {
			demand := apportion.Resources{rapid.Int64Range(0, 5).Draw(t, "cpus"), rapid.Int64Range(1, 5).Draw(t, "memories")}
			app := solver.App{Demand: demand, Min: 99, Max: 99, Value: 1, Delta: .01}
			switch of {
			case "limits":
				app.PerServer = rapid.Int64Range(0, 2).Draw(t, "per server")
			case "servers that cost":
				app.Spread = &solver.Spread{Part: .1, Rooms: []solver.Rooms{{Containers: 9, Servers: 30}}}
			}
			inst.Apps = append(inst.Apps, app)
		}
		p := problem.New(inst)
		a, b := New(NewState(p), 1, tuning.Standard()), New(NewState(p), 1, tuning.Standard())
		on, beside, f := a.move.begin(a.S), b.move.begin(b.S), a.newFitter()
		for range 60 {
			typ := a.S.active[rapid.IntRange(0, len(a.S.active)-1).Draw(t, "type")]
			if f.hopeless(typ) {
				saved[of]++
			}
			got, want := f.home(typ, 1), b.newFitter().home(typ, 1)
			if got != want {
				t.Fatalf("type %d goes to server %d, want %d", typ, got, want)
			}
			if got >= 0 {
				on.place(got, typ, 1)
				beside.place(want, typ, 1)
				f.placed(got)
			}
		}
	})
	if len(saved) < 3 {
		t.Errorf("looks were saved with %v alone", saved)
	}
}

// Twice the servers and containers take about twice the looks.
func TestFitLooksAtFew(t *testing.T) {
	looks := func(servers int) int {
		p := problem.New(alloctest.Table2(1, servers, servers/2, false))
		a := New(NewState(p), 1, tuning.Standard())
		f := fitter{a: a}
		a.placeMissing(context.Background(), a.move.begin(a.S), &f)
		if a.S.missing > 0 || f.groups == nil {
			t.Errorf("%d servers: %d minima are missing", servers, a.S.missing)
		}
		return f.looks
	}
	if small, large := looks(1000), looks(8000); large > 9*small {
		t.Errorf("%d and %d looks", small, large)
	}
}
