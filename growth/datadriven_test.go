// This file runs the scenarios in testdata/cases: a worker's or a cluster's containers step by step.

package growth_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/apportion/apportion/growth"
)

// TestCases understands
//
//	flowcon interval=20s alpha=0.05 [beta=2] [max=60s] [min=5s] [prospect=0.05] [printed-bound]
//	specon  interval=20s alpha=0.05 [separate] [at-entry]
//	step at=20s
//	vae 0.4 [usage] | vae missing | vae@worker 0.4 | vae@worker migrated
//	----
//
// A step prints what the machine decided and then the state of every container.
func TestCases(t *testing.T) {
	datadriven.Walk(t, "testdata/cases", func(t *testing.T, path string) {
		var machine caseMachine
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "flowcon":
				return machine.newFlowCon(t, d)
			case "specon":
				return machine.newSpeCon(t, d)
			case "step":
				return machine.step(t, d)
			}
			t.Fatalf("unknown command %s", d.Cmd)
			return ""
		})
	})
}

type caseMachine struct {
	flowcon *growth.FlowCon
	specon  *growth.SpeCon
}

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

func (m *caseMachine) newFlowCon(t *testing.T, d *datadriven.TestData) string {
	options := &growth.FlowConOptions{
		Beta: number(t, d, "beta"), MaxInterval: duration(t, d, "max"), MinInterval: duration(t, d, "min"),
		BoundConvergedOnly: d.HasArg("printed-bound"),
	}
	if alpha := number(t, d, "prospect"); alpha > 0 {
		options.Classifier = growth.Prospect{Alpha: alpha}
	}
	f, err := growth.NewFlowCon(growth.FlowConConfig{Interval: duration(t, d, "interval"), Alpha: number(t, d, "alpha"), Kinds: 1}, options)
	if err != nil {
		return err.Error()
	}
	m.flowcon, m.specon = f, nil
	return "ok"
}

func (m *caseMachine) newSpeCon(t *testing.T, d *datadriven.TestData) string {
	options := &growth.SpeConOptions{Separate: d.HasArg("separate"), AtEntry: d.HasArg("at-entry")}
	s, err := growth.NewSpeCon(growth.SpeConConfig{Interval: duration(t, d, "interval"), Alpha: number(t, d, "alpha")}, options)
	if err != nil {
		return err.Error()
	}
	m.flowcon, m.specon = nil, s
	return "ok"
}

// line is one container of a step.
type line struct {
	id, worker        string
	missing, migrated bool
	value, usage      float64
}

func parseLines(t *testing.T, d *datadriven.TestData) (lines []line) {
	t.Helper()
	for _, text := range strings.Split(d.Input, "\n") {
		words := strings.Fields(text)
		if len(words) < 2 {
			continue
		}
		l := line{usage: 1, missing: words[1] == "missing", migrated: words[1] == "migrated"}
		l.id, l.worker, _ = strings.Cut(words[0], "@")
		for i, x := range []*float64{&l.value, &l.usage} {
			if len(words) > i+1 && !l.missing && !l.migrated {
				var err error
				if *x, err = strconv.ParseFloat(words[i+1], 64); err != nil {
					d.Fatalf(t, "%v", err)
				}
			}
		}
		lines = append(lines, l)
	}
	return lines
}

func (m *caseMachine) step(t *testing.T, d *datadriven.TestData) string {
	now, lines := duration(t, d, "at"), parseLines(t, d)
	var out strings.Builder
	if m.flowcon != nil {
		var decision growth.Decision
		var readings []growth.Reading
		for _, l := range lines {
			readings = append(readings, growth.Reading{ID: l.id, Missing: l.missing, At: now, Value: l.value, Usage: []float64{l.usage}})
		}
		if err := m.flowcon.Step(now, readings, &decision); err != nil {
			return err.Error()
		}
		fmt.Fprintf(&out, "%v, interval %v, next %v\n", decision.Trigger, decision.Interval, decision.Next)
		for _, move := range decision.Moves {
			fmt.Fprintln(&out, move)
		}
		for _, limit := range decision.Limits {
			fmt.Fprintln(&out, limit)
		}
	} else {
		m.stepSpeCon(t, now, lines, &out)
	}
	m.states(lines, &out)
	return out.String()
}

func (m *caseMachine) stepSpeCon(t *testing.T, now time.Duration, lines []line, out *strings.Builder) {
	var report growth.Report
	var observations []growth.Observation
	for _, l := range lines {
		observations = append(observations, growth.Observation{ID: l.id, Worker: l.worker, Missing: l.missing, Migrated: l.migrated, At: now, Value: l.value})
	}
	if err := m.specon.Step(now, observations, &report); err != nil {
		fmt.Fprintln(out, err)
		return
	}
	fmt.Fprintf(out, "ran %v, next %v\n", report.Ran, report.Next)
	for _, move := range report.Moves {
		fmt.Fprintln(out, move)
	}
	for _, request := range report.Requests {
		fmt.Fprintf(out, "%s on %s asks for another host, gain %.6g\n", request.ID, request.Worker, request.Gain)
	}
	for _, w := range report.Workers {
		fmt.Fprintf(out, "%s: PC %d, WC %d, CC %d\n", w.Worker, w.Progressing, w.Watching, w.Converged)
	}
}

// states prints every container of the step.
func (m *caseMachine) states(lines []line, out *strings.Builder) {
	for _, l := range lines {
		status, ok := growth.Status{}, false
		if m.flowcon != nil {
			status, ok = m.flowcon.Status(l.id)
		} else {
			status, ok = m.specon.Status(l.id)
		}
		if !ok {
			continue
		}
		fmt.Fprintf(out, "  %s %v", l.id, status.Category)
		if status.Measured {
			fmt.Fprintf(out, " growth %.6g", status.Growth)
		}
		if status.Limits != nil {
			fmt.Fprintf(out, " limit %.6g", status.Limits)
		}
		fmt.Fprintln(out)
	}
}
