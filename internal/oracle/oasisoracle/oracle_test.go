// This file tests the exhaustive searches on cases small enough to count by hand.

package oasisoracle

import (
	"math"
	"slices"
	"testing"
)

// Two servers of room 2 and 1 at prices 1 and 3, two slots; one parameter server at price 5 serves two
// workers.
func TestBest(t *testing.T) {
	side := func(free []int64, prices []float64) Side {
		var s Side
		for range 2 {
			var f [][]int64
			var p [][]float64
			for h := range free {
				f, p = append(f, []int64{free[h]}), append(p, []float64{prices[h]})
			}
			s.Free, s.Price = append(s.Free, f), append(s.Price, p)
		}
		s.Demand = []int64{1}
		return s
	}
	p := &Problem{
		Workers: side([]int64{2, 1}, []float64{1, 3}), PS: side([]int64{2}, []float64{5}),
		MaxWorkers: 3, Work: 3, WorkerBandwidth: 1, PSBandwidth: 2, Values: []float64{20, 16},
	}
	// In one slot: 1 + 1 + 3 and two parameter servers. In two: 1 + 1 and 1, one in each.
	payoff, costs := Best(p)
	if payoff != 5 || !slices.Equal(costs, []float64{15, 13}) {
		t.Errorf("payoff %g, costs %v", payoff, costs)
	}
	p.Work = 7
	if payoff, costs = Best(p); payoff != 0 || !math.IsInf(costs[1], 1) {
		t.Errorf("no room: payoff %g, costs %v", payoff, costs)
	}
	p.Work, p.PSBandwidth, p.WorkerBandwidth = 1, 1, 2
	if payoff, _ = Best(p); payoff != 0 {
		t.Errorf("b > B: payoff %g", payoff)
	}
	p.WorkerBandwidth, p.Workers.Demand = 1, []int64{0}
	if payoff, _ = Best(p); payoff != 15 {
		t.Errorf("no demand of workers: payoff %g", payoff)
	}
	p.Workers.Free = [][][]int64{{{-1}, {-1}}, {{-1}, {0}}}
	if payoff, _ = Best(p); payoff != 11 {
		t.Errorf("servers down but one in the second slot: payoff %g", payoff)
	}
}

// Three jobs of one slot on one server that holds two: the two best, unless they are too large.
func TestOptimum(t *testing.T) {
	job := func(demand int64, values ...float64) Job {
		return Job{
			MaxWorkers: 1, Work: 1, WorkerBandwidth: 1, PSBandwidth: 1,
			Worker: []int64{demand}, PS: []int64{1}, Values: values,
		}
	}
	in := &Instance{Slots: 1, Workers: [][]int64{{2}}, PS: [][]int64{{9}}}
	in.Jobs = []Job{job(1, 5), job(1, 6), job(1, 7)}
	if got := Optimum(in); got != 13 {
		t.Errorf("optimum %g, want 13", got)
	}
	in.Jobs[2] = job(2, 10)
	if got := Optimum(in); got != 11 {
		t.Errorf("optimum %g, want 11", got)
	}
	in.PS[0][0] = 1
	if got := Optimum(in); got != 10 {
		t.Errorf("optimum %g with one parameter server, want 10", got)
	}
	in.Slots = 2
	in.Jobs = []Job{job(2, 5, 4), job(2, 6, 1)}
	if got := Optimum(in); got != 10 {
		t.Errorf("optimum %g over two slots, want 10", got)
	}
	in.Jobs[0].Work = 3
	if got := Optimum(in); got != 6 {
		t.Errorf("optimum %g with a job that is too long, want 6", got)
	}
}
