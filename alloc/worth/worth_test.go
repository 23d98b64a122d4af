package worth_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/worth"
	"github.com/apportion/apportion/internal/must"
)

// near compares floats that are computed in another order.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-12*math.Max(1, math.Abs(b)) }

// Each utility is its formula, at the speeds in parts of the fair one.
func TestOf(t *testing.T) {
	inverse := must.Have(worth.Alpha(2))(t)
	root := must.Have(worth.Alpha(0.5))(t)
	for name, c := range map[string]struct {
		u    worth.Utility
		want worth.Worths
	}{
		"speed-up":     {worth.Speedup, worth.Worths{Worth: []float64{1, 2, 3}, Idle: .5}},
		"proportional": {worth.Fair, worth.Worths{Worth: []float64{2 * math.Log(.5), 0, 2 * math.Log(1.5)}, Idle: 2 * math.Log(.25)}},
		"alpha 2":      {inverse, worth.Worths{Worth: []float64{-4, -2, -4. / 3}, Idle: -8}},
		"alpha 1/2":    {root, worth.Worths{Worth: []float64{4 * math.Sqrt(.5), 4, 4 * math.Sqrt(1.5)}, Idle: 2}},
	} {
		got, err := worth.Of(&worth.Job{Speeds: []float64{100, 200, 300}, Fair: 200, Weight: 2, Floor: .25}, c.u)
		if err != nil || got.Stay != nil || !near(got.Idle, c.want.Idle) || len(got.Worth) != 3 {
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, c.want)
			continue
		}
		for n := range got.Worth {
			if !near(got.Worth[n], c.want.Worth[n]) {
				t.Errorf("%s: %d containers are worth %g, want %g", name, n+1, got.Worth[n], c.want.Worth[n])
			}
		}
	}
	if same, err := worth.Alpha(1); err != nil || same(2) != worth.Fair(2) {
		t.Errorf("alpha 1 is no logarithm, %v", err)
	}
}

// A restart costs one that runs a part of its speeds, but not of what it has; a newcomer it costs nothing.
func TestOfRunning(t *testing.T) {
	job := worth.Job{Speeds: []float64{10, 20}, Fair: 10, Held: 15, Restart: .8}
	got, err := worth.Of(&job, worth.Speedup)
	stay := 1.5
	if want := (&worth.Worths{Worth: []float64{.8, 1.6}, Idle: .01, Stay: &stay}); err != nil || !cmp.Equal(got, want) {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	job.Held = 0
	got, err = worth.Of(&job, worth.Speedup)
	if want := (&worth.Worths{Worth: []float64{1, 2}, Idle: .01}); err != nil || !cmp.Equal(got, want) {
		t.Errorf("a newcomer: %+v, %v, want %+v", got, err, want)
	}
}

// Bad numbers are refused, each in its field, all at once.
func TestBadJobs(t *testing.T) {
	for name, c := range map[string]struct {
		change func(j *worth.Job)
		field  string
		want   error
	}{
		"no speed":          {func(j *worth.Job) { j.Speeds = nil }, "Speeds", apportion.ErrEmpty},
		"no number":         {func(j *worth.Job) { j.Speeds[1] = math.NaN() }, "Speeds[1]", apportion.ErrNotFinite},
		"standing still":    {func(j *worth.Job) { j.Speeds[0] = 0 }, "Speeds[0]", apportion.ErrRange},
		"running backwards": {func(j *worth.Job) { j.Speeds[0] = -1 }, "Speeds[0]", apportion.ErrRange},
		"nothing due":       {func(j *worth.Job) { j.Fair = 0 }, "Fair", apportion.ErrRange},
		"endless due":       {func(j *worth.Job) { j.Fair = math.Inf(1) }, "Fair", apportion.ErrNotFinite},
		"negative weight":   {func(j *worth.Job) { j.Weight = -1 }, "Weight", apportion.ErrRange},
		"endless weight":    {func(j *worth.Job) { j.Weight = math.Inf(1) }, "Weight", apportion.ErrNotFinite},
		"a floor above all": {func(j *worth.Job) { j.Floor = 1.5 }, "Floor", apportion.ErrRange},
		"a floor of none":   {func(j *worth.Job) { j.Floor = math.NaN() }, "Floor", apportion.ErrNotFinite},
		"holding less":      {func(j *worth.Job) { j.Held = -1 }, "Held", apportion.ErrRange},
		"a gain by restart": {func(j *worth.Job) { j.Restart = 1.1 }, "Restart", apportion.ErrRange},
	} {
		job := worth.Job{Speeds: []float64{1, 2}, Fair: 1, Held: 1}
		c.change(&job)
		_, err := worth.Of(&job, worth.Fair)
		var faults apportion.Faults
		if !errors.As(err, &faults) || len(faults) != 1 || faults[0].Field != c.field || !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v in %s", name, err, c.want, c.field)
		}
	}
	for _, alpha := range []float64{-1, 4, math.NaN(), math.Inf(1)} {
		if u, err := worth.Alpha(alpha); err == nil || u != nil {
			t.Errorf("alpha %g is taken", alpha)
		}
	}
}

// A fair number of containers that is not whole lies between two speeds.
func TestFairSpeed(t *testing.T) {
	counts, speeds := []int64{1, 2, 4}, []float64{10, 18, 30}
	for fair, want := range map[float64]float64{0: 0, .5: 5, 1: 10, 1.5: 14, 2: 18, 3: 24, 4: 30, 9: 30} {
		if got := worth.FairSpeed(counts, speeds, fair); !near(got, want) {
			t.Errorf("%g containers: %g, want %g", fair, got, want)
		}
	}
	if got := worth.FairSpeed(nil, nil, 2); got != 0 {
		t.Errorf("without counts: %g", got)
	}
}

// Weights and factors are their formulas, at the ends too.
func TestWeights(t *testing.T) {
	for name, c := range map[string][2]float64{
		"new":                     {worth.Attained(0, 3600, .5), 1},
		"three hours":             {worth.Attained(3*3600, 3600, .5), .5},
		"whatever it has had":     {worth.Attained(1e9, 3600, 0), 1},
		"a clock that ran back":   {worth.Attained(-5, 3600, .5), 1},
		"growing":                 {worth.Growth(.75, .1), .75},
		"converged":               {worth.Growth(0, .1), .1},
		"beyond its own forecast": {worth.Growth(1.5, .1), 1},
		"never moved":             {worth.Restart(time.Hour, 0, 0), 1},
		"once in an hour":         {worth.Restart(time.Hour, time.Minute, 1), 59. / 61},
		"just come":               {worth.Restart(0, time.Minute, 0), .01},
		"nothing but restarts":    {worth.Restart(time.Minute, time.Minute, 9), .01},
		"no age and no delay":     {worth.Restart(0, 0, 3), 1},
	} {
		if !near(c[0], c[1]) {
			t.Errorf("%s: %g, want %g", name, c[0], c[1])
		}
	}
}
