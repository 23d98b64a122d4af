//go:build linux

// This file runs real framework jobs under FlowCon's limits, in small.

package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion/examples/live/harness"
	"github.com/apportion/apportion/examples/nodeagent/node"
	"github.com/apportion/apportion/examples/studies/command"
	"github.com/apportion/apportion/examples/studies/inhouse/master"
	"github.com/apportion/apportion/internal/must"
)

// Jobs of three frameworks share a CPU; limits come and go, and change nothing of what is computed.
func TestFlowCon(t *testing.T) {
	ctx := frameworks(t)
	var out bytes.Buffer
	dir := t.TempDir()
	must.Do(t, run(ctx, &out, io.Discard, []string{"flowcon", "-scale", "0.02", "-interval", "500ms", "-dir", dir + "/place", "-out", dir}), &out)
	for _, want := range []string{"limits by ", "under FlowCon", "vae      limit 1.00", "lstm", "makespan", "flowcon-usage"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
	t.Logf("\n%s", &out)
}

func TestEvaluation(t *testing.T) {
	read := evaluation()
	for _, test := range []struct {
		line string
		want float64
		ok   bool
	}{
		{"loading", 0, false},
		{`{"step": 1, "value": 8}`, 8, true},
		{`{"step": 2, "value": NaN}`, 0, false},
		{`{"step": 3, "value": 4}`, 6, true},
		{`{"step": 4, "done": true}`, 0, false},
	} {
		if got, ok := read([]byte(test.line)); got != test.want || ok != test.ok {
			t.Errorf("%s: %v, %v; want %v, %v", test.line, got, ok, test.want, test.ok)
		}
	}
	var got float64
	for range newest {
		got, _ = read([]byte(`{"step": 5, "value": 1}`))
	}
	must.Equal(t, got, 1, "mean", newest, "alone")
}

func TestUsageOfSamples(t *testing.T) {
	points := usage([]node.Sample{{At: 1 * time.Second}, {At: 2 * time.Second, Used: time.Second / 2}, {At: 3 * time.Second, Used: time.Second}, {At: 5 * time.Second, Used: 3 * time.Second}})
	want := []float64{0.5, 1, 0}
	must.Equal(t, len(points), len(want), points)
	for i, p := range points {
		if p.Y != want[i] {
			t.Errorf("usage %v, want %v", points, want)
			break
		}
	}
}

// A limit may change when a step is done, not what it does.
func TestSame(t *testing.T) {
	w := &worker{jobs: []harness.Job{{Name: "a", Steps: 2}}}
	curve := func(points ...master.Point) *trial { return &trial{curves: [][]master.Point{points}} }
	first := curve(master.Point{Step: 1, Value: 2}, master.Point{Step: 2, Value: 1})
	for name, test := range map[string]struct {
		*trial
		good bool
	}{
		"equal":   {first, true},
		"shorter": {curve(master.Point{Step: 1, Value: 2}), false},
		"other":   {curve(master.Point{Step: 1, Value: 2}, master.Point{Step: 2, Value: 1.1}), false},
		"twice":   {curve(master.Point{Step: 1, Value: 2}, master.Point{Step: 1, Value: 1}), false},
	} {
		if err := w.same(first, test.trial); (err == nil) != test.good {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPolicyUsage(t *testing.T) {
	for _, args := range []string{"flowcon -runs 0", "flowcon -scale NaN", "specon -stores tape", "specon -frameworks mxnet,caffe"} {
		must.Err(t, run(t.Context(), io.Discard, io.Discard, strings.Fields(args)), command.ErrUsage, args)
	}
	t.Setenv(harness.EnvFrameworks, "")
	for _, play := range []string{"flowcon", "specon"} {
		must.Err(t, run(t.Context(), io.Discard, io.Discard, []string{play, "-dir", t.TempDir(), "-out", t.TempDir()}), harness.ErrNoFrameworks, play)
	}
	must.Fail(speconDecider(&setting{}, false))(t, must.ErrAny, "no error without an interval")
}
