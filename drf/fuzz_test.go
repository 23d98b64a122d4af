// This file feeds arbitrary numbers to Fill: it must answer or refuse, and answer fairly.

package drf_test

import (
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/drf"
)

func FuzzFill(f *testing.F) {
	f.Add(int64(9), int64(18), int64(1), int64(4), int64(3), int64(1), 2.0, int64(0), int64(5))
	f.Add(int64(1<<62), int64(1), int64(1<<53), int64(0), int64(1), int64(1), 1e-12, int64(2), int64(1<<62))
	f.Fuzz(func(t *testing.T, c0, c1, a0, a1, b0, b1 int64, weight float64, low, high int64) {
		in := instance{apportion.Resources{c0, c1}, []drf.Claim{
			claim("a", 1, 0, top, a0, a1),
			claim("b", weight, low, high, b0, b1),
			claim("c", 1, 0, high, a0, b1),
		}}
		filling, err := drf.Fill(in.capacity, in.claims)
		if err != nil {
			return
		}
		report := in.verify(t, containers(filling))
		for _, v := range report {
			if v.Property == drf.WithinCapacity || v.Property == drf.WithinBounds && filling.ShortOf < 0 {
				t.Errorf("%v", v)
			}
		}
	})
}
