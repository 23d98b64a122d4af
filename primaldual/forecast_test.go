// This file tests the load to expect: what is forgotten, what counts, and what a job displaces.

package primaldual

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// A job that takes half of a window displaces what will come and is worth more, as far as that has no room beside it.
func TestForecastDisplaced(t *testing.T) {
	f := forecast{memory: 1e9, since: 1, at: 1}
	// With a memory so long the first slot counts for little more than 1e9 slots in which nothing came: what it brings is
	// three quarters of the cluster in each of them, worth 40 a slot.
	const scale = 1e9
	f.note(1, 0.75*scale, 30*scale)
	for _, test := range []struct {
		name                          string
		load, worth, committed, slots float64
		want                          float64
	}{
		{"room for both", 0.25 * scale, 1, 0, scale, 0},
		{"half beside three quarters", 0.5 * scale, 1, 0, scale, 10 * scale},
		{"a quarter is promised", 0.5 * scale, 1, 0.25 * scale, scale, 20 * scale},
		{"all is promised", 0.5 * scale, 1, scale, scale, 20 * scale},
		{"worth more than what will come", 0.5 * scale, 41 * scale, 0, scale, 0},
		{"worthless", 0.5 * scale, 0, 0, scale, 0},
		{"no load", 0, 1, 0, scale, 0},
	} {
		if got := f.displaced(1, test.load, test.worth, test.committed, test.slots); math.Abs(got-test.want) > 1e-6*scale {
			t.Errorf("%s: %g, want %g", test.name, got, test.want)
		}
	}
}

// Arrivals are forgotten by the memory, and buckets that hold nothing any more are dropped: a stream without end takes no
// more memory than its range of worth.
func TestForecastForgets(t *testing.T) {
	f := forecast{memory: 10, since: 1, at: 1}
	f.note(1, 2, 8)
	f.note(11, 2, 8)
	if want := 2 + 2/math.E; len(f.buckets) != 1 || math.Abs(f.buckets[0].load-want) > 1e-12 {
		t.Errorf("%+v, want a load of %g", f.buckets, want)
	}
	f.note(5, 1, 4) // not before the last one: nothing decays backwards
	if want := 3 + 2/math.E; math.Abs(f.buckets[0].load-want) > 1e-12 {
		t.Errorf("%+v, want a load of %g", f.buckets, want)
	}
	for slot := range 100_000 {
		f.note(20+slot, 1, math.Exp2(float64(slot%4000)/100))
	}
	if len(f.buckets) > 8*40+1 {
		t.Errorf("%d buckets for 40 octaves", len(f.buckets))
	}
	f.note(1_000_000, 1, 1)
	if len(f.buckets) != 1 {
		t.Errorf("%d buckets after long silence", len(f.buckets))
	}
}

// The sums over buckets are those of a plain list of all jobs, up to the width of a bucket.
func TestForecastProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := forecast{memory: float64(rapid.IntRange(1, 20).Draw(t, "memory")), since: 1, at: 1}
		type seen struct {
			slot        int
			load, worth float64
		}
		var all []seen
		slot := 1
		for range rapid.IntRange(1, 20).Draw(t, "jobs") {
			slot += rapid.IntRange(0, 3).Draw(t, "pause")
			// A power of two apart, so that no two levels are mistaken for one.
			x := seen{slot, float64(rapid.IntRange(1, 80).Draw(t, "load")) / 2, 0}
			x.worth = x.load * math.Exp2(float64(rapid.IntRange(-3, 3).Draw(t, "worth")))
			f.note(x.slot, x.load, x.worth)
			all = append(all, x)
		}
		own := math.Exp2(float64(rapid.IntRange(-3, 3).Draw(t, "own")))
		load, worth := 0.0, 0.0
		for _, x := range all {
			if x.worth/x.load > own*1.01 {
				part := math.Exp(-float64(slot-x.slot) / f.memory)
				load, worth = load+part*x.load, worth+part*x.worth
			}
		}
		length := 10.0
		expected := load / (f.memory * (2 - math.Exp(-float64(slot)/f.memory))) * length
		want := 0.0
		if load > 0 {
			want = (max(0, expected-(length-4)) - max(0, expected-length)) * worth / load
		}
		if got := f.displaced(slot, 4, 4*own, 0, length); math.Abs(got-want) > 1e-9*(1+want) {
			t.Fatalf("%g, want %g", got, want)
		}
	})
}
