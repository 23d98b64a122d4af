// This file tests the arithmetic at its edges.

package exact_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion/internal/exact"
	"github.com/apportion/apportion/internal/must"
)

const (
	maxInt = math.MaxInt64
	minInt = math.MinInt64
	// exactFloat is 2^53, from where on float64 cannot tell neighbours apart.
	exactFloat = 1 << 53
)

func TestAdd(t *testing.T) {
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
			got, ok := exact.Add(pair[0], pair[1])
			if ok != test.ok || ok && got != test.want {
				t.Errorf("Add(%d, %d) = %d, %v, want %d, %v", pair[0], pair[1], got, ok, test.want, test.ok)
			}
		}
	}
}

func TestMul(t *testing.T) {
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
			got, ok := exact.Mul(pair[0], pair[1])
			if ok != test.ok || ok && got != test.want {
				t.Errorf("Mul(%d, %d) = %d, %v, want %d, %v", pair[0], pair[1], got, ok, test.want, test.ok)
			}
		}
	}
}

func TestLess(t *testing.T) {
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
			must.Equal(t, exact.Less(test.a, test.b, test.c, test.d), test.want, test.a, "*", test.b, "<", test.c, "*", test.d)
		})
	}
}

func TestAddTo(t *testing.T) {
	for _, test := range []struct {
		name       string
		r, s, want []int64
		err        error
	}{
		{"sum", []int64{1, 2}, []int64{10, -20}, []int64{11, -18}, nil},
		{"to the brim", []int64{maxInt - 1}, []int64{1}, []int64{maxInt}, nil},
		{"last kind overflows", []int64{1, maxInt}, []int64{1, 1}, nil, exact.ErrOverflow},
		{"underflow", []int64{minInt}, []int64{-1}, nil, exact.ErrOverflow},
	} {
		t.Run(test.name, func(t *testing.T) {
			checkInto(t, into{test.r, test.s, test.want, test.err}, exact.AddTo)
		})
	}
}

func TestAddTimesTo(t *testing.T) {
	for _, test := range []struct {
		name       string
		r, s, want []int64
		n          int64
		err        error
	}{
		{"sum", []int64{1, 2}, []int64{3, 4}, []int64{16, 22}, 5, nil},
		{"take back", []int64{16, 22}, []int64{3, 4}, []int64{1, 2}, -5, nil},
		{"none", []int64{1, 2}, []int64{maxInt, maxInt}, []int64{1, 2}, 0, nil},
		{"product overflows", []int64{0, -9}, []int64{1, maxInt}, nil, 2, exact.ErrOverflow},
		{"sum overflows", []int64{0, 2}, []int64{1, maxInt/2 + 1}, nil, 1 << 1, exact.ErrOverflow},
		{"only the sum overflows", []int64{maxInt}, []int64{1}, nil, 1, exact.ErrOverflow},
		{"least", []int64{0}, []int64{minInt}, []int64{minInt}, 1, nil},
		{"least, negated", []int64{0}, []int64{minInt}, nil, -1, exact.ErrOverflow},
	} {
		t.Run(test.name, func(t *testing.T) {
			checkInto(t, into{test.r, test.s, test.want, test.err}, func(dst, r, s []int64) error {
				return exact.AddTimesTo(dst, r, test.n, s)
			})
		})
	}
}

// into is a case for an operation that writes into a vector.
type into struct {
	r, s, want []int64
	err        error
}

// checkInto calls op with a fresh dst, with dst = r and with dst = s, and checks that dst is want,
// or unchanged where err is wanted, and that no other operand changes.
func checkInto(t *testing.T, test into, op func(dst, r, s []int64) error) {
	t.Helper()
	for _, alias := range []string{"fresh", "r", "s"} {
		r, s, want := slices.Clone(test.r), slices.Clone(test.s), test.want
		dst := map[string][]int64{"fresh": make([]int64, len(r)), "r": r, "s": s}[alias]
		before := [...][]int64{slices.Clone(dst), slices.Clone(r), slices.Clone(s)}
		if got := op(dst, r, s); !errors.Is(got, test.err) {
			t.Fatalf("dst %s: error %v, want %v", alias, got, test.err)
		}
		if test.err != nil {
			want = before[0]
		}
		must.Equal(t, cmp.Diff(want, dst), "", "dst", alias)
		if alias != "r" && !slices.Equal(r, before[1]) || alias != "s" && !slices.Equal(s, before[2]) {
			t.Errorf("dst %s: operands changed to %v and %v", alias, r, s)
		}
	}
}
