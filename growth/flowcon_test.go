// This file tests FlowCon's edges: bad input, back-off, readings that fail, sums that are zero.

package growth_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/growth"
)

func flowCon(t testing.TB, kinds int, options *growth.FlowConOptions) *growth.FlowCon {
	t.Helper()
	f, err := growth.NewFlowCon(growth.FlowConConfig{Interval: 20 * second, Alpha: 0.05, Kinds: kinds}, options)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestNewFlowConFaults(t *testing.T) {
	good := growth.FlowConConfig{Interval: second, Alpha: 0.05, Kinds: 1}
	for _, test := range []struct {
		name    string
		config  growth.FlowConConfig
		options *growth.FlowConOptions
		want    error
	}{
		{"good", good, nil, nil},
		{"classifier instead of alpha", growth.FlowConConfig{Interval: second, Kinds: 1}, &growth.FlowConOptions{Classifier: growth.Prospect{Alpha: 1}}, nil},
		{"no interval", growth.FlowConConfig{Alpha: 1, Kinds: 1}, nil, apportion.ErrRange},
		{"alpha 0", growth.FlowConConfig{Interval: second, Kinds: 1}, nil, apportion.ErrRange},
		{"alpha NaN", growth.FlowConConfig{Interval: second, Alpha: math.NaN(), Kinds: 1}, nil, apportion.ErrRange},
		{"alpha infinite", growth.FlowConConfig{Interval: second, Alpha: math.Inf(1), Kinds: 1}, nil, apportion.ErrRange},
		{"no kinds", growth.FlowConConfig{Interval: second, Alpha: 1}, nil, apportion.ErrRange},
		{"steering by no kind", good, &growth.FlowConOptions{Steering: 1}, apportion.ErrRange},
		{"beta below 1", good, &growth.FlowConOptions{Beta: 0.5}, apportion.ErrRange},
		{"beta NaN", good, &growth.FlowConOptions{Beta: math.NaN()}, apportion.ErrRange},
		{"beta infinite", good, &growth.FlowConOptions{Beta: math.Inf(1)}, apportion.ErrRange},
		{"cap below the interval", good, &growth.FlowConOptions{MaxInterval: 1}, apportion.ErrConflict},
		{"negative least interval", good, &growth.FlowConOptions{MinInterval: -1}, apportion.ErrNegative},
	} {
		if _, err := growth.NewFlowCon(test.config, test.options); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", test.name, err, test.want)
		}
	}
}

// TestFlowConRefusesAndStays checks that bad input changes nothing, not even what is new in it.
func TestFlowConRefusesAndStays(t *testing.T) {
	f := flowCon(t, 1, nil)
	a, b := &job{id: "a", value: 1}, &job{id: "b", value: 3}
	step(t, f, 0, a.reading(0, 0))
	full := []float64{1}
	for _, test := range []struct {
		name     string
		now      time.Duration
		readings []growth.Reading
		want     error
	}{
		{"twice", 20 * second, []growth.Reading{{ID: "a", Usage: full}, {ID: "a", Usage: full}}, apportion.ErrDuplicate},
		{"twice and new", 20 * second, []growth.Reading{{ID: "n", Usage: full}, {ID: "a", Usage: full}, {ID: "n", Usage: full}}, apportion.ErrDuplicate},
		{"no id", 20 * second, []growth.Reading{{Usage: full}}, apportion.ErrEmpty},
		{"usages of two kinds", 20 * second, []growth.Reading{{ID: "n", Usage: []float64{1, 1}}}, apportion.ErrLength},
		{"clock goes back", -1, []growth.Reading{{ID: "n", Usage: full}}, apportion.ErrRange},
	} {
		var d growth.Decision
		if err := f.Step(test.now, test.readings, &d); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", test.name, err, test.want)
		}
		if _, ok := f.Status("n"); ok {
			t.Errorf("%s: n was admitted", test.name)
		}
	}
	// The next good step is the same as without the bad ones.
	got := step(t, f, 20*second, a.reading(20*second, 0.01), b.reading(20*second, 0))
	want := growth.Decision{
		Trigger: growth.Listener, Interval: 20 * second, Next: 40 * second,
		Moves: []growth.Move{
			{ID: "b", To: growth.Progressing, Reason: growth.Arrived},
			{ID: "a", From: growth.Progressing, To: growth.Watching, Growth: 0.01, Reason: growth.GrowsSlowly},
		},
		Limits: []growth.Limit{{ID: "b", Value: 1, Rule: growth.Unmeasured}},
	}
	if diff := cmp.Diff(want, got, near); diff != "" {
		t.Error(diff)
	}
}

func TestFlowConBackOff(t *testing.T) {
	for _, test := range []struct {
		name    string
		options *growth.FlowConOptions
		want    []time.Duration // the intervals after each run
	}{
		{"no cap", nil, []time.Duration{20, 20, 40, 80, 160}},
		{"cap between", &growth.FlowConOptions{MaxInterval: 70 * second}, []time.Duration{20, 20, 40, 70, 70}},
		{"cap at the interval", &growth.FlowConOptions{MaxInterval: 20 * second}, []time.Duration{20, 20, 20, 20, 20}},
	} {
		f := flowCon(t, 1, test.options)
		a, now := &job{id: "a", value: 5}, time.Duration(0)
		for i, want := range test.want {
			d := step(t, f, now, a.reading(now, 0.01))
			if d.Interval != want*second {
				t.Errorf("%s: run %d: interval %v, want %v", test.name, i, d.Interval, want*second)
			}
			now = d.Next
		}
	}
}

// TestFlowConBackOffSaturates runs until the interval reaches the longest duration.
func TestFlowConBackOffSaturates(t *testing.T) {
	f := flowCon(t, 1, nil)
	now := time.Duration(0)
	for range 60 {
		d := step(t, f, now, growth.Reading{ID: "a", At: now, Value: 1, Usage: []float64{1}})
		if d.Next < now || d.Interval < 20*second {
			t.Fatalf("at %v the next run is at %v, interval %v", now, d.Next, d.Interval)
		}
		now = d.Next
	}
	if now != math.MaxInt64 {
		t.Errorf("stopped at %v", now)
	}
}

func TestFlowConLimits(t *testing.T) {
	full, half := []float64{1}, []float64{0.5}
	type reading = growth.Reading
	for _, test := range []struct {
		name    string
		options *growth.FlowConOptions
		scenes  [][]reading // 20 s apart
		want    map[string]float64
	}{
		{"alone and growing", nil, [][]reading{{{ID: "a", Value: 8, Usage: full}}, {{ID: "a", Value: 0, Usage: full}}}, map[string]float64{"a": 1}},
		{"growth of 3 to 1 in the share of the first value", &growth.FlowConOptions{Beta: 100},
			[][]reading{
				{{ID: "a", Value: 10, Usage: full}, {ID: "b", Value: 200, Usage: full}},
				{{ID: "a", Value: 70, Usage: full}, {ID: "b", Value: -200, Usage: full}}},
			map[string]float64{"a": 0.75, "b": 0.25}},
		{"the same at half the usage is twice as efficient", &growth.FlowConOptions{Beta: 100},
			[][]reading{
				{{ID: "a", Value: 1, Usage: half}, {ID: "b", Value: 2, Usage: full}},
				{{ID: "a", Value: -2, Usage: half}, {ID: "b", Value: -4, Usage: full}}},
			map[string]float64{"a": 2. / 3, "b": 1. / 3}},
		{"a growing container has the lower bound too", nil,
			[][]reading{
				{{ID: "a", Value: 1, Usage: full}, {ID: "b", Value: 1, Usage: full}},
				{{ID: "a", Value: 40, Usage: full}, {ID: "b", Value: 3, Usage: full}}},
			map[string]float64{"a": 39. / 41, "b": 0.25}},
		{"unless it is as printed", &growth.FlowConOptions{BoundConvergedOnly: true},
			[][]reading{
				{{ID: "a", Value: 1, Usage: full}, {ID: "b", Value: 1, Usage: full}},
				{{ID: "a", Value: 40, Usage: full}, {ID: "b", Value: 3, Usage: full}}},
			map[string]float64{"a": 39. / 41, "b": 2. / 41}},
		{"diverged and silent", nil,
			[][]reading{
				{{ID: "a", Value: 1, Usage: full}, {ID: "b", Value: 1, Usage: full}, {ID: "c", Value: 4, Usage: full}},
				{{ID: "a", Value: math.NaN(), Usage: full}, {ID: "b", Value: 9, Usage: full}, {ID: "c", Value: 40, Usage: full}},
				{{ID: "a", Value: math.Inf(1), Usage: full}, {ID: "b", Value: 17, Usage: full}, {ID: "c", Missing: true}}},
			map[string]float64{"a": 1. / 6, "b": 8. / 17, "c": 9. / 17}},
		{"usage that is no number is no reading", nil,
			[][]reading{
				{{ID: "a", Value: 1, Usage: full}, {ID: "b", Value: 1, Usage: full}},
				{{ID: "a", Value: 9, Usage: []float64{math.NaN()}}, {ID: "b", Value: 3, Usage: full}}},
			map[string]float64{"a": 1, "b": 1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := flowCon(t, 1, test.options)
			for i, scene := range test.scenes {
				for j := range scene {
					scene[j].At = time.Duration(i) * 20 * second
				}
				step(t, f, time.Duration(i)*20*second, scene...)
			}
			for id, want := range test.want {
				if status, _ := f.Status(id); !cmp.Equal(status.Limits, []float64{want}, near) {
					t.Errorf("%s: limits %v, want %v (%v)", id, status.Limits, want, status.Category)
				}
			}
		})
	}
}

// TestFlowConKinds checks that lists follow the steering kind and limits the growth of each kind.
func TestFlowConKinds(t *testing.T) {
	f := flowCon(t, 2, &growth.FlowConOptions{Steering: 1, Beta: 100})
	at := func(now time.Duration, a, b float64) growth.Decision {
		return step(t, f, now,
			growth.Reading{ID: "a", At: now, Value: a, Usage: []float64{0.1, 1}},
			growth.Reading{ID: "b", At: now, Value: b, Usage: []float64{0.5, 0.25}})
	}
	at(0, 1, 1)
	// Progress of a is 0.02, of b 0.04: by kind 0 they grow 0.2 and 0.08, by kind 1 0.02 and 0.16.
	d := at(20*second, 1.4, 1.8)
	if len(d.Moves) != 1 || d.Moves[0].ID != "a" || math.Abs(d.Moves[0].Growth-0.02) > 1e-12 {
		t.Errorf("moves %v, want a by its growth 0.02", d.Moves)
	}
	for id, want := range map[string][]float64{"a": {1, 1}, "b": {0.08 / 0.28, 0.16 / 0.18}} {
		if status, _ := f.Status(id); !cmp.Equal(status.Limits, want, near) {
			t.Errorf("%s: limits %v, want %v", id, status.Limits, want)
		}
	}
}

// TestFlowConDropsAReadingAsAWhole checks that a usage that is no number drops the value too, so that
// the next reading measures both intervals.
func TestFlowConDropsAReadingAsAWhole(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), -0.5} {
		f := flowCon(t, 2, nil)
		for i, usage := range []float64{1, bad, 0.5} {
			now := time.Duration(i) * 20 * second
			step(t, f, now, growth.Reading{ID: "a", At: now, Value: 10 - 4*float64(i), Usage: []float64{1, usage}})
			if status, _ := f.Status("a"); status.Measured != (i == 2) {
				t.Errorf("usage %v: measured %v after %v", bad, status.Measured, now)
			}
		}
		if status, _ := f.Status("a"); !cmp.Equal(status.Growth, []float64{0.02, 0.04}, near) {
			t.Errorf("usage %v: growth %v, want 0.8 of the first value in 40 s", bad, status.Growth)
		}
	}
}

// TestFlowConMinInterval checks that a run soon after another measures only what has run long enough.
func TestFlowConMinInterval(t *testing.T) {
	f := flowCon(t, 1, &growth.FlowConOptions{MinInterval: 5 * second})
	a, b := &job{id: "a", value: 1}, &job{id: "b", value: 1, at: 21 * second}
	step(t, f, 0, a.reading(0, 0))
	step(t, f, 20*second, a.reading(20*second, 0.5))
	// In the second before b arrives a happened to stand still.
	step(t, f, 21*second, a.reading(21*second, 0), b.reading(21*second, 0))
	if status, _ := f.Status("a"); status.Category != growth.Progressing || !cmp.Equal(status.Growth, []float64{0.5}, near) {
		t.Errorf("a is %v with growth %v", status.Category, status.Growth)
	}
	// At 26 s, 6 s after the newest reading that counts, it is measured again over these 6 s.
	step(t, f, 26*second, a.reading(26*second, 0.6))
	if status, _ := f.Status("a"); !cmp.Equal(status.Growth, []float64{0.5}, near) {
		t.Errorf("the same growth %v before the interval is over", status.Growth)
	}
	step(t, f, 26*second, a.reading(26*second, 0.6), b.reading(26*second, 0), growth.Reading{ID: "c", Missing: true})
	if status, _ := f.Status("a"); !cmp.Equal(status.Growth, []float64{0.5}, near) {
		t.Errorf("growth %v over 6 s, want 0.5 (5 s at 0.6, 1 s at 0)", status.Growth)
	}
}

func TestFlowConWithoutContainers(t *testing.T) {
	f := flowCon(t, 1, nil)
	d := step(t, f, 0)
	if d.Trigger != growth.Due || d.Next != 20*second || len(d.Moves)+len(d.Limits) > 0 {
		t.Errorf("no containers: %+v", d)
	}
	if d = step(t, f, 20*second); d.Interval != 20*second {
		t.Errorf("nobody converged, yet the interval is %v", d.Interval)
	}
	if _, ok := f.Status("a"); ok {
		t.Error("a is there")
	}
}
