package milp

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/apportion/apportion/internal/must"
)

// A solution survives JSON, with what JSON has no numbers for.
func TestSolutionJSON(t *testing.T) {
	for _, s := range []Solution{
		{},
		{Status: Optimal, Objective: 1.5, Bound: 1.5, Values: []float64{0, 1}, Nodes: 3},
		{Status: Infeasible, Objective: math.NaN(), Bound: math.Inf(-1)},
		{Status: LimitReached, Objective: math.NaN(), Bound: math.Inf(1), Reason: "node limit"},
		{Status: Cancelled, Values: []float64{}, Bound: -2},
	} {
		text := must.Have(json.Marshal(s))(t)
		var again Solution
		must.Do(t, json.Unmarshal(text, &again))
		if again.Status != s.Status || again.Bound != s.Bound || again.Nodes != s.Nodes || again.Reason != s.Reason ||
			math.Float64bits(again.Objective) != math.Float64bits(s.Objective) || !slices.Equal(again.Values, s.Values) || again.HasSolution() != s.HasSolution() {
			t.Errorf("%+v is read back from %s as %+v", s, text, again)
		}
	}
	for _, text := range []string{`{"status":"great"}`, `{"status":1}`, `{"bound":"big"}`} {
		if err := json.Unmarshal([]byte(text), new(Solution)); err == nil {
			t.Errorf("%s is read as a solution", text)
		}
	}
	var sense Sense
	if err := sense.UnmarshalText([]byte("maximize")); err != nil || sense != Maximize || sense.UnmarshalText([]byte("up")) == nil {
		t.Errorf("%v, %v", sense, err)
	}
}
