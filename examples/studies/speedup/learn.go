// This file fits models to some of the measurements and predicts the others.

package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"github.com/apportion/apportion/examples/studies/command"
	"github.com/apportion/apportion/growth/speedup"
)

// models are what is compared.
var models = []speedup.Model{speedup.Linear, speedup.Amdahl, speedup.Optimus, speedup.Pollux, speedup.Table, speedup.Auto}

// known are the numbers of configurations that a fit sees.
var known = []int{1, 2, 3, 4, 6, 8, 12, 16, 24, 32}

// wrong is by how much predictions are off: the mean of |predicted/measured - 1|.
type wrong struct {
	sum float64
	n   int
}

// A prediction twice too large is off by 100 %, one of half by 50.
func (w *wrong) add(c *speedup.Curve, tests []speedup.Observation) {
	for i := range tests {
		o := &tests[i]
		w.sum += math.Abs(c.StepTime(o.Containers, o.Servers, o.Samples)/o.Seconds - 1)
		w.n++
	}
}

// percent is the mean in percent.
func (w *wrong) percent() float64 { return 100 * w.sum / float64(w.n) }

// String is percent with one decimal.
func (w *wrong) String() string { return fmt.Sprintf("%.1f", w.percent()) }

// cell is one model after one number of configurations: its error, and what it says of that itself.
// named counts the curves that had enough observations to name an error.
type cell struct {
	off wrong
	// says adds up the errors that the curves name, of those that name one.
	says  float64
	named int
}

// learned holds a cell for each job, number and model.
type learned [][][]cell

// learnAll fits all models of all jobs.
func learnAll(ctx context.Context, jobs []*job, seeds int, stderr io.Writer) (learned, error) {
	return command.Grid(ctx, [2]int{len(jobs), len(known)}, stderr, "fitting", func(_ context.Context, j, k int) ([]cell, error) {
		return learn(jobs[j], known[k], seeds)
	})
}

// learn draws some configurations as often as there are seeds, and predicts all others.
// The draw depends on seed and number alone, so that all models see the same.
func learn(j *job, n, seeds int) ([]cell, error) {
	cells := make([]cell, len(models))
	for seed := range seeds {
		order := rand.New(rand.NewPCG(uint64(seed), uint64(n))).Perm(len(j.small))
		var train, test []speedup.Observation
		for i, at := range order {
			if i < n {
				train = append(train, j.small[at])
			} else {
				test = append(test, j.small[at])
			}
		}
		for m, model := range models {
			c, err := speedup.Fit(train, &speedup.Options{Model: model})
			if err != nil {
				return nil, err
			}
			cells[m].off.add(c, test)
			if c.LeftOut > 0 {
				cells[m].says += c.Error
				cells[m].named++
			}
		}
	}
	return cells, nil
}

// split divides measurements by whether they are in the first part.
func split(all []speedup.Observation, first, second func(o *speedup.Observation) bool) (a, b []speedup.Observation) {
	for i := range all {
		if first(&all[i]) {
			a = append(a, all[i])
		}
		if second(&all[i]) {
			b = append(b, all[i])
		}
	}
	return a, b
}

// mostKnown is as many configurations as speedup.Estimator keeps.
const mostKnown = 64

// thin returns at most n of the measurements, at even distances.
func thin(all []speedup.Observation, n int) []speedup.Observation {
	if len(all) <= n {
		return all
	}
	some := make([]speedup.Observation, n)
	for i := range some {
		some[i] = all[i*len(all)/n]
	}
	return some
}
