// This file runs the command as a user does, and tests what its tables are made of.

package main

import (
	"io"
	"math"
	"testing"

	"github.com/apportion/apportion/examples/studies/chart/charttest"
	"github.com/apportion/apportion/examples/studies/command/commandtest"
	"github.com/apportion/apportion/growth/speedup"
	"github.com/apportion/apportion/internal/must"
)

// TestCases runs the commands of testdata/cases and compares what they print, errors included.
func TestCases(t *testing.T) { commandtest.Cases(t, run) }

// TestRecords runs the commands of testdata/record, whose output the README shows.
func TestRecords(t *testing.T) { commandtest.Records(t, run, nil) }

// The figures are files that viewers can open, and the same every time.
func TestFigures(t *testing.T) {
	charttest.Twice(t, func(out string) error {
		return run(t.Context(), io.Discard, io.Discard, []string{"-seeds", "1", "-out", out})
	}, 2, "pollux", "auto")
}

// The measurements are those of the files: a step of 16 GPUs on 4 servers, and a type that runs on every number of accelerators.
func TestData(t *testing.T) {
	jobs := must.Have(readJobs())(t)
	must.Equal(t, len(jobs), 3, "jobs (")
	for i, want := range []struct {
		name        string
		small, wide int
	}{{"cifar10", 1183, 329}, {"deepspeech2", 754, 198}, {"imagenet", 864, 288}} {
		if j := jobs[i]; j.name != want.name || len(j.small) != want.small || len(j.wide) != want.wide {
			t.Errorf("%s with %d and %d steps, want %+v", j.name, len(j.small), len(j.wide), want)
		}
	}
	if got, want := jobs[0].small[0], (speedup.Observation{Containers: 1, Servers: 1, Samples: 32, Seconds: 0.042789}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	types := must.Have(readTypes())(t)
	must.Equal(t, len(types), 111, "types on accelerators (")
	if got := types[0].steps[1]; got.Containers != 2 || math.Abs(got.Samples/got.Seconds-8.758231) > 1e-9 {
		t.Errorf("%+v of %s", got, types[0].name)
	}
}

// Errors are relative to what was measured.
func TestWrong(t *testing.T) {
	c := must.Have(speedup.Fit([]speedup.Observation{{Containers: 1, Servers: 1, Samples: 1, Seconds: 1}}, &speedup.Options{Model: speedup.Linear}))(t)
	var w wrong
	w.add(c, []speedup.Observation{{Containers: 1, Servers: 1, Samples: 1, Seconds: 1}, {Containers: 2, Servers: 1, Samples: 1, Seconds: 2}})
	if got := w.percent(); math.Abs(got-37.5) > 1e-9 {
		t.Errorf("%g %%, want 37.5", got)
	}
}
