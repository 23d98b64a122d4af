// This file tests the monitor's edges: bad input, migrated jobs, workers, arrivals between checks.

package specon_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/growth/specon"
	"github.com/apportion/apportion/internal/must"
)

func monitor(t testing.TB, options *specon.Options) *specon.Monitor {
	t.Helper()
	return must.Have(specon.NewMonitor(specon.Config{Interval: 20 * second, Alpha: 0.05}, options))(t)
}

func observe(t testing.TB, s *specon.Monitor, now time.Duration, observations ...specon.Observation) specon.Report {
	t.Helper()
	for i := range observations {
		observations[i].At = now
	}
	var report specon.Report
	must.Do(t, s.Step(now, observations, &report))
	return report
}

func TestNewMonitorFaults(t *testing.T) {
	for _, test := range []struct {
		name    string
		config  specon.Config
		options *specon.Options
		want    error
	}{
		{"good", specon.Config{Interval: second, Alpha: 0.01}, nil, nil},
		{"classifier instead of alpha", specon.Config{Interval: second}, &specon.Options{Classifier: growth.Prospect{Alpha: 0.5}}, nil},
		{"no interval", specon.Config{Alpha: 0.01}, nil, apportion.ErrRange},
		{"alpha NaN", specon.Config{Interval: second, Alpha: math.NaN()}, nil, apportion.ErrRange},
	} {
		must.Fail(specon.NewMonitor(test.config, test.options))(t, test.want, test.name)
	}
}

func TestMonitorRefuses(t *testing.T) {
	s := monitor(t, nil)
	observe(t, s, 10*second, specon.Observation{Job: "a", Worker: "w", Value: 1})
	for _, test := range []struct {
		name         string
		now          time.Duration
		observations []specon.Observation
		want         error
	}{
		{"twice", 20 * second, []specon.Observation{{Job: "b", Worker: "w"}, {Job: "b", Worker: "v"}}, apportion.ErrDuplicate},
		{"no worker", 20 * second, []specon.Observation{{Job: "b"}}, apportion.ErrEmpty},
		{"no id", 20 * second, []specon.Observation{{Worker: "w"}}, apportion.ErrEmpty},
		{"clock goes back", 9 * second, []specon.Observation{{Job: "b", Worker: "w"}}, apportion.ErrRange},
	} {
		var report specon.Report
		must.Err(t, s.Step(test.now, test.observations, &report), test.want, test.name)
		if _, ok := s.Standing("a"); !ok {
			t.Errorf("%s: a is gone", test.name)
		}
	}
}

// TestMonitorWorkers checks the counts by worker, and that a worker where at most one other would
// profit does not ask.
func TestMonitorWorkers(t *testing.T) {
	s := monitor(t, &specon.Options{AtEntry: true})
	slow := []float64{10, 9.9, 9.85, 9.84}
	var report specon.Report
	for i, value := range slow {
		now := time.Duration(i) * 20 * second
		grows := float64(i+1) * 3
		report = observe(t, s, now,
			specon.Observation{Job: "crowded", Worker: "w2", Value: value},
			specon.Observation{Job: "lonely", Worker: "w1", Value: 2 * value},
			specon.Observation{Job: "g1", Worker: "w2", Value: grows},
			specon.Observation{Job: "g2", Worker: "w2", Value: 2 * grows},
			specon.Observation{Job: "g3", Worker: "w1", Value: 5 * grows},
			specon.Observation{Job: "old", Worker: "w0", Value: value, Migrated: true})
	}
	wantCounts := []specon.Counts{{Worker: "w0", Converged: 1}, {Worker: "w1", Progressing: 1, Converged: 1}, {Worker: "w2", Progressing: 2, Converged: 1}}
	must.Equal(t, cmp.Diff(wantCounts, report.Workers), "")
	want := []specon.Request{{Job: "crowded", Worker: "w2", Gain: 0.001}}
	must.Equal(t, cmp.Diff(want, report.Requests, near), "")
}

// TestMonitorBetweenChecks checks that arrivals and exits are noted at once and measured when due.
func TestMonitorBetweenChecks(t *testing.T) {
	s := monitor(t, nil)
	observe(t, s, 0, specon.Observation{Job: "a", Worker: "w", Value: 1})
	got := observe(t, s, 5*second, specon.Observation{Job: "a", Worker: "w", Value: 0.4}, specon.Observation{Job: "b", Worker: "w", Value: 8})
	want := specon.Report{Next: 20 * second, Changes: []growth.Change{{Job: "b", To: growth.Progressing, Cause: growth.Arrived}},
		Workers: []specon.Counts{{Worker: "w", Progressing: 2}}}
	must.Equal(t, cmp.Diff(want, got, cmpopts.EquateEmpty()), "")
	observe(t, s, 20*second, specon.Observation{Job: "a", Worker: "w", Value: 0.9}, specon.Observation{Job: "b", Worker: "w", Value: 4})
	if status, _ := s.Standing("a"); math.Abs(status.Gain-0.1) > 1e-9 {
		t.Errorf("a gained %v from 1 to 0.9; what it showed between the checks does not count", status.Gain)
	}
	got = observe(t, s, 40*second, specon.Observation{Job: "b", Worker: "w", Value: 0})
	want = specon.Report{Ran: true, Next: 60 * second, Changes: []growth.Change{{Job: "a", From: growth.Progressing, Cause: growth.Left}},
		Workers: []specon.Counts{{Worker: "w", Progressing: 1}}}
	must.Equal(t, cmp.Diff(want, got, cmpopts.EquateEmpty()), "")
	if status, _ := s.Standing("b"); !status.Measured || math.Abs(status.Gain-0.5) > 1e-9 {
		t.Errorf("b gained %v, want half its first value", status.Gain)
	}
}

// standingOf plays a job that gains ever less, then the observations of the test 20 s apart, and
// returns how it stands after the last.
func standingOf(t *testing.T, more ...specon.Observation) specon.Standing {
	t.Helper()
	m := monitor(t, nil)
	for i, value := range []float64{100, 98, 97} {
		observe(t, m, time.Duration(i)*20*second, specon.Observation{Job: "a", Worker: "w", Value: value, Usage: growth.Used(1)})
	}
	for i, o := range more {
		o.Job, o.Worker = "a", "w"
		var report specon.Report
		must.Do(t, m.Step(time.Duration(3+i)*20*second, []specon.Observation{o}, &report))
	}
	standing, _ := m.Standing("a")
	return standing
}

// A job that was given nothing does not converge; one that used its share and gained nothing does.
func TestStarvedJobDoesNotConverge(t *testing.T) {
	for usage, want := range map[growth.Usage]growth.Category{
		growth.Used(0): growth.Watching, growth.Used(1): growth.Converged, {}: growth.Converged,
	} {
		if got := standingOf(t, specon.Observation{At: 60 * second, Value: 97, Usage: usage}); got.Category != want {
			t.Errorf("usage %v: %v, want %v", usage, got.Category, want)
		}
	}
}

// A job that reports nothing goes down to CC, and asks for no other host; so does one that never reported.
func TestMonitorSilence(t *testing.T) {
	for _, options := range []*specon.Options{{}, {Silence: 300 * second}} {
		m := monitor(t, options)
		silence := max(options.Silence, 100*second)
		for i := range 30 {
			now := time.Duration(i) * 20 * second
			report := observe(t, m, now,
				specon.Observation{Job: "stops", Worker: "w", Missing: now > 60*second, Value: 9 - now.Seconds()/20},
				specon.Observation{Job: "never", Worker: "w", Missing: true},
				specon.Observation{Job: "a", Worker: "w", Value: 9 - now.Seconds()/200}, specon.Observation{Job: "b", Worker: "w", Value: 9 - now.Seconds()/200})
			for _, r := range report.Requests {
				if r.Job == "stops" || r.Job == "never" {
					t.Errorf("%v: %s asks for another host", now, r.Job)
				}
			}
			for id, last := range map[string]time.Duration{"stops": 60 * second, "never": 0} {
				standing, _ := m.Standing(id)
				want := now-last > silence
				if standing.Silent != want || want && standing.Verdict != growth.Slow {
					t.Errorf("%v: %s is silent: %v, %v", now, id, standing.Silent, standing.Verdict)
				}
			}
		}
		for _, id := range []string{"stops", "never"} {
			if standing, _ := m.Standing(id); standing.Category != growth.Converged {
				t.Errorf("%s is %v", id, standing.Category)
			}
		}
	}
}

// A loss that rises is slow where it is said that smaller is better, by an observation and by an event.
func TestBetter(t *testing.T) {
	options := specon.Options{Classifier: growth.Prospect{Alpha: 0.05}}
	for better, want := range map[growth.Direction]growth.Category{growth.EitherWay: growth.Progressing, growth.SmallerIsBetter: growth.Converged} {
		m := monitor(t, &options)
		manager := must.Have(specon.NewManager(specon.ManagerConfig{Config: specon.Config{Interval: 20 * second}}, &specon.ManagerOptions{Options: options}))(t)
		none := apportion.Resources{}
		events := []specon.Event{{Kind: specon.WorkerUp, Worker: "w", Capacity: none}, {Kind: specon.Arrival, Job: "rises", Worker: "w", Demand: none}}
		for i := range 12 {
			now, value := time.Duration(i)*20*second, 5+float64(i)/5
			observe(t, m, now, specon.Observation{Job: "rises", Worker: "w", Value: value, Better: better})
			events = append(events, specon.Event{Kind: specon.Reading, Job: "rises", At: now, Value: value, Better: better})
			for _, e := range events {
				must.Do(t, manager.Step(e))
			}
			events = nil
			must.Have(manager.Tick(now))(t)
		}
		standing, _ := m.Standing("rises")
		if job, _ := manager.Job("rises"); standing.Category != want || job.Category != want {
			t.Errorf("%v: %v, %v in the manager", better, standing.Category, job.Category)
		}
	}
}
