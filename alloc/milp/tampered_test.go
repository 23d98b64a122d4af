// This file tampers with right answers: programs are small enough to enumerate, and the referee must refuse
// whatever enumeration refutes by more than the tolerances.

package milp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apportion/apportion/internal/must"
)

// small is a program over integers from 0 to 3, with all its feasible points.
type small struct {
	model  *Model
	points [][]float64
}

// drawSmall returns a random program of up to three variables.
func drawSmall(t *testing.T, rng *rand.Rand) small {
	n := 1 + rng.IntN(3)
	m := built(t, func(b *Builder) {
		var vars []Var
		for range n {
			vars = append(vars, b.Integer(0, 3, ""))
		}
		terms := func() (list []Term) {
			for _, v := range vars {
				list = append(list, Term{v, float64(rng.IntN(9) - 3)})
			}
			return list
		}
		for range 1 + rng.IntN(3) {
			b.AtMost("", terms(), float64(rng.IntN(8)-1))
		}
		b.objective([]Sense{Minimize, Maximize}[rng.IntN(2)], terms(), float64(rng.IntN(5)))
	})
	s := small{model: m}
	for code := range int(math.Pow(4, float64(n))) {
		x := make([]float64, n)
		for j := range x {
			x[j], code = float64(code%4), code/4
		}
		if m.Verify(x, 0, 0) == nil {
			s.points = append(s.points, x)
		}
	}
	return s
}

// best returns the best and the worst point.
func (s *small) best() (best, worst []float64) {
	order := slices.Clone(s.points)
	slices.SortStableFunc(order, func(x, y []float64) int {
		loss := s.model.sense.loss(s.model.Objective(x), s.model.Objective(y))
		return int(math.Copysign(1, loss)) * min(1, int(math.Ceil(math.Abs(loss))))
	})
	return order[0], order[len(order)-1]
}

// answer hands a claim to Solve, with its values copied, since the referee completes them.
func (s *small) answer(claim Solution) (Solution, error) {
	claim.Values = slices.Clone(claim.Values)
	return Solve(context.Background(), plainSolver{claim}, s.model, nil)
}

// worse returns x made worse by d, in the direction of the model.
func (s *small) worse(x, d float64) float64 {
	if s.model.sense == Maximize {
		return x - d
	}
	return x + d
}

// The optimum is accepted as such; one value more or less, another bound or another status is refused, or is true.
func TestTamperedAnswers(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	refused := map[string]int{}
	for range 300 {
		s := drawSmall(t, rng)
		if len(s.points) == 0 {
			must.Have(s.answer(Solution{Status: Infeasible}))(t)
			continue
		}
		best, worst := s.best()
		optimum := s.model.Objective(best)
		right := Solution{Status: Optimal, Values: best, Bound: optimum}
		if got, err := s.answer(right); err != nil || got.Objective != optimum || !slices.Equal(got.Values, best) {
			t.Fatalf("%+v: %+v, %v", right, got, err)
		}
		claims := map[string]Solution{
			"a bound that cuts the answer off": {Status: Optimal, Values: best, Bound: s.worse(optimum, 0.5)},
			"a bound out of reach":             {Status: Optimal, Values: best, Bound: s.worse(optimum, -0.5)},
			"no bound at all":                  {Status: Optimal, Values: best, Bound: s.worse(optimum, -inf)},
			"a value short":                    {Status: Feasible, Values: best[1:], Bound: s.worse(optimum, -inf)},
			"unbounded":                        {Status: Unbounded},
			"infeasible, with a point":         {Status: Infeasible, Values: best},
			"a limit, with a point":            {Status: LimitReached, Values: best, Bound: optimum},
			"nothing":                          {Values: best, Bound: optimum},
		}
		if s.model.Objective(worst) != optimum {
			claims["the worst point as the best"] = Solution{Status: Optimal, Values: worst, Bound: optimum}
		}
		for j := range best {
			for _, d := range []float64{-1, 1, 0.5, nan, inf} {
				values := slices.Clone(best)
				values[j] += d
				if !slices.ContainsFunc(s.points, func(x []float64) bool { return slices.Equal(x, values) }) {
					claims[fmt.Sprint("a value more by ", d)] = Solution{Status: Feasible, Values: values, Bound: s.worse(optimum, -inf)}
				}
			}
		}
		for name, claim := range claims {
			got, err := s.answer(claim)
			var wrong *WrongAnswerError
			if !errors.As(err, &wrong) || got.Status != Invalid || got.Values != nil {
				t.Errorf("%s: %+v, %v; the optimum is %g at %v\n%s", name, got, err, optimum, best, describe(s.model))
			}
			refused[name]++
		}
		// Every feasible point is accepted as one, with its own objective.
		for _, x := range s.points {
			got, err := s.answer(Solution{Status: Feasible, Values: x, Bound: optimum})
			if err != nil || got.Objective != s.model.Objective(x) {
				t.Fatalf("%v: %+v, %v", x, got, err)
			}
		}
	}
	for name, n := range refused {
		if n < 20 {
			t.Errorf("%s was claimed %d times", name, n)
		}
	}
}

// What a claim of infeasibility can be refuted by without a search is refuted; the rest is believed.
func TestInfeasibleClaims(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	seen, unseen := 0, 0
	for range 300 {
		s := drawSmall(t, rng)
		corner := false
		for _, x := range []float64{0, math.Inf(-1), math.Inf(1)} {
			corner = corner || s.model.Verify(s.model.corner(x), 0, 0) == nil
		}
		_, err := s.answer(Solution{Status: Infeasible})
		if (err != nil) != corner {
			t.Errorf("a corner is feasible: %v, yet %v\n%s", corner, err, describe(s.model))
		}
		if len(s.points) > 0 && corner {
			seen++
		} else if len(s.points) > 0 {
			unseen++
		}
	}
	if seen < 20 {
		t.Errorf("%d false claims were seen, %d were not", seen, unseen)
	}
}

// Senses and outcomes are their names in JSON; numbers and other names are refused.
func TestEnumsInJSON(t *testing.T) {
	for s := Invalid; s <= Cancelled; s++ {
		text, err := json.Marshal(s)
		var back Status
		if err != nil || json.Unmarshal(text, &back) != nil || back != s || string(text) != fmt.Sprintf("%q", s) {
			t.Errorf("%d: %s, %v, back %d", s, text, err, back)
		}
	}
	for _, s := range []Sense{Minimize, Maximize} {
		text, err := json.Marshal(s)
		var back Sense
		if err != nil || json.Unmarshal(text, &back) != nil || back != s || string(text) != fmt.Sprintf("%q", s) {
			t.Errorf("%d: %s, %v, back %d", s, text, err, back)
		}
	}
	for _, text := range []string{`"best"`, `1`, `""`, `"OPTIMAL"`, `"Maximize"`} {
		var status Status
		var sense Sense
		if json.Unmarshal([]byte(text), &status) == nil || json.Unmarshal([]byte(text), &sense) == nil {
			t.Errorf("%s was read as %v, %v", text, status, sense)
		}
	}
	if _, err := json.Marshal(Cancelled + 1); err == nil {
		t.Error("a status without a name was written")
	}
}

// Each bit has a name of its own, and a set lists those that it has in their order.
func TestCapabilityNames(t *testing.T) {
	seen := map[string]bool{}
	for k := range capabilityNames {
		name := Capability(1 << k).String()
		if seen[name] || name == "" || strings.Contains(name, ",") {
			t.Errorf("bit %d is called %q", k, name)
		}
		seen[name] = true
	}
	if CanEverything != 1<<len(capabilityNames)-1 {
		t.Errorf("%d names for %b", len(capabilityNames), CanEverything)
	}
	if got := (CanSeed | CanInteger | capabilityEnd).String(); got != "integer variables, seed" {
		t.Errorf("%q", got)
	}
	if got := Capability(0).String(); got != "" {
		t.Errorf("nothing is called %q", got)
	}
}
