// This file pins the traces of [Zheng] §5.2 and §6.2, and the readings chosen where its listings
// cannot be meant as printed.

package specon_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/growth/specon"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/placement"
)

const second = time.Second

var near = cmpopts.EquateApprox(0, 1e-9)

// Reference: [Zheng] §5.2.1, Algorithm 3, as a chain: one step down at each check.
func TestPaperMonitorTrace(t *testing.T) {
	const (
		P, W, C = growth.Progressing, growth.Watching, growth.Converged
	)
	values := []float64{1, 0.70, 0.50, 0.47, 0.45, 0.44, 0.438, 0.43, 0.30}
	for _, test := range []struct {
		name     string
		options  *specon.Options
		category []growth.Category
		request  []bool
	}{
		{"chain", nil,
			[]growth.Category{P, P, P, W, C, C, C, C, P},
			[]bool{false, false, false, false, false, true, true, false, false}},
		{"asks at entry", &specon.Options{AtEntry: true},
			[]growth.Category{P, P, P, W, C, C, C, C, P},
			[]bool{false, false, false, false, true, true, true, false, false}},
		{"separate tests as indented", &specon.Options{Separate: true},
			[]growth.Category{P, P, P, C, C, C, C, C, P},
			[]bool{false, false, false, true, true, true, true, false, false}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := must.Have(specon.NewMonitor(specon.Config{Interval: 20 * second, Alpha: 0.05}, test.options))(t)
			for i, value := range values {
				now := time.Duration(i) * 20 * second
				// Two others on the worker grow, so |PC| + |WC| > 1.
				var report specon.Report
				must.Do(t, s.Step(now, []specon.Observation{
					{Job: "job", Worker: "w", At: now, Value: value},
					{Job: "other1", Worker: "w", At: now, Value: float64(10 * i)},
					{Job: "other2", Worker: "w", At: now, Value: float64(-7 * i)},
				}, &report))
				if status, _ := s.Standing("job"); status.Category != test.category[i] {
					t.Errorf("check %d: %v, want %v", i, status.Category, test.category[i])
				}
				asked := len(report.Requests) == 1 && report.Requests[0].Job == "job" && report.Requests[0].Worker == "w"
				must.Equal(t, asked, test.request[i], "check", i, "requests", report.Requests)
			}
		})
	}
}

// The example of host choice: scores 6, 3.5, 4 and 11; Job-1 goes to Worker-2.
// Reference: [Zheng] §6.2.3.
func TestPaperManagerExample(t *testing.T) {
	config := specon.ManagerConfig{Config: specon.Config{Interval: 10 * second, Alpha: 1}}
	m, err := specon.NewManager(config, &specon.ManagerOptions{Options: specon.Options{Normalization: growth.Raw}})
	must.Do(t, err)
	step := func(e specon.Event) {
		must.Do(t, m.Step(e))
	}
	values := map[string][]float64{
		"Job-1": {10, 9.5, 9.1, 8.8, 8.6}, // slow at 20, 30 and 40: it asks at 40
		"w2b":   {20, 18, 16, 14, 13.5},   // slow at 40
	}
	for worker, jobs := range map[string][]string{
		"Worker-1": {"w1a", "w1b", "w1c"}, "Worker-2": {"w2a", "w2b"}, "Worker-3": {"w3a", "w3b"},
		"Worker-4": {"Job-1", "w4a", "w4b", "w4c", "w4d", "w4e"},
	} {
		step(specon.Event{Kind: specon.WorkerUp, Worker: worker})
		for _, job := range jobs {
			step(specon.Event{Kind: specon.Arrival, Job: job, Worker: worker})
			if values[job] == nil {
				values[job] = []float64{20, 18, 16, 14, 12}
			}
		}
	}
	var d specon.Decision
	for check := range 5 {
		now := time.Duration(check) * 10 * second
		for job := range values {
			step(specon.Event{Kind: specon.Reading, Job: job, At: now, Value: values[job][check]})
		}
		if d, err = m.Tick(now); err != nil || check < 4 && len(d.Moves) > 0 {
			t.Fatalf("check %d: %v, %v", check, d.Moves, err)
		}
	}
	want := []specon.Move{{Job: "Job-1", From: "Worker-4", To: "Worker-2", Why: placement.LeastScore}}
	must.Equal(t, cmp.Diff(want, d.Moves), "")
	if !d.Ran || d.Next != 50*second {
		t.Errorf("the check at 40 s: ran %v, the next at %v", d.Ran, d.Next)
	}
	// Afterwards Worker-2 has Job-1 as well, which counts 1, and Worker-4 has it no more.
	scores := map[string]float64{}
	for _, w := range d.Workers {
		scores[w.Worker] = float64(w.Score) / placement.ScoreUnit
	}
	must.Equal(t, cmp.Diff(map[string]float64{"Worker-1": 6, "Worker-2": 3.5 + 1, "Worker-3": 4, "Worker-4": 11 - 1}, scores), "")
}
