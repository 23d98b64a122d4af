// This file implements the fit of a curve and its error on what was left out.

package speedup

import (
	"cmp"
	"math"
	"strconv"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
)

const (
	// mostLeftOut bounds how many configurations are left out in turn, which is how many fits an error costs.
	// Sixteen fits of Pollux take some tens of milliseconds, which a scheduler has once a round.
	mostLeftOut = 16
	// simpler is by how much a model with more parameters must predict better to be taken.
	// Where the difference is a twentieth or less it is mostly luck with what was left out.
	simpler = 0.95
	// beyond is how many times what was measured a curve is trusted, [Qiao21 §4.1].
	beyond = 2
)

func checkRequest(faults *apportion.Faults, request int64) {
	if request < 1 || request > mostContainers {
		faults.Add(apportion.Item{}, "Request", apportion.ErrRange, strconv.FormatInt(request, 10))
	}
}

func countItem(i int) apportion.Item { return check.Item("count", "", i) }

func checkSpeeds(counts []int64, perServer int64) error {
	var faults apportion.Faults
	for i, n := range counts {
		if n < 0 || n > mostContainers {
			faults.Add(countItem(i), "Counts", apportion.ErrRange, strconv.FormatInt(n, 10))
		}
	}
	if perServer < 1 {
		faults.Add(apportion.Item{}, "PerServer", apportion.ErrRange, strconv.FormatInt(perServer, 10))
	}
	return faults.Err()
}

// Fit returns the curve of a job of which step times were measured. Several measurements of one configuration count as their median.
// Options may be nil. The observations are read and not kept.
//
// Errors, as apportion.Faults: ErrEmpty without observations; for each one what is wrong with it, ErrRange or ErrNotFinite; and
// those of the options. A fit costs O(n log n) for n observations and, for Pollux and Auto, some milliseconds for each hundred
// configurations; the error costs up to 16 fits more.
func Fit(observations []Observation, options *Options) (*Curve, error) {
	// A copy: the options are the caller's, and nil means the zero value.
	var chosen Options
	if options != nil {
		chosen = *options
	}
	var faults apportion.Faults
	chosen.check(&faults)
	if len(observations) == 0 {
		faults.Add(apportion.Item{}, "Observations", apportion.ErrEmpty, "")
	}
	for i := range observations {
		observations[i].check(&faults, i)
	}
	if len(faults) > 0 {
		return nil, faults
	}
	// From here on each configuration is there once, and in an order that the input does not change.
	single := tidy(observations)
	if chosen.Model != Auto {
		return fitOne(chosen.Model, single, &chosen), nil
	}
	return fitBest(single, &chosen), nil
}

// fitBest fits the models of Auto, the simplest first, and returns the one with the least error. One with as many parameters as there are
// configurations explains anything and is left out; Amdahl's law has the fewest.
func fitBest(single []Observation, options *Options) *Curve {
	// Two parameters are told by two configurations; with one alone the constant is 0, and the curve a straight
	// line.
	best := fitOne(Amdahl, single, options)
	for _, model := range []Model{Optimus, Pollux} {
		if parameters(model, single) >= len(single) {
			continue
		}
		if c := fitOne(model, single, options); c.Error < simpler*best.Error {
			best = c
		}
	}
	return best
}

// parameters returns how many parameters of a model the observations can tell.
func parameters(model Model, single []Observation) (n int) {
	if model != Pollux {
		return model.size()
	}
	// Of the two phases only what was seen is fitted, so that a job on one server has fewer parameters.
	for _, free := range seen(single) {
		if free {
			n++
		}
	}
	return n
}

func fitOne(model Model, single []Observation, options *Options) *Curve {
	c := shape(model, single)
	last := &single[len(single)-1] // the most containers: tidy has sorted them
	c.Samples = options.Samples
	c.Samples = cmp.Or(c.Samples, last.Samples)
	// What lies beyond is extrapolated, up to Most; nobody is promised more than that.
	c.Measured, c.Configurations = last.Containers, len(single)
	c.Most = max(options.Request, min(beyond*c.Measured, mostContainers))
	c.Error, c.LeftOut = leaveOut(model, single)
	return c
}

func shape(model Model, single []Observation) *Curve {
	c := &Curve{Model: model}
	switch model {
	case Table:
		c.Points = tabulate(single)
	case Pollux:
		c.Params = fitPollux(single)
	default:
		c.Params = fitSum(model.size(), single)
	}
	return c
}

// leaveOut predicts configurations from all others, each in turn or, where there are many, some of them at even distances. Each
// is a fit of its own, which knows nothing of what it has to predict.
func leaveOut(model Model, single []Observation) (rms float64, n int) {
	if len(single) < 2 {
		return 0, 0
	}
	n = min(len(single), mostLeftOut)
	squares := 0.0
	for k := range n {
		// Even distances: neighbours say much the same of a curve.
		out := k * len(single) / n
		others := make([]Observation, 0, len(single)-1)
		others = append(append(others, single[:out]...), single[out+1:]...)
		o := &single[out]
		// Logarithms: twice as long and half as long are equally wrong.
		e := math.Log(shape(model, others).StepTime(o.Containers, o.Servers, o.Samples) / o.Seconds)
		squares += float64(e * e)
	}
	return math.Sqrt(squares / float64(n)), n
}
