// This file plays elastic jobs on a real Nomad cluster and asks their workers' own logs whether anything ran twice or was
// lost.

package main

import (
	"strconv"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/apportion/apportion/examples/internal/beside/besidetest"
)

// bench is a cluster with a controller.
type bench struct {
	*cluster
	*besidetest.Bench
}

func newBench(t testing.TB, nodes ...string) *bench {
	t.Helper()
	c := newCluster(t, nodes...)
	return &bench{c, besidetest.New(t, c.dir, "NOMAD_ADDR="+c.address("http"))}
}

// submit registers an elastic job as its user does. A container takes an eighth of a node.
func (b *bench) submit(id string, most, steps int, more map[string]string) {
	b.Bench.Helper()
	kind, cpu, memory, none, driver := api.JobTypeService, 1000, 500, 0, "raw_exec"
	meta := map[string]string{"apportion.max": strconv.Itoa(most)}
	for key, text := range more {
		meta["apportion."+key] = text
	}
	j := &api.Job{ID: &id, Name: &id, Type: &kind, Datacenters: []string{"dc1"}, Meta: meta,
		TaskGroups: []*api.TaskGroup{{Name: &id, Count: &none, Tasks: []*api.Task{{Name: "train", Driver: driver,
			Config:    map[string]any{"command": b.Trainer, "args": []string{"train", "-steps", strconv.Itoa(steps), "-cost", "1ms"}},
			LogConfig: api.DefaultLogConfig(),
			Resources: &api.Resources{CPU: &cpu, MemoryMB: &memory}}}, EphemeralDisk: &api.EphemeralDisk{SizeMB: ptr(300)}}}}
	// A server that was killed a moment ago takes nothing yet.
	besidetest.Eventually(b.Bench, "the job is taken", 30*time.Second, func() bool { _, _, err := b.client.Jobs().Register(j, nil); return err == nil })
}

func ptr[T any](v T) *T { return &v }

// Jobs come, share the cluster, finish, and are withdrawn.
func TestJobsAreShared(t *testing.T) {
	b := newBench(t, "n1", "n2", "n3")
	b.submit("a", 24, 100000, nil)
	b.Holds(map[string]int{"a": 24})
	b.submit("b", 12, 100000, map[string]string{"weight": "2"})
	b.Holds(map[string]int{"a": 12, "b": 12})
	b.submit("c", 4, 20, nil)
	besidetest.Eventually(b.Bench, "c has done its work, and is stopped", 60*time.Second, func() bool {
		b.Report()
		j, _, err := b.client.Jobs().Info("c", nil)
		return err == nil && *j.Stop
	})
	b.Holds(map[string]int{"a": 12, "b": 12})
	if _, _, err := b.client.Jobs().Deregister("a", false, nil); err != nil {
		t.Fatal(err)
	}
	b.Holds(map[string]int{"b": 12})
	b.Check()
}
