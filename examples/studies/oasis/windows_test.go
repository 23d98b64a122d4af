// This file tests windows: drawing, the rivals, the bound, and what hardship does.

package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/milp/bb"
	"github.com/apportion/apportion/examples/internal/trace"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/primaldual/deadline"
)

// handWindow is one server of eight GPUs with jobs of arrival, work, width, deadline, value.
func handWindow(jobs ...[5]int) *window {
	w := &window{gpus: perServer}
	for i, j := range jobs {
		w.jobs = append(w.jobs, job{arrival: j[0], Job: deadline.Job{ID: fmt.Sprint(i), Work: int64(j[1]), Width: int64(j[2]),
			Worker: apportion.Resources{1}, Deadlines: []deadline.Deadline{{By: j[3], Value: float64(j[4])}}}})
	}
	return w
}

// earns returns what a contender earns.
func earns(t *testing.T, w *window, name string, h hardship) float64 {
	t.Helper()
	for _, c := range contenders {
		if c.name == name {
			return must.Have(w.play(c.make(w, h), h))(t)
		}
	}
	t.Fatal(name)
	return 0
}

// Each rule does what its name says, where it is right and where it is wrong.
func TestRivals(t *testing.T) {
	overload := handWindow([5]int{1, 16, 8, 2, 1}, [5]int{1, 16, 8, 3, 9}, [5]int{1, 4, 4, 3, 1})
	narrow := handWindow([5]int{1, 3, 1, 3, 5}, [5]int{1, 16, 8, 2, 4})
	for name, want := range map[string][2]float64{
		"no promise": {10, 5}, "earliest deadline": {2, 4}, "least laxity": {2, 5}, "shortest remaining": {10, 5}, "density": {10, 5},
		"Lucier et al.": {9, 5}, "Jain et al.": {10, 5}, "apparent tardiness": {10, 5}, "DRF": {10, 5},
	} {
		must.Equal(t, [2]float64{earns(t, overload, name, hardship{}), earns(t, narrow, name, hardship{})}, want, name, "earns")
	}
}

// The bound is that of the linear program, and nobody earns more.
func TestBound(t *testing.T) {
	for _, test := range []struct {
		w    *window
		want float64
	}{
		{handWindow([5]int{1, 8, 8, 2, 3}, [5]int{1, 8, 8, 2, 2}, [5]int{1, 8, 8, 2, 1}), 5},
		{handWindow([5]int{1, 16, 8, 2, 4}, [5]int{1, 8, 8, 1, 1}), 4},
		{handWindow([5]int{1, 12, 8, 2, 3}, [5]int{1, 12, 8, 2, 3}), 4}, // a third of the second
		{handWindow([5]int{1, 8, 8, 1, 2}, [5]int{2, 8, 8, 2, 2}), 4},
	} {
		if got := test.w.bound(hardship{}, 0); got < test.want-1e-9 || got > 1.02*test.want {
			t.Errorf("the bound is %v, not %v", got, test.want)
		}
		for _, c := range contenders {
			if earned := earns(t, test.w, c.name, hardship{}); earned > test.want+1e-9 {
				t.Errorf("%s earns %v of %v", c.name, earned, test.want)
			}
		}
	}
}

// A change of width costs a part of a slot, and a failed server its GPUs; both are the same for all policies.
func TestHardship(t *testing.T) {
	tight := handWindow([5]int{1, 8, 8, 1, 1})
	must.Equal(t, earns(t, tight, "earliest deadline", hardship{loss: 0.05}), 0, "with a loss it earns")
	w := &window{gpus: 80, seed: 3}
	at, again, least := w.capacities(hardship{failures: 0.1, repair: 5}), w.capacities(hardship{failures: 0.1, repair: 5}), int64(80)
	for now := 1; now < 50; now++ {
		up := at(now)
		if up != again(now) || up%perServer != 0 {
			t.Fatalf("slot %d: %d GPUs", now, up)
		}
		least = min(least, up)
	}
	if least == 80 {
		t.Error("no server failed")
	}
}

// A stretch of rows becomes jobs in slots: work rounded up, deadlines that end with a whole slot, softened ones beside.
func TestCut(t *testing.T) {
	row := func(submit, duration, gpus float64, deadline string) trace.Job {
		r := trace.Job{ID: fmt.Sprint(submit), Submit: time.Duration(submit) * time.Second, Extra: map[string]string{"deadline_s": deadline}}
		r.Duration.Value, r.GPUs.Value = time.Duration(duration)*time.Second, gpus
		return r
	}
	rows := []trace.Job{row(0, 1300, 1, "2400"), row(700, 600, 4, "3600"), row(800, 600, 4, "100")}
	w := must.Have(cut(rows, func(busy float64) int { return 12 }, deadlines, true))(t)
	if len(w.jobs) != 2 || w.gpus != 16 {
		t.Fatalf("%d jobs on %d GPUs", len(w.jobs), w.gpus)
	}
	first, second := w.jobs[0], w.jobs[1]
	if first.arrival != 1 || first.Work != 3 || first.Width != elastic || !slices.Equal(first.Deadlines, []deadline.Deadline{{By: 4, Value: 10}}) {
		t.Errorf("%+v", first)
	}
	if want := []deadline.Deadline{{By: 7, Value: 10}, {By: 9, Value: 6}, {By: 14, Value: 2.5}}; second.arrival != 3 || second.Work != 4 || !slices.Equal(second.Deadlines, want) {
		t.Errorf("%+v", second)
	}
	if at := trained(&second); at.WorkerSlots() != 4 || at.Utility.Value(4) != 10 || at.Utility.Value(5) != 6 {
		t.Errorf("%+v", at)
	}
}

func TestSpread(t *testing.T) {
	results := []result{{bound: 4}, {bound: 1}, {bound: 2}}
	got := spreadOf(results, func(r *result) float64 { return r.bound })
	if math.Abs(got.mean-2) > 1e-12 || got.median != 2 || got.least != 1 {
		t.Errorf("%+v", got)
	}
	if ratio(0, 0) != 1 || !math.IsInf(ratio(1, 0), 1) {
		t.Error("ratios to nothing")
	}
}

// The linear program is that of the slots: worked out by hand, and below the certificate on drawn jobs, where it is also no less than
// anybody earns.
func TestProgram(t *testing.T) {
	for _, test := range []struct {
		w    *window
		want float64
	}{
		{handWindow([5]int{1, 8, 8, 2, 3}, [5]int{1, 8, 8, 2, 2}, [5]int{1, 8, 8, 2, 1}), 5},
		{handWindow([5]int{1, 12, 8, 2, 3}, [5]int{1, 12, 8, 2, 3}), 4},
		{handWindow([5]int{1, 8, 1, 9, 1}, [5]int{3, 56, 8, 9, 5}), 6 - 30.0/56}, // the narrow job does two of eight before, and takes six of the 56 that the other needs
		{handWindow([5]int{1, 3, 1, 2, 5}), 0},                                   // too narrow for its deadline
	} {
		got, err := test.w.optimum(t.Context(), bb.Solver{}, hardship{})
		if err != nil || math.Abs(got-test.want) > 1e-6 {
			t.Errorf("%v, not %v: %v", got, test.want, err)
		}
	}
	two := handWindow([5]int{1, 8, 8, 1, 3})
	two.jobs[0].Deadlines = append(two.jobs[0].Deadlines, deadline.Deadline{By: 2, Value: 2})
	if got, err := two.optimum(t.Context(), bb.Solver{}, hardship{}); err != nil || math.Abs(got-3) > 1e-6 {
		t.Errorf("a job earns both of its values: %v, %v", got, err)
	}
	random := rand.New(rand.NewPCG(1, 1))
	for range 20 {
		var jobs [][5]int
		for range 8 {
			arrival := 1 + random.IntN(6)
			jobs = append(jobs, [5]int{arrival, 1 + random.IntN(24), 1 + random.IntN(8), arrival + random.IntN(6), 1 + random.IntN(9)})
		}
		slices.SortFunc(jobs, func(a, b [5]int) int { return a[0] - b[0] })
		w, h := handWindow(jobs...), hardship{failures: 0.05, repair: 2}
		got, err := w.optimum(t.Context(), bb.Solver{}, h)
		if most := w.bound(h, 0); err != nil || got > most+1e-6 {
			t.Errorf("%v: the program has %v, the certificate %v; %v", jobs, got, most, err)
		}
		for _, c := range contenders {
			if earned := earns(t, w, c.name, h); earned > got+1e-6 {
				t.Errorf("%v: %s earns %v of %v", jobs, c.name, earned, got)
			}
		}
	}
}
