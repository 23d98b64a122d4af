// This file tests closed servers, arrivals and room of both searches, on cases small enough to count by hand.

package oasisoracle

import (
	"math"
	"slices"
	"testing"
)

// inf is the cost of what cannot be had.
var inf = math.Inf(1)

// flat returns a side of one slot whose servers have one kind of resource.
func flat(demand int64, free []int64, prices []float64) Side {
	s := Side{Free: [][][]int64{nil}, Price: [][][]float64{nil}, Demand: []int64{demand}}
	for h := range free {
		s.Free[0] = append(s.Free[0], []int64{free[h]})
		s.Price[0] = append(s.Price[0], []float64{prices[h]})
	}
	return s
}

// A server that is closed to the job, or down, holds none of it, whatever it costs.
func TestClosed(t *testing.T) {
	for _, test := range []struct {
		name   string
		free   []int64
		closed []bool
		want   []float64
	}{
		{"all are open", []int64{1, 2}, nil, []float64{0, 1, 6, 11}},
		{"the first is closed", []int64{1, 2}, []bool{true, false}, []float64{0, 5, 10, inf}},
		{"both are closed", []int64{1, 2}, []bool{true, true}, []float64{0, inf, inf, inf}},
		{"the first is down", []int64{-1, 2}, nil, []float64{0, 5, 10, inf}},
		{"both are full", []int64{0, 0}, nil, []float64{0, inf, inf, inf}},
	} {
		s := flat(1, test.free, []float64{1, 5})
		s.Closed = test.closed
		if got := s.totals(0, 3); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
	// Without a demand nothing fits a server that is down either, and one that is up holds any number for nothing.
	s := flat(0, []int64{-1, 0}, []float64{1, 5})
	if got := s.totals(0, 2); !slices.Equal(got, []float64{0, 0, 0}) {
		t.Errorf("no demand: %v", got)
	}
	s.Free[0] = s.Free[0][:1]
	if got := s.totals(0, 2); !slices.Equal(got, []float64{0, inf, inf}) {
		t.Errorf("no demand, and down: %v", got)
	}
}

// The price of a container is that of all its kinds.
func TestUnit(t *testing.T) {
	s := Side{Free: [][][]int64{{{9, 9}}}, Price: [][][]float64{{{2, 0.5}}}, Demand: []int64{3, 4}}
	if got := s.unit(0, 0); got != 8 {
		t.Errorf("%g, want 3 x 2 + 4 x 0.5", got)
	}
	for count, want := range map[int64]bool{0: true, 2: true, 3: false} { // twelve of the second kind are too many
		if got := s.fits(0, 0, count); got != want {
			t.Errorf("%d fit: %t", count, got)
		}
	}
}

// one is a job of one slot that needs one worker and one parameter server, with utilities by slot.
func one(values ...float64) Job {
	return Job{MaxWorkers: 1, Work: 1, WorkerBandwidth: 1, PSBandwidth: 1, Worker: []int64{1}, PS: []int64{1}, Values: values}
}

// change returns a job with a change.
func change(j Job, by func(*Job)) Job {
	by(&j)
	return j
}

// The optimum under each rule: two machines of two units on either side hold three jobs.
func TestOptimumRules(t *testing.T) {
	machines := [][]int64{{2}, {2}}
	for _, test := range []struct {
		name string
		in   Instance
		want float64
	}{
		{"two sides", Instance{Slots: 1, Workers: machines, PS: machines, Jobs: []Job{one(5), one(6), one(7)}}, 18},
		{"closed to the best one", Instance{Slots: 1, Workers: machines[:1], PS: machines[:1],
			Jobs: []Job{change(one(9), func(j *Job) { j.ClosedWorkers = []bool{true} }), change(one(8), func(j *Job) { j.ClosedPS = []bool{true} }), one(6)}}, 6},
		{"comes in the second slot", Instance{Slots: 2, Workers: [][]int64{{1}}, PS: [][]int64{{1}},
			Jobs: []Job{change(one(0, 9), func(j *Job) { j.Arrival = 1 }), one(5, 4)}}, 14},
		{"only the second slot is left for both", Instance{Slots: 2, Workers: [][]int64{{1}}, PS: [][]int64{{1}},
			Jobs: []Job{change(one(0, 9), func(j *Job) { j.Arrival = 1 }), change(one(0, 4), func(j *Job) { j.Arrival = 1 })}}, 9},
		{"b > B", Instance{Slots: 1, Workers: machines, PS: machines, Jobs: []Job{change(one(5), func(j *Job) { j.WorkerBandwidth = 2 })}}, 0},
		{"nobody", Instance{Slots: 3, Workers: machines, PS: machines}, 0},
	} {
		if got := Optimum(&test.in); got != test.want {
			t.Errorf("%s: %g, want %g", test.name, got, test.want)
		}
		for _, room := range [][][]int64{test.in.Workers, test.in.PS} {
			for h := range room {
				if room[h][0] != 1 && room[h][0] != 2 {
					t.Errorf("%s: the instance has become %v", test.name, room)
				}
			}
		}
	}
}

// What is done by a slot is done by every later one: where prices rise, waiting costs no more than not waiting.
func TestCostsNeverRise(t *testing.T) {
	side := func(prices ...float64) Side {
		s := Side{Demand: []int64{1}}
		for _, price := range prices {
			s.Free, s.Price = append(s.Free, [][]int64{{2}}), append(s.Price, [][]float64{{price}})
		}
		return s
	}
	p := &Problem{Workers: side(1, 7, 3), PS: side(2, 2, 2), MaxWorkers: 2, Work: 1, WorkerBandwidth: 1, PSBandwidth: 2, Values: []float64{9, 9, 9}}
	if payoff, costs := Best(p); payoff != 6 || !slices.Equal(costs, []float64{3, 3, 3}) {
		t.Errorf("payoff %g, costs %v", payoff, costs)
	}
	// Two units of work: both in the first slot, with one parameter server.
	p.Work = 2
	if _, costs := Best(p); !slices.Equal(costs, []float64{4, 4, 4}) {
		t.Errorf("costs %v", costs)
	}
	// One worker in a slot: the first and the third, as the second is dear.
	p.MaxWorkers = 1
	if _, costs := Best(p); !slices.Equal(costs, []float64{inf, 12, 8}) {
		t.Errorf("costs %v", costs)
	}
}

// What is taken is gone from every kind, and what does not fit takes nothing.
func TestTake(t *testing.T) {
	free := []int64{4, 0, 9}
	demand := []int64{2, 0, 3}
	if !take(free, demand, 2) || !slices.Equal(free, []int64{0, 0, 3}) {
		t.Errorf("two: %v", free)
	}
	if take(free, demand, 1) || !slices.Equal(free, []int64{0, 0, 3}) {
		t.Errorf("a third: %v", free)
	}
	if !take(free, demand, -2) || !slices.Equal(free, []int64{4, 0, 9}) {
		t.Errorf("given back: %v", free)
	}
	// A kind of which there is less than nothing stops only those who ask for it.
	if free[1] = -1; !take(free, demand, 1) || take(free, []int64{0, 1, 0}, 1) {
		t.Errorf("with a kind below zero: %v", free)
	}
}
