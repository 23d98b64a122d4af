//go:build linux

// This file lets SpeCon move a real framework job, in small, with checkpoints in a bucket of S3.

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/examples/live/harness"
	"github.com/apportion/apportion/examples/studies/inhouse/cluster"
	"github.com/apportion/apportion/examples/studies/inhouse/master"
	"github.com/apportion/apportion/internal/must"
)

// afterMove kills the master when a job runs on another node than first, and waits for what the next one says of it.
type afterMove struct {
	first map[string]string // node of each job
	moved string            // the job; empty: none was
	known bool              // to the next master
}

func (a *afterMove) each(ctx context.Context, p *cluster.Play, s *cluster.Sample) error {
	for i := range s.List.Jobs {
		job := &s.List.Jobs[i].Job
		switch {
		case job.Phase != checkpoint.Running || a.moved != "":
		case a.first[job.Name] == "":
			a.first[job.Name] = job.Containers[0]
		case a.first[job.Name] != job.Containers[0]:
			p.Say("FAULT: kill -9 of the master, after %s has moved", job.Name)
			p.Cluster.KillProgram("master")
			a.moved = job.Name
		}
	}
	if a.moved == "" || a.known {
		return nil
	}
	var text string
	err := cluster.Patiently(ctx, func(ctx context.Context) error {
		return p.Cluster.Place.Call(ctx, "/explain", master.Nothing{}, &text)
	})
	for line := range strings.Lines(text) {
		a.known = a.known || strings.HasPrefix(line, a.moved+" ") && strings.Contains(line, "was decided on")
	}
	return err
}

// Two jobs that have converged share a node beside an idle one: one of them is saved there and resumed on the
// other node, with its checkpoint in a bucket, and both end with the curves of undisturbed runs. The master is
// killed then, and the next one moves nobody again.
func TestSpeCon(t *testing.T) {
	ctx := frameworks(t)
	stop := must.Have(serveS3())(t)
	defer func() {
		must.Do(t, stop())
	}()
	job := func(name, framework, option, value string, steps int64) harness.Job {
		j := small(name, framework, steps, option, value)
		j.Max, j.Cost, j.Demand = 1, 100*time.Microsecond, apportion.Resources{1, 1}
		return j
	}
	// In the order of their submission, so that right has the one that is soon over.
	jobs := []harness.Job{job("gru", "pytorch", "--cell", "gru", 1300), job("brief", "mxnet", "--model", "logistic", 5), job("network", "mxnet", "--model", "network", 1300)}
	var out bytes.Buffer
	tell, kill := (&contest{}).tell(ctx), &afterMove{first: map[string]string{}}
	stage := &harness.Stage{Place: cluster.Place(t.TempDir()), Servers: nodes, Jobs: jobs, Master: []string{"-policy", "SpeCon", "-slot", "500ms"}, Stdout: &out,
		Each: func(p *cluster.Play, s *cluster.Sample) error { return errors.Join(tell(p, s), kill.each(ctx, p, s)) }}
	record := must.Have(stage.Run(ctx))(t, &out)
	outcomes := must.Have(report(ctx, &out, record))(t)
	must.Equal(t, len(outcomes), len(jobs), "of", "jobs", &out)
	t.Logf("\n%s", &out)
	adjustments, err := record.Adjustments() // that nothing is lost has been checked
	planned := slices.DeleteFunc(adjustments, func(a harness.Adjustment) bool { return !a.Planned })
	if err != nil || len(planned) == 0 {
		t.Fatalf("nobody was moved: %v", err)
	}
	if len(planned) > 1 || !kill.known {
		t.Errorf("%d moves, want 1; the new master knows of that of %q: %v", len(planned), kill.moved, kill.known)
	}
	store := must.Have(storeFromEnvironment(ctx))(t)
	if manifests, err := store.List(ctx, planned[0].Job.Name); err != nil || len(manifests) == 0 {
		t.Errorf("%d checkpoints in the bucket: %v", len(manifests), err)
	}
}

// Every second job is short, whatever the frameworks, and no two have the same name.
func TestUneven(t *testing.T) {
	for frameworks, want := range map[string]string{
		"tensorflow,pytorch,mxnet": "vae 12000, lstm 500, gru 3600, logistic 800, network 4000, cnn 300",
		"mxnet":                    "network 4000, logistic 800, network-2 4000, logistic-2 800, network-3 4000, logistic-3 800",
		"pytorch,mxnet":            "gru 3600, logistic 800, network 4000, lstm 500, gru-2 3600, logistic-2 800",
	} {
		var names []string
		seeds := map[string]bool{}
		for i, job := range uneven(1, strings.Split(frameworks, ",")) {
			names = append(names, fmt.Sprint(job.Name, " ", job.Steps))
			seeds[fmt.Sprint(job.Args, job.Seed)] = true
			must.Equal(t, job.At, time.Duration(i)*time.Second, frameworks, "job", job.Name, "comes at")
		}
		if got := strings.Join(names, ", "); got != want || len(seeds) != 6 {
			t.Errorf("%s: %s with %d seeds, want %s", frameworks, got, len(seeds), want)
		}
	}
}

// What one program saves in the bucket another one finds, and the environment is as before in the end.
func TestServeS3(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "mine")
	if store, err := storeFromEnvironment(t.Context()); store != nil || err != nil {
		t.Fatalf("store %v, %v without a bucket", store, err)
	}
	stop := must.Have(serveS3())(t)
	dir := t.TempDir()
	must.Do(t, os.WriteFile(dir+"/weights", []byte("1 2 3"), 0o600))
	one, err1 := storeFromEnvironment(t.Context())
	two, err2 := storeFromEnvironment(t.Context())
	must.Do(t, errors.Join(err1, err2))
	must.Have(store.Save(t.Context(), one, "job", 1, store.Files{Dir: dir, Names: []string{"weights"}}))(t)
	must.Have(store.Load(t.Context(), two, "job", 1, dir+"/again"))(t)
	must.Do(t, stop())
	if os.Getenv(storeVariable) != "" || os.Getenv("AWS_ACCESS_KEY_ID") != "mine" {
		t.Error("the environment is not as before")
	}
}
