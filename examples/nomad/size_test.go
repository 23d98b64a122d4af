// This file measures what a look and a decision cost the controller on many nodes, with a Nomad that answers from memory.

package nomad

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/hashicorp/nomad/api"

	"github.com/apportion/apportion/checkpoint/controller/daemon"
	"github.com/apportion/apportion/checkpoint/managed"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/examples/managertest"
	"github.com/apportion/apportion/internal/must"
)

func BenchmarkSize(b *testing.B) {
	managertest.Size(b, kinds, func(b *testing.B, nodes int) daemon.Cluster {
		n, s := onAnswers(b)
		s.nodes = nodes - 1
		s.register(named("plain"))
		for first := 1; first <= nodes; first += 5 {
			j := named(fmt.Sprint("lr", first))
			j.Meta, j.Constraints, j.Datacenters, j.NodePool = map[string]string{"apportion.max": "40"}, nil, nil, nil
			j.TaskGroups[0].Tasks[0].Resources = &api.Resources{CPU: ptr(2000), MemoryMB: ptr(1000)}
			s.register(j)
			task := managed.Task{Epoch: 4, Spec: must.Have(json.Marshal(j))(b), Run: runner.Run{Job: *j.ID, Attempt: 1, Dir: "/shared/runs/lr/1"}}
			for node := first; node < first+5; node++ {
				server := fmt.Sprint("n", node)
				task.Containers = append(task.Containers, server, server)
				for range 2 {
					s.runsOn(node, childOf(*j.ID), groupOf(1, server), 2000, 1000)
				}
				s.runsOn(node, "plain", "plain", 3000, 3000)
			}
			must.Do(b, n.Start(b.Context(), task))
		}
		must.Have(n.Look(b.Context()))(b) // which tells whose the children are
		return n
	})
}
