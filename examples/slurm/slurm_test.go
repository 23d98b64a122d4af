// This file plays elastic jobs on a real Slurm cluster and asks their workers' own logs whether anything ran twice or was
// lost.

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/controller"
	"github.com/apportion/apportion/checkpoint/workerlog"
)

// bench is a cluster with a controller, each a process as its user starts it.
type bench struct {
	*cluster
	shared, program, trainer string
	args                     []string
	controller               *exec.Cmd
	url                      string
	confirmed                []workerlog.Confirmed
	submitted                int    // how many jobs were
	rest                     string // what does not rest
}

func newBench(t testing.TB, nodes int) *bench {
	t.Helper()
	b := &bench{cluster: newCluster(t, nodes)}
	b.shared = filepath.Join(b.dir, "shared")
	if err := os.MkdirAll(b.shared, 0o755); err != nil {
		t.Fatal(err)
	}
	b.trainer, b.program = b.build("inhouse", "../studies", "./inhouse"), b.build("controller", ".", ".")
	guard := b.build("apportion-guard", "../..", "./checkpoint/guard/apportion-guard")
	port := freePorts(t, 1)
	b.url = "http://127.0.0.1:" + strconv.Itoa(port)
	b.args = []string{"-shared", b.shared, "-listen", "127.0.0.1:" + strconv.Itoa(port), "-guard", guard, "-lease", "6s", "-every", "200ms",
		"-look", "300ms", "-theta1", "1", "-theta2", "1", "-save", "5s"}
	b.begin()
	t.Cleanup(func() {
		b.end()
		if t.Failed() {
			text, _ := os.ReadFile(filepath.Join(b.dir, "controller.log"))
			t.Logf("the controller's log:\n%.4000s", text)
		}
	})
	return b
}

// begin starts the controller, end kills it.
func (b *bench) begin() {
	b.Helper()
	log, err := os.OpenFile(filepath.Join(b.dir, "controller.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	defer log.Close()
	b.controller = exec.Command(b.program, b.args...)
	b.controller.Stdout, b.controller.Stderr = log, log
	if err := b.controller.Start(); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) end() {
	_ = b.controller.Process.Kill() // it may have ended
	_ = b.controller.Wait()
}

// report asks the controller how everything stands; nil: it does not answer.
func (b *bench) report() *controller.Report {
	token, err := os.ReadFile(filepath.Join(b.shared, "master", "user.token"))
	if err != nil {
		return nil
	}
	response, err := http.Get(b.url + "/state?token=" + strings.TrimSpace(string(token)))
	if err != nil {
		return nil
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	var r controller.Report
	if err != nil || json.Unmarshal(text, &r) != nil {
		return nil
	}
	for _, j := range r.Jobs {
		if newest := j.Job.Newest(); newest.Number > 0 {
			b.confirmed = append(b.confirmed, workerlog.Confirmed{Job: j.Job.Name, Step: newest.Step, At: time.Now().UnixNano()})
		}
	}
	return &r
}

// submit submits an elastic job as its user does, and returns its ID. A task takes a CPU.
func (b *bench) submit(name string, most, steps int, more ...string) string {
	b.Helper()
	script := fmt.Sprintf("#!/bin/sh\nexec %s train -steps %d -cost 1ms\n", b.trainer, steps)
	var text string
	var err error
	b.eventually("the job is taken", 60*time.Second, func() bool {
		text, err = command(context.Background(), script, "sbatch", "--parsable", "--hold", "--job-name="+name, "--cpus-per-task=1",
			"--mem-per-cpu=500", "--chdir="+b.dir, "--comment=apportion max="+strconv.Itoa(most)+" "+strings.Join(more, " "))
		return err == nil
	})
	return name + "." + strings.TrimSpace(text)
}

// holds waits until the jobs that run hold so many containers each.
func (b *bench) holds(want map[string]int) {
	b.Helper()
	last := ""
	defer func() {
		if b.Failed() {
			b.Log(last)
		}
	}()
	b.eventually(fmt.Sprintf("the jobs hold %v", want), 90*time.Second, func() bool {
		r, held := b.report(), map[string]int{}
		if r == nil {
			return false
		}
		for _, j := range r.Jobs {
			if j.Job.Phase == checkpoint.Running && j.Job.Order == 0 {
				held[j.Job.Name] = len(j.Job.Containers)
			}
		}
		r.Servers = nil
		text, _ := json.Marshal(r)
		last = string(text)
		return fmt.Sprint(held) == fmt.Sprint(want)
	})
}

// check asks the workers' logs.
func (b *bench) check() {
	b.Helper()
	lines, err := workerlog.ReadAll(os.DirFS(filepath.Join(b.shared, "runs")))
	if err == nil {
		err = workerlog.Check(lines, &workerlog.Options{Confirmed: b.confirmed})
	}
	if err != nil || len(lines) == 0 {
		b.Errorf("%d lines of workers: %v", len(lines), err)
	}
	b.Logf("%d lines of workers, %d looks at confirmed checkpoints", len(lines), len(b.confirmed))
}

// state is how Slurm says that a job stands.
func (b *bench) state(id string) string {
	b.Helper()
	text, err := command(context.Background(), "", "scontrol", "-o", "show", "job", id[strings.LastIndex(id, ".")+1:])
	if err != nil {
		b.Fatal(err)
	}
	return readRecord(text)["JobState"]
}

// Jobs come, share the cluster, finish, and are withdrawn.
func TestJobsAreShared(t *testing.T) {
	b := newBench(t, 3)
	first := b.submit("a", 24, 100000)
	b.holds(map[string]int{first: 24})
	second := b.submit("b", 12, 100000, "weight=2")
	b.holds(map[string]int{first: 12, second: 12})
	third := b.submit("c", 4, 20)
	b.eventually("c has done its work, and is cancelled", 60*time.Second, func() bool { b.report(); return b.state(third) == "CANCELLED" })
	b.holds(map[string]int{first: 12, second: 12})
	if _, err := command(context.Background(), "", "scancel", first[2:]); err != nil {
		t.Fatal(err)
	}
	b.holds(map[string]int{second: 12})
	b.check()
}
