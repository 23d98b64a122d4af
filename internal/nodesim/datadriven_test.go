// This file prints simulations step by step: testdata/cases.

package nodesim

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion/growth/flowcon"
	"github.com/apportion/apportion/growth/specon"
	"github.com/cockroachdb/datadriven"
)

// TestCases runs the commands of testdata/cases. "divide" has a line for each job, its limit and its
// demand. "run" has a line for each job: id, arrival and work in seconds, demand, request, values of
// its evaluation function at equal steps; the arguments choose policy, workers, interference.
func TestCases(t *testing.T) {
	datadriven.Walk(t, "testdata/cases", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "divide":
				return divideCase(t, d)
			case "run":
				return runCase(t, d)
			}
			d.Fatalf(t, "unknown command %q", d.Cmd)
			return ""
		})
	})
}

func divideCase(t *testing.T, d *datadriven.TestData) string {
	var limits, demands []Share
	for line := range strings.Lines(d.Input) {
		var limit, demand float64
		if _, err := fmt.Sscan(line, &limit, &demand); err != nil {
			d.Fatalf(t, "%q: %v", line, err)
		}
		limits, demands = append(limits, ShareOf(limit)), append(demands, ShareOf(demand))
	}
	var text strings.Builder
	for _, share := range Divide(Whole, limits, demands) {
		fmt.Fprintf(&text, "%.6g\n", share.Fraction())
	}
	return text.String()
}

func runCase(t *testing.T, d *datadriven.TestData) string {
	s := &Scenario{Workers: 1, MoveCost: 5 * second}
	interference := "0"
	d.MaybeScanArgs(t, "workers", &s.Workers)
	d.MaybeScanArgs(t, "interference", &interference)
	if _, err := fmt.Sscan(interference, &s.Interference); err != nil {
		d.Fatalf(t, "%v", err)
	}
	for line := range strings.Lines(d.Input) {
		s.Jobs = append(s.Jobs, jobOf(t, d, line))
	}
	result, err := Run(s, policyOf(t, d))
	if err != nil {
		return err.Error()
	}
	return show(s, result)
}

func jobOf(t *testing.T, d *datadriven.TestData, line string) Job {
	fields := strings.Fields(line)
	numbers := make([]float64, len(fields)-1)
	for i, field := range fields[1:] {
		if _, err := fmt.Sscan(field, &numbers[i]); err != nil {
			d.Fatalf(t, "%q: %v", line, err)
		}
	}
	return Job{
		ID:      fields[0],
		Arrival: time.Duration(numbers[0] * float64(second)),
		Work:    time.Duration(numbers[1] * float64(second)),
		Demand:  ShareOf(numbers[2]),
		Request: numbers[3],
		Curve:   mustCurve(numbers[4:]...),
	}
}

func policyOf(t *testing.T, d *datadriven.TestData) Policy {
	name := "default"
	d.MaybeScanArgs(t, "policy", &name)
	var policy Policy
	var err error
	switch name {
	case "default":
		policy = &Default{}
	case "flowcon":
		policy, err = NewFlowCon(flowcon.Config{Interval: 20 * second, Alpha: 0.01}, nil)
	case "specon":
		policy, err = NewSpeCon(specon.Config{Interval: 20 * second, Alpha: 0.05}, nil)
	default:
		d.Fatalf(t, "unknown policy %q", name)
	}
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	return policy
}

// show prints every sample, every move, and every completion time.
func show(s *Scenario, result *Result) string {
	var text strings.Builder
	for _, sample := range result.Samples {
		fmt.Fprintf(&text, "%8.3f", sample.At.Seconds())
		for _, r := range sample.Running {
			fmt.Fprintf(&text, "  %s@%d %.6g", s.Jobs[r.Job].ID, r.Worker, r.Share.Fraction())
			if r.Limit != Whole {
				fmt.Fprintf(&text, " (limit %.6g)", r.Limit.Fraction())
			}
		}
		text.WriteString("\n")
	}
	for _, m := range result.Migrations {
		fmt.Fprintf(&text, "moved %s at %.3f from %d to %d: %v\n", s.Jobs[m.Job].ID, m.At.Seconds(), m.From, m.To, m.Why)
	}
	for _, o := range result.Outcomes {
		fmt.Fprintf(&text, "%s took %.3f\n", o.ID, o.Time().Seconds())
	}
	return text.String()
}
