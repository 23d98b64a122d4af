// This file tests the measures, the conversion of the trace and the comparison with the optimum.

package main

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/placement/sim/policies"
	"github.com/apportion/apportion/primaldual"
)

func TestMeanAndSpread(t *testing.T) {
	for _, test := range []struct {
		values       []float64
		mean, spread float64
	}{{[]float64{3}, 3, 0}, {[]float64{1, 3}, 2, math.Sqrt2}, {[]float64{2, 4, 4, 4, 5, 5, 7, 9}, 5, math.Sqrt(32.0 / 7)}} {
		mean, spread := meanAndSpread(test.values)
		if mean != test.mean || math.Abs(spread-test.spread) > 1e-12 {
			t.Errorf("%v: %v, %v; want %v, %v", test.values, mean, spread, test.mean, test.spread)
		}
	}
	if mean, spread := meanAndSpread(nil); !math.IsNaN(mean) || spread != 0 {
		t.Errorf("nothing: %v, %v", mean, spread)
	}
}

func TestAtMost(t *testing.T) {
	values := []float64{-1, 0, 0, 2}
	for limit, want := range map[float64]int{-2: 0, -1: 1, 0: 3, 1: 3, 2: 4} {
		must.Equal(t, atMost(values, limit), want, "at most", limit)
	}
}

// Two workloads of three jobs under two policies, made by hand.
func handStudy() *study {
	job := func(arrival int, gamma2, target float64) primaldual.Job {
		return primaldual.Job{Arrival: arrival, Utility: primaldual.Sigmoid{Gamma1: 1, Gamma2: gamma2, Gamma3: target}}
	}
	jobs := []primaldual.Job{job(1, 0, 1), job(2, 0.5, 3), job(3, 5, 2)}
	run := func(total float64, completion ...int) *played {
		return &played{total: total, completion: completion, jobs: jobs, bound: 10}
	}
	return &study{sizes: []int{3}, seeds: 2, runs: [][][]*played{{
		{run(5, 4, 6, 4), run(4, 5, 9, 0)},
		{run(7, 1, 0, 9), run(7, 1, 3, 5)},
	}}}
}

func TestStudyMeasures(t *testing.T) {
	s := handStudy()
	must.Equal(t, s.wins(0, 0, []int{1}), 1, "wins")
	for _, test := range []struct {
		place int
		of    class
		want  []float64
	}{{0, sensitive, []float64{1}}, {1, sensitive, []float64{-2, 4}}, {0, critical, []float64{-1, 4}}, {1, critical, []float64{0}}} {
		late, jobs := s.lateness(0, test.place, test.of)
		if diff := cmp.Diff(test.want, late); diff != "" || jobs != 2 {
			t.Errorf("policy %d, class %d: %d jobs (-want +got):\n%s", test.place, test.of, jobs, diff)
		}
	}
	points := ended([]float64{-2, 4}, 4)
	if points[0].Y != 0.25 || points[3].Y != 0.25 || points[4].Y != 0.5 {
		t.Errorf("%v, want a quarter of the jobs in time and half after 4 slots", points)
	}
}

// No policy earns more than the offline optimum, and the tiny workloads are worth comparing.
func TestOptimum(t *testing.T) {
	for seed := range 8 {
		w := tinyWorkload(seed)
		bounds := must.Have(primaldual.BoundsOf(w.cluster, w.jobs, nil))(t)
		optimum, proven, err := offlineOptimum(t.Context(), w)
		if err != nil || !proven || !(optimum > 0) {
			t.Fatalf("workload %d: optimum %v, proven %v, %v", seed, optimum, proven, err)
		}
		for _, p := range []sim.Policy{&policies.OASiS{Bounds: &bounds}, &policies.RRH{}, &policies.DRF{}, &policies.FIFO{Backfill: true}} {
			_, result, err := w.run(t.Context(), p)
			must.Do(t, err)
			if result.Worth() > optimum*(1+1e-6) {
				t.Errorf("workload %d: %s earns %v of %v", seed, p.Name(), result.Worth(), optimum)
			}
		}
	}
}

// One more workload of each of seven policies, by hand: what is said of the paper's claims.
func claimStudy(totals ...float64) *study {
	s := &study{sizes: []int{5}, seeds: 1, runs: [][][]*played{{nil}}}
	for _, total := range totals {
		s.runs[0][0] = append(s.runs[0][0], &played{total: total, bound: 100, alpha: 4, gpus: total / 100})
	}
	return s
}

// The baselines are the policies from the third on; a tie is no lead, and where nobody earns anything nobody is ahead.
func TestLeads(t *testing.T) {
	for _, test := range []struct {
		totals     []float64
		lead       float64
		leads      string
		advantage  string
		wins, best float64
	}{
		{[]float64{30, 90, 10, 20, 15, 5, 0}, 1.5, "5: yes", "1.50, 1.50", 1, 20},
		{[]float64{20, 90, 10, 20, 15, 5, 0}, 1, "5: no", "1.00, 1.00", 0, 20},
		{[]float64{10, 90, 10, 15, 15, 40, 0}, 0.25, "5: no", "0.25, 0.25", 0, 40},
		{[]float64{0, 0, 0, 0, 0, 0, 0}, 1, "5: no", "NaN, NaN", 0, 0},
	} {
		s := claimStudy(test.totals...)
		must.Equal(t, s.lead(0, 0, 0), test.lead, test.totals, "lead")
		if s.leads(0) != test.leads || s.advantage(0) != test.advantage || s.best(0) != test.best || s.wins(0, 0, baselines) != int(test.wins) {
			t.Errorf("%v: %s, %s, best %v, %d wins", test.totals, s.leads(0), s.advantage(0), s.best(0), s.wins(0, 0, baselines))
		}
	}
	// A policy that earns where all baselines earn nothing leads without a limit.
	if got := claimStudy(3, 0, 0, 0, 0, 0, 0).lead(0, 0, 0); !math.IsInf(got, 1) {
		t.Errorf("lead %v, want infinity", got)
	}
}

// A rank counts the baselines that are strictly better; nobody is ahead of one who is as good.
func TestRank(t *testing.T) {
	job := primaldual.Job{Arrival: 1, Utility: primaldual.Sigmoid{Gamma1: 1, Gamma2: 5, Gamma3: 2}}
	s := &study{sizes: []int{1, 1}, seeds: 1, runs: [][][]*played{nil, {nil}}}
	for _, completion := range []int{4, 0, 3, 4, 5, 9, 2} {
		s.runs[1][0] = append(s.runs[1][0], &played{jobs: []primaldual.Job{job}, completion: []int{completion}})
	}
	// Completion less arrival less target: 1 for OASiS, none for its second run, then 0, 1, 2, 6 and -1.
	must.Equal(t, s.rank(0, critical, mean), "3 of 6")
	must.Equal(t, s.rank(1, critical, mean), "6 of 6", "a policy none of whose jobs ends has no mean, and all are before it")
}
