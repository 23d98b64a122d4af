package alloc_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/oracle/p2oracle"
	"github.com/apportion/apportion/internal/rapidtest"
)

// premiums returns what staying is worth in inst to all that state nothing of it; apps says which application each of inst is.
func premiums(p *alloc.Problem, inst *solver.Instance, apps []int) float64 {
	sum := 0.0
	for at, i := range apps {
		if p.Applications[i].StayWorth == nil {
			sum += inst.Apps[at].Stay
		}
	}
	return sum
}

// Where everybody may be left without containers worth alone decides, and the decision is worth as much as the best of
// all allocations.
func TestWorthAgainstEnumeration(t *testing.T) {
	compared := 0
	rapidtest.Until(t, "nobody stated a worth", func() bool { return compared > 0 }, func(t *rapid.T) {
		p := using(genProblem(t), nil)
		p.Options.Paper, p.Theta1, p.Theta2 = false, 1, 1
		for j := range p.Servers {
			p.Servers[j].Cordoned = false
		}
		if len(p.Servers) > 2 || len(p.Applications) > 3 {
			p.Servers, p.Applications = p.Servers[:min(2, len(p.Servers))], p.Applications[:min(3, len(p.Applications))]
			p.Previous = nil
		}
		for i := range p.Applications {
			p.Applications[i].Min, p.Applications[i].Worth, p.Applications[i].IdleWorth, p.Applications[i].Speed = 0, nil, 0, nil
			p.Applications[i].SpreadCost, p.Applications[i].WorthOn, p.Applications[i].RestartCost = nil, nil, nil
			if p.Applications[i].Demand.IsZero() { // of an option that is gone
				p.Applications[i].Demand[0] = 1
			}
		}
		genWorths(t, p)
		genSpread(t, p)
		genOptions(t, p)
		inst, apps, err := p.Instance()
		if err != nil {
			t.Fatal(err)
		}
		d, err := recorded(t, context.Background(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		best, _ := p2oracle.Best(inst)
		if best == nil || d.LeastLoss != nil || len(d.Suspended) > 0 || distinct(apps) < len(p.Applications) {
			return // the budgets of this decision are others
		}
		// A restart that the options price is charged in a decision, and is a premium for what stays in an instance.
		if want := inst.Objective(best) - premiums(p, inst, apps); math.Abs(d.Objective-want) > 1e-9 {
			t.Fatalf("%g, and the best is worth %g: %v", d.Objective, want, d.Allocation)
		}
		sum := 0.0
		for _, share := range d.Shares {
			sum += share.Worth
		}
		for i := range p.Applications {
			if app := &p.Applications[i]; app.Worth != nil || len(app.Options) > 1 && app.Options[1].Worth != nil {
				compared++
				if math.Abs(sum-d.Objective) > 1e-9 {
					t.Fatalf("shares are worth %g, the whole %g", sum, d.Objective)
				}
			}
		}
	})
}

// The zero of worths is the caller's: a constant that is added to all of them changes no gap.
func TestGapKnowsNoZero(t *testing.T) {
	for _, shift := range []float64{0, 100, -3} {
		p := cluster(1, 4)
		p.Theta1 = 1
		job(p, "a", 1, 2, 1).Worth = []float64{1 + shift, 2 + shift}
		job(p, "b", 0, 1, 1).Worth = []float64{3 + shift}
		p.Applications[1].IdleWorth = 1 + shift
		counts := solver.Counts{{{Server: 0, Count: 1}}, {{Server: 0, Count: 1}}}
		d, err := recorded(t, t.Context(), p, fake{&solver.Solution{Status: solver.Feasible, Counts: counts, Objective: 4 + 2*shift, Bound: 4.75 + 2*shift}, nil})
		if err != nil || d.Gap != .25 {
			t.Errorf("shifted by %g: a gap of %g, want 0.75 of 3; %v", shift, d.Gap, err)
		}
	}
}

// distinct counts the different numbers in a list.
func distinct(list []int) int {
	return len(slices.Compact(slices.Sorted(slices.Values(list))))
}

// two is a problem of two jobs on one server of six GPUs, both running with three.
func two() *alloc.Problem {
	return &alloc.Problem{
		Kinds: apportion.Kinds{"gpu"}, Theta1: 1, Theta2: 1,
		Servers: []apportion.Server{{ID: "s", Capacity: apportion.Resources{6}}},
		Applications: []alloc.Application{
			{ID: "a", Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1}, Max: 6, Worth: []float64{1, 2, 3, 4, 5, 6}}},
			{ID: "b", Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1}, Max: 6, Worth: []float64{1, 1, 1, 1, 1, 1}}},
		},
		Previous: alloc.Allocation{"a": {"s": 3}, "b": {"s": 3}},
	}
}

// decide returns the decision on p, verified.
func decide(t *testing.T, p *alloc.Problem) *alloc.Decision {
	t.Helper()
	d, err := recorded(t, t.Context(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := alloc.Verify(p, d); err != nil {
		t.Error(err)
	}
	return d
}

// A price of restarts is paid where moving brings more, and only there; staying never counts less than being placed.
func TestStayWorth(t *testing.T) {
	for _, c := range []struct {
		a, b float64 // what staying is worth to each
		want int64   // containers of a
	}{{3, 1, 5}, {3.9, 1.9, 5}, {4.1, 2, 3}, {3, 3.1, 3}, {-100, -100, 5}} {
		p := two()
		p.Applications[0].StayWorth, p.Applications[1].StayWorth = &c.a, &c.b
		d := decide(t, p)
		if got := d.Allocation.Containers("a"); got != c.want {
			t.Errorf("where staying is worth %g and %g: %d containers of a, want %d", c.a, c.b, got, c.want)
		}
		if c.want == 3 && d.Objective != c.a+c.b {
			t.Errorf("staying is worth %g, want %g", d.Objective, c.a+c.b)
		}
	}
}

// Worth decides who runs where all may wait: what having none is worth counts, also for one that runs.
func TestIdleWorth(t *testing.T) {
	for _, c := range []struct {
		idle float64
		want int64
	}{{0, 1}, {-5, 1}, {1.5, 1}, {2.5, 0}} {
		p := two()
		p.Applications[1].Worth, p.Applications[1].IdleWorth = []float64{2.9, 2.9, 2.9, 2.9, 2.9, 2.9}, c.idle
		if got := decide(t, p).Allocation.Containers("b"); got != c.want {
			t.Errorf("where none is worth %g: %d containers of b, want %d", c.idle, got, c.want)
		}
	}
}

// By the paper's rule worths are those of what is kept where there is no solution.
func TestKeptWorth(t *testing.T) {
	p := two()
	stay := 3.5
	p.Options.Paper, p.Applications[0].StayWorth = true, &stay
	p.Applications = append(p.Applications, alloc.Application{ID: "c", Weight: 1, Form: alloc.Form{Demand: apportion.Resources{6}, Min: 1, Max: 1}})
	p.Applications[0].Min, p.Applications[1].Min = 1, 1
	d := decide(t, p)
	if d.Status != alloc.Kept || d.Objective != 3.5+1 || d.Shares[0].Worth != 3.5 {
		t.Errorf("%s, worth %g, %+v", d.Status, d.Objective, d.Shares)
	}
}

// What more would bring is what the next number of containers is worth, less the restart that it takes.
func TestExplainWorth(t *testing.T) {
	p := two()
	stay := 3.25
	p.Servers[0].Capacity[0] = 8
	p.Theta2 = 0
	p.Applications[0].StayWorth = &stay
	p.Applications[1].Counts, p.Applications[1].Worth = []int64{1, 3, 5}, []float64{1, 1.5, 0.5}
	e, err := alloc.Explain(p, decide(t, p))
	if err != nil {
		t.Fatal(err)
	}
	a, b := e.Applications[0], e.Applications[1]
	if !e.Worth || a.Gain != .75 || a.Last != 1 || math.Abs(b.Gain+1+1.5/8) > 1e-8 || b.Last != .5 || b.Constraint != alloc.Worthless {
		t.Errorf("%+v", e)
	}
	if a.Text == "" || b.Text != "with 5 it would be worth 1.188 less" {
		t.Errorf("%q, %q", a.Text, b.Text)
	}
}

// The least loss is a loss, whatever anything is worth: two and three of five GPUs are 1/5 away from equal parts.
func TestLeastLossOfWorths(t *testing.T) {
	p := two()
	p.Servers[0].Capacity[0], p.Theta1, p.Options.NoCeil15, p.Previous = 5, 0, true, nil
	d := decide(t, p)
	if d.LeastLoss == nil || math.Abs(d.LeastLoss.Loss-.2) > 1e-9 {
		t.Fatalf("the least loss is %+v", d.LeastLoss)
	}
	if got := d.Allocation.Containers("a"); got != 3 {
		t.Errorf("%d containers of a, of which more are worth more", got)
	}
}

// spread is a solver that leaves an application on two servers where it runs on one.
type spread struct{}

func (spread) Solve(_ context.Context, inst *solver.Instance) (*solver.Solution, error) {
	counts := solver.Counts{{{Server: 0, Count: 2}, {Server: 1, Count: 2}}}
	return &solver.Solution{Status: solver.Feasible, Counts: counts, Objective: inst.Objective(counts), Bound: inst.Cap()}, nil
}

// Whoever is placed on few servers and comes to be just where it was stays, and that is worth what it says.
func TestConsolidatedStays(t *testing.T) {
	stay := 9.0
	p := &alloc.Problem{
		Kinds: apportion.Kinds{"gpu"}, Theta1: 1, Theta2: 1,
		Servers:      []apportion.Server{{ID: "s", Capacity: apportion.Resources{4}}, {ID: "u", Capacity: apportion.Resources{6}}},
		Applications: []alloc.Application{{ID: "a", Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1}, Max: 4, Worth: []float64{1, 2, 3, 4}}, StayWorth: &stay}},
		Previous:     alloc.Allocation{"a": {"s": 4}},
	}
	d, err := recorded(t, t.Context(), p, spread{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := alloc.Verify(p, d); err != nil || d.Allocation["a"]["s"] != 4 || d.Objective != 9 {
		t.Errorf("%v, worth %g, %v", d.Allocation, d.Objective, err)
	}
}
