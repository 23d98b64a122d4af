// This file tests the exhaustive searches on the worked example with prices 2^used, whose numbers were
// computed by another program.

package oasisoracle

import (
	"math"
	"slices"
	"testing"

	"github.com/apportion/apportion/internal/must"
)

// cluster is the state of the example: two worker servers of 4 and two parameter servers of 2 over three
// slots; every container takes one unit. The price of a server is 2^(units in use): L = 1, and U = 16 for
// workers and 4 for parameter servers, by (22).
type cluster struct{ workers, ps [3][2]int64 }

// side returns one side at its prices.
func side(used [3][2]int64, capacity int64) Side {
	s := Side{Demand: []int64{1}}
	for _, slot := range used {
		var free [][]int64
		var price [][]float64
		for _, n := range slot {
			free, price = append(free, []int64{capacity - n}), append(price, []float64{math.Exp2(float64(n))})
		}
		s.Free, s.Price = append(s.Free, free), append(s.Price, price)
	}
	return s
}

// problem is a job of the example; a parameter server serves two workers.
func (c *cluster) problem(most, work int64, values ...float64) *Problem {
	return &Problem{
		Workers: side(c.workers, 4), PS: side(c.ps, 2), MaxWorkers: most, Work: work,
		WorkerBandwidth: 1, PSBandwidth: 2, Values: values,
	}
}

// Reference: [OASiS] Algorithms 1 and 2, eqs. (21) and (28): least costs by completion and payoffs of jobs A to
// D, in order of arrival; what each admitted job takes is added before the next one comes.
func TestPaperPowersOfTwo(t *testing.T) {
	var c cluster
	inf := math.Inf(1)
	for _, step := range []struct {
		name       string
		most, work int64
		values     []float64
		costs      []float64
		payoff     float64
		admit      func()
	}{
		{"A", 4, 4, []float64{30, 20, 10}, []float64{6, 6, 6}, 24, func() { c.workers[0][0], c.ps[0][0] = 4, 2 }},
		{"B", 4, 8, []float64{40, 32, 20}, []float64{inf, 12, 12}, 20, func() {
			c.workers[0][1], c.ps[0][1], c.workers[1][0], c.ps[1][0] = 4, 2, 4, 2
		}},
		{"C", 2, 2, []float64{9, 7, 2}, []float64{inf, 3, 3}, 4, func() { c.workers[1][1], c.ps[1][1] = 2, 1 }},
		// There is room in slot 2, but it costs 10 for a utility of 9: rejected.
		{"D", 2, 2, []float64{9, 9, 2}, []float64{inf, 10, 3}, 0, func() {}},
	} {
		payoff, costs := Best(c.problem(step.most, step.work, step.values...))
		// The twin's costs are those of doing the work by a slot; 10 in slot 2 falls to 3 in slot 3.
		if payoff != step.payoff || !slices.Equal(costs, step.costs) {
			t.Errorf("%s: payoff %g, costs %v, want %g, %v", step.name, payoff, costs, step.payoff, step.costs)
		}
		step.admit()
	}
}

// Reference: [OASiS] (1)-(13): the four jobs together can earn 78 = 30 + 32 + 7 + 9, where OASiS, which
// does not know what comes, earns 69.
func TestPaperOptimum(t *testing.T) {
	job := func(most, work int64, values ...float64) Job {
		return Job{
			MaxWorkers: most, Work: work, WorkerBandwidth: 1, PSBandwidth: 2,
			Worker: []int64{1}, PS: []int64{1}, Values: values,
		}
	}
	in := &Instance{Slots: 3, Workers: [][]int64{{4}, {4}}, PS: [][]int64{{2}, {2}}}
	in.Jobs = []Job{job(4, 4, 30, 20, 10), job(4, 8, 40, 32, 20), job(2, 2, 9, 7, 2), job(2, 2, 9, 9, 2)}
	must.Equal(t, Optimum(in), 78, "optimum")
}

// Reference: the counterexample to Theorem 4 without small demands: one server of 10, and two jobs of 6. Only one
// has room, and the optimum takes the one of 1000.
func TestPaperLumpyJobs(t *testing.T) {
	job := func(value float64) Job {
		return Job{
			MaxWorkers: 1, Work: 1, WorkerBandwidth: 1, PSBandwidth: 1,
			Worker: []int64{6}, PS: []int64{1}, Values: []float64{value},
		}
	}
	in := &Instance{Slots: 1, Workers: [][]int64{{10}}, PS: [][]int64{{2}}, Jobs: []Job{job(1), job(1000)}}
	must.Equal(t, Optimum(in), 1000, "optimum")
}
