// This file tests what is kept between two checks: averages of usage, readings that are dropped, and
// what survives JSON.

package growth_test

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/internal/must"
)

// always says that every job grows.
type always struct{}

func (always) Judge(*growth.Series) growth.Verdict { return growth.Growing }

var anyTest = &growth.Test{Classifier: always{}}

func all(reflect.Type) bool { return true }

func used(t *testing.T, track *growth.Track, what string, want float64) {
	t.Helper()
	if got, measured := track.Usage(0).Share(); !measured || math.Abs(got-want) > 1e-12 {
		t.Errorf("%s: usage %v (measured %v), want %v", what, got, measured, want)
	}
}

// Readings between two checks count with the time that they stand for.
func TestTrackAverages(t *testing.T) {
	var track growth.Track
	offer := func(at int, value, usage float64) bool {
		return track.Offer(time.Duration(at)*second, value, []float64{usage})
	}
	offer(10, 5, 0.3)
	used(t, &track, "one reading", 0.3)
	track.Check(10*second, anyTest)
	offer(11, 4, 1)
	offer(14, 3, 0.2)
	if offer(13, 99, 99) || offer(14, 99, 99) || offer(-1, 99, 99) || offer(15, 99, -1) {
		t.Error("a reading that is late, negative or used less than nothing was taken")
	}
	used(t, &track, "1 for one second and 0.2 for three", 1.6/4)
	if outcome, verdict := track.Check(14*second, &growth.Test{Classifier: always{}, Least: 5 * second}); outcome != growth.Unusable || verdict != growth.Unsure {
		t.Errorf("closer than 5 s to the one before: %v, %v", outcome, verdict)
	}
	if outcome, verdict := track.Check(14*second, &growth.Test{Classifier: always{}, Least: 4 * second}); outcome != growth.Measured || verdict != growth.Growing {
		t.Errorf("what one check left is lost for the next: %v, %v", outcome, verdict)
	}
	used(t, &track, "over the interval that was closed", 1.6/4)
	if outcome, _ := track.Check(20*second, anyTest); outcome != growth.Unusable {
		t.Errorf("the same reading twice: %v", outcome)
	}
	offer(15, 2, 0.5)
	used(t, &track, "after a check", 0.5)
	track.Offer(17*second, 1, nil)
	used(t, &track, "beside a reading that measures none", 0.5)
	track.Check(17*second, anyTest)
	track.Offer(18*second, 0, nil)
	if _, measured := track.Usage(0).Share(); measured {
		t.Error("a usage where nobody measured one")
	}
}

// Nobody converges because he got nothing: under every classifier an idle interval leaves a job
// where it is, and a job that was not measured is not idle.
func TestIdleProvesNothing(t *testing.T) {
	for _, row := range classifiers {
		for _, test := range []struct {
			usage growth.Usage
			want  growth.Outcome
		}{
			{growth.Used(0), growth.Idle}, {growth.Used(growth.UsageFloor / 2), growth.Idle},
			{growth.Used(growth.UsageFloor), growth.Repeated}, {growth.Usage{}, growth.Repeated},
		} {
			var s growth.Series
			for i, value := range []float64{8, 4, 2} {
				s.Add(time.Duration(i)*10*second, value, growth.Used(1))
			}
			gain := s.Gain(growth.Raw)
			got := s.Add(30*second, 2, test.usage)
			verdict := growth.Judge(row.classifier, &s, got)
			if got != test.want || got == growth.Idle && (verdict != growth.Unsure || s.Gain(growth.Raw) != gain) {
				t.Errorf("%s, usage %v: %v, %v, gain %v", row.name, test.usage, got, verdict, s.Gain(growth.Raw))
			}
			// What it gains when it gets something again is measured from the end of the idleness.
			s.Add(40*second, 1, growth.Used(1))
			must.Equal(t, s.Progress(growth.Raw), 0.1, row.name, "usage", test.usage, "progress", "afterwards")
		}
	}
}

func TestCounter(t *testing.T) {
	var c growth.Counter
	for i, row := range []struct {
		at, used time.Duration
		want     growth.Usage
	}{
		{10 * second, 5 * second, growth.Usage{}}, // the first
		{20 * second, 10 * second, growth.Used(0.5)},
		{20 * second, 11 * second, growth.Usage{}}, // at the same time
		{15 * second, 11 * second, growth.Usage{}}, // earlier
		{30 * second, 10 * second, growth.Used(0)},
		{40 * second, 4 * second, growth.Used(0.4)}, // began anew
	} {
		must.Equal(t, c.Usage(row.at, row.used), row.want, "reading", i)
	}
	c.Restart()
	must.Equal(t, c.Usage(50*second, 8*second), growth.Used(0.8), "after a restart")
}

// A track that was written and read goes on as the one it was, also in the middle of an interval and
// with a value that is no number.
func TestTrackSurvivesJSON(t *testing.T) {
	var track growth.Track
	for i := range 70 {
		value := 5 / float64(1+i)
		if i%7 == 3 {
			value = math.Inf(1 - 2*(i%2))
		}
		if track.Offer(time.Duration(i)*second, value, []float64{0.1, float64(i%3) / 3}); i%2 == 0 {
			track.Check(time.Duration(i)*second, anyTest)
		}
		text := must.Have(json.Marshal(track))(t)
		var read growth.Track
		must.Do(t, json.Unmarshal(text, &read))
		must.Equal(t, cmp.Diff(track.Clone(), read, cmp.Exporter(all)), "", "after", i+1, "readings (-written +read)")
		track = read
	}
	text := must.Have(json.Marshal([]growth.Usage{{}, growth.Used(0), growth.Used(0.25)}))(t)
	must.Equal(t, string(text), "[null,0,0.25]", "usages are written as", text)
	read := []growth.Usage{growth.Used(1)}
	if err := json.Unmarshal([]byte("[null]"), &read); err != nil || read[0] != (growth.Usage{}) {
		t.Errorf("null is read as %v, %v", read, err)
	}
}

// A copy that was cloned is independent.
func TestTrackClone(t *testing.T) {
	var track growth.Track
	track.Offer(0, 1, []float64{0.5})
	copied := track.Clone()
	copied.Offer(second, 1, []float64{1})
	used(t, &track, "of the original", 0.5)
}

// Every reading between two checks is part of the history, by the usage that counts as work.
func TestTrackHistory(t *testing.T) {
	for steering, want := range []float64{0.5 * 22, 0.25 * 22} {
		var track growth.Track
		track.Steer(steering)
		for i := range 12 {
			at := time.Duration(2*i) * second
			track.Offer(at, 9-0.1*float64(i), []float64{0.5, 0.25})
			if i%5 == 0 {
				track.Check(at, anyTest)
			}
		}
		track.Check(22*second, anyTest)
		series := track.Series()
		must.Equal(t, series.History(), 12, "points of 12 readings")
		if got := series.Work(); math.Abs(got-want) > 1e-12 {
			t.Errorf("steered by %d: work %v, want %v", steering, got, want)
		}
		if got := series.Point(11); math.Abs(got.Value-7.9) > 1e-12 || math.Abs(got.Work-want) > 1e-12 {
			t.Errorf("steered by %d: the newest point is %v", steering, got)
		}
	}
}

// Several readings from the future in a row were noted before a check finds out: what they taught is forgotten, and
// those that follow count.
func TestTrackFutureInARow(t *testing.T) {
	var track growth.Track
	track.Toward(growth.SmallerIsBetter)
	offer := func(at int, value float64) bool { return track.Offer(time.Duration(at)*second, value, nil) }
	offer(0, 9)
	track.Check(0, anyTest)
	for i := range 4 {
		offer(1000000+i, 5-float64(i))
	}
	if outcome, _ := track.Check(10*second, anyTest); outcome != growth.Unusable {
		t.Errorf("readings from the future: %v", outcome)
	}
	for i := 11; i < 20; i++ {
		if !offer(i, 9-0.1*float64(i)) {
			t.Errorf("the reading at %d s is late", i)
		}
	}
	if outcome, _ := track.Check(20*second, anyTest); outcome != growth.Measured {
		t.Errorf("after the future: %v", outcome)
	}
	series := track.Series()
	if start, _ := series.Start(); start != 7.9 || series.History() != 9 || series.Work() > 20 || series.Better() != growth.SmallerIsBetter {
		t.Errorf("start %v, %d points, work %v, %v", start, series.History(), series.Work(), series.Better())
	}
}
