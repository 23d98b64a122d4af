package solver_test

import (
	"encoding/json"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/alloc/solver"
)

// Every status and rank is its name in JSON, in values as in keys of maps, and reads back as itself.
func TestEnumsSurviveJSON(t *testing.T) {
	statuses := map[solver.Status]string{
		solver.Unknown: "unknown", solver.Feasible: "feasible", solver.Optimal: "optimal", solver.Infeasible: "infeasible",
	}
	for status, name := range statuses {
		text, err := json.Marshal(status)
		again := solver.Status(99)
		if err != nil || string(text) != `"`+name+`"` || json.Unmarshal(text, &again) != nil || again != status {
			t.Errorf("%s is written as %s, %v, and read back as %s", name, text, err, again)
		}
	}
	ranks := []string{"nothing", "utilization", "loss", "adjusted", "moved", "order"}
	for r, name := range ranks {
		rank := solver.Rank(r)
		text, err := json.Marshal(map[solver.Rank]int{rank: r})
		var again map[solver.Rank]int
		if err != nil || json.Unmarshal(text, &again) != nil || len(again) != 1 || again[rank] != r || rank.String() != name {
			t.Errorf("rank %d, %s, is written as %s, %v, and read back as %v", r, name, text, err, again)
		}
	}
	if solver.ByOrder != solver.Rank(len(ranks)-1) {
		t.Errorf("%d ranks are tested of %d", len(ranks), solver.ByOrder+1)
	}
}

// Counts come with the statuses that say so, with no other.
func TestHasSolution(t *testing.T) {
	for status, want := range map[solver.Status]bool{
		solver.Unknown: false, solver.Feasible: true, solver.Optimal: true, solver.Infeasible: false, solver.Status(9): false,
	} {
		if status.HasSolution() != want {
			t.Errorf("%s: has a solution %v", status, !want)
		}
	}
}

// The gap is a part of the bound: 0 where it is reached, 1 where nothing is, and it shrinks as the answer
// improves or the bound falls.
func TestGap(t *testing.T) {
	for _, c := range []struct{ objective, bound, want float64 }{
		{2, 2, 0}, {3, 2, 0}, {0, 2, 1}, {1, 4, .75}, {0, 0, 0}, {-3, -2, .5}, {-1, 0, 1 / solver.ObjectiveTolerance},
		{1, math.Inf(1), math.Inf(1)}, {1, math.Inf(-1), math.Inf(1)},
	} {
		if got := solver.Gap(c.objective, c.bound); math.Abs(got-c.want) > 1e-9*math.Max(1, c.want) && got != c.want {
			t.Errorf("Gap(%g, %g) = %g, want %g", c.objective, c.bound, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		bound := rapid.Float64Range(.1, 4).Draw(t, "bound")
		objective := rapid.Float64Range(0, bound).Draw(t, "objective")
		better := rapid.Float64Range(objective, bound).Draw(t, "a better objective")
		lower := rapid.Float64Range(better, bound).Draw(t, "a lower bound")
		gap := solver.Gap(objective, bound)
		if gap < 0 || gap > 1 || solver.Gap(better, bound) > gap || solver.Gap(better, math.Max(lower, .1)) > solver.Gap(better, bound)+1e-12 {
			t.Errorf("gap %g of %g and %g; %g with %g, %g with bound %g", gap, objective, bound, solver.Gap(better, bound), better, solver.Gap(better, lower), lower)
		}
	})
}
