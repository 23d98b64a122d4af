// This file tests that Verify finds each sort of violation, and Explain.

package drf_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/must"
)

func TestVerifyFinds(t *testing.T) {
	capacity := apportion.Resources{10, 20}
	claims := []drf.Claim{claim("a", 1, 0, 6, 1, 2), claim("b", 3, 1, top, 2, 1)}
	for _, test := range []struct {
		name       string
		containers []int64
		divisible  []float64
		want       string // the violations, one a line; "": none
	}{
		{"fair", nil, []float64{2.5, 3.75}, ""},
		{"capacity", nil, []float64{2.5, 4}, "capacity: 10.5 of kind 0 handed out, there is 10\n"},
		{"capacity by one", []int64{3, 4}, nil, "capacity: 11 of kind 0 handed out, there is 10\n"},
		{"nothing is left for a", []int64{0, 5}, nil, "envy-freeness: claim \"a\" has 0 containers and could run 0.666666667 with what \"b\" has\n" +
			"sharing incentive: claim \"a\" has 0 containers and could have 2\n"},
		{
			"below the minimum", []int64{6, 0}, nil,
			"bounds: claim \"b\" has 0 containers, its bound is 1\n" +
				"Pareto efficiency: claim \"b\" has 0 containers and could have 2\n" +
				"envy-freeness: claim \"b\" has 0 containers and could run 7.5 with what \"a\" has\n" +
				"sharing incentive: claim \"b\" has 0 containers and could have 3\n",
		},
		{
			"unused", nil, []float64{2, 3},
			"Pareto efficiency: claim \"a\" has 2 containers and could have 4\n" +
				"Pareto efficiency: claim \"b\" has 3 containers and could have 4\n" +
				"sharing incentive: claim \"a\" has 2 containers and could have 2.5\n" +
				"sharing incentive: claim \"b\" has 3 containers and could have 3.75\n",
		},
		{"just one more", []int64{4, 2}, nil,
			"Pareto efficiency: claim \"a\" has 4 containers and could have 6\n" +
				"Pareto efficiency: claim \"b\" has 2 containers and could have 3\n" +
				"envy-freeness: claim \"b\" has 2 containers and could run 4.5 with what \"a\" has\n" +
				"sharing incentive: claim \"b\" has 2 containers and could have 3\n"},
		{"above the maximum", []int64{7, 1}, nil,
			"bounds: claim \"a\" has 7 containers, its bound is 6\n" +
				"envy-freeness: claim \"b\" has 1 containers and could run 9 with what \"a\" has\n" +
				"sharing incentive: claim \"b\" has 1 containers and could have 3\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var report drf.Report
			var err error
			if test.divisible != nil {
				report, err = drf.Verify(capacity, claims, test.divisible)
			} else {
				report, err = drf.Verify(capacity, claims, test.containers)
			}
			must.Do(t, err)
			got := ""
			for _, v := range report {
				got += v.String() + "\n"
				if report.Holds(v.Property) {
					t.Errorf("Holds(%v) in spite of %v", v.Property, v)
				}
			}
			must.Equal(t, got, test.want)
		})
	}
}

func TestVerifyRefuses(t *testing.T) {
	capacity, claims := apportion.Resources{10}, []drf.Claim{claim("a", 1, 0, top, 1)}
	for _, test := range []struct {
		containers []float64
		want       error
	}{
		{nil, apportion.ErrLength},
		{[]float64{1, 2}, apportion.ErrLength},
		{[]float64{-1}, apportion.ErrNegative},
		{[]float64{math.NaN()}, apportion.ErrNotFinite},
		{[]float64{math.Inf(1)}, apportion.ErrNotFinite},
	} {
		must.Fail(drf.Verify(capacity, claims, test.containers))(t, test.want, test.containers)
	}
}

// Whole containers beyond 2^53 are counted exactly: one too many of 2^62 is found.
func TestVerifyExact(t *testing.T) {
	capacity, claims := apportion.Resources{1 << 62}, []drf.Claim{claim("a", 1, 0, 1<<62, 1)}
	for _, test := range []struct {
		containers int64
		holds      bool
	}{{1 << 62, true}, {1<<62 + 1, false}} {
		report, err := drf.Verify(capacity, claims, []int64{test.containers})
		if err != nil || report.Holds(drf.WithinCapacity) != test.holds || report.Holds(drf.WithinBounds) != test.holds {
			t.Errorf("%d containers: %v, %v", test.containers, report, err)
		}
	}
}

func TestStrings(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{drf.AtMax.String(), "max"},
		{drf.Exhausted.String(), "exhausted"},
		{drf.Unservable.String(), "unservable"},
		{drf.Halted.String(), "halted"},
		{drf.Cause(9).String(), "unknown 9"},
		{drf.EnvyFree.String(), "envy-freeness"},
		{drf.Property(9).String(), "unknown 9"},
		{drf.Stop{Cause: drf.Exhausted, Kind: 1}.Text(apportion.Kinds{"cpu", "gpu"}), "short of gpu"},
	} {
		must.Equal(t, test.got, test.want)
	}
}

// The reason of a claim that is short of a kind carries the numbers of its text.
func TestExplainReasons(t *testing.T) {
	claims := []drf.Claim{
		claim("capped", 1, 0, 1, 1, 0), claim("short", 1, 0, drf.NoMax, 4, 0), claim("none", 1, 0, drf.NoMax, 1, 1),
	}
	filling := must.Have(drf.FillWhole(apportion.Resources{7, 0}, claims, nil))(t)
	explained := must.Have(drf.Explain(apportion.Kinds{"cpu", "gpu"}, claims, filling))(t)
	for i, want := range []apportion.Reason{
		{Constraint: "max", Text: "at its maximum"},
		{Constraint: "exhausted", Kind: "cpu", Need: 4, Have: 2, Text: "short of cpu: one more needs 4, 2 left"},
		{Constraint: "unservable", Kind: "gpu", Text: "cannot be served: there is no gpu"},
	} {
		must.Equal(t, cmp.Diff(want, explained.Claims[i].Reason), "", "claim", claims[i].ID)
	}
}
