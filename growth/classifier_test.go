// This file tests the classifiers on small series whose verdict is plain.

package growth_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/internal/must"
)

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
		must.Equal(t, (growth.Threshold{Alpha: 0.025}).Judge(s), test.threshold, test.name, "Threshold says")
		must.Equal(t, (growth.Decline{Alpha: 0.25}).Judge(s), test.decline, test.name, "Decline says")
	}
}

func seriesToward(better growth.Direction, values ...float64) *growth.Series {
	var s growth.Series
	s.Toward(better)
	for i, v := range values {
		s.Add(time.Duration(i)*10*second, v, growth.Used(1))
	}
	return &s
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
		better growth.Direction
		want   growth.Verdict
	}{
		{"too short", falls(2, 0, 1, 0.5), 0, growth.Unsure},
		{"short and falling", falls(3, 0, 1, 0.5), 0, growth.Growing},
		{"slow decay goes on", falls(24, 0, 1, 0.2), 0, growth.Growing},
		{"close to alpha", falls(24, 0, 1, 0.5), 0, growth.Growing},
		{"unit and direction do not matter", falls(24, 1000, -1e6, 0.2), 0, growth.Growing},
		{"fast decay is over", falls(24, 3, 1, 4), 0, growth.Slow},
		{"one reading that gains nothing", jitter, 0, growth.Growing},
		{"noise louder than the gain", noise, growth.SmallerIsBetter, growth.Growing},
		{"never moved but for a hair", []float64{1, 2, 2.001, 1.999, 2, 2.001, 2, 1.999, 2.0005}, 0, growth.Slow},
		{"gets worse again", []float64{10, 4, 2, 1, 1.1, 1.2, 1.3, 1.4, 1.5}, 0, growth.Slow},
		{"rises, nobody knows that this is bad", falls(12, 3, -2, 0.3), growth.EitherWay, growth.Growing},
		{"a loss that rises", falls(12, 3, -2, 0.3), growth.SmallerIsBetter, growth.Slow},
		{"an accuracy that rises", falls(12, 3, -2, 0.3), growth.LargerIsBetter, growth.Growing},
		{"an accuracy that falls", falls(12, 0, 1, 0.3), growth.LargerIsBetter, growth.Slow},
	} {
		s := seriesToward(test.better, test.values...)
		if got := (growth.Prospect{Alpha: 0.05, Confidence: 1}).Judge(s); got != test.want {
			e, _ := s.Evidence()
			t.Errorf("%s: %v, want %v (%+v)", test.name, got, test.want, e)
		}
	}
}

// A job that evaluates rarely and is read often, with noise in every reading, stands still on each of its steps:
// its readings are no independent witnesses that it has converged.
func TestProspectSteps(t *testing.T) {
	slow, checks := 0, 0
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 3))
		var s growth.Series
		s.Toward(growth.SmallerIsBetter)
		for i := range 40 * 10 {
			value := 3 * math.Pow(float64(1+i/40), -0.5) * (1 + 0.01*rng.NormFloat64())
			outcome := s.Add(time.Duration(i)*10*second, value, growth.Used(1))
			if i < 80 {
				continue // one step is no shape yet
			}
			checks++
			if growth.Judge(growth.Prospect{Alpha: 0.05}, &s, outcome) == growth.Slow {
				slow++
			}
		}
	}
	if slow > checks/30 {
		t.Errorf("slow at %d of %d checks", slow, checks)
	}
}

// jittered returns the share of checks at which a job of that value and jitter is slow, and is not, from the
// hundredth on.
func jittered(jitter float64) (slow, other int) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var s growth.Series
		s.Toward(growth.SmallerIsBetter)
		for i := range 300 {
			outcome := s.Add(time.Duration(i)*10*second, 2.3*(1+jitter*rng.NormFloat64()), growth.Used(1))
			switch verdict := growth.Judge(growth.Prospect{Alpha: 0.05}, &s, outcome); {
			case i < 100:
			case verdict == growth.Slow:
				slow++
			default:
				other++
			}
		}
	}
	return slow, other
}

// A job that never learns is no coin flip, however little it jitters.
func TestProspectNeverLearns(t *testing.T) {
	for _, jitter := range []float64{1e-4, 0.01, 0.3} {
		if slow, other := jittered(jitter); 20*other > slow {
			t.Errorf("jitter %v: slow at %d checks, not at %d", jitter, slow, other)
		}
	}
}

// A job that was given nothing does not hang, however long.
func TestProspectIdleIsNoSilence(t *testing.T) {
	s := seriesOf(falls(20, 0, 1, 0.2)...)
	value, at := s.Value()
	for i := range 60 {
		s.Add(at+time.Duration(1+i)*10*second, value, growth.Used(0))
	}
	if silent, hangs := s.Silence(); hangs || silent > 10*second {
		t.Errorf("silent for %v, hangs: %v", silent, hangs)
	}
	for i := range 10 {
		s.Add(at+time.Duration(100+i)*10*second, value, growth.Used(1))
	}
	if _, hangs := s.Silence(); !hangs {
		t.Error("works again and repeats its value for long, and does not hang")
	}
}

// A job that is set back grows again: a warm restart of the learning rate, after it had converged.
func TestProspectWarmRestart(t *testing.T) {
	var s growth.Series
	s.Toward(growth.SmallerIsBetter)
	verdicts := map[int]growth.Verdict{}
	for i := range 200 {
		value := 1 + 2*math.Exp(-float64(i)/5) + 0.001*float64(i%3)
		if i >= 60 {
			value = 0.5 + 2*math.Exp(-float64(i-60)/15)
		}
		outcome := s.Add(time.Duration(i)*10*second, value, growth.Used(1))
		verdicts[i] = growth.Judge(growth.Prospect{Alpha: 0.05}, &s, outcome)
		if i == 62 && !s.SetBack() {
			t.Error("no setback is seen")
		}
	}
	for i, want := range map[int]growth.Verdict{59: growth.Slow, 62: growth.Growing, 70: growth.Growing, 199: growth.Slow} {
		must.Equal(t, verdicts[i], want, "reading", i)
	}
}

// The pace has a sign, is that of the thesis where readings are as few as checks, and of their means where they are
// more; a job that gets worse or hangs has no rate.
func TestPace(t *testing.T) {
	s := seriesToward(growth.SmallerIsBetter, 8, 4, 3)
	for n, want := range map[growth.Normalization]float64{growth.Raw: 0.1, growth.FirstValue: 0.1 / 8, growth.LargestGrowth: 0.25} {
		if got := s.Pace(n); math.Abs(got-want) > 1e-12 || math.Abs(s.Efficiency(n)-want) > 1e-12 {
			t.Errorf("%v: pace %v, efficiency %v, want %v", n, got, s.Efficiency(n), want)
		}
	}
	worse := seriesToward(growth.SmallerIsBetter, 8, 9, 10)
	if got := worse.Pace(growth.Raw); got != -0.1 || (growth.Prospect{Alpha: 0.05}).Rate(worse, growth.Raw) != 0 {
		t.Errorf("pace %v of a loss that rises", got)
	}
	must.Equal(t, seriesToward(growth.SmallerIsBetter, 1e-150, 1e99).Pace(growth.FirstValue), -1e200, "pace")
	var noted growth.Series
	noted.Add(0, 8, growth.Used(1))
	for i, v := range []float64{99, 6, 5, 5.5, 6} { // the last four before the check count
		noted.Note(time.Duration(1+i)*second, v, growth.Used(1))
	}
	noted.Add(6*second, 4, growth.Used(1))
	if got, want := noted.Pace(growth.Raw), (8-5.125)/4.5; math.Abs(got-want) > 1e-12 {
		t.Errorf("pace %v over noted readings, want %v", got, want)
	}
	hangs := seriesOf(append(falls(5, 0, 1, 0.5), make([]float64, 40)...)...)
	must.Equal(t, (growth.Prospect{Alpha: 0.05}).Rate(hangs, growth.Raw), 0, "a job that hangs grows by")
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
	// A share of all improvement is below 1.
	must.Err(t, (growth.Prospect{Alpha: 1}).Validate(), apportion.ErrRange, "Prospect with alpha 1")
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
		must.Equal(t, growth.Judge(always{}, test.series, test.outcome), test.want, test.outcome)
	}
}
