package alloc_test

import (
	"encoding/json"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
)

// The right sides of (15) and (16) on the tiny cluster, which has three kinds and here two running
// applications. Reference: [Dorm (15), (16)].
func TestBudgets(t *testing.T) {
	for _, c := range []struct {
		name           string
		theta1, theta2 float64
		noCeil         bool // else as printed
		gpus           int64
		loss           float64
		adjust         int64
	}{
		{"nothing tolerated", 0, 0, false, 1, 0, 0},
		{"nothing tolerated, no ceilings", 0, 0, true, 1, 0, 0},
		{"rounded up", .1, .1, false, 1, 1, 1},
		{"not rounded", .1, .1, true, 1, .6, 0},
		{"a whole product stays", .5, .5, false, 1, 3, 1},
		{"everything tolerated", 1, 1, false, 1, 6, 2},
		{"everything tolerated, no ceilings", 1, 1, true, 1, 6, 2},
		{"a kind of which there is none", 1, 1, false, 0, 4, 2},
		{"a kind of which there is none, no ceilings", .1, .9, true, 0, .4, 1},
	} {
		p := tiny(alloc.Allocation{"LR": {"s0": 2}, "MF": {"s1": 1}}, "LR", "MF")
		p.Theta1, p.Theta2 = c.theta1, c.theta2
		p.Options.Paper, p.Options.NoCeil15, p.Options.NoCeil16 = !c.noCeil, c.noCeil, c.noCeil
		p.Servers[0].Capacity[1] = c.gpus
		inst, _, err := p.Instance()
		if err != nil || math.Abs(inst.LossBudget-c.loss) > 1e-12 || inst.AdjustBudget != c.adjust {
			t.Errorf("%s: loss %g, adjust %d, %v; want %g and %d", c.name, inst.LossBudget, inst.AdjustBudget, err, c.loss, c.adjust)
		}
		if text, err := json.Marshal(inst.LossBudget); err != nil || string(text) == "-0" {
			t.Errorf("%s: the loss budget is written as %s, %v", c.name, text, err)
		}
	}
}

// Budgets grow with the thresholds, ceilings only widen them, by less than one, and nobody may be adjusted
// beyond what those that run cost.
func TestBudgetsGrow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := genProblem(t)
		budgets := func(theta float64, noCeil bool) (float64, int64) {
			p.Theta1, p.Theta2 = theta, theta
			p.Options.NoCeil15, p.Options.NoCeil16 = noCeil, noCeil
			inst, _, err := p.Instance()
			if err != nil {
				t.Fatal(err)
			}
			return inst.LossBudget, inst.AdjustBudget
		}
		running := int64(0)
		for _, app := range p.Applications {
			if p.Previous.Containers(app.ID) > 0 {
				cost := int64(1)
				if app.AdjustCost != nil {
					cost = *app.AdjustCost
				}
				running += cost
			}
		}
		small := rapid.Float64Range(0, 1).Draw(t, "theta")
		large := rapid.Float64Range(small, 1).Draw(t, "larger theta")
		for _, noCeil := range []bool{false, true} {
			lossSmall, adjustSmall := budgets(small, noCeil)
			lossLarge, adjustLarge := budgets(large, noCeil)
			if lossSmall > lossLarge+1e-12 || adjustSmall > adjustLarge || adjustLarge > running || lossSmall < 0 || adjustSmall < 0 {
				t.Errorf("theta %g: %g, %d; theta %g: %g, %d; %d run", small, lossSmall, adjustSmall, large, lossLarge, adjustLarge, running)
			}
		}
		bareLoss, bareAdjust := budgets(small, true)
		loss, adjust := budgets(small, false)
		if p.Options.Paper && (loss < bareLoss-1e-9 || loss >= bareLoss+1) || adjust < bareAdjust || adjust > bareAdjust+1 {
			t.Errorf("theta %g: %g and %d with ceilings, %g and %d without", small, loss, adjust, bareLoss, bareAdjust)
		}
	})
}

// Only what runs in P2 counts for (16): not what has finished, and not a newcomer; what is displaced does.
func TestAdjustBudgetCountsWhoRuns(t *testing.T) {
	p := tiny(alloc.Allocation{"LR": {"s0": 1}, "MF": {"gone": 2}, "old": {"s1": 3}, "older": {"s1": 0}}, "LR", "MF", "NN")
	p.Theta2, p.Options.Displace = 1, true
	inst, apps, err := p.Instance()
	if err != nil || inst.AdjustBudget != 2 || len(apps) != 3 {
		t.Fatalf("%d may be adjusted of %d, %v; want 2 of 3", inst.AdjustBudget, len(apps), err)
	}
	if !inst.Apps[1].Displaced || !inst.Apps[1].Running || inst.Apps[2].Running {
		t.Errorf("MF %+v, NN %+v", inst.Apps[1], inst.Apps[2])
	}
	p.Applications[1].Demand = apportion.Resources{9, 0, 0} // no server could hold it, but it runs
	if inst, apps, err = p.Instance(); err != nil || inst.AdjustBudget != 2 || len(apps) != 3 {
		t.Errorf("%d may be adjusted of %d, %v; want 2 of 3", inst.AdjustBudget, len(apps), err)
	}
}
