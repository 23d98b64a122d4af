// This file plays elastic jobs on a real YARN cluster and asks their workers' own logs whether anything ran twice or was
// lost.

package main

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion/examples/internal/beside/besidetest"
)

// bench is a cluster with a controller.
type bench struct {
	*cluster
	*besidetest.Bench
}

// newBench starts a controller in a folder of its own on a cluster.
func newBench(t *testing.T, c *cluster) *bench {
	t.Helper()
	dir := filepath.Join(c.dir, strings.ReplaceAll(t.Name(), "/", "-"))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	b := &bench{c, besidetest.New(t, dir, confVariable+"="+filepath.Join(c.dir, "conf-rm"), holderVariable+"="+c.holder())}
	t.Cleanup(func() {
		b.End()
		for _, a := range b.applications() {
			if !a.isOver() {
				b.withdraw(a.ID)
			}
		}
	})
	return b
}

// jobFile is the file of a job.
func (b *bench) jobFile(job string) string {
	return filepath.Join(b.Shared, "jobs", job+jobEnding)
}

// submit submits an elastic job as its user does. A container takes a GPU.
func (b *bench) submit(job string, most, steps int, more map[string]any) string {
	b.Bench.Helper()
	declared := map[string]any{"queue": "a", "max": most, "demand": map[string]any{memoryKind: 500, vcoreKind: 1, gpuKind: 1},
		"command": []string{b.Trainer, "train", "-steps", strconv.Itoa(steps), "-cost", "1ms"}}
	maps.Copy(declared, more)
	text, err := json.Marshal(declared)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(b.jobFile(job)), 0o755)
	}
	name := b.jobFile(job) + ".new"
	if err == nil {
		err = os.WriteFile(name, text, 0o644)
	}
	if err == nil {
		err = os.Rename(name, b.jobFile(job))
	}
	if err != nil {
		b.Bench.Fatal(err)
	}
	return job
}

// applications are all elastic ones.
func (b *bench) applications() []application {
	b.Bench.Helper()
	var list []application
	besidetest.Eventually(b.Bench, "the ResourceManager answers", 90*time.Second, func() (so bool) {
		var err error
		list, err = b.manager.applications(context.Background(), "")
		return err == nil
	})
	return list
}

// state is how YARN says that the newest application of a job stands.
func (b *bench) state(job string) string {
	b.Bench.Helper()
	state := ""
	for _, a := range b.applications() {
		if a.Name == job {
			state = a.State
		}
	}
	return state
}

// withdraw kills an application, as its user does.
func (b *bench) withdraw(id string) {
	b.Bench.Helper()
	body := []byte("<appstate><state>KILLED</state></appstate>")
	besidetest.Eventually(b.Bench, id+" is killed", 90*time.Second, func() bool {
		_, err := b.manager.do(context.Background(), "PUT", "/ws/v1/cluster/apps/"+id+"/state?user.name="+b.manager.user, body)
		return err == nil
	})
}

// On one cluster, since its start takes long: jobs come, share it, finish, and are withdrawn; and everything dies.
func TestYARN(t *testing.T) {
	c := newCluster(t, 3)
	t.Run("share", c.share)
}

func (c *cluster) share(t *testing.T) {
	b := newBench(t, c)
	first := b.submit("a", 12, 100000, nil)
	b.Holds(map[string]int{first: 12})
	second := b.submit("b", 6, 100000, map[string]any{"weight": 2, "queue": "b"})
	b.Holds(map[string]int{first: 6, second: 6})
	third := b.submit("c", 4, 20, nil)
	besidetest.Eventually(b.Bench, "c has done its work, and so says YARN", 90*time.Second, func() bool { b.Report(); return b.state(third) == "FINISHED" })
	b.Holds(map[string]int{first: 6, second: 6})
	for _, a := range b.applications() {
		if a.Name == first {
			b.withdraw(a.ID)
		}
	}
	b.Holds(map[string]int{second: 6})
	if err := os.Remove(b.jobFile(second)); err != nil {
		t.Fatal(err)
	}
	besidetest.Eventually(b.Bench, "b has no application any more", 60*time.Second, func() bool { b.Report(); return b.state(second) == "FINISHED" })
	for _, job := range []string{first, third} {
		besidetest.Eventually(b.Bench, "the file of "+job+" is put aside", 30*time.Second, func() bool {
			found, _ := filepath.Glob(filepath.Join(b.Shared, "jobs", over, job+".*"))
			return len(found) == 1
		})
	}
	b.Check()
}
