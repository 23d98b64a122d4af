// This file holds the rivals: what else could rank jobs by what is ahead of them.

package main

import (
	"math"

	"github.com/apportion/apportion/growth"
)

// rivals rank jobs; the first two by what the tests of the thesis compare with alpha, the last by a single sign.
var rivals = []struct {
	name  string
	score func(series *growth.Series, p *patience) float64
}{
	{"Threshold", func(s *growth.Series, _ *patience) float64 { return s.Efficiency(growth.LargestGrowth) }},
	{"Decline", func(s *growth.Series, _ *patience) float64 { return s.Gain(growth.FirstValue) }},
	{"patience", func(_ *growth.Series, p *patience) float64 { return -float64(p.since) }},
	{"patience's gain", func(_ *growth.Series, p *patience) float64 { return p.gain() }},
	{"last half", func(s *growth.Series, _ *patience) float64 {
		e, _ := s.Evidence()
		return e[0]
	}},
}

// patience is what training scripts stop by: for how many readings the exponential average has not set a record by a
// share alpha of the improvement so far.
type patience struct {
	alpha                float64
	begun                bool
	first, average, best float64
	since                int
	averages             []float64
}

// add adds a reading.
func (p *patience) add(value float64, better growth.Direction) {
	if better == growth.LargerIsBetter {
		value = -value
	}
	if !p.begun {
		p.begun, p.first, p.average, p.best = true, value, value, value
	}
	// A value that is not finite is as bad as the first.
	if !finite(value) {
		value = p.first
	}
	p.average += 0.4 * (value - p.average)
	p.averages = append(p.averages, p.average)
	p.since++
	if p.average < p.best-p.alpha*math.Abs(p.first-p.best) {
		p.best, p.since = p.average, 0
	}
}

// gain returns what the average has gained over its last fifth, as a share of all its improvement.
func (p *patience) gain() float64 {
	n := len(p.averages)
	return (p.averages[n-1-n/5] - p.average) / max(math.Abs(p.first-p.average), 1e-12)
}
