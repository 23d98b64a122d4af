// This file tests the parts of a fit: what is left out, how many parameters can be told, and which model is taken.

package speedup

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/internal/must"
)

// How many parameters observations can tell: of the sums all, of the two phases those of what was seen.
func TestParameters(t *testing.T) {
	one, two, four := Observation{1, 1, 8, 1}, Observation{2, 1, 8, 1}, Observation{4, 1, 8, 1}
	spread, wide := Observation{2, 2, 8, 1}, Observation{4, 2, 8, 1}
	for _, test := range []struct {
		model Model
		seen  []Observation
		want  int
	}{
		{Linear, []Observation{one}, 1}, {Amdahl, []Observation{one}, 2}, {Optimus, []Observation{one}, 5},
		{Pollux, []Observation{one}, 2},                          // computing alone
		{Pollux, []Observation{one, two}, 4},                     // a constant on one server, and the overlap
		{Pollux, []Observation{one, four}, 5},                    // and what each further container costs there
		{Pollux, []Observation{one, spread}, 4},                  // the same on several servers
		{Pollux, []Observation{one, wide}, 5},                    //
		{Pollux, []Observation{one, two, four, spread, wide}, 7}, // all
		{Table, []Observation{one, two}, 0},
	} {
		must.Equal(t, parameters(test.model, test.seen), test.want, test.model, "of", test.seen)
	}
}

// Of many configurations sixteen are left out, at even distances; of few each one, and of one none.
func TestLeaveOutIsBounded(t *testing.T) {
	for n, want := range map[int]int{1: 0, 2: 2, 3: 3, 16: 16, 17: 16, 100: 16} {
		var all []Observation
		for i := range n {
			all = append(all, Observation{int64(i + 1), 1, 64, 1 / float64(i+1)})
		}
		if rms, got := leaveOut(Linear, all); got != want || rms > 1e-6 {
			t.Errorf("%d configurations: %d left out, error %g", n, got, rms)
		}
	}
	// One of 32 that is wrong by a factor of e is left out if its turn comes, as is every second one.
	for at, want := range map[int]float64{10: 1. / 4, 11: 0} {
		var all []Observation
		for i := range 32 {
			all = append(all, Observation{int64(i + 1), 1, 64, 1 / float64(i+1)})
		}
		all[at].Seconds *= math.E
		if rms, _ := leaveOut(Linear, all); math.Abs(rms-want) > 0.01 {
			t.Errorf("number %d is wrong: error %g, want about %g", at, rms, want)
		}
	}
}

// Auto takes more parameters only where they predict better by a twentieth: noise alone does not bring them.
func TestAutoPrefersTheSimpler(t *testing.T) {
	all := grid(func(c configuration) float64 {
		return sum([]float64{0.01, 0.1}, c) * (1 + 0.02*math.Sin(float64(7*c.containers+3*c.servers)+c.samples))
	})
	c := must.Have(Fit(all, nil))(t)
	for _, model := range []Model{Amdahl, Optimus, Pollux} {
		other := must.Have(Fit(all, &Options{Model: model}))(t)
		if c.Model == Amdahl && other.Error < simpler*c.Error {
			t.Errorf("%v has an error of %g, %v of %g was taken", model, other.Error, c.Model, c.Error)
		}
	}
	if c.Model != Amdahl {
		t.Errorf("%v for a serial part with noise of 2 %%", c.Model)
	}
}

// Sets of terms come with their sizes rising, so that of fits that are as good the one with the fewest terms is taken.
func TestSets(t *testing.T) {
	if len(sets) != 31 || sets[0] != 1 || sets[30] != 31 {
		t.Fatalf("%d sets: %v", len(sets), sets)
	}
	count := func(set uint) (n int) {
		for ; set > 0; set /= 2 {
			n += int(set % 2)
		}
		return n
	}
	if !slices.IsSortedFunc(sets, func(a, b uint) int { return count(a) - count(b) }) {
		t.Errorf("%v", sets)
	}
	// On servers of one container each, containers and servers are one number: one of the two terms is enough.
	var rows []row
	for n := int64(1); n <= 6; n++ {
		rows = append(rows, row{configuration{n, n, 12}, 2 + 0.5*float64(n), 1, 1})
	}
	params := leastSquares(mostTerms, rows)
	positive := 0
	for _, p := range params {
		if p > 0 {
			positive++
		}
	}
	if positive > 2 {
		t.Errorf("%v for a time that two terms explain", params)
	}
}

// The largest usual error is 3.7 medians, of an even number the lower one, and a thousandth at least.
func TestBound(t *testing.T) {
	for _, test := range []struct {
		errors []float64
		want   float64
	}{
		{[]float64{0.3, 0.1, 0.2}, 3.7 * 0.2}, {[]float64{0.4, 0.1, 0.2, 0.3}, 3.7 * 0.2}, {[]float64{9}, 3.7 * 9},
		{[]float64{0, 0, 5}, 1e-3}, {[]float64{1e-4, 1e-4}, 1e-3},
	} {
		before := slices.Clone(test.errors)
		if got := bound(test.errors); math.Abs(got-test.want) > 1e-12 || !slices.Equal(before, test.errors) {
			t.Errorf("%v: %g, want %g", before, got, test.want)
		}
	}
}

// Errors up to the bound weigh 1, those beyond it by their size, and what errors are relative to is what is predicted.
func TestReweigh(t *testing.T) {
	rows := make([]row, 5)
	for i, factor := range []float64{1, 1.1, 1 / 1.1, 1.1, 8} {
		rows[i] = row{configuration{1, 1, 10}, 10 * factor, 0, 0} // 10 is predicted
	}
	reweigh([]float64{1}, rows)
	limit := 3.7 * math.Log(1.1)
	for i, want := range []float64{1, 1, 1, 1, limit / math.Log(8)} {
		if math.Abs(rows[i].weight-want) > 1e-9 || math.Abs(rows[i].scale-10) > 1e-9 {
			t.Errorf("row %d: weight %g of a scale of %g, want %g", i, rows[i].weight, rows[i].scale, want)
		}
	}
	// A prediction of nothing counts as a millionth of what was measured: no division by zero.
	reweigh([]float64{0}, rows[:1])
	must.Equal(t, rows[0].scale, 1e-6*rows[0].seconds, "a scale of")
}

// Terms that cannot be told apart have no weights of their own: the system is refused, not solved at random.
func TestSolveRefuses(t *testing.T) {
	rows := []row{{configuration{1, 1, 4}, 1, 1, 1}, {configuration{2, 2, 8}, 2, 1, 1}}
	e := newNormal(mostTerms, rows)
	for k := range mostTerms {
		if math.Abs(e.left[k][k]-1) > 1e-12 {
			t.Errorf("diagonal element %d is %g", k, e.left[k][k])
		}
	}
	// Samples a container, 1 and containers a server are the same in both rows.
	for set, want := range map[uint]bool{1: true, 2: true, 3: false, 7: false, 8: true, 8 | 16: false} {
		if _, _, ok := e.solve(set); ok != want {
			t.Errorf("terms %05b: solved %t", set, ok)
		}
	}
}

// Medians of several times of one configuration, whatever their order: of an odd number the middle one, of an even number
// the mean of both.
func TestTidyIsTheMedian(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		times := rapid.SliceOfN(rapid.Float64Range(0.1, 100), 1, 9).Draw(t, "times")
		var all []Observation
		for _, s := range times {
			all = append(all, Observation{3, 2, 8, s})
		}
		got := tidy(all)
		slices.Sort(times)
		n := len(times)
		if want := (times[(n-1)/2] + times[n/2]) / 2; len(got) != 1 || math.Abs(got[0].Seconds-want) > 1e-9 {
			t.Errorf("%v: %v, want %g", times, got, want)
		}
	})
}
