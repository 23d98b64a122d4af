// This file tests the rules on machines, speeds and closed servers of both searches, on cases small enough to count by hand.

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

// equal compares tables of costs.
func equal(got, want [][]float64) bool {
	return slices.EqualFunc(got, want, func(a, b []float64) bool { return slices.Equal(a, b) })
}

// Two machines of room 3 and 2 at prices 1 and 4, workers of 1 and parameter servers of 2: what is on both sides of a
// machine shares its room.
func TestTogether(t *testing.T) {
	machines, prices := []int64{3, 2}, []float64{1, 4}
	for _, test := range []struct {
		name         string
		same         []int
		apart, alone bool
		want         [][]float64 // by workers and parameter servers
	}{
		// Nothing is shared: a parameter server costs 2 on the first, the second one 8 on the other.
		{"two sides", nil, false, false, [][]float64{{0, 2, 10}, {1, 3, 11}, {2, 4, 12}}},
		// Two workers leave no room for a parameter server on the first: one of them goes to the second, or the server does.
		{"machines", []int{0, 1}, false, false, [][]float64{{0, 2, 10}, {1, 3, 11}, {2, 7, inf}}},
		{"apart", []int{0, 1}, true, false, [][]float64{{0, 2, 10}, {1, 6, inf}, {2, 10, inf}}},
		{"alone", []int{0, 1}, false, true, [][]float64{{0, 2, inf}, {1, 3, inf}, {2, inf, inf}}},
		// Only the second server of each side is a machine of both; the other parameter server has a machine of its own.
		{"one machine of both", []int{-1, 1}, false, false, [][]float64{{0, 2, 10}, {1, 3, 11}, {2, 4, 12}}},
		{"alone on sides of their own", []int{-1, -1}, false, true, [][]float64{{0, 2, inf}, {1, inf, inf}, {2, inf, inf}}},
	} {
		p := &Problem{Workers: flat(1, machines, prices), PS: flat(2, machines, prices), MaxWorkers: 2, Same: test.same, Apart: test.apart, Alone: test.alone}
		if got := Together(p, 0, 2); !equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
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

// With a table of speeds a slot does the work of workers and parameter servers together: two and one do 3, more than is left
// is no waste, and what does not run together does nothing.
func TestSpeeds(t *testing.T) {
	speed := func(workers, ps int64) int64 {
		if workers == 0 || ps == 0 {
			return 0
		}
		return workers + min(workers, ps) // 2 with one of each, 3 with two and one, 4 with two of each
	}
	p := &Problem{Workers: flat(1, []int64{2}, []float64{1}), PS: flat(1, []int64{2}, []float64{10}), MaxWorkers: 2, Work: 4, Speed: speed, MaxPS: 2, Values: []float64{30}}
	if got := p.slot(0); !slices.Equal(got, []float64{0, inf, 11, 12, 22}) {
		t.Errorf("%v", got)
	}
	if payoff, costs := Best(p); payoff != 8 || costs[0] != 22 {
		t.Errorf("payoff %g, costs %v", payoff, costs)
	}
	p.Work = 3 // two of each do 4, but two and one are enough
	if payoff, _ := Best(p); payoff != 18 {
		t.Errorf("payoff %g of three", payoff)
	}
	p.Work = 1 // the cheapest way does 2
	if payoff, _ := Best(p); payoff != 19 {
		t.Errorf("payoff %g of one", payoff)
	}
	p.MaxPS = 0
	if payoff, _ := Best(p); payoff != 0 {
		t.Errorf("payoff %g without parameter servers", payoff)
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

// The optimum under each rule: two machines of two units each hold two jobs, where the rules allow it.
func TestOptimumRules(t *testing.T) {
	machines := [][]int64{{2}, {2}}
	for _, test := range []struct {
		name string
		in   Instance
		want float64
	}{
		{"two sides", Instance{Slots: 1, Workers: machines, PS: machines, Jobs: []Job{one(5), one(6), one(7)}}, 18},
		{"machines", Instance{Slots: 1, Workers: machines, PS: machines, Same: []int{0, 1}, Jobs: []Job{one(5), one(6), one(7)}}, 13},
		{"machines, apart", Instance{Slots: 1, Workers: machines, PS: machines, Same: []int{0, 1},
			Jobs: []Job{change(one(5), func(j *Job) { j.Apart = true }), one(6), one(7)}}, 13},
		{"one machine, apart", Instance{Slots: 1, Workers: machines[:1], PS: machines[:1], Same: []int{0},
			Jobs: []Job{change(one(9), func(j *Job) { j.Apart = true }), one(6)}}, 6},
		{"two machines of one unit, alone", Instance{Slots: 1, Workers: [][]int64{{1}, {1}}, PS: [][]int64{{1}, {1}}, Same: []int{0, 1},
			Jobs: []Job{change(one(9), func(j *Job) { j.Alone = true }), one(6)}}, 6},
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

// With speeds a job may use more parameter servers than workers, and is as fast as its table says: four units of work take one
// slot with two of each, and two slots with one of each.
func TestOptimumSpeeds(t *testing.T) {
	fast := change(one(10, 3), func(j *Job) {
		j.MaxWorkers, j.MaxPS, j.Work = 2, 2, 4
		j.Speed = func(workers, ps int64) int64 { return 2 * min(workers, ps) }
	})
	for room, want := range map[int64]float64{2: 10, 1: 3, 0: 0} {
		in := &Instance{Slots: 2, Workers: [][]int64{{room}}, PS: [][]int64{{2}}, Jobs: []Job{fast}}
		if got := Optimum(in); got != want {
			t.Errorf("room for %d workers: %g, want %g", room, got, want)
		}
	}
	if got := fast.fastest(); got != 4 {
		t.Errorf("%d in a slot, want 4", got)
	}
	ps := change(one(7), func(j *Job) {
		j.MaxPS = 3
		j.Speed = func(workers, ps int64) int64 { return ps / 3 } // three parameter servers for one worker
	})
	if got := Optimum(&Instance{Slots: 1, Workers: [][]int64{{1}}, PS: [][]int64{{3}}, Jobs: []Job{ps}}); got != 7 {
		t.Errorf("three parameter servers: %g", got)
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

// The rules look at where containers are and not at where they were tried before: on the second machine there is room for one
// container alone, and the first has room for both.
func TestOptimumForgetsTries(t *testing.T) {
	for _, alone := range []bool{false, true} {
		in := &Instance{Slots: 1, Workers: [][]int64{{2}, {1}}, PS: [][]int64{{2}, {1}}, Same: []int{0, 1},
			Jobs: []Job{change(one(9), func(j *Job) { j.Alone = alone })}}
		if got := Optimum(in); got != 9 {
			t.Errorf("alone is %t: %g, want 9", alone, got)
		}
	}
}

// Both sides meet where one machine has a container of each.
func TestMeet(t *testing.T) {
	s := &search{in: &Instance{Same: []int{-1, 0, 1}}}
	for _, test := range []struct {
		name        string
		workers, ps []int64
		want        bool
	}{
		{"nobody", []int64{0, 0}, []int64{0, 0, 0}, false},
		{"workers alone", []int64{1, 2}, []int64{0, 0, 0}, false},
		{"parameter servers alone", []int64{0, 0}, []int64{1, 1, 1}, false},
		{"on a machine of their own", []int64{1, 1}, []int64{3, 0, 0}, false},
		{"on different machines", []int64{1, 0}, []int64{0, 0, 1}, false},
		{"on the first", []int64{1, 0}, []int64{0, 1, 0}, true},
		{"on the second", []int64{0, 1}, []int64{0, 0, 1}, true},
	} {
		if got := s.meet(test.workers, test.ps); got != test.want {
			t.Errorf("%s: %t", test.name, got)
		}
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
