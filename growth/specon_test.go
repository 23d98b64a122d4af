// This file tests SpeCon's edges: bad input, migrated containers, workers, arrivals between checks.

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

func speCon(t testing.TB, options *growth.SpeConOptions) *growth.SpeCon {
	t.Helper()
	s, err := growth.NewSpeCon(growth.SpeConConfig{Interval: 20 * second, Alpha: 0.05}, options)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func observe(t testing.TB, s *growth.SpeCon, now time.Duration, observations ...growth.Observation) growth.Report {
	t.Helper()
	for i := range observations {
		observations[i].At = now
	}
	var report growth.Report
	if err := s.Step(now, observations, &report); err != nil {
		t.Fatal(err)
	}
	return report
}

func TestNewSpeConFaults(t *testing.T) {
	for _, test := range []struct {
		name    string
		config  growth.SpeConConfig
		options *growth.SpeConOptions
		want    error
	}{
		{"good", growth.SpeConConfig{Interval: second, Alpha: 0.01}, nil, nil},
		{"classifier instead of alpha", growth.SpeConConfig{Interval: second}, &growth.SpeConOptions{Classifier: growth.Prospect{Alpha: 1}}, nil},
		{"no interval", growth.SpeConConfig{Alpha: 0.01}, nil, apportion.ErrRange},
		{"alpha NaN", growth.SpeConConfig{Interval: second, Alpha: math.NaN()}, nil, apportion.ErrRange},
	} {
		if _, err := growth.NewSpeCon(test.config, test.options); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", test.name, err, test.want)
		}
	}
}

func TestSpeConRefuses(t *testing.T) {
	s := speCon(t, nil)
	observe(t, s, 10*second, growth.Observation{ID: "a", Worker: "w", Value: 1})
	for _, test := range []struct {
		name         string
		now          time.Duration
		observations []growth.Observation
		want         error
	}{
		{"twice", 20 * second, []growth.Observation{{ID: "b", Worker: "w"}, {ID: "b", Worker: "v"}}, apportion.ErrDuplicate},
		{"no worker", 20 * second, []growth.Observation{{ID: "b"}}, apportion.ErrEmpty},
		{"no id", 20 * second, []growth.Observation{{Worker: "w"}}, apportion.ErrEmpty},
		{"clock goes back", 9 * second, []growth.Observation{{ID: "b", Worker: "w"}}, apportion.ErrRange},
	} {
		var report growth.Report
		if err := s.Step(test.now, test.observations, &report); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", test.name, err, test.want)
		}
		if _, ok := s.Status("a"); !ok {
			t.Errorf("%s: a is gone", test.name)
		}
	}
}

// TestSpeConWorkers checks the counts by worker, and that a worker where at most one other would
// profit does not ask.
func TestSpeConWorkers(t *testing.T) {
	s := speCon(t, &growth.SpeConOptions{AtEntry: true})
	slow := []float64{10, 9.9, 9.85, 9.84}
	var report growth.Report
	for i, value := range slow {
		now := time.Duration(i) * 20 * second
		grows := float64(i+1) * 3
		report = observe(t, s, now,
			growth.Observation{ID: "crowded", Worker: "w2", Value: value},
			growth.Observation{ID: "lonely", Worker: "w1", Value: 2 * value},
			growth.Observation{ID: "g1", Worker: "w2", Value: grows},
			growth.Observation{ID: "g2", Worker: "w2", Value: 2 * grows},
			growth.Observation{ID: "g3", Worker: "w1", Value: 5 * grows},
			growth.Observation{ID: "old", Worker: "w0", Value: value, Migrated: true})
	}
	wantCounts := []growth.Counts{{Worker: "w0", Converged: 1}, {Worker: "w1", Progressing: 1, Converged: 1}, {Worker: "w2", Progressing: 2, Converged: 1}}
	if diff := cmp.Diff(wantCounts, report.Workers); diff != "" {
		t.Error(diff)
	}
	want := []growth.Request{{ID: "crowded", Worker: "w2", Gain: 0.001}}
	if diff := cmp.Diff(want, report.Requests, near); diff != "" {
		t.Error(diff)
	}
}

// TestSpeConMigrated checks that a migrated container is left alone however much it gains, and that
// it arrives on the next worker as converged.
func TestSpeConMigrated(t *testing.T) {
	s := speCon(t, nil)
	for i, value := range []float64{10, 9.9, 9.85, 9.84} {
		observe(t, s, time.Duration(i)*20*second, growth.Observation{ID: "a", Worker: "w", Value: value})
	}
	report := observe(t, s, 80*second, growth.Observation{ID: "a", Worker: "v", Value: 100, Migrated: true})
	if len(report.Moves)+len(report.Requests) > 0 || !cmp.Equal(report.Workers, []growth.Counts{{Worker: "v", Converged: 1}}) {
		t.Errorf("after the migration: %+v", report)
	}
	if status, _ := s.Status("a"); status.Category != growth.Converged {
		t.Errorf("a is %v", status.Category)
	}
}

// TestSpeConBetweenChecks checks that arrivals and exits are noted at once and measured when due.
func TestSpeConBetweenChecks(t *testing.T) {
	s := speCon(t, nil)
	observe(t, s, 0, growth.Observation{ID: "a", Worker: "w", Value: 1})
	got := observe(t, s, 5*second, growth.Observation{ID: "a", Worker: "w", Value: 0.4}, growth.Observation{ID: "b", Worker: "w", Value: 8})
	want := growth.Report{Next: 20 * second, Moves: []growth.Move{{ID: "b", To: growth.Progressing, Reason: growth.Arrived}},
		Workers: []growth.Counts{{Worker: "w", Progressing: 2}}}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	observe(t, s, 20*second, growth.Observation{ID: "a", Worker: "w", Value: 0.9}, growth.Observation{ID: "b", Worker: "w", Value: 4})
	if status, _ := s.Status("a"); !cmp.Equal(status.Growth, []float64{0.1}, near) {
		t.Errorf("a gained %v from 1 to 0.9; what it showed between the checks does not count", status.Growth)
	}
	got = observe(t, s, 40*second, growth.Observation{ID: "b", Worker: "w", Value: 0})
	want = growth.Report{Ran: true, Next: 60 * second, Moves: []growth.Move{{ID: "a", From: growth.Progressing, Reason: growth.Left}},
		Workers: []growth.Counts{{Worker: "w", Progressing: 1}}}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	if status, _ := s.Status("b"); !status.Measured || !cmp.Equal(status.Growth, []float64{0.5}) {
		t.Errorf("b gained %v, want half its first value", status.Growth)
	}
}

// TestSpeConDiverged checks that a job whose loss is not a number goes down one step at each check.
func TestSpeConDiverged(t *testing.T) {
	s := speCon(t, nil)
	want := []growth.Category{growth.Progressing, growth.Watching, growth.Converged, growth.Converged, growth.Progressing}
	for i, value := range []float64{2, math.NaN(), math.NaN(), math.Inf(1), 1} {
		observe(t, s, time.Duration(i)*20*second, growth.Observation{ID: "a", Worker: "w", Value: value})
		if status, _ := s.Status("a"); status.Category != want[i] {
			t.Errorf("check %d: %v, want %v", i, status.Category, want[i])
		}
	}
}
