// This file runs the scenarios in testdata/cases: a worker's jobs step by step.

package flowcon_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/growth/flowcon"
)

// TestCases understands
//
//	flowcon interval=20s alpha=0.05 [beta=2] [max=60s] [min=5s] [prospect=0.05] [printed-bound]
//	step at=20s
//	vae 0.4 [usage | unmeasured] | vae missing
//	----
//
// A step prints what the executor decided and then the state of every job.
func TestCases(t *testing.T) {
	datadriven.Walk(t, "testdata/cases", func(t *testing.T, path string) {
		var executor *flowcon.Executor
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "flowcon":
				var err error
				if executor, err = newExecutor(t, d); err != nil {
					return err.Error()
				}
				return "ok"
			case "step":
				return play1(t, executor, d)
			}
			t.Fatalf("unknown command %s", d.Cmd)
			return ""
		})
	})
}

// number returns an argument of a case, 0 where it is not there.
func number(t *testing.T, d *datadriven.TestData, key string) (x float64) {
	t.Helper()
	var text string
	if d.MaybeScanArgs(t, key, &text) {
		var err error
		if x, err = strconv.ParseFloat(text, 64); err != nil {
			d.Fatalf(t, "%v", err)
		}
	}
	return x
}

// duration returns an argument of a case, 0 where it is not there.
func duration(t *testing.T, d *datadriven.TestData, key string) (x time.Duration) {
	t.Helper()
	var text string
	if d.MaybeScanArgs(t, key, &text) {
		var err error
		if x, err = time.ParseDuration(text); err != nil {
			d.Fatalf(t, "%v", err)
		}
	}
	return x
}

func newExecutor(t *testing.T, d *datadriven.TestData) (*flowcon.Executor, error) {
	options := &flowcon.Options{
		Beta: number(t, d, "beta"), MaxInterval: duration(t, d, "max"), MinInterval: duration(t, d, "min"),
		BoundConvergedOnly: d.HasArg("printed-bound"),
	}
	if alpha := number(t, d, "prospect"); alpha > 0 {
		options.Classifier = growth.Prospect{Alpha: alpha}
	}
	return flowcon.New(flowcon.Config{Interval: duration(t, d, "interval"), Alpha: number(t, d, "alpha"), Kinds: 1}, options)
}

func parse(t *testing.T, d *datadriven.TestData, now time.Duration) (readings []flowcon.Reading) {
	t.Helper()
	float := func(text string) float64 {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		return x
	}
	for _, text := range strings.Split(d.Input, "\n") {
		words := strings.Fields(text)
		switch {
		case len(words) < 2:
		case words[1] == "missing":
			readings = append(readings, flowcon.Reading{Job: words[0], Missing: true})
		default:
			r := flowcon.Reading{Job: words[0], At: now, Value: float(words[1]), Usage: []float64{1}}
			if len(words) > 2 && words[2] == "unmeasured" {
				r.Usage = nil
			} else if len(words) > 2 {
				r.Usage[0] = float(words[2])
			}
			readings = append(readings, r)
		}
	}
	return readings
}

// play1 plays one step and prints what was decided.
func play1(t *testing.T, executor *flowcon.Executor, d *datadriven.TestData) string {
	now := duration(t, d, "at")
	readings := parse(t, d, now)
	var out strings.Builder
	var decision flowcon.Decision
	if err := executor.Step(now, readings, &decision); err != nil {
		return err.Error()
	}
	fmt.Fprintf(&out, "%v, interval %v, next %v\n", decision.Trigger, decision.Interval, decision.Next)
	for _, change := range decision.Changes {
		fmt.Fprintln(&out, change)
	}
	for _, limit := range decision.Limits {
		fmt.Fprintln(&out, limit)
	}
	for _, r := range readings {
		standing, _ := executor.Standing(r.Job)
		fmt.Fprintf(&out, "  %s %v", r.Job, standing.Category)
		if standing.Measured {
			fmt.Fprintf(&out, " growth %.6g", standing.Growth)
		}
		fmt.Fprintf(&out, " limit %.6g\n", standing.Limits)
	}
	return out.String()
}
