package alloc_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
)

// exceeds returns a server where a holds more than its capacity, or "".
func exceeds(p *alloc.Problem, a alloc.Allocation) string {
	for _, server := range p.Servers {
		used := make(apportion.Resources, len(p.Kinds))
		for _, app := range p.Applications {
			for k, d := range app.Demand {
				used[k] += d * a[app.ID][server.ID]
			}
		}
		if !used.FitsIn(server.Capacity) {
			return server.ID
		}
	}
	return ""
}

// A decision holds every constraint of P2, recomputed here from the problem's own words.
func TestReallocateHoldsConstraints(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := genProblem(t)
		damaged := rapid.Bool().Draw(t, "damaged")
		if damaged {
			damage(t, p)
		}
		d, err := recorded(t, context.Background(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		used := using(p, d.Shares)
		if server := exceeds(used, d.Allocation); server != "" && (d.Status == alloc.Decided || !damaged) {
			t.Fatalf("server %s is overfilled", server)
		}
		waits, leftOut := map[string]bool{}, false
		for _, w := range append(d.Waiting, d.Suspended...) {
			waits[w.ID] = true
			leftOut = leftOut || w.LeftOut
			if w.Reason.Text == "" {
				t.Errorf("%s waits for no reason", w.ID)
			}
		}
		adjusted, loss := 0, 0.0
		for i, app := range used.Applications {
			n := d.Allocation.Containers(app.ID)
			if waits[app.ID] != (n == 0) {
				t.Errorf("%s has %d containers, waiting: %v", app.ID, n, waits[app.ID])
			}
			loss += d.Shares[i].Loss
			changed := p.Previous.Containers(app.ID) > 0 && (!cmp.Equal(p.Previous.Clone()[app.ID], d.Allocation[app.ID]) ||
				d.Shares[i].Option != ranWith(&p.Applications[i]))
			if changed {
				adjusted++
			}
			if d.Shares[i].Adjusted != changed || d.Shares[i].Containers != n {
				t.Errorf("share of %s: %+v", app.ID, d.Shares[i])
			}
			if d.Status == alloc.Decided && n > 0 && (n < app.Min || n > app.Max) {
				t.Errorf("%s has %d containers of [%d, %d]", app.ID, n, app.Min, app.Max)
			}
		}
		if math.Abs(loss-d.Metrics.FairnessLoss) > 1e-9 || adjusted != d.Metrics.Adjusted {
			t.Errorf("loss %g, adjusted %d; the metrics say %+v", loss, adjusted, d.Metrics)
		}
		// P2 without those that are left out is within the loss budget, as alloc.Verify sees.
		voluntary := d.Metrics.AdjustCost
		if p.Options.Paper {
			voluntary = int64(adjusted)
		}
		if d.Status == alloc.Decided && (loss > d.Metrics.LossBudget+1e-9 && !leftOut || voluntary > d.Metrics.AdjustBudget) {
			t.Errorf("loss %g, adjusted %d exceed their budgets: %+v", loss, adjusted, d.Metrics)
		}
		if _, err := alloc.Verify(p, d); err != nil {
			t.Error(err)
		}
		measured, err := alloc.Measure(p, d.Allocation, d.Shares...)
		if !p.Options.Paper { // an allocation does not tell what its decision was allowed
			measured.LossBudget, measured.LeastLoss = d.Metrics.LossBudget, d.Metrics.LeastLoss
		}
		if d.Metrics.Preempted > 0 || len(d.Yielding) > 0 { // nor who made room for whom
			measured = d.Metrics
		}
		if err != nil || !cmp.Equal(measured, d.Metrics) {
			t.Errorf("the decision says %+v, Measure %+v, %v", d.Metrics, measured, err)
		}
		if d.Status == alloc.Kept && adjusted > 0 && !damaged {
			t.Error("kept, and yet adjusted")
		}
		if e, err := alloc.Explain(p, d); err != nil || len(e.Applications) != len(p.Applications) || len(e.Kinds) != len(p.Kinds) {
			t.Errorf("explained by %+v, %v", e, err)
		}
	})
}

// Executed step by step, a plan never overfills a server, leads to the new allocation, and saves
// what it kills before it touches a container.
func TestPlanExecutes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := genProblem(t)
		d, err := recorded(t, context.Background(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		now := p.Previous.Clone()
		saved := map[string]bool{}
		old, new := using(p, nil), using(p, d.Shares)
		for i := range new.Applications {
			if n := now.Containers(new.Applications[i].ID); n > 0 && d.Shares[i].Option != ranWith(&p.Applications[i]) {
				new.Applications[i].Demand = old.Applications[i].Demand
			}
		}
		renewed := using(p, d.Shares)
		for _, step := range alloc.NewPlan(p, d.Allocation, d.Shares...).Steps {
			switch step.Action {
			case alloc.Save:
				saved[step.Application] = true
			case alloc.Destroy:
				now[step.Application][step.Server] -= step.Containers
			case alloc.Create:
				for i := range new.Applications {
					if new.Applications[i].ID == step.Application {
						if d.Shares[i].Option != ranWith(&p.Applications[i]) && now.Clone().Containers(step.Application) > 0 && !new.Applications[i].Demand.Equal(renewed.Applications[i].Demand) {
							t.Errorf("containers of two options of %s at once", step.Application)
						}
						if step.Option != d.Shares[i].Option {
							t.Errorf("%+v, where the option is %q", step, d.Shares[i].Option)
						}
						new.Applications[i].Demand = renewed.Applications[i].Demand
					}
				}
				if now[step.Application] == nil {
					now[step.Application] = map[string]int64{}
				}
				now[step.Application][step.Server] += step.Containers
				if p.Previous.Containers(step.Application) > 0 && !saved[step.Application] {
					t.Errorf("%s grows before its state is saved", step.Application)
				}
			case alloc.Start, alloc.Resume:
				if diff := cmp.Diff(d.Allocation[step.Application], now.Clone()[step.Application]); diff != "" {
					t.Errorf("%s of %s before its containers are there:\n%s", step.Action, step.Application, diff)
				}
			}
			if server := exceeds(new, now); server != "" {
				t.Fatalf("after %+v server %s is overfilled", step, server)
			}
		}
		if diff := cmp.Diff(d.Allocation, now.Clone()); diff != "" {
			t.Errorf("the plan leads elsewhere (-want +got):\n%s", diff)
		}
	})
}

// Decided again on its own outcome, nothing more is adjusted: repeated decisions do not churn.
func TestReallocateFixedPoint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := genProblem(t)
		p.Theta2 = 1 // every step towards a better allocation is taken at once
		first, err := recorded(t, context.Background(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		p.Previous = first.Allocation
		for i := range p.Applications {
			p.Applications[i].Option = first.Shares[i].Option
		}
		second, err := recorded(t, context.Background(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		if first.Status != alloc.Decided || second.Status != alloc.Decided || len(first.Waiting)+len(second.Waiting) > 0 {
			return // another set of applications: another problem
		}
		if len(first.Draining) > 0 {
			return // what has left a cordoned server no longer counts it: another cluster, with shares of its own
		}
		if diff := cmp.Diff(first.Allocation, second.Allocation); diff != "" && second.Objective <= first.Objective+1e-9 &&
			second.Metrics.FairnessLoss >= first.Metrics.FairnessLoss-1e-9 {
			t.Errorf("changed without gain (-first +second):\n%s", diff)
		}
	})
}

// The order in which servers and maps are written down changes neither utilization nor loss.
func TestReallocateOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := genProblem(t)
		p.Options.AdmitPrefix = false // it depends on the order of applications by definition
		want, err := recorded(t, context.Background(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		q := *p
		q.Servers = slices.Clone(p.Servers)
		rng := rand.New(rand.NewPCG(1, rapid.Uint64().Draw(t, "shuffle")))
		rng.Shuffle(len(q.Servers), func(a, b int) { q.Servers[a], q.Servers[b] = q.Servers[b], q.Servers[a] })
		got, err := recorded(t, context.Background(), &q, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got.Status != want.Status || math.Abs(got.Objective-want.Objective) > 1e-9 {
			t.Errorf("%s with %g after shuffling the servers, %s with %g before", got.Status, got.Objective, want.Status, want.Objective)
		}
	})
}

func TestDeterministic(t *testing.T) {
	p := testbed()
	p.Previous = alloc.Allocation{"LR": {"slavea": 3, "slaveb": 4}, "MF": {"slavec": 6}, "ResNet-50": {"slavee": 1}}
	want := reallocate(t, p)
	for range 50 {
		q := *p
		q.Previous = p.Previous.Clone() // another map, another order
		got := reallocate(t, &q)
		if diff := cmp.Diff(want.Allocation, got.Allocation); diff != "" || got.Bound != want.Bound {
			t.Fatalf("bound %g and %g; allocation (-first +again):\n%s", want.Bound, got.Bound, diff)
		}
	}
}
