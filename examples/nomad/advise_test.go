// This file tests decisions for an autoscaler on a real Nomad cluster: jobs that run by themselves, and a test that scales
// them as the autoscaler would.

package nomad

import (
	"context"
	"maps"
	"strconv"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint/controller"
	"github.com/apportion/apportion/checkpoint/controller/daemon"
	"github.com/apportion/apportion/examples/managertest/processes"
)

// serve registers a job with one container that runs for ever and takes an eighth of a node.
func (c *cluster) serve(id string, most int) {
	c.Helper()
	kind, cpu, memory, one := api.JobTypeService, 1000, 500, 1
	j := &api.Job{ID: &id, Name: &id, Type: &kind, Datacenters: []string{"dc1"}, Meta: map[string]string{"apportion.max": strconv.Itoa(most)},
		TaskGroups: []*api.TaskGroup{{Name: &id, Count: &one, Tasks: []*api.Task{{Name: "serve", Driver: "raw_exec",
			Config: map[string]any{"command": "/bin/sleep", "args": []string{"100000"}}, LogConfig: &api.LogConfig{MaxFiles: ptr(1), MaxFileSizeMB: ptr(1)},
			Resources: &api.Resources{CPU: &cpu, MemoryMB: &memory}}}, EphemeralDisk: &api.EphemeralDisk{SizeMB: ptr(20)}}}}
	if _, _, err := c.client.Jobs().Register(j, nil); err != nil {
		c.Fatal(err)
	}
}

// Jobs are scaled to the joint decision, one by one, and whoever comes later gets a share of what the first had.
func TestAdvise(t *testing.T) {
	c := newCluster(t, "n1", "n2")
	n := newNomad(c.client, 0, daemon.Guarded{})
	n.advised = true
	a := controller.NewAdvisor(controller.Config{Cluster: n, Look: 100 * time.Millisecond,
		Problem: alloc.Problem{Kinds: kinds, Theta1: 1, Theta2: 1}}, n.Running)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { a.Run(ctx); close(ended) }()
	t.Cleanup(func() { cancel(); <-ended })
	// holds scales until the jobs have so many containers, and the decision starts from that.
	holds := func(want map[string]int64) {
		t.Helper()
		had := map[string]int64{}
		processes.Eventually(t, "the jobs are scaled", 60*time.Second, func() bool {
			last := a.Last()
			if last.Decision == nil {
				return false
			}
			clear(had)
			for id := range want {
				had[id] = last.Problem.Previous.Containers(id)
				count := int(last.Decision.Allocation.Containers(id))
				status, _, err := c.client.Jobs().ScaleStatus(id, nil)
				if err == nil && status.TaskGroups[id].Desired != count {
					_, _, _ = c.client.Jobs().Scale(id, id, &count, "the joint decision", false, nil, nil) // it is tried again
				}
			}
			return maps.Equal(had, want)
		})
	}
	c.serve("a", 16)
	holds(map[string]int64{"a": 16})
	c.serve("b", 16)
	holds(map[string]int64{"a": 8, "b": 8})
	if fault := a.Last().Fault; fault != "" {
		t.Error(fault)
	}
}
