// This file plays small streams of real framework jobs. The frameworks must be there: see
// harness.EnvFrameworks.

package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/examples/live/harness"
	"github.com/apportion/apportion/examples/studies/command"
	"github.com/apportion/apportion/examples/studies/inhouse/cluster"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/placement/sim"
	simpolicies "github.com/apportion/apportion/placement/sim/policies"
)

// TestMain lets the test binary be every program of a cluster.
func TestMain(m *testing.M) {
	if os.Getenv(cluster.AsProgram) != "" {
		command.Main("live", run)
	}
	os.Exit(m.Run())
}

// frameworks skips a test without them, or fails it where they are required.
func frameworks(t *testing.T) context.Context {
	t.Helper()
	if os.Getenv(harness.EnvFrameworks) == "" {
		must.Equal(t, os.Getenv("APPORTION_REQUIRE_FRAMEWORKS"), "", harness.EnvFrameworks, "is not set")
		t.Skipf("NOT TESTED, %s is not set: the frameworks are missing", harness.EnvFrameworks)
	}
	if testing.Short() {
		t.Skip("starts real frameworks, which takes a minute")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func small(name, framework string, steps int64, args ...string) harness.Job {
	return harness.Job{Name: name, Framework: framework, Args: args, Steps: steps, Seed: 7, Cost: 5 * time.Millisecond,
		Min: 1, Max: 2, Weight: 1, Demand: apportion.Resources{1, 2}}
}

// Three jobs share three containers: each of them makes room for the next, takes what the others leave,
// and ends with the curve of an undisturbed run.
func TestDorm(t *testing.T) {
	ctx := frameworks(t)
	place := cluster.Place(t.TempDir())
	jobs := []harness.Job{small("cnn", "tensorflow", 60, "--model", "cnn"), small("gru", "pytorch", 60, "--cell", "gru"), small("network", "mxnet", 200, "--model", "network")}
	for i := range jobs {
		jobs[i].At = time.Duration(i) * 2 * time.Second
	}
	var out bytes.Buffer
	stage := &harness.Stage{Place: place, Jobs: jobs, Stdout: &out, Master: []string{"-policy", "dorm", "-save-every", "3s"},
		Servers: []apportion.Server{{ID: "north", Capacity: apportion.Resources{2, 4}}, {ID: "south", Capacity: apportion.Resources{1, 2}}}}
	record := must.Have(stage.Run(ctx))(t, &out)
	outcomes := must.Have(report(ctx, &out, record))(t)
	must.Equal(t, len(outcomes), len(jobs), "of", "jobs", &out)
	adjustments, err := record.Adjustments()
	if err != nil || len(adjustments) == 0 {
		t.Errorf("nothing was adjusted: %v", err)
	}
	if runs := outcomes[0].Runs; runs < 2 {
		t.Errorf("the first job made no room: %d runs", runs)
	}
	if left := place.Processes(); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
	t.Logf("\n%s", &out)
}

// A trainer, a parameter server, an agent and the master are killed. All hit the same job, which does no
// steps while it recovers: it cannot end before all has happened, however slow the machine.
func TestFaults(t *testing.T) {
	ctx := frameworks(t)
	network := small("network", "mxnet", 250, "--model", "network")
	network.Min = 2
	f := &failing{place: cluster.Place(t.TempDir()), faults: []fault{
		{"a trainer", "network", killRank(0), false, false}, {"a parameter server", "network", killRank(-1), false, false},
		{"an agent", "network", killAgent, false, false}, {"the master", "network", killMaster, false, false},
	}}
	var out bytes.Buffer
	must.Do(t, f.run(ctx, &out, []harness.Job{network}), &out)
	t.Logf("\n%s", &out)
}

// A job is moved, killed and hangs, here without an accelerator: its curve is that of an undisturbed run.
func TestDevice(t *testing.T) {
	ctx := frameworks(t)
	var out bytes.Buffer
	args := []string{"device", "-dir", t.TempDir(), "-device", "cpu", "-widths", "64", "-steps", "900", "-cost", "20ms", "-patience", "4s", "-stall-after", "2s"}
	must.Do(t, run(ctx, &out, &out, args), &out)
	if text := out.String(); !strings.Contains(text, "(stalled: ") {
		t.Errorf("the job that hung was not ended:\n%s", text)
	}
}

// The simulated stream is one in which deadlines matter: OASiS earns more than twice what FIFO does.
func TestStream(t *testing.T) {
	var totals []float64
	for _, policy := range []sim.Policy{&simpolicies.OASiS{}, &simpolicies.FIFO{}} {
		r := must.Have(simulate(t.Context(), policy, time.Second))(t)
		totals = append(totals, r.Worth())
	}
	if !(totals[0] > 2*totals[1]) {
		t.Errorf("OASiS earns %.1f, FIFO %.1f", totals[0], totals[1])
	}
}

func TestUsage(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{nil, "live: which of agent, device, dorm, faults"},
		{[]string{"dance"}, `what is "dance"?`},
		{[]string{"master", "-policy", "luck"}, `-policy: what is "luck"?`},
		{[]string{"agent", "-capacity", "4,two"}, `"two"`},
	} {
		var errs bytes.Buffer
		if err := run(t.Context(), io.Discard, &errs, test.args); !errors.Is(err, command.ErrUsage) || !strings.Contains(errs.String(), test.want) {
			t.Errorf("%v: %v, %s", test.args, err, &errs)
		}
	}
}

// Without the frameworks a play says what is missing.
func TestNoFrameworks(t *testing.T) {
	t.Setenv(harness.EnvFrameworks, "")
	for _, play := range []string{"device", "dorm", "oasis", "faults"} {
		err := run(t.Context(), io.Discard, io.Discard, []string{play, "-dir", t.TempDir(), "-out", t.TempDir()}[:3])
		must.Err(t, err, harness.ErrNoFrameworks, play)
	}
}
