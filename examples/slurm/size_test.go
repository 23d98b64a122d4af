// This file measures what a look and a decision cost the controller on many nodes, with Slurm's words from files: what slurmctld itself
// needs for them, and the network, are not in it.

package slurm

import (
	"fmt"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint/controller"
	"github.com/apportion/apportion/internal/must"
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

// used is the CPU time of this process and of its children, in milliseconds.
func used(b *testing.B) float64 {
	sum := 0.0
	for _, of := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		must.Do(b, syscall.Getrusage(of, &u))
		sum += float64(u.Utime.Nano()+u.Stime.Nano()) / 1e6
	}
	return sum
}

func BenchmarkSize(b *testing.B) {
	for _, nodes := range []int{10, 100, 1000} {
		f := newFake(b)
		f.crowd(nodes)
		running, err := f.Running(b.Context())
		if err != nil || len(running) != nodes/5 {
			b.Fatalf("%d jobs run, %v", len(running), err)
		}
		config := controller.Config{Cluster: f.slurm, Problem: alloc.Problem{Kinds: kinds, Theta1: 0.2, Theta2: 0.3}}
		measure := func(what string, do func() error) {
			b.Run(fmt.Sprintf("%s/nodes=%d", what, nodes), func(b *testing.B) {
				if err := do(); err != nil { // scripts are fetched once
					b.Fatal(err)
				}
				before := used(b)
				for b.Loop() {
					must.Do(b, do())
				}
				b.ReportMetric((used(b)-before)/float64(b.N), "CPU-ms/op")
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				b.ReportMetric(float64(m.HeapSys)/(1<<20), "heap-MiB")
			})
		}
		measure("look", func() error {
			view, err := f.Look(b.Context())
			if err == nil && (len(view.Servers) != nodes || len(view.Jobs) != nodes/5) {
				b.Fatalf("%d nodes, %d jobs, %v", len(view.Servers), len(view.Jobs), view.Rejected)
			}
			return err
		})
		measure("look-and-decide", func() error {
			_, _, err := controller.Plan(b.Context(), config, running)
			return err
		})
	}
}
