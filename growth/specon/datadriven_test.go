// This file runs the scenarios in testdata/cases: a cluster's jobs step by step.

package specon_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/apportion/apportion/growth/specon"
)

// TestCases understands
//
//	specon interval=20s alpha=0.05 [separate] [at-entry]
//	step at=20s
//	vae@worker 0.4 [usage] | vae@worker migrated | vae@worker missing
//	----
//
// A step prints what the monitor reports and then the state of every job.
func TestCases(t *testing.T) {
	datadriven.Walk(t, "testdata/cases", func(t *testing.T, path string) {
		var monitor *specon.Monitor
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "specon":
				alpha, err := strconv.ParseFloat(text(t, d, "alpha"), 64)
				if err == nil {
					options := &specon.Options{Separate: d.HasArg("separate"), AtEntry: d.HasArg("at-entry")}
					monitor, err = specon.NewMonitor(specon.Config{Interval: duration(t, d, "interval"), Alpha: alpha}, options)
				}
				if err != nil {
					return err.Error()
				}
				return "ok"
			case "step":
				return play(t, monitor, d)
			}
			t.Fatalf("unknown command %s", d.Cmd)
			return ""
		})
	})
}

func text(t *testing.T, d *datadriven.TestData, key string) (value string) {
	t.Helper()
	d.ScanArgs(t, key, &value)
	return value
}

func duration(t *testing.T, d *datadriven.TestData, key string) time.Duration {
	t.Helper()
	x, err := time.ParseDuration(text(t, d, key))
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	return x
}

func parse(t *testing.T, d *datadriven.TestData, now time.Duration) (observations []specon.Observation) {
	t.Helper()
	for _, line := range strings.Split(d.Input, "\n") {
		words := strings.Fields(line)
		if len(words) < 2 {
			continue
		}
		o := specon.Observation{At: now, Missing: words[1] == "missing", Migrated: words[1] == "migrated"}
		o.Job, o.Worker, _ = strings.Cut(words[0], "@")
		if !o.Missing && !o.Migrated {
			var err error
			if o.Value, err = strconv.ParseFloat(words[1], 64); err != nil {
				d.Fatalf(t, "%v", err)
			}
		}
		observations = append(observations, o)
	}
	return observations
}

func play(t *testing.T, monitor *specon.Monitor, d *datadriven.TestData) string {
	now := duration(t, d, "at")
	observations := parse(t, d, now)
	var out strings.Builder
	var report specon.Report
	if err := monitor.Step(now, observations, &report); err != nil {
		return err.Error() + "\n"
	}
	fmt.Fprintf(&out, "ran %v, next %v\n", report.Ran, report.Next)
	for _, change := range report.Changes {
		fmt.Fprintln(&out, change)
	}
	for _, request := range report.Requests {
		fmt.Fprintf(&out, "%s on %s asks for another host, gain %.6g\n", request.Job, request.Worker, request.Gain)
	}
	for _, w := range report.Workers {
		fmt.Fprintf(&out, "%s: PC %d, WC %d, CC %d\n", w.Worker, w.Progressing, w.Watching, w.Converged)
	}
	for _, o := range observations {
		standing, _ := monitor.Standing(o.Job)
		fmt.Fprintf(&out, "  %s %v", o.Job, standing.Category)
		if standing.Measured {
			fmt.Fprintf(&out, " growth [%.6g]", standing.Gain)
		}
		fmt.Fprintln(&out)
	}
	return out.String()
}
