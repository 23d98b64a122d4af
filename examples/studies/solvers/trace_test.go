// This file asks traces when they were good enough.

package main

import (
	"math"
	"testing"
	"time"

	"github.com/apportion/apportion/internal/must"
)

// demo finds 90 after a second, 99.5 after two, the best, 100, after three, and proves it after four.
var demo = trace{
	{after: 500 * time.Millisecond, objective: math.NaN(), bound: 200},
	{after: time.Second, objective: 90, bound: 120},
	{after: 2 * time.Second, objective: 99.5, bound: 101},
	{after: 3 * time.Second, objective: 100, bound: 100.5},
	{after: 4 * time.Second, objective: 100, bound: 100, proven: true},
}

func TestTrace(t *testing.T) {
	for _, test := range []struct {
		what      string
		got, want time.Duration
	}{
		{"found 80", demo.found(80), time.Second},
		{"found 1 %", demo.found(99), 2 * time.Second},
		{"found 0.1 %", demo.found(99.9), 3 * time.Second},
		{"found more", demo.found(100.1), never},
		{"certified 30 %", demo.certified(0.3), time.Second},
		{"certified 1 %", demo.certified(loose), 3 * time.Second},
		{"certified 0.1 %", demo.certified(tight), 4 * time.Second},
		{"proven", demo.proven(), 4 * time.Second},
		{"proven too early", demo[:4].proven(), never},
		{"nothing", trace(nil).found(0), never},
	} {
		must.Equal(t, test.got, test.want, test.what)
	}
}

func TestGap(t *testing.T) {
	for _, test := range []struct{ objective, bound, want float64 }{
		{99, 100, 0.01}, {100, 100, 0}, {100, 100 - 1e-9, 0}, {0, 0, 0},
		{math.NaN(), 100, math.Inf(1)}, {99, math.Inf(1), math.Inf(1)},
	} {
		must.Equal(t, (point{objective: test.objective, bound: test.bound}).gap(), test.want, test.objective, test.bound, "gap")
	}
}

// Points that say nothing new are left out; a proof always is new.
func TestAdd(t *testing.T) {
	var points trace
	for _, p := range []point{
		{objective: math.NaN(), bound: 2}, {objective: math.NaN(), bound: 2}, {objective: 1, bound: 2},
		{objective: 1, bound: 2}, {objective: 1, bound: 1.5}, {objective: 1, bound: 1.5, proven: true},
	} {
		points = points.add(p)
	}
	if len(points) != 4 || !points.last().proven {
		t.Errorf("%v", points)
	}
}
