// This file pins the traces of [Zheng] §5.2 and §6.2, and the readings chosen where its listings
// cannot be meant as printed.

package specon_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/growth/specon"
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
			s, err := specon.NewMonitor(specon.Config{Interval: 20 * second, Alpha: 0.05}, test.options)
			if err != nil {
				t.Fatal(err)
			}
			for i, value := range values {
				now := time.Duration(i) * 20 * second
				// Two others on the worker grow, so |PC| + |WC| > 1.
				var report specon.Report
				if err := s.Step(now, []specon.Observation{
					{Job: "job", Worker: "w", At: now, Value: value},
					{Job: "other1", Worker: "w", At: now, Value: float64(10 * i)},
					{Job: "other2", Worker: "w", At: now, Value: float64(-7 * i)},
				}, &report); err != nil {
					t.Fatal(err)
				}
				if status, _ := s.Standing("job"); status.Category != test.category[i] {
					t.Errorf("check %d: %v, want %v", i, status.Category, test.category[i])
				}
				asked := len(report.Requests) == 1 && report.Requests[0].Job == "job" && report.Requests[0].Worker == "w"
				if asked != test.request[i] {
					t.Errorf("check %d: requests %v, want one: %v", i, report.Requests, test.request[i])
				}
			}
		})
	}
}
