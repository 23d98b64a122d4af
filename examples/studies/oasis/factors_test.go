// This file tests the choice of a factor of displacement: that a family has no say in its own.

package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
)

// made returns windows of a family in which one factor earns so much and all others nothing more.
func made(family string, n, best int, earns float64) []factored {
	var results []factored
	for range n {
		r := factored{window: &window{family: family}, over: make([]float64, len(factors))}
		for f := range factors {
			r.over[f] = 1
		}
		r.over[best] = earns
		results = append(results, r)
	}
	return results
}

func TestBestFactorLeavesOut(t *testing.T) {
	results := append(made("chronus", 2, 1, 4), append(made("Philly a", 3, 2, 2), made("Philly b", 3, 2, 2)...)...)
	if got := clans(results); len(got) != 2 || got[1] != "Philly" {
		t.Fatalf("families %v", got)
	}
	for name, want := range map[string][2]int{"chronus": {2, 1}, "Philly": {1, 2}} {
		own, others := split(results, name)
		if len(own)+len(others) != 8 || bestFactor(others) != want[0] || bestFactor(own) != want[1] {
			t.Errorf("%s: %d and %d windows, chosen %d elsewhere and %d here, want %v", name, len(own), len(others), bestFactor(others), bestFactor(own), want)
		}
	}
	if got, want := meanOver(results, 1), math.Pow(4, 2.0/8); math.Abs(got-want) > 1e-12 {
		t.Errorf("mean %g, want %g", got, want)
	}
	if factors[recommended] != 2 {
		t.Errorf("recommended is %g", factors[recommended])
	}
	var out strings.Builder
	reportChosen(&out, results)
	// Chosen elsewhere every window earns 1, by itself 4 in two and 2 in six.
	if want := fmt.Sprintf("%.4f", math.Pow(4*4*64, 1.0/8)); !strings.Contains(out.String(), "families 1.0000") || !strings.Contains(out.String(), want) {
		t.Errorf("%s want %s", out.String(), want)
	}
}

// The whole command on small traces: a row for each family, and one for all.
func TestRunFactors(t *testing.T) {
	folder := smallTraces(t)
	var rows []string
	for i := range 30 {
		rows = append(rows, fmt.Sprintf("h%d,%d,1200,%d,,,,g%d,,,1500,,,", i, 300*i, 1+i%4, i%2))
	}
	writeTrace(t, folder, "thetagpu_2023.csv.gz", "", rows)
	writeTrace(t, folder, "philly_vcs.csv.gz", "", rows)
	var stdout strings.Builder
	if err := run(t.Context(), &stdout, io.Discard, []string{"-windows", folder, "-factors", "-every", "9"}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"chronus", "ITP cluster01", "ThetaGPU", "Philly", "all"} {
		if !strings.Contains(stdout.String(), "\n"+name+" ") {
			t.Errorf("no row for %s in\n%s", name, stdout.String())
		}
	}
	if err := run(t.Context(), io.Discard, io.Discard, []string{"-windows", t.TempDir(), "-factors"}); err == nil {
		t.Error("no error without traces")
	}
}
