// This file tests a caller's way to decisions by worth: problems with worths and prices in, counts and places out.

package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/placement/sim/elastic"
)

// The problems of a simulated cluster of elastic jobs, with speeds, attained service and the price of restarts, get the same
// counts and places from the command as from the library.
func TestDormByWorth(t *testing.T) {
	s := &sim.Scenario{Kinds: apportion.Kinds{"gpu"}, AdjustCost: 30 * time.Second}
	for h := range 4 {
		s.Servers = append(s.Servers, apportion.Server{ID: fmt.Sprint("n", h), Capacity: apportion.Resources{4}})
	}
	for i := range 6 {
		j := sim.Job{Arrival: time.Duration(i) * 200 * time.Second, Work: 4000 * time.Second, Fixed: 1}
		j.ID, j.Demand, j.Weight, j.Min, j.Max = fmt.Sprint("j", i), apportion.Resources{1}, 1, 1, 16
		j.Speedup, _ = sim.Amdahl(0.02 + 0.1*float64(i))
		s.Jobs = append(s.Jobs, j)
	}
	var problems []*alloc.Problem
	p := &elastic.Worth{Price: elastic.Age, Power: 0.5, Observe: func(p *alloc.Problem, _ *alloc.Decision) { problems = append(problems, p) }}
	if _, err := sim.Run(t.Context(), s, p); err != nil {
		t.Fatal(err)
	}
	prices := 0
	for k, p := range problems {
		want, err := alloc.Reallocate(t.Context(), p, embedded.New(nil))
		if err != nil {
			t.Fatal(err)
		}
		got := decided(t, encode(t, p))
		if diff := cmp.Diff(want.Allocation, got.Allocation); diff != "" || got.Objective != want.Objective {
			t.Errorf("decision %d: worth %v, want %v (-library +command)\n%s", k, got.Objective, want.Objective, diff)
		}
		for i := range p.Applications {
			if p.Applications[i].StayWorth != nil {
				prices++
			}
		}
	}
	if len(problems) < 8 || prices < 8 {
		t.Errorf("%d problems with %d prices", len(problems), prices)
	}
}

// What worths.py prints is worth.json, but for the last digits of logarithms, and the command decides on it.
func TestWorthsInPython(t *testing.T) {
	want := problemIn(t, "worth.json")
	d := decided(t, encode(t, want))
	if got := d.Allocation.Containers("text"); got != 4 || d.Gap == nil || *d.Gap != 0 {
		t.Errorf("%v, gap %v", d.Allocation, d.Gap)
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("NOT TESTED, there is no python3")
	}
	text, err := exec.Command(python, "-B", "worths.py").Output()
	if err != nil {
		t.Fatal(err)
	}
	got := &alloc.Problem{}
	if err := json.Unmarshal(text, got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-12 })); diff != "" {
		t.Errorf("worth.json against worths.py (-file +python):\n%s", diff)
	}
}

// problemIn reads a problem.
func problemIn(t *testing.T, name string) *alloc.Problem {
	t.Helper()
	text, err := os.ReadFile(name)
	p := &alloc.Problem{}
	if err != nil || json.Unmarshal(text, p) != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return p
}
