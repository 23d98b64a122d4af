// This file lets everything die, hang and come back on a real Nomad cluster, while jobs run on it.

package nomad

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/apportion/apportion/checkpoint/checkpointtest/processes"
	"github.com/apportion/apportion/examples/managertest"
)

// nodes are those of the cluster in TestFaults.
var nodes = []string{"n1", "n2", "n3"}

// own are the faults of a Nomad cluster.
func (b *bench) own() []managertest.Fault {
	return []managertest.Fault{
		{Name: "a client is killed for a while", Of: "client", Do: func(r *rand.Rand) {
			node := nodes[r.IntN(len(nodes))]
			b.Kill(node)
			managertest.Wait(r, time.Second, 15*time.Second)
			b.start(node)
		}},
		{Name: "the server is killed for a while", Of: "server", Do: func(r *rand.Rand) {
			b.Kill("server")
			managertest.Wait(r, 100*time.Millisecond, 8*time.Second)
			b.start("server")
		}},
		{Name: "a node is drained", Of: "drain", Do: func(r *rand.Rand) {
			id := b.nodeID(nodes[r.IntN(len(nodes))])
			b.drain(id, &api.DrainSpec{Deadline: time.Minute})
			managertest.Wait(r, time.Second, 6*time.Second)
			b.drain(id, nil)
		}},
		{Name: "a job is stopped by its user, and another submitted", Of: "job", Do: func(r *rand.Rand) {
			if ids := b.running(); len(ids) > 0 {
				_, _, err := b.client.Jobs().Deregister(ids[r.IntN(len(ids))], false, nil)
				b.retried(err)
			}
			b.more(r)
		}},
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

// more submits another job.
func (b *bench) more(r *rand.Rand) {
	id, most, steps := b.Another(r)
	b.submit(id, most, steps, nil)
}

// Nothing runs twice and nothing confirmed is lost, whatever dies and comes back, and every job ends.
func TestFaults(t *testing.T) {
	b := newBench(t, nodes...)
	b.Play(append(b.own(), b.Seconds()...), 6, 2, b.running, b.more)
}
