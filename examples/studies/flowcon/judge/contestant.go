// This file holds the contestants: the thesis' tests, a moving average with patience, and ours.

package main

import (
	"math"
	"strconv"

	"github.com/apportion/apportion/growth"
)

// contestant is a classifier at one alpha. A new one is made for each run, since the moving average keeps a state.
// Alpha means something else for each name, so that alphas are only compared within one.
type contestant struct {
	name  string
	alpha float64
	make  func() growth.Classifier
}

// String returns for instance "Prospect 0.05".
func (c contestant) String() string { return c.name + " " + strconv.FormatFloat(c.alpha, 'g', -1, 64) }

// It is what the tables single out.
const ours = "Prospect"

// confidence is that of ours: how many factors of two around alpha it is unsure in. It is a flag, set before anything
// is judged.
var confidence float64 = growth.DefaultConfidence

// fixed is ours at the alpha that its documentation recommends.
var fixed = contestant{name: ours, alpha: 0.05}

// contestants returns all, each at a range of alphas that goes from much waste to much harm.
// The order is that of the tables; the members of a name stand together, which groups relies on.
func contestants() []contestant {
	var all []contestant
	add := func(name string, make func(alpha float64) growth.Classifier, alphas ...float64) {
		for _, alpha := range alphas {
			all = append(all, contestant{name, alpha, func() growth.Classifier { return make(alpha) }})
		}
	}
	add("Threshold, first-value", func(a float64) growth.Classifier { return growth.Threshold{Alpha: a} },
		1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 0.05)
	add("Threshold, largest-growth", func(a float64) growth.Classifier {
		return growth.Threshold{Alpha: a, Normalization: growth.LargestGrowth}
	}, 1e-3, 3e-3, 0.01, 0.03, 0.05, 0.1, 0.2, 0.4)
	add("Decline", func(a float64) growth.Classifier { return growth.Decline{Alpha: a} },
		3e-4, 1e-3, 3e-3, 0.01, 0.03, 0.05, 0.1)
	add("Average with patience", func(a float64) growth.Classifier { return &patience{alpha: a} },
		1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3)
	add(ours, func(a float64) growth.Classifier { return growth.Prospect{Alpha: a, Confidence: confidence} },
		0.01, 0.02, 0.03, 0.04, 0.05, 0.08, 0.12, 0.2)
	return all
}

// patience is what training scripts stop by: the exponential average of the values at the checks has not set a record, by
// a share alpha of the improvement so far, for three checks.
// It is kept for each run, like the state of a training script.
type patience struct {
	alpha                float64
	begun                bool
	first, average, best float64
	since                int
}

// Judge implements growth.Classifier.
func (p *patience) Judge(series *growth.Series) growth.Verdict {
	value, _ := series.Value()
	if series.Better() == growth.LargerIsBetter {
		value = -value
	}
	if !p.begun {
		p.begun, p.first, p.average, p.best = true, value, value, value
		return growth.Unsure
	}
	// The weight and the three checks are what scripts commonly use.
	p.average += 0.4 * (value - p.average)
	// The first checks, when nothing has improved yet, set a record by any decrease.
	if p.average < p.best-p.alpha*math.Abs(p.first-p.best) {
		p.best, p.since = p.average, 0
		return growth.Growing
	}
	if p.since++; p.since >= 3 {
		return growth.Slow
	}
	return growth.Unsure
}
