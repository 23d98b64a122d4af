package alloc_test

import (
	"context"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/solver"
)

// tiny is a cluster of two servers small enough to enumerate P2 by hand: 4 CPUs and 16 GB each, one
// GPU on the first. The decision is the paper's.
func tiny(previous alloc.Allocation, ids ...string) *alloc.Problem {
	known := map[string]alloc.Application{
		"LR": {ID: "LR", Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1, 0, 2}, Min: 1, Max: 6}},
		"MF": {ID: "MF", Weight: 2, Form: alloc.Form{Demand: apportion.Resources{2, 0, 2}, Min: 1, Max: 4}},
		"NN": {ID: "NN", Weight: 4, Form: alloc.Form{Demand: apportion.Resources{1, 1, 4}, Min: 1, Max: 1}},
	}
	p := &alloc.Problem{
		Kinds: apportion.Kinds{"cpu", "gpu", "memory"},
		Servers: []apportion.Server{
			{ID: "s0", Capacity: apportion.Resources{4, 1, 16}},
			{ID: "s1", Capacity: apportion.Resources{4, 0, 16}},
		},
		Previous: previous,
		Theta1:   0.1,
		Theta2:   0.1,
		Options:  alloc.Options{Rule: alloc.Rule{Paper: true}},
	}
	for _, id := range ids {
		p.Applications = append(p.Applications, known[id])
	}
	return p
}

// near fails the test unless got is want within 1e-6.
func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-6 {
		t.Errorf("%s = %.8g, want %.8g", what, got, want)
	}
}

func reallocate(t *testing.T, p *alloc.Problem) *alloc.Decision {
	t.Helper()
	d, err := recorded(t, context.Background(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Reference: [Dorm §IV-B], P2 enumerated on the tiny cluster, three arrivals in a row.
func TestPaperTinyCluster(t *testing.T) {
	lr := alloc.Allocation{"LR": {"s0": 4, "s1": 2}}
	both := alloc.Allocation{"LR": {"s0": 2}, "MF": {"s0": 1, "s1": 2}}
	for _, step := range []struct {
		name            string
		problem         *alloc.Problem
		shares          []float64
		objective, loss float64
		adjusted        int
		want            alloc.Allocation
		lossBudget      float64
		adjustBudget    int64
	}{
		{
			name:    "one application",
			problem: tiny(nil, "LR"),
			shares:  []float64{.75}, objective: 1.125, loss: 0, adjusted: 0,
			want:       alloc.Allocation{"LR": {"s0": 2, "s1": 4}},
			lossBudget: 1, adjustBudget: 0,
		},
		{
			name:    "a second arrives",
			problem: tiny(lr, "LR", "MF"),
			shares:  []float64{1. / 3, 2. / 3}, objective: 1.4375, loss: .833333, adjusted: 0,
			want:       alloc.Allocation{"LR": {"s0": 4, "s1": 2}, "MF": {"s1": 1}},
			lossBudget: 1, adjustBudget: 1,
		},
		{
			name:    "a third arrives",
			problem: tiny(both, "LR", "MF", "NN"),
			shares:  []float64{.291667, .583333, 1}, objective: 2.375, loss: .333333, adjusted: 1,
			want:       alloc.Allocation{"LR": {"s0": 1}, "MF": {"s0": 1, "s1": 2}, "NN": {"s0": 1}},
			lossBudget: 1, adjustBudget: 1,
		},
	} {
		t.Run(step.name, func(t *testing.T) {
			d := reallocate(t, step.problem)
			if d.Status != alloc.Decided || d.Proven != solver.ByOrder || d.Gap != 0 {
				t.Errorf("status %s, proven by %s, gap %g; want a decision proven by order", d.Status, d.Proven, d.Gap)
			}
			if diff := cmp.Diff(step.want, d.Allocation); diff != "" {
				t.Errorf("allocation (-want +got):\n%s", diff)
			}
			for i, want := range step.shares {
				near(t, "theoretical share of "+d.Shares[i].ID, d.Shares[i].Theoretical, want)
			}
			near(t, "objective", d.Objective, step.objective)
			near(t, "fairness loss", d.Metrics.FairnessLoss, step.loss)
			near(t, "loss budget", d.Metrics.LossBudget, step.lossBudget)
			if d.Metrics.Adjusted != step.adjusted || d.Metrics.AdjustBudget != step.adjustBudget {
				t.Errorf("adjusted %d of %d, want %d of %d", d.Metrics.Adjusted, d.Metrics.AdjustBudget, step.adjusted, step.adjustBudget)
			}
		})
	}
}

// Reference: [Dorm (15), (16)]: without the ceilings, or with no adjustment allowed, the same steps.
func TestPaperCeilings(t *testing.T) {
	lr := alloc.Allocation{"LR": {"s0": 4, "s1": 2}}
	both := alloc.Allocation{"LR": {"s0": 2}, "MF": {"s0": 1, "s1": 2}}
	noCeilings := func(p *alloc.Problem) {
		p.Options.NoCeil15, p.Options.NoCeil16 = true, true
	}
	noAdjusting := func(p *alloc.Problem) { p.Theta2 = 0 }
	for _, step := range []struct {
		name    string
		problem *alloc.Problem
		change  func(*alloc.Problem)
		want    alloc.Status
	}{
		{"second, as printed", tiny(lr, "LR", "MF"), func(*alloc.Problem) {}, alloc.Decided},
		{"second, no ceilings", tiny(lr, "LR", "MF"), noCeilings, alloc.Kept},
		{"second, nothing may move", tiny(lr, "LR", "MF"), noAdjusting, alloc.Decided},
		{"third, as printed", tiny(both, "LR", "MF", "NN"), func(*alloc.Problem) {}, alloc.Decided},
		{"third, no ceilings", tiny(both, "LR", "MF", "NN"), noCeilings, alloc.Kept},
		{"third, nothing may move", tiny(both, "LR", "MF", "NN"), noAdjusting, alloc.Kept},
	} {
		t.Run(step.name, func(t *testing.T) {
			step.change(step.problem)
			d := reallocate(t, step.problem)
			if d.Status != step.want {
				t.Fatalf("status %s, want %s (%+v)", d.Status, step.want, d.Reason)
			}
			if d.Status == alloc.Decided {
				return
			}
			if diff := cmp.Diff(step.problem.Previous, d.Allocation); diff != "" {
				t.Errorf("what was kept differs from what ran (-want +got):\n%s", diff)
			}
			newcomer := step.problem.Applications[len(step.problem.Applications)-1].ID
			if len(d.Waiting) != 1 || d.Waiting[0].ID != newcomer || d.Reason == nil || d.Reason.Text == "" {
				t.Errorf("waiting %+v because %+v, want %s with a reason", d.Waiting, d.Reason, newcomer)
			}
		})
	}
}

// testbed is the paper's: 20 servers with 240 CPUs, 5 GPUs and 2,560 GB in all [Dorm §V-A1], and one
// application of each type of Table II.
func testbed() *alloc.Problem {
	p := &alloc.Problem{Kinds: apportion.Kinds{"cpu", "gpu", "memory"}, Theta1: .1, Theta2: .1, Options: alloc.Options{Rule: alloc.Rule{Paper: true}}}
	for j := range 20 {
		capacity := apportion.Resources{12, 0, 128}
		if j%4 == 0 {
			capacity[1] = 1
		}
		p.Servers = append(p.Servers, apportion.Server{ID: "slave" + string(rune('a'+j)), Capacity: capacity})
	}
	for _, app := range []alloc.Application{
		{ID: "LR", Weight: 1, Form: alloc.Form{Demand: apportion.Resources{2, 0, 8}, Max: 32}},
		{ID: "MF", Weight: 2, Form: alloc.Form{Demand: apportion.Resources{2, 0, 6}, Max: 32}},
		{ID: "CaffeNet", Weight: 4, Form: alloc.Form{Demand: apportion.Resources{4, 0, 6}, Max: 8}},
		{ID: "VGG-16", Weight: 1, Form: alloc.Form{Demand: apportion.Resources{4, 1, 32}, Max: 5}},
		{ID: "GoogLeNet", Weight: 1, Form: alloc.Form{Demand: apportion.Resources{6, 1, 16}, Max: 5}},
		{ID: "AlexNet", Weight: 2, Form: alloc.Form{Demand: apportion.Resources{6, 1, 16}, Max: 5}},
		{ID: "ResNet-50", Weight: 4, Form: alloc.Form{Demand: apportion.Resources{4, 1, 32}, Max: 5}},
	} {
		app.Min = 1
		p.Applications = append(p.Applications, app)
	}
	return p
}

// Reference: [Dorm §IV-A2, Table II]: theoretical shares on the testbed.
func TestPaperTestbedShares(t *testing.T) {
	for _, rule := range []struct {
		share  alloc.ShareRule
		counts []float64 // s^ / delta
	}{
		{alloc.BoundedDRF, []float64{32, 32, 8, 1, 1, 1, 2}},
		{alloc.WholeDRF, []float64{32, 32, 8, 1, 1, 1, 2}},
		{alloc.PureDRF, []float64{15.446, 30.893, 30.893, .625, .625, 1.25, 2.5}},
	} {
		t.Run("share="+string(rule.share), func(t *testing.T) {
			p := testbed()
			p.Options.Share = rule.share
			inst, apps, err := p.Instance()
			if err != nil || len(apps) != 7 {
				t.Fatalf("%d applications, error %v", len(apps), err)
			}
			for i, want := range rule.counts {
				got := inst.Apps[i].Share / inst.Apps[i].Delta
				if math.Abs(got-want) > 1e-3 {
					t.Errorf("%s: %.6g containers' share, want %.6g", p.Applications[i].ID, got, want)
				}
			}
		})
	}
}

// Reference: [Dorm §IV-A2, §V-A2]: an application alone on the testbed reaches 32 containers of
// 2/240 CPUs; with the pure share 1 and no ceiling, Dorm-3 could never start it.
func TestPaperLoneApplication(t *testing.T) {
	p := testbed()
	p.Applications = p.Applications[:1]
	p.Options.NoCeil15 = true
	d := reallocate(t, p)
	near(t, "bounded share", d.Shares[0].Theoretical, 32*2./240)
	if d.Status != alloc.Decided || d.Shares[0].Containers != 32 {
		t.Errorf("%s with %d containers, want decided with 32", d.Status, d.Shares[0].Containers)
	}
	p.Options.Share = alloc.PureDRF
	d = reallocate(t, p)
	near(t, "pure share", d.Shares[0].Theoretical, 1)
	if d.Status != alloc.Kept || d.Reason.Text != "P2 has no solution" {
		t.Errorf("%s because of %+v, want kept, as P2 has no solution", d.Status, d.Reason)
	}
}
