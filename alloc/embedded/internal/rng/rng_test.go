package rng

import (
	"testing"
)

// The generator is splitmix64 with these first numbers for seed 0.
func TestRNG(t *testing.T) {
	r := Source(0)
	for _, want := range []uint64{0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f} {
		if got := r.next(); got != want {
			t.Errorf("%#x, want %#x", got, want)
		}
	}
	for range 1000 {
		if n := r.Below(7); n < 0 || n > 6 {
			t.Fatalf("below(7) = %d", n)
		}
		if x := r.Float(); !(x >= 0 && x < 1) {
			t.Fatalf("float() = %g", x)
		}
	}
}
