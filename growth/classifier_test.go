// This file tests the classifiers on small series whose verdict is plain.

package growth_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/growth"
)

// seriesOf adds values every 10 s at full usage.
func seriesOf(values ...float64) *growth.Series {
	var s growth.Series
	for i, v := range values {
		s.Add(time.Duration(i)*10*second, v, growth.Used(1))
	}
	return &s
}

func TestThresholdAndDecline(t *testing.T) {
	for _, test := range []struct {
		name               string
		values             []float64
		threshold, decline growth.Verdict
	}{
		{"first interval, large", []float64{1, 0.5}, growth.Growing, growth.Growing},
		{"first interval, small: nothing to compare with", []float64{1, 0.99}, growth.Slow, growth.Unsure},
		{"small and shrinking", []float64{1, 0.98, 0.97}, growth.Slow, growth.Slow},
		{"small and growing", []float64{1, 0.99, 0.97}, growth.Slow, growth.Unsure},
		{"exactly alpha", []float64{1, 0.5, 0.25}, growth.Growing, growth.Growing},
		{"large and shrinking", []float64{1, 0.5, 0.1}, growth.Growing, growth.Growing},
		{"stands still", []float64{1, 0.5, 0.5}, growth.Slow, growth.Slow},
		{"stands still again", []float64{1, 0.5, 0.5, 0.5}, growth.Slow, growth.Unsure},
		{"rises", []float64{1, 1.01, 2}, growth.Growing, growth.Growing},
	} {
		s := seriesOf(test.values...)
		// A gain of 0.25 in 10 s is a growth efficiency of 0.025 a second.
		if got := (growth.Threshold{Alpha: 0.025}).Judge(s); got != test.threshold {
			t.Errorf("%s: Threshold says %v, want %v", test.name, got, test.threshold)
		}
		if got := (growth.Decline{Alpha: 0.25}).Judge(s); got != test.decline {
			t.Errorf("%s: Decline says %v, want %v", test.name, got, test.decline)
		}
	}
}

// falls returns n values of a + b w^-c for work 1, 2, 3...
func falls(n int, limit, scale, exponent float64) []float64 {
	var values []float64
	for i := range n {
		values = append(values, limit+scale*math.Pow(float64(i+1), -exponent))
	}
	return values
}

func TestProspect(t *testing.T) {
	jitter := falls(24, 0, 1, 0.5)
	jitter[23] = jitter[22] // gains nothing, once
	jitter[22] += 1e-9
	noise := falls(24, 0, 1, 0.1)
	for i := range noise {
		noise[i] += 0.5 * float64(i%2) // louder than what it gains
	}
	for _, test := range []struct {
		name   string
		values []float64
		want   growth.Verdict
	}{
		{"too short", falls(7, 0, 1, 0.5), growth.Unsure},
		{"slow decay goes on", falls(24, 0, 1, 0.5), growth.Growing},
		{"unit and direction do not matter", falls(24, 1000, -1e6, 0.5), growth.Growing},
		{"fast decay is over", falls(24, 3, 1, 4), growth.Slow},
		{"one reading that gains nothing", jitter, growth.Growing},
		{"noise louder than the gain", noise, growth.Unsure},
		{"never moved but for a hair", []float64{1, 2, 2.001, 1.999, 2, 2.001, 2, 1.999, 2.0005}, growth.Slow},
		{"gets worse again", []float64{10, 4, 2, 1, 1.1, 1.2, 1.3, 1.4, 1.5}, growth.Slow},
	} {
		if got := (growth.Prospect{Alpha: 0.05}).Judge(seriesOf(test.values...)); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

// TestProspectCountsWork shows why the length of a run is counted in work: a job that is limited to
// a tenth at half its run gains a tenth per second from then on, and still grows.
func TestProspectCountsWork(t *testing.T) {
	judge := func(measured bool) growth.Verdict {
		var s growth.Series
		at, work := time.Duration(0), 0.0
		for i := range 31 {
			share := 1.0
			if i > 15 {
				share = 0.1
			}
			usage := 1.0
			if measured {
				usage = share
			}
			s.Add(at, 10/math.Sqrt(1+work), growth.Used(usage))
			at += 10 * second
			work += 10 * share
		}
		return growth.Prospect{Alpha: 0.01}.Judge(&s)
	}
	if got := judge(true); got != growth.Growing {
		t.Errorf("with measured usage %v", got)
	}
	if got := judge(false); got != growth.Slow {
		t.Errorf("without usage %v: the test does not show what it is for", got)
	}
}

// TestProspectIgnoresRepeats polls a job that evaluates once in five checks.
func TestProspectIgnoresRepeats(t *testing.T) {
	var polled growth.Series
	slow := 0
	for i, value := range falls(24, 0, 1, 0.5) {
		for poll := range 5 {
			polled.Add(time.Duration(5*i+poll)*second, value, growth.Used(1))
			if polled.Measured() && (growth.Prospect{Alpha: 0.05}).Judge(&polled) == growth.Slow {
				slow++
			}
		}
	}
	if slow > 0 {
		t.Errorf("called slow %d times", slow)
	}
}

// A test without an alpha would call nobody slow: it is refused, and so are numbers that are none.
func TestValidate(t *testing.T) {
	for _, alpha := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		for _, c := range []interface{ Validate() error }{growth.Threshold{Alpha: alpha}, growth.Decline{Alpha: alpha}, growth.Prospect{Alpha: alpha}} {
			if err := c.Validate(); !errors.Is(err, apportion.ErrRange) || !strings.Contains(err.Error(), "Alpha") {
				t.Errorf("%T with alpha %v: %v", c, alpha, err)
			}
		}
	}
	for confidence, good := range map[float64]bool{0: true, 2: true, -1: false, math.Inf(1): false} {
		if err := (growth.Prospect{Alpha: 0.05, Confidence: confidence}).Validate(); (err == nil) != good {
			t.Errorf("confidence %v: %v", confidence, err)
		}
	}
}

// Every outcome of a reading has a verdict, and only two of them ask the classifier.
func TestJudge(t *testing.T) {
	measured, empty := seriesOf(8, 4), seriesOf(8)
	for _, test := range []struct {
		series  *growth.Series
		outcome growth.Outcome
		want    growth.Verdict
	}{
		{measured, growth.Measured, growth.Growing}, {measured, growth.Repeated, growth.Growing}, {measured, growth.Diverged, growth.Slow},
		{measured, growth.Idle, growth.Unsure}, {measured, growth.Late, growth.Unsure}, {measured, growth.Unusable, growth.Unsure},
		{empty, growth.Started, growth.Unsure}, {empty, growth.Diverged, growth.Unsure},
	} {
		if got := growth.Judge(always{}, test.series, test.outcome); got != test.want {
			t.Errorf("%v: %v, want %v", test.outcome, got, test.want)
		}
	}
}
