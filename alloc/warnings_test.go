package alloc

import (
	"strings"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/alloc/solver/solvertest"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/oracle/p2oracle"
)

// No allocation loses more than the most that a warning goes by, and sometimes one loses as much.
func TestMostLoss(t *testing.T) {
	solved, tight := 0, 0
	for seed := range uint64(600) {
		inst := solvertest.General(seed)
		if seed%2 == 1 {
			inst = solvertest.Loss(seed)
		}
		inst.LossPrice, inst.LossBudget, inst.AdjustBudget = 0, 1e3, 1e3
		for i := range inst.Apps {
			app := &inst.Apps[i]
			app.Delta, _ = app.Demand.DominantShare(inst.Total)
			app.Value, app.Idle, app.Counts, app.Stay = 0, app.Loss(0), nil, 0
			app.Worth = []float64{}
			for n := app.AtLeast(1); n > 0; n = app.AtLeast(n + 1) {
				app.Worth = append(app.Worth, app.Loss(n)) // so that the optimum is the largest loss
			}
		}
		best, _ := p2oracle.Best(inst)
		if best == nil {
			continue
		}
		solved++
		loss, most := inst.FairnessLoss(best), mostLoss(inst)
		if loss > most+solver.LossTolerance {
			t.Errorf("%d: %v loses %g, the most is said to be %g", seed, best, loss, most)
		}
		if loss > most-solver.LossTolerance {
			tight++
		}
	}
	if solved < 200 || tight < 40 {
		t.Errorf("%d have a solution, in %d the most is lost", solved, tight)
	}
}

// What would be ignored, or mean something else than it seems to, is told with whom it concerns.
func TestIgnoredIsTold(t *testing.T) {
	half := .5
	for want, change := range map[string]func(p *Problem){
		"admit_prefix has no effect without paper_rule": func(p *Problem) { p.Options.AdmitPrefix = true },
		"displace has no effect without paper_rule":     func(p *Problem) { p.Options.Displace = true },
		"reclaim_level has no effect without preempt":   func(p *Problem) { p.Options.ReclaimLevel = true },
		"the guarantees of the queues exceed what there is for them, and were scaled": func(p *Problem) {
			p.Queues = []drf.Queue{{ID: "q", Weight: 1, Guarantee: apportion.Resources{1 << 40}}}
		},
		"preempt has no effect with paper_rule":                                           func(p *Problem) { p.Options.Preempt, p.Options.Paper = true, true },
		`a speed has no effect unless losses are measured in worth: "a0"`:                 func(p *Problem) { p.Applications[0].Speed = []float64{1, 2} },
		`what staying is worth has no effect, as it does not run: "a0"`:                   func(p *Problem) { p.Applications[0].StayWorth = &half },
		`to stay is worth as much as its number, which is more than stated`:               func(p *Problem) { p.Applications[1].StayWorth, p.Applications[1].Worth = &half, []float64{1, 2} },
		`it runs with a number of containers that it may not have, and cannot stay: "a1"`: func(p *Problem) { p.Applications[1].Counts = []int64{1} },
		`it runs with an option that it does not have, and cannot stay: "a1"`: func(p *Problem) {
			b := &p.Applications[1]
			b.Options, b.Option, b.Demand, b.Max = []Option{{ID: "new", Form: Form{Demand: b.Demand, Max: 2}}}, "old", nil, 0
		},
		`no number of containers is within its bounds, step and counts: "a0"`: func(p *Problem) {
			p.Applications[0].Step, p.Applications[0].Max, p.Applications[0].Counts = 3, 8, []int64{4}
		},
		`to have none is worth no less than its fewest containers, so that it may wait for ever: "a0"`: func(p *Problem) {
			p.Applications[0].Worth = []float64{-1, 1}
		},
	} {
		p := gpuProblem(8)
		p.add(1, 0, 2)
		p.add(1, 0, 2, 2)
		told := func() string {
			d, err := Reallocate(t.Context(), p, nil)
			if err != nil {
				t.Fatal(err)
			}
			e, err := Explain(p, d)
			if err != nil {
				t.Fatal(err)
			}
			return strings.Join(e.Warnings, "\n")
		}
		if got := told(); got != "" {
			t.Errorf("before: %q", got)
		}
		change(p)
		if got := told(); !strings.Contains(got, want) || strings.Contains(got, "\n") {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Budgets that cannot bind are named, and a ceiling that says more than the threshold; those that are meant to be none
// are not.
func TestWarnings(t *testing.T) {
	for name, c := range map[string]struct {
		change func(p *Problem)
		want   []string
	}{
		"one kind, with the ceiling": {func(p *Problem) { p.Options.Paper = true }, []string{"the fairness budget of 1 cannot bind: no allocation loses more than 1",
			"the ceiling of (15) raises the fairness budget from 0.2 to 1"}},
		"by default":          {func(*Problem) {}, nil},
		"without the ceiling": {func(p *Problem) { p.Options.NoCeil15 = true }, nil},
		"no limits":           {func(p *Problem) { p.Theta1, p.Theta2 = 1, 1 }, nil},
		"small jobs": {func(p *Problem) {
			p.Theta1, p.Options.NoCeil15 = .5, true
			for i := range p.Applications {
				p.Applications[i].Max = 2
			}
		}, []string{"the fairness budget of 1 cannot bind: no allocation loses more than 0.6"}},
		"one of one": {func(p *Problem) {
			p.Previous = Allocation{"a": {"s": 2}}
		}, nil},
		"two of two": {func(p *Problem) {
			p.Theta2, p.Previous = .6, Allocation{"a": {"s": 2}, "b": {"s": 1}}
		}, []string{"the adjustment budget of 2 cannot bind: all adjustments together cost 2"}},
	} {
		p := &Problem{
			Kinds: apportion.Kinds{"gpu"}, Theta1: .1, Theta2: .1, Servers: []apportion.Server{{ID: "s", Capacity: apportion.Resources{10}}},
			Applications: []Application{
				{ID: "a", Weight: 1, Form: Form{Demand: apportion.Resources{1}, Max: 10}}, {ID: "b", Weight: 1, Form: Form{Demand: apportion.Resources{2}, Max: 5}},
			},
		}
		c.change(p)
		d, err := Reallocate(t.Context(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		e, err := Explain(p, d)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(e.Warnings, "\n"); got != strings.Join(c.want, "\n") {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		for _, warning := range e.Warnings {
			if !strings.Contains(e.String(), "warning: "+warning+"\n") {
				t.Errorf("%s: the text does not say it", name)
			}
		}
	}
}
