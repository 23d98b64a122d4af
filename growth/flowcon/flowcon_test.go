// This file tests FlowCon's edges: bad input, back-off, readings that fail, sums that are zero.

package flowcon_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/growth/flowcon"
	"github.com/apportion/apportion/internal/must"
)

func executor(t testing.TB, kinds int, options *flowcon.Options) *flowcon.Executor {
	t.Helper()
	return must.Have(flowcon.New(flowcon.Config{Interval: 20 * second, Alpha: 0.05, Kinds: kinds}, options))(t)
}

func TestNewFaults(t *testing.T) {
	good := flowcon.Config{Interval: second, Alpha: 0.05, Kinds: 1}
	for _, test := range []struct {
		name    string
		config  flowcon.Config
		options *flowcon.Options
		want    error
	}{
		{"good", good, nil, nil},
		{"classifier instead of alpha", flowcon.Config{Interval: second, Kinds: 1}, &flowcon.Options{Classifier: growth.Prospect{Alpha: 0.5}}, nil},
		{"no interval", flowcon.Config{Alpha: 1, Kinds: 1}, nil, apportion.ErrRange},
		{"alpha 0", flowcon.Config{Interval: second, Kinds: 1}, nil, apportion.ErrRange},
		{"alpha NaN", flowcon.Config{Interval: second, Alpha: math.NaN(), Kinds: 1}, nil, apportion.ErrRange},
		{"alpha infinite", flowcon.Config{Interval: second, Alpha: math.Inf(1), Kinds: 1}, nil, apportion.ErrRange},
		{"no kinds", flowcon.Config{Interval: second, Alpha: 1}, nil, apportion.ErrRange},
		{"steering by no kind", good, &flowcon.Options{Steering: 1}, apportion.ErrRange},
		{"beta below 1", good, &flowcon.Options{Beta: 0.5}, apportion.ErrRange},
		{"beta NaN", good, &flowcon.Options{Beta: math.NaN()}, apportion.ErrRange},
		{"beta infinite", good, &flowcon.Options{Beta: math.Inf(1)}, apportion.ErrRange},
		{"cap below the interval", good, &flowcon.Options{MaxInterval: 1}, apportion.ErrConflict},
		{"one more beside beta", good, &flowcon.Options{BoundOneMore: true, Beta: 2}, apportion.ErrConflict},
		{"one more", good, &flowcon.Options{BoundOneMore: true}, nil},
		{"negative silence", good, &flowcon.Options{Silence: -1}, apportion.ErrNegative},
		{"negative least interval", good, &flowcon.Options{MinInterval: -1}, apportion.ErrNegative},
	} {
		must.Fail(flowcon.New(test.config, test.options))(t, test.want, test.name)
	}
}

// TestRefusesAndStays checks that bad input changes nothing, not even what is new in it.
func TestRefusesAndStays(t *testing.T) {
	f := executor(t, 1, nil)
	a, b := &play{id: "a", value: 1}, &play{id: "b", value: 3}
	step(t, f, 0, a.reading(0, 0))
	full := []float64{1}
	for _, test := range []struct {
		name     string
		now      time.Duration
		readings []flowcon.Reading
		want     error
	}{
		{"twice", 20 * second, []flowcon.Reading{{Job: "a", Usage: full}, {Job: "a", Usage: full}}, apportion.ErrDuplicate},
		{"twice and new", 20 * second, []flowcon.Reading{{Job: "n", Usage: full}, {Job: "a", Usage: full}, {Job: "n", Usage: full}}, apportion.ErrDuplicate},
		{"no id", 20 * second, []flowcon.Reading{{Usage: full}}, apportion.ErrEmpty},
		{"usages of two kinds", 20 * second, []flowcon.Reading{{Job: "n", Usage: []float64{1, 1}}}, apportion.ErrLength},
		{"clock goes back", -1, []flowcon.Reading{{Job: "n", Usage: full}}, apportion.ErrRange},
	} {
		var d flowcon.Decision
		must.Err(t, f.Step(test.now, test.readings, &d), test.want, test.name)
		if _, ok := f.Standing("n"); ok {
			t.Errorf("%s: n was admitted", test.name)
		}
	}
	// The next good step is the same as without the bad ones.
	got := step(t, f, 20*second, a.reading(20*second, 0.01), b.reading(20*second, 0))
	want := flowcon.Decision{
		Trigger: flowcon.Listener, Interval: 20 * second, Next: 40 * second,
		Changes: []growth.Change{
			{Job: "b", To: growth.Progressing, Cause: growth.Arrived},
			{Job: "a", From: growth.Progressing, To: growth.Watching, Growth: 0.01, Cause: growth.GrowsSlowly},
		},
		Limits: []flowcon.Limit{{Job: "b", Value: 1, Rule: flowcon.Unmeasured}},
	}
	must.Equal(t, cmp.Diff(want, got, near), "")
}

func TestBackOff(t *testing.T) {
	for _, test := range []struct {
		name    string
		options *flowcon.Options
		want    []time.Duration // the intervals after each run
	}{
		{"no cap", nil, []time.Duration{20, 20, 40, 80, 160}},
		{"cap between", &flowcon.Options{MaxInterval: 70 * second}, []time.Duration{20, 20, 40, 70, 70}},
		{"cap at the interval", &flowcon.Options{MaxInterval: 20 * second}, []time.Duration{20, 20, 20, 20, 20}},
	} {
		f := executor(t, 1, test.options)
		a, now := &play{id: "a", value: 5}, time.Duration(0)
		for i, want := range test.want {
			d := step(t, f, now, a.reading(now, 0.01))
			must.Equal(t, d.Interval, want*second, test.name, "run", i, "interval")
			now = d.Next
		}
	}
}

type reading = flowcon.Reading

// limitTest plays scenes that are 20 s apart, and wants limits.
type limitTest struct {
	name    string
	options *flowcon.Options
	scenes  [][]reading
	want    map[string]float64
}

func (test *limitTest) run(t *testing.T) {
	f := executor(t, 1, test.options)
	for i, scene := range test.scenes {
		for j := range scene {
			scene[j].At = time.Duration(i) * 20 * second
		}
		step(t, f, time.Duration(i)*20*second, scene...)
	}
	for id, want := range test.want {
		if status, _ := f.Standing(id); !cmp.Equal(status.Limits, []float64{want}, near) {
			t.Errorf("%s: limits %v, want %v (%v)", id, status.Limits, want, status.Category)
		}
	}
}

func TestLimits(t *testing.T) {
	full, half := []float64{1}, []float64{0.5}
	for _, test := range []limitTest{
		{"alone and growing", nil, [][]reading{{{Job: "a", Value: 8, Usage: full}}, {{Job: "a", Value: 0, Usage: full}}}, map[string]float64{"a": 1}},
		{"growth of 3 to 1 in the share of the first value", &flowcon.Options{Beta: 100},
			[][]reading{
				{{Job: "a", Value: 10, Usage: full}, {Job: "b", Value: 200, Usage: full}},
				{{Job: "a", Value: 70, Usage: full}, {Job: "b", Value: -200, Usage: full}}},
			map[string]float64{"a": 0.75, "b": 0.25}},
		{"the same at half the usage is twice as efficient", &flowcon.Options{Beta: 100},
			[][]reading{
				{{Job: "a", Value: 1, Usage: half}, {Job: "b", Value: 2, Usage: full}},
				{{Job: "a", Value: -2, Usage: half}, {Job: "b", Value: -4, Usage: full}}},
			map[string]float64{"a": 2. / 3, "b": 1. / 3}},
		{"a growing job has the lower bound too", nil,
			[][]reading{
				{{Job: "a", Value: 1, Usage: full}, {Job: "b", Value: 1, Usage: full}},
				{{Job: "a", Value: 40, Usage: full}, {Job: "b", Value: 3, Usage: full}}},
			map[string]float64{"a": 39. / 41, "b": 0.25}},
		{"unless it is as printed", &flowcon.Options{BoundConvergedOnly: true},
			[][]reading{
				{{Job: "a", Value: 1, Usage: full}, {Job: "b", Value: 1, Usage: full}},
				{{Job: "a", Value: 40, Usage: full}, {Job: "b", Value: 3, Usage: full}}},
			map[string]float64{"a": 39. / 41, "b": 2. / 41}},
		{"diverged and silent", nil,
			[][]reading{
				{{Job: "a", Value: 1, Usage: full}, {Job: "b", Value: 1, Usage: full}, {Job: "c", Value: 4, Usage: full}},
				{{Job: "a", Value: math.NaN(), Usage: full}, {Job: "b", Value: 9, Usage: full}, {Job: "c", Value: 40, Usage: full}},
				{{Job: "a", Value: math.Inf(1), Usage: full}, {Job: "b", Value: 17, Usage: full}, {Job: "c", Missing: true}}},
			map[string]float64{"a": 1. / 6, "b": 8. / 17, "c": 9. / 17}},
		{"usage that is no number is no reading", nil,
			[][]reading{
				{{Job: "a", Value: 1, Usage: full}, {Job: "b", Value: 1, Usage: full}},
				{{Job: "a", Value: 9, Usage: []float64{math.NaN()}}, {Job: "b", Value: 3, Usage: full}}},
			map[string]float64{"a": 1, "b": 1}},
	} {
		t.Run(test.name, test.run)
	}
}

// What a published program of the authors does, each beside what the default is.
func TestLimitsOfChoices(t *testing.T) {
	full := []float64{1}
	for _, test := range []limitTest{
		{"the bound is an even share with one more", &flowcon.Options{BoundOneMore: true},
			[][]reading{
				{{Job: "a", Value: 1, Usage: full}, {Job: "b", Value: 1, Usage: full}},
				{{Job: "a", Value: 40, Usage: full}, {Job: "b", Value: 3, Usage: full}}},
			map[string]float64{"a": 39. / 41, "b": 1. / 3}},
		{"who is not measured is waited for", nil,
			[][]reading{
				{{Job: "a", Value: 1, Usage: full}, {Job: "b", Value: 1, Usage: full}, {Job: "c", Missing: true}},
				{{Job: "a", Value: 31, Usage: full}, {Job: "b", Value: 11, Usage: full}, {Job: "c", Value: 4, Usage: full}}},
			map[string]float64{"a": 1, "b": 1, "c": 1}},
		{"unless it counts as 0", &flowcon.Options{UnmeasuredIsZero: true},
			[][]reading{
				{{Job: "a", Value: 1, Usage: full}, {Job: "b", Value: 1, Usage: full}, {Job: "c", Missing: true}},
				{{Job: "a", Value: 31, Usage: full}, {Job: "b", Value: 11, Usage: full}, {Job: "c", Value: 4, Usage: full}}},
			// c is converged after two runs, and has the lower bound of three.
			map[string]float64{"a": 3. / 4, "b": 1. / 4, "c": 1. / 6}},
		{"a missing reading leaves growth as it was", nil,
			[][]reading{
				{{Job: "a", Value: 1, Usage: full}, {Job: "b", Value: 1, Usage: full}},
				{{Job: "a", Value: 31, Usage: full}, {Job: "b", Value: 11, Usage: full}},
				{{Job: "a", Missing: true}, {Job: "b", Value: 21, Usage: full}}},
			map[string]float64{"a": 3. / 4, "b": 1. / 4}},
		{"unless that counts as 0", &flowcon.Options{MissingIsZero: true},
			[][]reading{
				{{Job: "a", Value: 1, Usage: full}, {Job: "b", Value: 1, Usage: full}},
				{{Job: "a", Value: 31, Usage: full}, {Job: "b", Value: 11, Usage: full}},
				{{Job: "a", Missing: true}, {Job: "b", Value: 21, Usage: full}},
				{{Job: "a", Missing: true}, {Job: "b", Value: 31, Usage: full}}},
			map[string]float64{"a": 1. / 4, "b": 1}},
	} {
		t.Run(test.name, test.run)
	}
}

// TestKinds checks that lists follow the steering kind and limits the growth of each kind.
func TestKinds(t *testing.T) {
	f := executor(t, 2, &flowcon.Options{Steering: 1, Beta: 100})
	at := func(now time.Duration, a, b float64) flowcon.Decision {
		return step(t, f, now,
			flowcon.Reading{Job: "a", At: now, Value: a, Usage: []float64{0.1, 1}},
			flowcon.Reading{Job: "b", At: now, Value: b, Usage: []float64{0.5, 0.25}})
	}
	at(0, 1, 1)
	// Progress of a is 0.02, of b 0.04: by kind 0 they grow 0.2 and 0.08, by kind 1 0.02 and 0.16.
	d := at(20*second, 1.4, 1.8)
	if len(d.Changes) != 1 || d.Changes[0].Job != "a" || math.Abs(d.Changes[0].Growth-0.02) > 1e-12 {
		t.Errorf("moves %v, want a by its growth 0.02", d.Changes)
	}
	for id, want := range map[string][]float64{"a": {1, 1}, "b": {0.08 / 0.28, 0.16 / 0.18}} {
		if status, _ := f.Standing(id); !cmp.Equal(status.Limits, want, near) {
			t.Errorf("%s: limits %v, want %v", id, status.Limits, want)
		}
	}
}

func TestWithoutContainers(t *testing.T) {
	f := executor(t, 1, nil)
	d := step(t, f, 0)
	if d.Trigger != flowcon.Due || d.Next != 20*second || len(d.Changes)+len(d.Limits) > 0 {
		t.Errorf("no jobs: %+v", d)
	}
	if d = step(t, f, 20*second); d.Interval != 20*second {
		t.Errorf("nobody converged, yet the interval is %v", d.Interval)
	}
	if _, ok := f.Standing("a"); ok {
		t.Error("a is there")
	}
}

func TestNames(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{flowcon.Limit{Job: "vae", Value: 0.25, Was: 1, Rule: flowcon.LowerBound}.String(), "vae: kind 0 limit 1 -> 0.25, lower bound"},
	} {
		must.Equal(t, test.got, test.want)
	}
}

// Readings that are noted between two runs count in the average usage, and their values do not.
func TestNote(t *testing.T) {
	e := executor(t, 1, nil)
	step(t, e, 0, flowcon.Reading{Job: "a", Value: 100})
	for _, r := range []flowcon.Reading{
		{Job: "a", At: 5 * second, Value: 3, Usage: []float64{1}},
		{Job: "nobody", At: 5 * second, Value: 3, Usage: []float64{1}},
		{Job: "a", At: 15 * second, Value: 4, Usage: []float64{0.25}},
	} {
		must.Do(t, e.Note(r))
	}
	must.Err(t, e.Note(flowcon.Reading{Job: "a", Usage: []float64{1, 1}}), apportion.ErrLength, "two usages for one kind")
	step(t, e, 20*second, flowcon.Reading{Job: "a", At: 20 * second, Value: 80, Usage: []float64{0.5}})
	if got, _ := e.Standing("a"); !cmp.Equal(got.Growth, []float64{0.2 / 20 / 0.5}, near) {
		t.Errorf("growth %v: 0.2 in 20 s at 1 for 5 s, 0.25 for 10 s and 0.5 for 5 s", got.Growth)
	}
	if _, ok := e.Standing("nobody"); ok {
		t.Error("a note admits a job")
	}
}

// learner reports a loss that falls like the square root of the work, half a worker at a time.
func learner(id string, now time.Duration) flowcon.Reading {
	return flowcon.Reading{Job: id, At: now, Value: 3 / math.Sqrt(1+now.Seconds()), Usage: []float64{0.5}}
}

func limitOf(t *testing.T, e *flowcon.Executor, id string) float64 {
	t.Helper()
	standing, ok := e.Standing(id)
	if !ok {
		t.Fatalf("no job %s", id)
	}
	return standing.Limits[0]
}

// The one that learns gets what those who are silent had, and its category says why.
func TestSilentJobsYield(t *testing.T) {
	e := must.Have(flowcon.New(flowcon.Config{Interval: 20 * second, Alpha: 1e-9, Kinds: 1}, nil))(t)
	causes := map[string]growth.Cause{}
	for i := range 12 {
		now := time.Duration(i) * 20 * second
		d := step(t, e, now, learner("learns", now), learner("stops", min(now, 60*second)), flowcon.Reading{Job: "never", Missing: true})
		for _, c := range d.Changes {
			causes[c.Job] = c.Cause
		}
	}
	must.Equal(t, limitOf(t, e, "learns"), 1, "the job that learns")
	for _, id := range []string{"stops", "never"} {
		if got := limitOf(t, e, id); got != 1.0/6 || causes[id] != growth.FellSilent {
			t.Errorf("%s has %v, %v", id, got, causes[id])
		}
	}
	// It speaks again.
	now := 240 * second
	step(t, e, now, learner("learns", now), learner("stops", now), flowcon.Reading{Job: "never", Missing: true})
	if standing, _ := e.Standing("stops"); standing.Silent || standing.Category != growth.Progressing || standing.Growth[0] == 0 {
		t.Errorf("speaks again: %+v", standing)
	}
}

// A job that comes later has as long to speak as one that was there at the start.
func TestSilenceCountsFromArrival(t *testing.T) {
	e := executor(t, 1, nil)
	step(t, e, 0, learner("learns", 0))
	for now := 200 * second; now <= 320*second; now += 20 * second {
		step(t, e, now, learner("learns", now), flowcon.Reading{Job: "late", Missing: true})
		if standing, _ := e.Standing("late"); standing.Silent != (now > 300*second) {
			t.Errorf("%v: silent %v", now, standing.Silent)
		}
	}
}

// A loss that rises is no growth where the reading says what is better.
func TestBetter(t *testing.T) {
	for better, want := range map[growth.Direction]growth.Verdict{growth.EitherWay: growth.Growing, growth.SmallerIsBetter: growth.Slow, growth.LargerIsBetter: growth.Growing} {
		e := executor(t, 1, &flowcon.Options{Classifier: growth.Prospect{Alpha: 0.05}})
		for i := range 12 {
			now := time.Duration(i) * 20 * second
			step(t, e, now, flowcon.Reading{Job: "rises", At: now, Value: 5 + now.Seconds()/100, Usage: []float64{1}, Better: better})
		}
		standing, _ := e.Standing("rises")
		if standing.Verdict != want || (standing.Growth[0] > 0) != (want == growth.Growing) {
			t.Errorf("%v: %v, growth %v", better, standing.Verdict, standing.Growth)
		}
	}
}

// A reading that MinInterval leaves for the next run is not missing, and one that comes again makes the job grow again.
func TestMissingIsZero(t *testing.T) {
	e := executor(t, 1, &flowcon.Options{MissingIsZero: true, MinInterval: 20 * second, Normalization: growth.Raw})
	a, b, c := &play{id: "a", value: 100}, &play{id: "b", value: 100}, &play{id: "c", value: 100}
	step(t, e, 0, a.reading(0, 0), b.reading(0, 0))
	step(t, e, 20*second, a.reading(20*second, 1), b.reading(20*second, 1))
	// The arrival asks for a run in which the readings of a and b are too close to the ones before.
	step(t, e, 25*second, a.reading(25*second, 1), b.reading(25*second, 1), c.reading(25*second, 0))
	for _, id := range []string{"a", "b"} {
		if standing, _ := e.Standing(id); standing.Category != growth.Progressing || standing.Growth[0] != 1 {
			t.Errorf("%s at 25 s: %+v, want it to grow by 1", id, standing)
		}
	}
	late := flowcon.Reading{Job: "a", Missing: true}
	step(t, e, 45*second, a.reading(45*second, 1), b.reading(45*second, 1), c.reading(45*second, 1))
	step(t, e, 65*second, late, b.reading(65*second, 1), c.reading(65*second, 1))
	if standing, _ := e.Standing("a"); standing.Category != growth.Watching || standing.Verdict != growth.Slow || standing.Growth[0] != 0 {
		t.Errorf("a without a reading: %+v, want it slow", standing)
	}
	step(t, e, 85*second, a.reading(85*second, 1), b.reading(85*second, 1), c.reading(85*second, 1))
	if standing, _ := e.Standing("a"); standing.Category != growth.Progressing || standing.Growth[0] != 1 {
		t.Errorf("a that reads again: %+v, want it to grow by 1", standing)
	}
}
