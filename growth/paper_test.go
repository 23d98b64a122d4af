// This file pins the numbers and traces of [Zheng], and the readings chosen where its listings
// cannot be meant as printed.

package growth_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/growth"
)

const second = time.Second

var near = cmpopts.EquateApprox(0, 1e-9)

// job plays one container: its value falls by a growth efficiency per second of full use.
type job struct {
	id    string
	value float64
	at    time.Duration
}

// reading moves the job on to a time with the given growth efficiency at usage 1.
func (j *job) reading(at time.Duration, growthPerSecond float64) growth.Reading {
	j.value -= growthPerSecond * (at - j.at).Seconds()
	j.at = at
	return growth.Reading{ID: j.id, At: at, Value: j.value, Usage: []float64{1}}
}

func step(t *testing.T, f *growth.FlowCon, now time.Duration, readings ...growth.Reading) growth.Decision {
	t.Helper()
	var decision growth.Decision
	if err := f.Step(now, readings, &decision); err != nil {
		t.Fatal(err)
	}
	return decision
}

// Reference: [Zheng] §6.1.3, Fig. 6.5: alpha 5 %, itval 20; VAE is alone, MNIST arrives at 40 s,
// VAE is then held at 0.25 and MNIST at 1.
func TestPaperFlowConTrace(t *testing.T) {
	f, err := growth.NewFlowCon(growth.FlowConConfig{Interval: 20 * second, Alpha: 0.05, Kinds: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	vae, mnist := &job{id: "vae", value: 1}, &job{id: "mnist", value: 1, at: 41 * second}
	const (
		P, W, C = growth.Progressing, growth.Watching, growth.Converged
	)
	for _, row := range []struct {
		at                   int
		vae, mnist           float64 // growth; -1: not there
		trigger              growth.Trigger
		vaeIn, mnistIn       growth.Category
		vaeLimit, mnistLimit float64
		interval             time.Duration
	}{
		{0, 0, -1, growth.Listener, P, 0, 1, 0, 20 * second},
		{20, 0.04, -1, growth.Due, W, 0, 1, 0, 20 * second},
		{40, 0.03, -1, growth.Due, C, 0, 1, 0, 40 * second},
		{41, 0.02, 0, growth.Listener, C, P, 0.25, 1, 20 * second},
		{61, 0.02, 0.30, growth.Due, C, P, 0.25, 0.9375, 20 * second},
		{81, 0.02, 0.04, growth.Due, C, W, 1. / 3, 0.9375, 20 * second},
		{101, 0.02, 0.03, growth.Due, C, C, 1, 1, 40 * second},
		{141, 0.02, 0.03, growth.Due, C, C, 1, 1, 80 * second},
		{150, 0.02, -1, growth.Listener, C, 0, 1, 0, 20 * second},
	} {
		now := time.Duration(row.at) * second
		readings := []growth.Reading{vae.reading(now, row.vae)}
		if row.mnist >= 0 {
			readings = append(readings, mnist.reading(now, row.mnist))
		}
		got := step(t, f, now, readings...)
		if got.Trigger != row.trigger || got.Interval != row.interval || got.Next != now+row.interval {
			t.Errorf("%d s: %v, interval %v, next %v; want %v, %v", row.at, got.Trigger, got.Interval, got.Next, row.trigger, row.interval)
		}
		for _, want := range []struct {
			id       string
			category growth.Category
			limit    float64
		}{{"vae", row.vaeIn, row.vaeLimit}, {"mnist", row.mnistIn, row.mnistLimit}} {
			status, ok := f.Status(want.id)
			if ok != (want.category != growth.Outside) {
				t.Errorf("%d s: %s is there: %v", row.at, want.id, ok)
			}
			if ok && (status.Category != want.category || !cmp.Equal(status.Limits, []float64{want.limit}, near)) {
				t.Errorf("%d s: %s is %v with limits %v, want %v, %v", row.at, want.id, status.Category, status.Limits, want.category, want.limit)
			}
		}
	}
}

// Reference: [Zheng] §5.2.1, Algorithm 3, as a chain: one step down at each check.
func TestPaperSpeConTrace(t *testing.T) {
	const (
		P, W, C = growth.Progressing, growth.Watching, growth.Converged
	)
	values := []float64{1, 0.70, 0.50, 0.47, 0.45, 0.44, 0.438, 0.43, 0.30}
	for _, test := range []struct {
		name     string
		options  *growth.SpeConOptions
		category []growth.Category
		request  []bool
	}{
		{"chain", nil,
			[]growth.Category{P, P, P, W, C, C, C, C, P},
			[]bool{false, false, false, false, false, true, true, false, false}},
		{"asks at entry", &growth.SpeConOptions{AtEntry: true},
			[]growth.Category{P, P, P, W, C, C, C, C, P},
			[]bool{false, false, false, false, true, true, true, false, false}},
		{"separate tests as indented", &growth.SpeConOptions{Separate: true},
			[]growth.Category{P, P, P, C, C, C, C, C, P},
			[]bool{false, false, false, true, true, true, true, false, false}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := growth.NewSpeCon(growth.SpeConConfig{Interval: 20 * second, Alpha: 0.05}, test.options)
			if err != nil {
				t.Fatal(err)
			}
			for i, value := range values {
				now := time.Duration(i) * 20 * second
				// Two others on the worker grow, so |PC| + |WC| > 1.
				var report growth.Report
				if err := s.Step(now, []growth.Observation{
					{ID: "job", Worker: "w", At: now, Value: value},
					{ID: "other1", Worker: "w", At: now, Value: float64(10 * i)},
					{ID: "other2", Worker: "w", At: now, Value: float64(-7 * i)},
				}, &report); err != nil {
					t.Fatal(err)
				}
				if status, _ := s.Status("job"); status.Category != test.category[i] {
					t.Errorf("check %d: %v, want %v", i, status.Category, test.category[i])
				}
				asked := len(report.Requests) == 1 && report.Requests[0].ID == "job" && report.Requests[0].Worker == "w"
				if asked != test.request[i] {
					t.Errorf("check %d: requests %v, want one: %v", i, report.Requests, test.request[i])
				}
			}
		})
	}
}

// Reference: [Zheng] equations (4.1), (4.2) and (5.1).
func TestPaperEfficiency(t *testing.T) {
	for _, test := range []struct {
		name      string
		got, want float64
	}{
		{"(4.1) falling", growth.Progress(1, 0.4, 20*second), 0.03},
		{"(4.1) rising", growth.Progress(0.4, 1, 20*second), 0.03},
		{"(4.1) half a second", growth.Progress(0, 1, second/2), 2},
		{"(4.2)", growth.Efficiency(0.03, 0.25), 0.12},
		{"(4.2) no progress, no usage", growth.Efficiency(0, 0), 0},
		{"(4.2) progress without usage", growth.Efficiency(0.5, 0), 0.5 / growth.UsageFloor},
		{"a loss that falls 65 % in 60 s is below 5 %", growth.Progress(1, 0.35, 60*second), 0.65 / 60},
	} {
		if math.Abs(test.got-test.want) > 1e-12*max(1, test.want) {
			t.Errorf("%s: %v, want %v", test.name, test.got, test.want)
		}
	}
}

// Reference: [Zheng] §6, the percentages that its tables and text derive from its times. Those that
// differ in the last digit are printed truncated.
func TestPaperPercentages(t *testing.T) {
	for _, row := range []struct {
		before, after float64
		printed, want float64
	}{
		{84.7, 57.7, 31.9, 31.9}, {84.7, 59.4, 29.87, 29.87}, {489.4, 396.4, 19.0, 19.0},
		{188.3, 110.8, 41.2, 41.2}, {348.7, 217.6, 37.6, 37.6}, {275.2, 234.7, 14.7, 14.7},
		{1167.8, 799.2, 31.6, 31.6}, {1421, 1070, 24.7, 24.7}, {447.4, 314.9, 29.6, 29.6},
		{799.5, 752.6, 5.9, 5.9}, {467.5, 273.4, 41.5, 41.5}, {2070, 1840, 11.1, 11.1},
		{489.4, 401.6, 17.92, 17.94}, {596.3, 553.0, 7.2, 7.26}, {1640, 1370, 16.4, 16.46},
	} {
		got := 100 * growth.Progress(row.before, row.after, second) / row.before
		if tolerance := 0.06; math.Abs(got-row.printed) > tolerance+0.02 || math.Abs(got-row.want) > tolerance {
			t.Errorf("%v -> %v: %.4f %%, printed %v, want %v", row.before, row.after, got, row.printed, row.want)
		}
	}
}

// Reference: [Zheng] §4.1.3, problem (4.3), with the sum bounded by the capacity.
func TestPaperOptimum(t *testing.T) {
	claims := []growth.Claim{
		{ID: "vae", Growth: 0.02, Min: 250, Max: 1000},
		{ID: "mnist", Growth: 0.3, Min: 100, Max: 600},
		{ID: "gru", Growth: 0.1, Min: 0, Max: 400},
	}
	got, err := growth.Optimize(1000, claims)
	if err != nil {
		t.Fatal(err)
	}
	want := growth.Optimum{Feasible: true, Grants: []int64{250, 600, 150}, Total: 0.02*250 + 0.3*600 + 0.1*150, Price: 0.1}
	if diff := cmp.Diff(want, got, near); diff != "" {
		t.Error(diff)
	}
	if got, err := growth.Optimize(300, claims); err != nil || got.Feasible || got.Shortfall != 50 {
		t.Errorf("minima above the capacity: %+v, %v", got, err)
	}
	if _, err := growth.Optimize(-1, []growth.Claim{{ID: "a", Growth: math.NaN(), Min: 3, Max: 2}, {ID: "a"}}); !errors.Is(err, apportion.ErrNegative) ||
		!errors.Is(err, apportion.ErrRange) || !errors.Is(err, apportion.ErrConflict) || !errors.Is(err, apportion.ErrDuplicate) {
		t.Errorf("bad input: %v", err)
	}
}
