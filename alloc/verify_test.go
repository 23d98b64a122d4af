package alloc_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/solver"
)

// fig5 is three applications on two servers, one of them new.
func fig5() *alloc.Problem {
	p := &alloc.Problem{
		Kinds: []string{"cpu", "gpu"}, Theta1: 0.2, Theta2: 0.5,
		Previous: alloc.Allocation{"a": {"s1": 1, "s2": 3}, "b": {"s1": 1}},
	}
	for _, id := range []string{"s1", "s2"} {
		p.Servers = append(p.Servers, apportion.Server{ID: id, Capacity: apportion.Resources{6, 1}})
	}
	p.Applications = []alloc.Application{
		{ID: "a", Weight: 1, Form: alloc.Form{Demand: []int64{2, 0}, Max: 8, Min: 1}},
		{ID: "b", Weight: 1, Form: alloc.Form{Demand: []int64{1, 1}, Max: 2, Min: 1}},
		{ID: "c", Weight: 1, Form: alloc.Form{Demand: []int64{1, 1}, Max: 2, Min: 1}},
	}
	return p
}

// The recomputed bound is a bound on the decision, and without a search no weaker than claimed.
func TestVerify(t *testing.T) {
	d := reallocate(t, fig5())
	proof, err := alloc.Verify(fig5(), d)
	if err != nil || proof.Bound < d.Objective-solver.ObjectiveTolerance || !proof.Searched && proof.Bound > d.Bound+1e-8 {
		t.Errorf("%+v, %v; decision %g with bound %g", proof, err, d.Objective, d.Bound)
	}
	// A solver that sends prices of its own invention: the bound is theirs, not the claimed one, which
	// is cut to 2 kinds at most.
	prices := &solver.Multipliers{Server: [][]float64{{0, 0}, {0, 0}}}
	counts := solver.Counts{{{Server: 0, Count: 1}, {Server: 1, Count: 2}}, {{Server: 0, Count: 1}}, {{Server: 1, Count: 1}}}
	d, err = recorded(t, context.Background(), fig5(), answering{counts, prices})
	if err != nil || d.Bound != 2 {
		t.Fatalf("bound %g, want the cap 2; %v", d.Bound, err)
	}
	if proof, err = alloc.Verify(fig5(), d); err != nil || proof.Bound > 2 || proof.Bound < d.Objective {
		t.Errorf("%+v, %v", proof, err)
	}
	// Without prices the cap is all that is proven.
	d, err = recorded(t, context.Background(), fig5(), answering{counts, nil})
	if err != nil {
		t.Fatal(err)
	}
	if proof, err = alloc.Verify(fig5(), d); err != nil || proof.Bound != 2 || proof.Searched {
		t.Errorf("%+v, %v", proof, err)
	}
	d.Bound, d.Gap, d.Proven = d.Objective, 0, solver.ByUtilization
	if proof, err = alloc.Verify(fig5(), d); err != nil || proof.Bound != 2 || !proof.Searched {
		t.Errorf("claimed without a proof: %+v, %v", proof, err)
	}
	if _, err = alloc.Reallocate(context.Background(), fig5(), answering{counts, &solver.Multipliers{}}); !errors.Is(err, alloc.ErrSolver) || !errors.Is(err, solver.ErrMultipliers) {
		t.Errorf("prices for no server: %v", err)
	}
}

// A decision that was kept proves nothing, but it must be what runs.
func TestVerifyKept(t *testing.T) {
	p := tiny(alloc.Allocation{"LR": {"s0": 4, "s1": 2}}, "LR", "MF")
	p.Applications[1].Min, p.Theta2 = 3, 0
	d := reallocate(t, p)
	if d.Status != alloc.Kept {
		t.Fatalf("%+v, want kept", d)
	}
	if proof, err := alloc.Verify(p, d); err != nil || proof.Searched || proof.Bound < d.Objective {
		t.Errorf("%+v, %v", proof, err)
	}
	d.Allocation["LR"]["s1"] = 1
	if _, err := alloc.Verify(p, d); !errors.Is(err, alloc.ErrMismatch) || !strings.Contains(err.Error(), "not what runs") {
		t.Errorf("another allocation: %v", err)
	}
}

// Whatever is changed in a decision, Explain and Verify say where, and never panic.
// A decision cannot claim an optimum whose bound lies above it: the rank of proof says that nothing does.
func TestProvenNeedsItsBound(t *testing.T) {
	for _, proven := range []solver.Rank{solver.ByUtilization, solver.ByOrder} {
		p, d := fig5(), reallocate(t, fig5())
		d.Proven, d.Bound, d.Gap = proven, d.Objective, 0
		if _, err := alloc.Verify(p, d); err != nil && strings.Contains(err.Error(), "Proven") {
			t.Errorf("%v with the bound at the objective: %v", proven, err)
		}
		d.Bound = float64(d.Objective * 1.01)
		if _, err := alloc.Verify(p, d); !errors.Is(err, alloc.ErrMismatch) || !strings.Contains(err.Error(), "Proven contradicts") {
			t.Errorf("%v, bound 1 %% above: %v", proven, err)
		}
	}
}

func TestMismatch(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*alloc.Problem, *alloc.Decision)
		want   string
	}{
		{"another status", func(_ *alloc.Problem, d *alloc.Decision) { d.Status = "done" }, "Status"},
		{"claimed to be kept", func(_ *alloc.Problem, d *alloc.Decision) { d.Status = alloc.Kept }, "not what runs"},
		{"an unknown application", func(_ *alloc.Problem, d *alloc.Decision) { d.Allocation["x"] = map[string]int64{"s1": 1} }, `application "x": Allocation is unknown`},
		{"an unknown server", func(_ *alloc.Problem, d *alloc.Decision) { d.Allocation["a"]["s9"] = 1 }, "Allocation[s9] is unknown"},
		{"below zero", func(_ *alloc.Problem, d *alloc.Decision) { d.Allocation["a"]["s1"] = -1 }, "is negative"},
		{"more than a server holds", func(_ *alloc.Problem, d *alloc.Decision) { d.Allocation["a"]["s2"] = 4 }, "(6)"},
		{"an overflow", func(_ *alloc.Problem, d *alloc.Decision) { d.Allocation["a"]["s2"] = math.MaxInt64 }, "overflows"},
		{"one container less", func(_ *alloc.Problem, d *alloc.Decision) { d.Allocation["a"]["s2"]-- }, "Objective contradicts"},
		{"no shares", func(_ *alloc.Problem, d *alloc.Decision) { d.Shares = nil }, "Shares contradicts"},
		{"another share", func(_ *alloc.Problem, d *alloc.Decision) { d.Shares[1].Theoretical = .25 }, `application "b": Shares.Theoretical`},
		{"another name", func(_ *alloc.Problem, d *alloc.Decision) { d.Shares[1].ID = "a" }, "Shares.ID"},
		{"an adjustment that was none", func(_ *alloc.Problem, d *alloc.Decision) { d.Shares[2].Adjusted = true }, "Shares.Adjusted"},
		{"no utilization", func(_ *alloc.Problem, d *alloc.Decision) { d.Metrics.Utilization = nil }, "Metrics.Utilization"},
		{"another loss", func(_ *alloc.Problem, d *alloc.Decision) { d.Metrics.FairnessLoss += .1 }, "Metrics.FairnessLoss"},
		{"another budget", func(_ *alloc.Problem, d *alloc.Decision) { d.Metrics.AdjustBudget++ }, "Metrics.AdjustBudget"},
		{"another objective", func(_ *alloc.Problem, d *alloc.Decision) { d.Objective += .1 }, "Objective contradicts"},
		{"a gap of its own", func(_ *alloc.Problem, d *alloc.Decision) { d.Gap = .5 }, "Gap contradicts"},
		{"who waits and does not", func(_ *alloc.Problem, d *alloc.Decision) { d.Waiting = []alloc.Waiting{{ID: "a"}} }, "Waiting[0]"},
		{"left out without leave", func(_ *alloc.Problem, d *alloc.Decision) {
			d.Waiting = []alloc.Waiting{{ID: "c", LeftOut: true}}
		}, "may not be left out"},
		{"prices of a smaller cluster", func(_ *alloc.Problem, d *alloc.Decision) {
			d.Certificate.Multipliers.Server = d.Certificate.Multipliers.Server[:1]
		}, "fit the instance"},
		{"prices for fewer applications", func(_ *alloc.Problem, d *alloc.Decision) { d.Certificate.Copies = &solver.CopyPrices{} }, "fit the instance"},
		{"a problem of other servers", func(p *alloc.Problem, _ *alloc.Decision) { p.Servers[1].ID, p.Previous = "other", nil }, "is unknown"},
		{"a problem of other demands", func(p *alloc.Problem, _ *alloc.Decision) { p.Applications[1].Demand[0] = 2 }, ""},
		{"a problem of other thresholds", func(p *alloc.Problem, _ *alloc.Decision) { p.Theta2 = 1 }, "Metrics.AdjustBudget"},
		{"a problem of fewer applications", func(p *alloc.Problem, _ *alloc.Decision) { p.Applications = p.Applications[:2] }, "is unknown"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, d := fig5(), reallocate(t, fig5())
			if _, err := alloc.Explain(p, d); err != nil {
				t.Fatal("before the change:", err)
			}
			c.change(p, d)
			_, explained := alloc.Explain(p, d)
			_, verified := alloc.Verify(p, d)
			for _, err := range []error{explained, verified} {
				if !errors.Is(err, alloc.ErrMismatch) || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v, want a mismatch of %q", err, c.want)
				}
			}
		})
	}
	if _, err := alloc.Verify(fig5(), nil); !errors.Is(err, alloc.ErrMismatch) {
		t.Errorf("no decision: %v", err)
	}
	if _, err := alloc.Explain(&alloc.Problem{}, reallocate(t, fig5())); !errors.Is(err, apportion.ErrEmpty) {
		t.Errorf("no problem: %v", err)
	}
}

// A bound below what the prices prove is refused, unless a search is said to have ruled out the rest.
func TestVerifyRefusesBound(t *testing.T) {
	p := fig5()
	counts := solver.Counts{{{Server: 0, Count: 1}, {Server: 1, Count: 2}}, {{Server: 0, Count: 1}}, {{Server: 1, Count: 1}}}
	d, err := recorded(t, context.Background(), p, answering{counts, &solver.Multipliers{Server: [][]float64{{0, 0}, {0, 0}}}})
	if err != nil {
		t.Fatal(err)
	}
	d.Bound = d.Objective + .01
	d.Gap = solver.Gap(d.Objective, d.Bound)
	if _, err := alloc.Verify(p, d); !errors.Is(err, alloc.ErrMismatch) || !strings.Contains(err.Error(), "the certificate proves") {
		t.Errorf("%v, want the bound refused", err)
	}
	d.Certificate.Searched = true
	if proof, err := alloc.Verify(p, d); err != nil || !proof.Searched {
		t.Errorf("%+v, %v, want it left to a search", proof, err)
	}
}

// What JSON leaves out says the same as what it left: no bound is an infinite one.
func TestDecisionJSON(t *testing.T) {
	for _, c := range []struct {
		d    alloc.Decision
		text string
	}{
		{alloc.Decision{Status: alloc.Decided, Bound: 2, Gap: .25}, `"bound":2,"gap":0.25`},
		{alloc.Decision{Status: alloc.Decided, Bound: math.Inf(1), Gap: math.Inf(1)}, `"certificate"`},
		{alloc.Decision{Status: alloc.Decided, Bound: math.Inf(-1)}, `"bound":"-Inf","gap":0`},
		{alloc.Decision{Status: alloc.Kept}, `"certificate"`},
		{alloc.Decision{Status: alloc.Kept, Bound: 3, Gap: math.Inf(1)}, `"bound":3,"gap":"+Inf"`},
		{alloc.Decision{Status: alloc.Decided, Bound: 1, Proven: solver.ByLoss}, `"proven":"loss"`},
	} {
		c.d.Certificate.By.Solver = "someone"
		text, err := json.Marshal(c.d)
		if err != nil || !strings.Contains(string(text), c.text) {
			t.Errorf("%s, %v; want %s in it", text, err, c.text)
		}
		if strings.Contains(string(text), `"bound"`) != strings.Contains(c.text, `"bound"`) && c.d.Proven == 0 {
			t.Errorf("%s has a bound where none exists, or none where one does", text)
		}
		again := new(alloc.Decision)
		if err := json.Unmarshal(text, again); err != nil {
			t.Fatal(err)
		}
		if again.Bound != c.d.Bound || again.Gap != c.d.Gap || again.Proven != c.d.Proven || again.Certificate != c.d.Certificate {
			t.Errorf("%+v is read back as %+v", c.d, *again)
		}
	}
	for _, text := range []string{`{"bound":"much"}`, `{"proven":"all"}`, `{"proven":3}`, `{"gap":true}`, `[]`} {
		if err := json.Unmarshal([]byte(text), new(alloc.Decision)); err == nil {
			t.Errorf("%s is read as a decision", text)
		}
	}
}

// A weight that is absent is 1; one of zero is refused.
func TestWeightJSON(t *testing.T) {
	for text, want := range map[string]float64{`{"id":"a"}`: 1, `{"weight":0}`: 0, `{"weight":2.5}`: 2.5, `{"weight":null}`: 1} {
		app := alloc.Application{Weight: 7, Form: alloc.Form{Max: 3}}
		if err := json.Unmarshal([]byte(text), &app); err != nil || app.Weight != want || app.Max != 0 {
			t.Errorf("%s is read as %+v, %v; want weight %g", text, app, err, want)
		}
	}
	p := tiny(nil, "LR")
	p.Applications[0].Weight = 0
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	again := new(alloc.Problem)
	if err := json.Unmarshal(text, again); err != nil || !errors.Is(again.Validate(), apportion.ErrRange) {
		t.Errorf("weight %g, %v", again.Applications[0].Weight, again.Validate())
	}
}
