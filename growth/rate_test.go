// This file tests what a step back between two checks leaves of a job's rate.

package growth_test

import (
	"testing"
	"time"

	"github.com/apportion/apportion/growth"
)

// falling returns a series that falls by 1 in each of n seconds, then reads a last value.
func falling(n int, last float64) *growth.Series {
	var s growth.Series
	for i := range n {
		s.Add(time.Duration(i)*time.Second, float64(100-i), growth.Usage{})
	}
	s.Add(time.Duration(n)*time.Second, last, growth.Usage{})
	return &s
}

// A job that falls by 1 a second and then once rises by a little goes on at about 1 a second as far as the whole run
// tells; one that has risen all the time, where smaller is better, has no rate.
func TestRateAfterStepBack(t *testing.T) {
	p := growth.Prospect{Alpha: 0.05}
	s := falling(20, 81.5)
	if pace := s.Pace(growth.Raw); pace >= 0 {
		t.Fatalf("pace %g of a job that stepped back", pace)
	}
	if rate := p.Rate(s, growth.Raw); rate < 0.4 || rate > 1.1 {
		t.Errorf("rate %g, want about 1", rate)
	}
	if rate, scaled := p.Rate(s, growth.Raw), p.Rate(s, growth.FirstValue); rate/100-scaled > 1e-15 || scaled-rate/100 > 1e-15 {
		t.Errorf("rate %g of a first value of 100, raw %g", scaled, rate)
	}
	if ahead := falling(20, 80); p.Rate(ahead, growth.Raw) != 1 {
		t.Errorf("rate %g of a job without a step back, want its pace 1", p.Rate(ahead, growth.Raw))
	}
	var up growth.Series
	up.Toward(growth.SmallerIsBetter)
	for i := range 20 {
		up.Add(time.Duration(i)*time.Second, float64(i), growth.Usage{})
	}
	if rate := p.Rate(&up, growth.Raw); rate != 0 {
		t.Errorf("a loss that rises: rate %g", rate)
	}
	if young := falling(1, 101); p.Rate(young, growth.Raw) < 0 {
		t.Error("a negative rate without evidence")
	}
}
