// This file tests Fill and FillWhole at the edges, and everything that they refuse.

package drf_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/must"
)

func claim(id string, weight float64, low, high int64, demand ...int64) drf.Claim {
	return drf.Claim{ID: id, Demand: demand, Weight: weight, Min: low, Max: high}
}

const top = drf.NoMax

func TestFillEdges(t *testing.T) {
	max, exhausted := drf.Stop{Cause: drf.AtMax, Kind: -1}, func(k int) drf.Stop { return drf.Stop{Cause: drf.Exhausted, Kind: k} }
	for _, test := range []struct {
		name     string
		capacity apportion.Resources
		claims   []drf.Claim
		counts   []float64
		stops    []drf.Stop
		unused   []float64
		short    int
	}{
		{"none", apportion.Resources{5}, nil, nil, nil, []float64{5}, -1},
		{"one", apportion.Resources{5, 9}, []drf.Claim{claim("a", 3, 0, top, 2, 1)}, []float64{2.5}, []drf.Stop{exhausted(0)}, []float64{0, 6.5}, -1},
		{
			"paused queue", apportion.Resources{6},
			[]drf.Claim{claim("a", 1, 0, 0, 1), claim("b", 2, 0, top, 4)},
			[]float64{0, 1.5}, []drf.Stop{max, exhausted(0)}, []float64{0}, -1,
		},
		{
			"nothing of a kind", apportion.Resources{6, 0},
			[]drf.Claim{claim("a", 1, 2, top, 1, 1), claim("b", 2, 0, top, 4, 0)},
			[]float64{0, 1.5}, []drf.Stop{{Cause: drf.Unservable, Kind: 1}, exhausted(0)}, []float64{0, 0}, -1,
		},
		{
			"nothing at all", apportion.Resources{0, 0}, []drf.Claim{claim("a", 1, 0, top, 0, 1)},
			[]float64{0}, []drf.Stop{{Cause: drf.Unservable, Kind: 1}}, []float64{0, 0}, -1,
		},
		{
			"minima above capacity", apportion.Resources{9, 9},
			[]drf.Claim{claim("a", 1, 1, top, 1, 2), claim("b", 2, 4, top, 1, 2)},
			[]float64{1.5, 3}, []drf.Stop{exhausted(1), exhausted(1)}, []float64{4.5, 0}, 1,
		},
		{
			"minima that overflow", apportion.Resources{math.MaxInt64},
			[]drf.Claim{claim("a", 1, math.MaxInt64, top, math.MaxInt64), claim("b", 1, 1, top, 1<<62)},
			[]float64{.5, 1}, []drf.Stop{exhausted(0), exhausted(0)}, []float64{0}, 0,
		},
		{
			"minima that fill a kind", apportion.Resources{8, 10},
			[]drf.Claim{claim("a", 1, 2, top, 1, 0), claim("b", 1, 3, 3, 2, 1), claim("c", 1, 0, top, 0, 2)},
			[]float64{2, 3, 3.5}, []drf.Stop{exhausted(0), max, exhausted(1)}, []float64{0, 0}, -1,
		},
		{
			"a cap does not freeze others", apportion.Resources{10, 10},
			[]drf.Claim{claim("a", 1, 0, 1, 2, 3), claim("b", 1, 0, top, 4, 1)},
			[]float64{1, 2}, []drf.Stop{max, exhausted(0)}, []float64{0, 5}, -1,
		},
		{
			"all capped", apportion.Resources{10},
			[]drf.Claim{claim("a", 1, 0, 2, 1), claim("b", 5, 1, 1, 3)},
			[]float64{2, 1}, []drf.Stop{max, max}, []float64{5}, -1,
		},
		{
			"weights far apart", apportion.Resources{3_000_000_000_003},
			[]drf.Claim{claim("a", 1e12, 0, top, 3), claim("b", 1, 0, top, 1)},
			[]float64{1e12, 3}, []drf.Stop{exhausted(0), exhausted(0)}, []float64{0}, -1,
		},
		{
			// The rate of a is 2^60 times that of b. A float sum would forget b when a stops.
			"a small rate survives a large one", apportion.Resources{1 << 61},
			[]drf.Claim{claim("a", 0x1p60, 0, 1<<60, 1), claim("b", 1, 0, top, 1)},
			[]float64{1 << 60, 1 << 60}, []drf.Stop{max, exhausted(0)}, []float64{0}, -1,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			filling := instance{test.capacity, test.claims}.fill(t)
			for i, got := range filling.Claims {
				if !isClose(got.Containers, test.counts[i]) || got.StoppedBy != test.stops[i] {
					t.Errorf("%s: %.17g containers, %v; want %v, %v", got.ID, got.Containers, got.StoppedBy, test.counts[i], test.stops[i])
				}
			}
			if !slices.EqualFunc(filling.Unused, test.unused, isClose) || filling.ShortOf != test.short {
				t.Errorf("unused %v, short of %d; want %v, %d", filling.Unused, filling.ShortOf, test.unused, test.short)
			}
		})
	}
}

// Two kinds that are used up at the same level are so in floats too, whatever the numbers: each
// claim has a kind of its own and all of it.
func TestFillTies(t *testing.T) {
	for n := int64(1); n < 2000; n++ {
		in := instance{apportion.Resources{n, 3*n + 1}, []drf.Claim{claim("a", .1, 0, top, n%7+1, 0), claim("b", .1, 0, top, 0, n%11+1)}}
		a, b := in.fill(t).Claims[0], in.fill(t).Claims[1]
		if a.Share != b.Share || a.Level != b.Level || a.StoppedBy.Kind != 0 || b.StoppedBy.Kind != 1 {
			t.Fatalf("capacity %v: %v and %v", in.capacity, a, b)
		}
	}
}

// A kind that the minima use up stops a at level 0, b has its maximum, and c goes on to 7/10.
func TestFillLevels(t *testing.T) {
	in := instance{apportion.Resources{8, 10}, []drf.Claim{claim("a", 1, 2, top, 1, 0), claim("b", 1, 3, 3, 2, 1), claim("c", 1, 0, top, 0, 2)}}
	for i, want := range []float64{0, .75, .7} {
		if got := in.fill(t).Claims[i]; !isClose(got.Level, want) {
			t.Errorf("%s stops at level %v, want %v", got.ID, got.Level, want)
		}
	}
}

func TestFillWholeEdges(t *testing.T) {
	for _, test := range []struct {
		name     string
		capacity apportion.Resources
		claims   []drf.Claim
		stop     bool
		counts   []int64
		halted   int
		text     string // reasons, joined
	}{
		{"none", apportion.Resources{5}, nil, false, nil, -1, ""},
		{
			"go on", apportion.Resources{10, 10}, []drf.Claim{claim("a", 1, 0, top, 6, 1), claim("b", 1, 0, top, 1, 1)}, false,
			[]int64{1, 4}, -1, "short of kind 0, short of kind 0",
		},
		{
			// a b c b b b c, where b goes before c at 3/10, and then a at 4/10 finds only 2 of 10.
			"stop", apportion.Resources{10, 100}, []drf.Claim{claim("a", 1, 0, top, 4, 1), claim("b", 1, 0, top, 1, 1), claim("c", 1, 0, top, 0, 30)}, true,
			[]int64{1, 4, 2}, 0, "short of kind 0, ended by another claim short of kind 0, ended by another claim short of kind 0",
		},
		{
			"minimum, maximum, unservable", apportion.Resources{10, 0}, []drf.Claim{claim("a", 1, 4, top, 2, 0), claim("b", 1, 0, 1, 1, 0), claim("c", 1, 1, 1, 1, 1), claim("d", 1, 0, 0, 1, 0)}, false,
			[]int64{4, 1, 0, 0}, -1, "short of kind 0, at its maximum, cannot be served: there is no kind 1, at its maximum",
		},
		{
			"minima dropped", apportion.Resources{10}, []drf.Claim{claim("a", 1, 4, top, 2), claim("b", 1, 3, top, 1)}, false,
			[]int64{3, 4}, -1, "short of kind 0, short of kind 0",
		},
		{
			"large quantities", apportion.Resources{math.MaxInt64}, []drf.Claim{claim("a", 1, 0, top, 1<<61), claim("b", 1e-12, 1, top, 1<<62-1)}, false,
			[]int64{2, 1}, -1, "short of kind 0, short of kind 0",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			filling := instance{test.capacity, test.claims}.whole(t, &drf.WholeOptions{StopAtFirst: test.stop})
			var reasons []string
			for _, c := range filling.Claims {
				reasons = append(reasons, c.StoppedBy.String())
			}
			if got := containers(filling); !slices.Equal(got, test.counts) || filling.HaltedBy != test.halted {
				t.Errorf("containers %v, halted by %d; want %v, %d", got, filling.HaltedBy, test.counts, test.halted)
			}
			must.Equal(t, strings.Join(reasons, ", "), test.text, "reasons")
		})
	}
}

// Every fault is named, not only the first.
func TestFaults(t *testing.T) {
	claims := []drf.Claim{
		claim("", 1, 0, top, 1, 1), claim("a", 0, 0, top, 1, 1), claim("a", -1, 0, top, 1, 1),
		claim("b", math.NaN(), 0, top, 1, 1), claim("c", math.Inf(1), 0, top, 1, 1), claim("d", 1e-70, 0, top, 1, 1),
		claim("e", 1, 3, 2, 1, 1), claim("f", 1, -1, -2, 1, 1), claim("g", 1, 0, top, 0, 0),
		claim("h", 1, 0, top, 1), claim("i", 1, 0, top, 1, -1), claim("a/b", 1, 0, top, 1, 1),
	}
	want := strings.Join([]string{
		`Capacity[1] is negative: -4`,
		`claim 0: ID is empty`,
		`claim "a": Weight is out of range: 0 is not positive`,
		`claim "a": ID is there twice: "a"`,
		`claim "a": Weight is out of range: -1 is not positive`,
		`claim "b": Weight is not a finite number: NaN`,
		`claim "c": Weight is not a finite number: +Inf`,
		`claim "d": Weight is out of range: 1e-70 is outside [6.223015277861142e-61, 1.6069380442589903e+60]`,
		`claim "e": Min is in contradiction`,
		`claim "f": Min is negative: -1`,
		`claim "f": Max is negative: -2`,
		`claim "g": Demand demands nothing`,
		`claim "h": Demand has the wrong length: 1 quantities for 2 kinds`,
		`claim "i": Demand[1] is negative: -1`,
	}, "\n")
	want = strings.Replace(want, "Min is in contradiction", "Min contradicts another field: 3 is above Max 2", 1)
	_, err := drf.Fill(apportion.Resources{3, -4}, claims)
	if err == nil || err.Error() != want {
		t.Errorf("Fill:\n%v\nwant:\n%s", err, want)
	}
	if _, whole := drf.FillWhole(apportion.Resources{3, -4}, claims, nil); whole == nil || whole.Error() != want {
		t.Errorf("FillWhole: %v", whole)
	}
	if _, verify := drf.Verify(apportion.Resources{3, -4}, claims, []int64{}); verify == nil || verify.Error() != want {
		t.Errorf("Verify: %v", verify)
	}
	for _, sort := range []error{apportion.ErrEmpty, apportion.ErrDuplicate, apportion.ErrNotFinite, apportion.ErrConflict, apportion.ErrLength, apportion.ErrNoDemand} {
		must.Err(t, err, sort, "is not among the faults")
	}
	must.Fail(drf.Fill(nil, nil))(t, apportion.ErrEmpty, "no kinds")
}

// Shuffled claims give the same answer, bit for bit.
func TestDeterministic(t *testing.T) {
	in := benchInstance(300, 3)
	for i := range in.claims {
		in.claims[i].Weight = 1 / float64(i+3)
	}
	want, wantWhole := byID(in.fill(t)), byID(in.whole(t, nil))
	random := rand.New(rand.NewPCG(5, 6))
	for range 50 {
		random.Shuffle(len(in.claims), func(i, j int) { in.claims[i], in.claims[j] = in.claims[j], in.claims[i] })
		must.Same(t, byID(in.fill(t)), want, "Fill depends on the order of the claims")
		must.Same(t, byID(in.whole(t, nil)), wantWhole, "FillWhole depends on the order of the claims")
	}
}

func byID[N drf.Amount](filling *drf.Filling[N]) []drf.Filled[N] {
	list := slices.Clone(filling.Claims)
	slices.SortFunc(list, func(a, b drf.Filled[N]) int { return strings.Compare(a.ID, b.ID) })
	return list
}

func TestFillMany(t *testing.T) {
	if testing.Short() {
		t.Skip("100,000 claims")
	}
	in := benchInstance(100_000, 3)
	filling := in.fill(t)
	for k, c := range in.capacity {
		used := 0.0
		for i, n := range containers(filling) {
			used += n * float64(in.claims[i].Demand[k])
		}
		if !isClose(used+filling.Unused[k], float64(c)) {
			t.Errorf("kind %d: %.17g used, %.17g unused, %d there", k, used, filling.Unused[k], c)
		}
	}
}

// Two kinds are used up at nearly the same level and leave a claim of small weight next to nothing:
// what it gets is precise for the capacity, not for the claim.
func TestFillNearTies(t *testing.T) {
	for _, in := range []instance{
		{apportion.Resources{34, 28, 17}, []drf.Claim{claim("a", .6956079173403473, 0, 2, 1, 0, 0), claim("b", .7371018281329256, 0, top, 0, 0, 46), claim("c", 6.843889164842952e+11, 0, top, 4, 0, 2)}},
		{apportion.Resources{40, 20, 53}, []drf.Claim{claim("a", .67699, 2, top, 0, 27, 22), claim("b", .66429, 0, top, 1, 0, 0), claim("c", 8.98e59, 0, top, 8, 4, 0), claim("d", .78015, 0, top, 14, 0, 0)}},
		{apportion.Resources{1 << 34, 1<<34 + 2}, []drf.Claim{claim("heavy", drf.MaxWeight, 0, top, 1, 1), claim("light", drf.MinWeight, 0, top, 0, 1)}},
		{apportion.Resources{1 << 60, 1<<60 + 2}, []drf.Claim{claim("heavy", drf.MaxWeight, 0, top, 1, 1), claim("light", drf.MinWeight, 0, top, 0, 1)}},
	} {
		checkBottlenecks(t, in)
	}
}

// A container of one claim is as large as all those of another together.
func TestFillWholeRatio(t *testing.T) {
	for _, size := range []int64{1, 1000, 400_000_000, 1 << 53} {
		in := instance{apportion.Resources{size*10 + size/2}, []drf.Claim{claim("elephant", 1, 0, top, size), claim("mouse", 1, 0, top, 1)}}
		want := []int64{5, size*5 + size/2}
		must.Same(t, containers(in.whole(t, nil)), want, "size", size, "containers")
	}
}
