package solver_test

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/must"
)

// genSolution draws a solution of any shape, with bounds of every sort.
func genSolution(t *rapid.T) *solver.Solution {
	number := rapid.OneOf(rapid.Float64Range(-9, 9), rapid.SampledFrom([]float64{0, math.Inf(1), math.Inf(-1), math.MaxFloat64, 5e-324}))
	prices := rapid.SliceOfN(rapid.Float64Range(0, 3), 1, 3)
	s := &solver.Solution{
		Status:      rapid.SampledFrom([]solver.Status{solver.Unknown, solver.Feasible, solver.Optimal, solver.Infeasible}).Draw(t, "status"),
		Objective:   rapid.Float64Range(-9, 9).Draw(t, "objective"),
		Bound:       number.Draw(t, "bound"),
		Proven:      rapid.SampledFrom([]solver.Rank{solver.ByNothing, solver.ByUtilization, solver.ByLoss, solver.ByOrder}).Draw(t, "proven"),
		Effort:      rapid.Int64().Draw(t, "effort"),
		Interrupted: rapid.Bool().Draw(t, "interrupted"),
	}
	s.Searched = rapid.Bool().Draw(t, "searched")
	s.By = solver.Settings{Solver: rapid.String().Draw(t, "solver"), Effort: rapid.Int64().Draw(t, "allowed"), Seed: rapid.Uint64().Draw(t, "seed")}
	if rapid.Bool().Draw(t, "has counts") {
		s.Counts = solver.Counts{nil, {}, {{Server: 2, Count: rapid.Int64Min(1).Draw(t, "count")}}}
	}
	if rapid.Bool().Draw(t, "has multipliers") {
		s.Multipliers = &solver.Multipliers{Server: [][]float64{prices.Draw(t, "prices"), nil}, Group: [][]float64{prices.Draw(t, "ceilings")}, Loss: .1, Adjust: .3}
	}
	if rapid.Bool().Draw(t, "has copies") {
		s.Copies = &solver.CopyPrices{Container: prices.Draw(t, "containers"), Room: [][]float64{nil, prices.Draw(t, "room")}}
	}
	return s
}

// Every solution survives JSON unchanged, infinite bounds included.
func TestSolutionSurvivesJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := genSolution(t)
		text := must.Have(json.Marshal(s))(t)
		again := new(solver.Solution)
		if err := json.Unmarshal(text, again); err != nil || !reflect.DeepEqual(s, again) {
			t.Fatalf("%s is read back as %+v, %v; written was %+v", text, again, err, s)
		}
	})
}

func TestSolutionJSONErrors(t *testing.T) {
	for _, text := range []string{`{"status":"good"}`, `{"status":2}`, `{"bound":"inf"}`, `{"proven":"everything"}`, `[]`} {
		if err := json.Unmarshal([]byte(text), new(solver.Solution)); err == nil {
			t.Errorf("%s is read as a solution", text)
		}
	}
	for _, bad := range []solver.Solution{{Status: 9}, {Proven: 9}} {
		if text, err := json.Marshal(bad); err == nil || !strings.Contains(err.Error(), "no value 9") {
			t.Errorf("%+v is written as %s, %v", bad, text, err)
		}
	}
}

// The cap is the smaller of the kinds that there are and of all maxima together.
func TestCap(t *testing.T) {
	inst := tiny() // all maxima together: 6 x 3/16 + 4 x 5/16 + 5/4
	if got := inst.Cap(); got != 3 {
		t.Errorf("cap %g, want 3 kinds", got)
	}
	inst.Apps[0].Max = 1
	if got := inst.Cap(); got != 3./16+4*5./16+5./4 {
		t.Errorf("cap %g, want that of all maxima", got)
	}
	inst.Total[1] = 0 // a kind of which there is nothing counts for nothing
	inst.Apps[0].Max = 6
	if got := inst.Cap(); got != 2 {
		t.Errorf("cap %g, want 2 kinds", got)
	}
}

// Certified is the least of all bounds that the prices prove, and the cap without prices.
func TestCertified(t *testing.T) {
	inst := tiny()
	for _, c := range []struct {
		name        string
		certificate solver.Certificate
		want        float64
	}{
		{"no prices", solver.Certificate{}, 3},
		{"multipliers that prove less", solver.Certificate{Multipliers: zero(inst)}, 3}, // 3.3125
		{"multipliers that prove more", solver.Certificate{Multipliers: &solver.Multipliers{Server: [][]float64{{3. / 16, 0, 0}, {3. / 16, 0, 0}}}}, 1.5 - 1./16 + 17./16},
		{"copies that prove less", solver.Certificate{Copies: free(inst)}, 3}, // 3.5
	} {
		if got, err := c.certificate.Certified(inst); err != nil || math.Abs(got-c.want) > 2e-9 {
			t.Errorf("%s: %.12g, %v; want %.12g", c.name, got, err, c.want)
		}
	}
	// All on the first server stays: copies prove that much, multipliers less.
	inst.AdjustBudget, inst.Apps[2].Min = 0, 0
	both := solver.Certificate{Multipliers: zero(inst), Copies: free(inst)}
	if got, err := both.Certified(inst); err != nil || math.Abs(got-(2*3./16+3*5./16)) > 2e-9 {
		t.Errorf("both: %.12g, %v", got, err)
	}
	for _, bad := range []solver.Certificate{{Multipliers: &solver.Multipliers{}}, {Copies: &solver.CopyPrices{}}} {
		if _, err := bad.Certified(inst); err != solver.ErrMultipliers {
			t.Errorf("certified with %v", err)
		}
		if err := bad.Check(inst); err != solver.ErrMultipliers {
			t.Errorf("checked with %v", err)
		}
	}
	unpriced := solver.Certificate{Multipliers: zero(inst)}
	unpriced.Multipliers.Adjust = math.Inf(1)
	if err := unpriced.Check(inst); err != solver.ErrMultipliers {
		t.Errorf("an infinite price of adjustment: %v", err)
	}
}
