// This file lets everything die, hang and come back on a real Nomad cluster, while jobs run on it.

package nomad

import (
	"strconv"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/apportion/apportion/examples/managertest"
	"github.com/apportion/apportion/examples/managertest/processes"
)

// nodes are those of the cluster in TestFaults.
var nodes = []string{"n1", "n2", "n3"}

// Verbs implements managertest.Player: what a test does to a Nomad cluster.
func (b *bench) Verbs() *managertest.Cluster {
	return &managertest.Cluster{
		Nodes: nodes,
		Daemons: []managertest.Daemon{{Sort: "client", Names: nodes, Least: time.Second, Most: 15 * time.Second},
			{Sort: "server", Names: []string{"server"}, Least: 100 * time.Millisecond, Most: 8 * time.Second}},
		Kill: b.Kill, Start: b.start,
		Drain: func(node string, on bool) {
			var spec *api.DrainSpec
			if on {
				spec = &api.DrainSpec{Deadline: time.Minute}
			}
			b.drain(b.nodeID(node), spec)
		},
		Submit: func(id string, most, steps, weight int) string {
			b.submit(id, most, steps, map[string]string{"weight": strconv.Itoa(weight)})
			return id
		},
		Cancel: func(id string) {
			_, _, err := b.client.Jobs().Deregister(id, false, nil)
			b.retried(err)
		},
		Jobs: b.running,
	}
}

// nodeID is the ID of a node.
func (b *bench) nodeID(name string) string {
	b.Bench.Helper()
	var id string
	processes.Eventually(b.Bench, "the node is known", 30*time.Second, func() bool {
		list, _, err := b.client.Nodes().List(nil)
		for _, node := range list {
			if node.Name == name {
				id = node.ID
			}
		}
		return err == nil && id != ""
	})
	return id
}

// drain begins the drain of a node, or ends it.
func (b *bench) drain(id string, spec *api.DrainSpec) {
	b.Bench.Helper()
	processes.Eventually(b.Bench, "the drain is taken", 30*time.Second, func() bool {
		_, err := b.client.Nodes().UpdateDrain(id, spec, spec == nil, nil)
		return err == nil
	})
}

// running are the elastic jobs that are not stopped.
func (b *bench) running() []string {
	stubs, _, err := b.client.Jobs().ListOptions(&api.JobListOptions{Fields: &api.JobListFields{Meta: true}}, nil)
	b.retried(err)
	var ids []string
	for _, stub := range stubs {
		if isElastic(stub.Meta) && !isChild(stub.ID, stub.Meta) && !stub.Stop {
			ids = append(ids, stub.ID)
		}
	}
	return ids
}

// retried takes errors that a server which has just come back gives.
func (b *bench) retried(err error) {
	if err != nil {
		b.Bench.Logf("the server: %v", err)
	}
}

// Nothing runs twice and nothing confirmed is lost, whatever dies and comes back, and every job ends.
func TestFaults(t *testing.T) {
	b := newBench(t, nodes...)
	b.Play(b.Verbs(), 6, 2)
}
