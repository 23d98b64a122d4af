// This file tests the arithmetic of Resources at its edges.

package apportion_test

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
)

const (
	maxInt = math.MaxInt64
	minInt = math.MinInt64
	// exactFloat is 2^53, from where on float64 cannot tell neighbours apart.
	exactFloat = 1 << 53
)

func TestAdd64(t *testing.T) {
	for _, test := range []struct {
		a, b, want int64
		ok         bool
	}{
		{0, 0, 0, true},
		{exactFloat, 1, exactFloat + 1, true},
		{maxInt - 1, 1, maxInt, true},
		{maxInt, 0, maxInt, true},
		{maxInt, 1, 0, false},
		{maxInt, maxInt, 0, false},
		{maxInt, minInt, -1, true},
		{minInt, 0, minInt, true},
		{minInt, -1, 0, false},
		{minInt, minInt, 0, false},
		{-1, minInt + 1, minInt, true},
	} {
		for _, pair := range [][2]int64{{test.a, test.b}, {test.b, test.a}} {
			got, ok := apportion.Add64(pair[0], pair[1])
			if ok != test.ok || ok && got != test.want {
				t.Errorf("Add64(%d, %d) = %d, %v, want %d, %v", pair[0], pair[1], got, ok, test.want, test.ok)
			}
		}
	}
}

func TestMul64(t *testing.T) {
	const root = 3037000499 // floor(sqrt(MaxInt64))
	for _, test := range []struct {
		a, b, want int64
		ok         bool
	}{
		{0, 0, 0, true},
		{0, minInt, 0, true},
		{0, maxInt, 0, true},
		{1, maxInt, maxInt, true},
		{1, minInt, minInt, true},
		{-1, maxInt, -maxInt, true},
		{-1, minInt, 0, false},
		{2, maxInt, 0, false},
		{2, 1 << 62, 0, false},
		{-2, 1 << 62, minInt, true},
		{exactFloat, 1023, 1023 << 53, true},
		{exactFloat, 1024, 0, false},
		{root, root, root * root, true},
		{root + 1, root + 1, 0, false},
		{1 << 32, 1 << 32, 0, false}, // wraps to 0
		{minInt, minInt, 0, false},
		{3, maxInt / 3, maxInt - 1, true},
		{3, maxInt/3 + 1, 0, false},
	} {
		for _, pair := range [][2]int64{{test.a, test.b}, {test.b, test.a}} {
			got, ok := apportion.Mul64(pair[0], pair[1])
			if ok != test.ok || ok && got != test.want {
				t.Errorf("Mul64(%d, %d) = %d, %v, want %d, %v", pair[0], pair[1], got, ok, test.want, test.ok)
			}
		}
	}
}

func TestLess128(t *testing.T) {
	for _, test := range []struct {
		name       string
		a, b, c, d int64
		want       bool
	}{
		{"less", 1, 2, 1, 3, true},
		{"more", 1, 3, 1, 2, false},
		{"equal", 10 * 3, 100, 15 * 2, 100, false},
		{"zero against zero", 0, maxInt, 0, 1, false},
		{"zero against one", 0, maxInt, 1, 1, true},
		{"high words equal, low less", maxInt, maxInt - 1, maxInt, maxInt, true},
		{"high words equal, low more", maxInt, maxInt, maxInt, maxInt - 1, false},
		{"greatest, equal", maxInt, maxInt, maxInt, maxInt, false},
		{"high less, low more", 1, maxInt, 2, 1 << 62, true},
		{"1/2^53 apart, equal as floats", exactFloat, exactFloat, exactFloat + 1, exactFloat, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := apportion.Less128(test.a, test.b, test.c, test.d); got != test.want {
				t.Errorf("%d*%d < %d*%d = %v, want %v", test.a, test.b, test.c, test.d, got, test.want)
			}
		})
	}
}

func TestFitsAndCountIn(t *testing.T) {
	for _, test := range []struct {
		name         string
		demand, room apportion.Resources
		fits         bool
		count        int64
	}{
		{"exactly", apportion.Resources{2, 1}, apportion.Resources{2, 1}, true, 1},
		{"first kind decides", apportion.Resources{2, 1}, apportion.Resources{5, 9}, true, 2},
		{"last kind decides", apportion.Resources{1, 4}, apportion.Resources{9, 11}, true, 2},
		{"one short", apportion.Resources{2, 1}, apportion.Resources{1, 9}, false, 0},
		{"kind that is not demanded", apportion.Resources{2, 0}, apportion.Resources{7, 0}, true, 3},
		{"demanded, none there", apportion.Resources{2, 1}, apportion.Resources{7, 0}, false, 0},
		{"over-committed room", apportion.Resources{2, 1}, apportion.Resources{-4, 3}, false, 0},
		{"over-committed elsewhere", apportion.Resources{2, 0}, apportion.Resources{4, -1}, false, 2},
		{"nothing demanded", apportion.Resources{0, 0}, apportion.Resources{1, 1}, true, maxInt},
		{"nothing demanded of nothing", apportion.Resources{0, 0}, apportion.Resources{0, 0}, true, maxInt},
		{"greatest room", apportion.Resources{1, 2}, apportion.Resources{maxInt, maxInt}, true, maxInt / 2},
		{"greatest demand", apportion.Resources{maxInt}, apportion.Resources{maxInt - 1}, false, 0},
		{"beyond 2^53", apportion.Resources{exactFloat + 1}, apportion.Resources{exactFloat}, false, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := test.demand.FitsIn(test.room); got != test.fits {
				t.Errorf("%v.FitsIn(%v) = %v, want %v", test.demand, test.room, got, test.fits)
			}
			if got := test.demand.CountIn(test.room); got != test.count {
				t.Errorf("%v.CountIn(%v) = %d, want %d", test.demand, test.room, got, test.count)
			}
		})
	}
}

func TestAddTo(t *testing.T) {
	for _, test := range []struct {
		name       string
		r, s, want apportion.Resources
		err        error
	}{
		{"sum", apportion.Resources{1, 2}, apportion.Resources{10, -20}, apportion.Resources{11, -18}, nil},
		{"to the brim", apportion.Resources{maxInt - 1}, apportion.Resources{1}, apportion.Resources{maxInt}, nil},
		{"last kind overflows", apportion.Resources{1, maxInt}, apportion.Resources{1, 1}, nil, apportion.ErrOverflow},
		{"underflow", apportion.Resources{minInt}, apportion.Resources{-1}, nil, apportion.ErrOverflow},
	} {
		t.Run(test.name, func(t *testing.T) {
			checkInto(t, into{test.r, test.s, test.want, test.err}, apportion.AddTo)
		})
	}
}

func TestAddTimesTo(t *testing.T) {
	for _, test := range []struct {
		name       string
		r, s, want apportion.Resources
		n          int64
		err        error
	}{
		{"sum", apportion.Resources{1, 2}, apportion.Resources{3, 4}, apportion.Resources{16, 22}, 5, nil},
		{"take back", apportion.Resources{16, 22}, apportion.Resources{3, 4}, apportion.Resources{1, 2}, -5, nil},
		{"none", apportion.Resources{1, 2}, apportion.Resources{maxInt, maxInt}, apportion.Resources{1, 2}, 0, nil},
		{"product overflows", apportion.Resources{0, -9}, apportion.Resources{1, maxInt}, nil, 2, apportion.ErrOverflow},
		{"sum overflows", apportion.Resources{0, 2}, apportion.Resources{1, maxInt/2 + 1}, nil, 1 << 1, apportion.ErrOverflow},
		{"only the sum overflows", apportion.Resources{maxInt}, apportion.Resources{1}, nil, 1, apportion.ErrOverflow},
		{"least", apportion.Resources{0}, apportion.Resources{minInt}, apportion.Resources{minInt}, 1, nil},
		{"least, negated", apportion.Resources{0}, apportion.Resources{minInt}, nil, -1, apportion.ErrOverflow},
	} {
		t.Run(test.name, func(t *testing.T) {
			checkInto(t, into{test.r, test.s, test.want, test.err}, func(dst, r, s apportion.Resources) error {
				return apportion.AddTimesTo(dst, r, test.n, s)
			})
		})
	}
}

// into is a case for an operation that writes into a vector.
type into struct {
	r, s, want apportion.Resources
	err        error
}

// checkInto calls op with a fresh dst, with dst = r and with dst = s, and checks that dst is want,
// or unchanged where err is wanted, and that no other operand changes.
func checkInto(t *testing.T, test into, op func(dst, r, s apportion.Resources) error) {
	t.Helper()
	for _, alias := range []string{"fresh", "r", "s"} {
		r, s, want := test.r.Clone(), test.s.Clone(), test.want
		dst := map[string]apportion.Resources{"fresh": make(apportion.Resources, len(r)), "r": r, "s": s}[alias]
		before := [...]apportion.Resources{dst.Clone(), r.Clone(), s.Clone()}
		if got := op(dst, r, s); !errors.Is(got, test.err) {
			t.Fatalf("dst %s: error %v, want %v", alias, got, test.err)
		}
		if test.err != nil {
			want = before[0]
		}
		if diff := cmp.Diff(want, dst); diff != "" {
			t.Errorf("dst %s (-want +got):\n%s", alias, diff)
		}
		if alias != "r" && !r.Equal(before[1]) || alias != "s" && !s.Equal(before[2]) {
			t.Errorf("dst %s: operands changed to %v and %v", alias, r, s)
		}
	}
}

func TestDominantShare(t *testing.T) {
	for _, test := range []struct {
		name     string
		r, total apportion.Resources
		share    float64
		kind     int
	}{
		{"second", apportion.Resources{1, 4}, apportion.Resources{9, 18}, 4.0 / 18, 1},
		{"first", apportion.Resources{3, 1}, apportion.Resources{9, 18}, 3.0 / 9, 0},
		{"tie", apportion.Resources{1, 2, 3}, apportion.Resources{10, 20, 30}, 0.1, 0},
		{"tie behind a smaller one", apportion.Resources{1, 2, 4}, apportion.Resources{100, 10, 20}, 0.2, 1},
		{"nothing", apportion.Resources{0, 0}, apportion.Resources{9, 18}, 0, -1},
		{"kind without capacity", apportion.Resources{5, 1}, apportion.Resources{0, 4}, 0.25, 1},
		{"only kinds without capacity", apportion.Resources{5, 0}, apportion.Resources{0, 4}, 0, -1},
		{"no capacity", apportion.Resources{5, 1}, apportion.Resources{0, 0}, 0, -1},
		{"more than all", apportion.Resources{5}, apportion.Resources{4}, 1.25, 0},
		{"equal as floats", apportion.Resources{exactFloat, exactFloat + 1}, apportion.Resources{maxInt, maxInt}, 1.0 / 1024, 1},
		{"no kinds", apportion.Resources{}, apportion.Resources{}, 0, -1},
	} {
		t.Run(test.name, func(t *testing.T) {
			share, kind := test.r.DominantShare(test.total)
			if share != test.share || kind != test.kind {
				t.Errorf("%v of %v: share %g of kind %d, want %g of %d", test.r, test.total, share, kind, test.share, test.kind)
			}
		})
	}
}

func TestCloneAndEqual(t *testing.T) {
	r := apportion.Resources{1, 2}
	c := r.Clone()
	c[0] = 9
	if r[0] != 1 {
		t.Error("a change of the clone changed the original")
	}
	for _, test := range []struct {
		name string
		a, b apportion.Resources
		want bool
	}{
		{"equal", r, apportion.Resources{1, 2}, true},
		{"first differs", r, apportion.Resources{9, 2}, false},
		{"last differs", r, apportion.Resources{1, 9}, false},
		{"shorter", r, apportion.Resources{1}, false},
		{"nil and empty", nil, apportion.Resources{}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.a.Equal(test.b) != test.want || test.b.Equal(test.a) != test.want {
				t.Errorf("%v == %v is not %v", test.a, test.b, test.want)
			}
		})
	}
}

func TestIsZero(t *testing.T) {
	for _, test := range []struct {
		r    apportion.Resources
		want bool
	}{{nil, true}, {apportion.Resources{0, 0}, true}, {apportion.Resources{0, 1}, false}, {apportion.Resources{-1, 0}, false}} {
		if got := test.r.IsZero(); got != test.want {
			t.Errorf("%v.IsZero() = %v", test.r, got)
		}
	}
}
