package milptest

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/apportion/apportion/alloc/milp"
)

// digest is a number that nearly every change of a model changes: that of its MPS text.
func digest(t *testing.T, m *milp.Model) uint64 {
	t.Helper()
	h := fnv.New64a()
	fmt.Fprint(h, text(t, m))
	return h.Sum64()
}

// A finding names a random model by its family and seed, and the market split has no other name than its size: both mean the
// same models as when somebody noted a time, or a fault, of theirs.
func TestSeedsMeanModels(t *testing.T) {
	for name, c := range map[string]struct {
		family
		want uint64 // of the first thirty together
	}{
		"binary":                {family{name: "binary", integers: 8, width: 1}, 0xdf91bade978e368},
		"binary with equations": {family{name: "binary with equations", integers: 8, width: 1, equations: true}, 0x401749c7c34a1be3},
		"integer":               {family{name: "integer", integers: 3, width: 9}, 0xbdda9143ab1a859e},
		"continuous":            {family{name: "continuous", continuous: 3}, 0x2fa894cdf10134f1},
		"mixed with equations":  {family{name: "mixed with equations", integers: 3, continuous: 2, width: 4, equations: true}, 0x76ba2e97628604a1},
		"mixed":                 {family{name: "mixed", integers: 3, continuous: 2, width: 4}, 0xdb7a810c76d731b1},
	} {
		var all uint64
		for seed := range uint64(30) {
			all = all*31 + digest(t, c.model(rand.New(rand.NewPCG(seed, uint64(c.integers+16*c.continuous)))))
		}
		if all != c.want {
			t.Errorf("%s: digest %#x, want %#x", name, all, c.want)
		}
	}
	if got := [2]uint64{digest(t, marketSplit(false)), digest(t, marketSplit(true))}; got != [2]uint64{0xe77acc3701c60372, 0xdc4b3af1daf5f9c6} {
		t.Errorf("market split: digests %#x", got)
	}
}

// Programs are read anew in each call, so that a test that changes one spoils it for nobody: two calls share no model.
func TestInstancesAreFresh(t *testing.T) {
	for name, all := range map[string]func() []Instance{"MIPLIB": MIPLIB, "known": Known} {
		first, second := all(), all()
		for at := range first {
			if first[at].Model == second[at].Model || first[at].Name != second[at].Name || first[at].Optimum != second[at].Optimum {
				t.Errorf("%s: %s is %p and %p", name, first[at].Name, first[at].Model, second[at].Model)
			}
			if digest(t, first[at].Model) != digest(t, second[at].Model) {
				t.Errorf("%s: %s is read in two ways", name, first[at].Name)
			}
		}
	}
}

// Numbers are near within a part of themselves, or of 1 where they are small; what is no number is near nothing.
func TestNear(t *testing.T) {
	for _, c := range []struct {
		got, want float64
		near      bool
	}{
		{0, 0, true},
		{answerTol, 0, true},
		{2 * answerTol, 0, false},
		{1 - answerTol/2, 1, true},
		{1 + 2*answerTol, 1, false},
		{1e6 + 1e6*answerTol/2, 1e6, true}, // relative
		{1e6 + 2e6*answerTol, 1e6, false},
		{-1e6 - 1e6*answerTol/2, -1e6, true},
		{1, -1, false},
		{math.NaN(), 0, false},
		{0, math.NaN(), false},
		{math.Inf(1), 1, false},
		{1, math.Inf(1), false},
	} {
		if got := near(c.got, c.want); got != c.near {
			t.Errorf("%g is near %g: %v", c.got, c.want, got)
		}
	}
}

// Variables have the bounds that are listed, in their order; those of integers are integers.
func TestVariablesOfCases(t *testing.T) {
	bounds := [][2]float64{{0, 1}, {-3, 4}, {2, 2}, {-1, inf}}
	for name, c := range map[string]struct {
		add     func(*milp.Builder, ...[2]float64) []milp.Var
		integer bool
	}{"continuous": {continuous, false}, "integers": {integers, true}} {
		model, err := build(name, func(b *milp.Builder) {
			vars := c.add(b, bounds...)
			b.Minimize(sum(vars, 1, 0, -2), 0)
		})
		if err != nil {
			t.Fatal(err)
		}
		for at, want := range bounds {
			if v := model.Variable(at); v.Lower != want[0] || v.Upper < want[1] && v.Upper < milp.Infinite || v.Integer != c.integer {
				t.Errorf("%s: variable %d is %+v, want %v", name, at, v, want)
			}
		}
		if got := model.Objective([]float64{1, 5, 2, 7}); got != 1-2*2 {
			t.Errorf("%s: objective %g: a term too many, or at the wrong variable", name, got)
		}
	}
}

// A case that is no model is a fault of the suite, and is told when the suite is listed, not when it runs.
func TestCaseThatIsNoModel(t *testing.T) {
	broken := oneCase{name: "broken", build: func(b *milp.Builder) { b.Integer(1, 0, "upside down") }}
	if _, err := build(broken.name, broken.build); err == nil {
		t.Fatal("a variable with bounds upside down is a model")
	}
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	broken.check()
}

// A right answer passes, and each number in it that is changed alone does not.
func TestCompareLooksAtEveryNumber(t *testing.T) {
	c := oneCase{name: "c", want: milp.Optimal, objective: 5, values: []float64{2, 3}}
	right := func() milp.Solution {
		return milp.Solution{Status: milp.Optimal, Objective: 5, Bound: 5, Values: []float64{2, 3}}
	}
	if err := c.compare(right()); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*milp.Solution){
		"status":           func(s *milp.Solution) { s.Status = milp.Feasible },
		"objective":        func(s *milp.Solution) { s.Objective = 5.01 },
		"bound above":      func(s *milp.Solution) { s.Bound = 5.01 },
		"bound below":      func(s *milp.Solution) { s.Bound = 4.99 },
		"the first value":  func(s *milp.Solution) { s.Values[0] = 1 },
		"the second value": func(s *milp.Solution) { s.Values[1] = math.NaN() },
	} {
		s := right()
		change(&s)
		if c.compare(s) == nil {
			t.Errorf("%s: a wrong answer passes", name)
		}
	}
	// Where several points are optimal a case lists none, and any is right.
	s := right()
	s.Values = []float64{0, 5}
	c.values = nil
	if err := c.compare(s); err != nil {
		t.Error(err)
	}
}

// What must is given, and no other thing, ends the program: with the fault in its message.
func TestMust(t *testing.T) {
	must(nil)
	defer func() {
		if got := fmt.Sprint(recover()); got != "milptest: torn" {
			t.Errorf("panics with %q", got)
		}
	}()
	must(errors.New("torn"))
}
