// This file plays elastic jobs on a real Nomad cluster and asks their workers' own logs whether anything ran twice or was
// lost.

package main

import (
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

	"github.com/hashicorp/nomad/api"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/controller"
	"github.com/apportion/apportion/checkpoint/workerlog"
)

// bench is a cluster with a controller, each a process as its user starts it.
type bench struct {
	*cluster
	shared, program, trainer string
	args, env                []string
	controller               *exec.Cmd
	url                      string
	confirmed                []workerlog.Confirmed
	submitted                int    // how many jobs were
	rest                     string // what does not rest
}

func newBench(t testing.TB, nodes ...string) *bench {
	t.Helper()
	return benchOn(newCluster(t, nodes...))
}

// benchOn starts a controller on a cluster, with more in its environment.
func benchOn(c *cluster, env ...string) *bench {
	t := c.TB
	t.Helper()
	b := &bench{cluster: c, env: append([]string{"NOMAD_ADDR=" + c.address("http")}, env...)}
	b.shared = filepath.Join(b.dir, "shared")
	if err := os.MkdirAll(b.shared, 0o700); err != nil {
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
	b.controller.Env = append(os.Environ(), b.env...)
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

// submit registers an elastic job as its user does. A container takes an eighth of a node.
func (b *bench) submit(id string, most, steps int, more map[string]string) {
	b.Helper()
	kind, cpu, memory, none, driver := api.JobTypeService, 1000, 500, 0, "raw_exec"
	meta := map[string]string{"apportion.max": strconv.Itoa(most)}
	for key, text := range more {
		meta["apportion."+key] = text
	}
	j := &api.Job{ID: &id, Name: &id, Type: &kind, Datacenters: []string{"dc1"}, Meta: meta,
		TaskGroups: []*api.TaskGroup{{Name: &id, Count: &none, Tasks: []*api.Task{{Name: "train", Driver: driver,
			Config:    map[string]any{"command": b.trainer, "args": []string{"train", "-steps", strconv.Itoa(steps), "-cost", "1ms"}},
			LogConfig: api.DefaultLogConfig(),
			Resources: &api.Resources{CPU: &cpu, MemoryMB: &memory}}}, EphemeralDisk: &api.EphemeralDisk{SizeMB: ptr(300)}}}}
	// A server that was killed a moment ago takes nothing yet.
	b.eventually("the job is taken", 30*time.Second, func() bool { _, _, err := b.client.Jobs().Register(j, nil); return err == nil })
}

func ptr[T any](v T) *T { return &v }

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

// Jobs come, share the cluster, finish, and are withdrawn.
func TestJobsAreShared(t *testing.T) {
	b := newBench(t, "n1", "n2", "n3")
	b.submit("a", 24, 100000, nil)
	b.holds(map[string]int{"a": 24})
	b.submit("b", 12, 100000, map[string]string{"weight": "2"})
	b.holds(map[string]int{"a": 12, "b": 12})
	b.submit("c", 4, 20, nil)
	b.eventually("c has done its work, and is stopped", 60*time.Second, func() bool {
		b.report()
		j, _, err := b.client.Jobs().Info("c", nil)
		return err == nil && *j.Stop
	})
	b.holds(map[string]int{"a": 12, "b": 12})
	if _, _, err := b.client.Jobs().Deregister("a", false, nil); err != nil {
		t.Fatal(err)
	}
	b.holds(map[string]int{"b": 12})
	b.check()
}
