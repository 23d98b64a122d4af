//go:build linux

// This file lets SpeCon move a real framework job, in small, with checkpoints in a bucket of S3.

package main

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/transfer"
	"github.com/apportion/apportion/examples/inhouse/cluster"
	"github.com/apportion/apportion/examples/live/harness"
)

// Two jobs that have converged share a node beside an idle one: one of them is saved there and resumed on the
// other node, with its checkpoint in a bucket, and both end with the curves of undisturbed runs.
func TestSpeCon(t *testing.T) {
	ctx := frameworks(t)
	stop, err := serveS3()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	}()
	job := func(name, framework, option, value string, steps int64) harness.Job {
		j := small(name, framework, steps, option, value)
		j.Max, j.Cost, j.Demand = 1, 100*time.Microsecond, apportion.Resources{1, 1}
		return j
	}
	// In the order of their submission, so that right has the one that is soon over.
	jobs := []harness.Job{job("gru", "pytorch", "--cell", "gru", 1300), job("brief", "mxnet", "--model", "logistic", 5), job("network", "mxnet", "--model", "network", 1300)}
	var out bytes.Buffer
	stage := &harness.Stage{Place: cluster.Place(t.TempDir()), Servers: nodes, Jobs: jobs, Master: []string{"-policy", "SpeCon", "-slot", "500ms"}, Stdout: &out,
		Each: (&contest{}).tell(ctx)}
	record, err := stage.Run(ctx)
	if err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	outcomes, err := report(ctx, &out, record)
	if err != nil || len(outcomes) != len(jobs) {
		t.Fatalf("%d of %d jobs: %v\n%s", len(outcomes), len(jobs), err, &out)
	}
	t.Logf("\n%s", &out)
	adjustments, err := record.Adjustments() // that nothing is lost has been checked
	planned := slices.DeleteFunc(adjustments, func(a harness.Adjustment) bool { return !a.Planned })
	if err != nil || len(planned) == 0 {
		t.Fatalf("nobody was moved: %v", err)
	}
	store, err := storeFromEnvironment(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if manifests, err := store.List(ctx, planned[0].Job.Name); err != nil || len(manifests) == 0 {
		t.Errorf("%d checkpoints in the bucket: %v", len(manifests), err)
	}
}

// What one program saves in the bucket another one finds, and the environment is as before in the end.
func TestServeS3(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "mine")
	if store, err := storeFromEnvironment(t.Context()); store != nil || err != nil {
		t.Fatalf("store %v, %v without a bucket", store, err)
	}
	stop, err := serveS3()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/weights", []byte("1 2 3"), 0o600); err != nil {
		t.Fatal(err)
	}
	one, err1 := storeFromEnvironment(t.Context())
	two, err2 := storeFromEnvironment(t.Context())
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	if _, err := transfer.Save(t.Context(), one, "job", 1, checkpoint.Saved{Dir: dir, Files: []string{"weights"}, Step: 3}); err != nil {
		t.Fatal(err)
	}
	if _, err := transfer.Load(t.Context(), two, "job", 1, dir+"/again"); err != nil {
		t.Error(err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	if os.Getenv(storeVariable) != "" || os.Getenv("AWS_ACCESS_KEY_ID") != "mine" {
		t.Error("the environment is not as before")
	}
}
