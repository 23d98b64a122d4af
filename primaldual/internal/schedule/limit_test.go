// This file tests the limit on tables, and exact ratios.

package schedule

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
)

func TestCheckCells(t *testing.T) {
	item := apportion.Item{Kind: "job", ID: "j"}
	for _, test := range []struct {
		rows, columns, limit int64
		fits                 bool
	}{
		{3, 4, 12, true}, {3, 4, 11, false}, {0, math.MaxInt64, 1, true}, {math.MaxInt64, 2, math.MaxInt64, false},
		{1 << 32, 1 << 32, math.MaxInt64, false}, {math.MaxInt64, 1, math.MaxInt64, true},
	} {
		err := CheckCells(test.rows, test.columns, test.limit, item, "field")
		if (err == nil) != test.fits || err != nil && (!errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), `job "j"`)) {
			t.Errorf("%d x %d of %d: %v", test.rows, test.columns, test.limit, err)
		}
	}
}

// The ratio is that of big integers, also where a times b takes more than 64 bits.
func TestCeilMulDivProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.Int64Range(0, math.MaxInt64).Draw(t, "a")
		c := rapid.Int64Range(1, math.MaxInt64).Draw(t, "c")
		b := rapid.Int64Range(0, c).Draw(t, "b")
		product := new(big.Int).Mul(big.NewInt(a), big.NewInt(b))
		product.Add(product, big.NewInt(c-1))
		if got, want := CeilMulDiv(a, b, c), product.Div(product, big.NewInt(c)).Int64(); got != want {
			t.Fatalf("ceil(%d %d / %d) = %d, want %d", a, b, c, got, want)
		}
	})
}
