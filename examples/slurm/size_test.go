// This file measures what a look and a decision cost the controller on many nodes, with Slurm's words from files.

package slurm

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apportion/apportion/checkpoint/controller/daemon"
	"github.com/apportion/apportion/examples/managertest"
)

// crowd has the commands show so many nodes of 8 CPUs: three of each are those of a plain job, and an elastic job for each five nodes has
// two tasks of two CPUs on each of these.
func (f *fake) crowd(nodes int) {
	f.Helper()
	var servers, jobs []fields
	var runs strings.Builder
	for n := range nodes {
		node, id := fmt.Sprintf("n%04d", n), 1000+n/5
		servers = append(servers, node1(fields{"name": node, "hostname": node, "alloc_cpus": 7, "alloc_memory": 3500}))
		if n%5 == 0 {
			jobs = append(jobs, held(fields{"job_id": id, "name": "lr", "comment": "apportion max=40"}))
			fmt.Fprintf(&runs, "%d|1000|1|PENDING|JobHeldUser|lr\n", id)
		}
		name := fmt.Sprintf("apportion/lr.%d/a1/%s", id, node)
		jobs = append(jobs, part(fields{"job_id": 100000 + n, "name": name, "nodes": node}), part(fields{"job_id": 200000 + n, "name": "plain", "nodes": node, "cpus": 3, "tasks": 3}))
		fmt.Fprintf(&runs, "%d|1000|2|RUNNING|None|%s\n", 100000+n, name)
	}
	f.show("nodes", servers...)
	f.show("jobs", jobs...)
	f.write("runs", runs.String())
}

func BenchmarkSize(b *testing.B) {
	managertest.Size(b, kinds, func(b *testing.B, nodes int) daemon.Cluster {
		f := newFake(b)
		f.crowd(nodes)
		return f.slurm
	})
}
