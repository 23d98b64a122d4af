// This file tests the arithmetic of Resources at its edges.

package apportion_test

import (
	"math"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
)

const (
	maxInt = math.MaxInt64
	// exactFloat is 2^53, from where on float64 cannot tell neighbours apart.
	exactFloat = 1 << 53
)

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
			must.Equal(t, test.demand.FitsIn(test.room), test.fits, test.demand, ".FitsIn(", test.room)
			must.Equal(t, test.demand.CountIn(test.room), test.count, test.demand, ".CountIn(", test.room)
		})
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
	must.Equal(t, r[0], 1, "a change of the clone changed the original")
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
		must.Equal(t, test.r.IsZero(), test.want, test.r, ".IsZero()")
	}
}
