//go:build unix

// This file measures what a look and a decision cost on many nodes.

package managertest

import (
	"fmt"
	"runtime"
	"syscall"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint/controller"
	"github.com/apportion/apportion/checkpoint/controller/daemon"
)

// used is the CPU time of this process and of its children, in milliseconds.
func used() float64 {
	sum := 0.0
	for _, of := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if syscall.Getrusage(of, &u) == nil {
			sum += float64(u.Utime.Nano()+u.Stime.Nano()) / 1e6
		}
	}
	return sum
}

// Size measures what a look, and a look with a decision, cost at 10, 100 and 1,000 nodes. The manager's words come from this process:
// what the manager itself needs for them, and the network, are not in it, and their writing is. crowd makes the cluster: so many nodes,
// partly used by others, and for each five of them an elastic job that runs on all five.
func Size(b *testing.B, kinds apportion.Kinds, crowd func(b *testing.B, nodes int) daemon.Cluster) {
	for _, nodes := range []int{10, 100, 1000} {
		c := crowd(b, nodes)
		running, err := c.Running(b.Context())
		if err != nil || len(running) != nodes/5 {
			b.Fatalf("%d jobs run, %v", len(running), err)
		}
		config := controller.Config{Cluster: c, Problem: alloc.Problem{Kinds: kinds, Theta1: 0.2, Theta2: 0.3}}
		measure := func(what string, do func() error) {
			b.Run(fmt.Sprintf("%s/nodes=%d", what, nodes), func(b *testing.B) {
				// What is fetched once is there before.
				err, before := do(), used()
				for b.Loop() && err == nil {
					err = do()
				}
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric((used()-before)/float64(b.N), "CPU-ms/op")
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				b.ReportMetric(float64(m.HeapSys)/(1<<20), "heap-MiB")
			})
		}
		measure("look", func() error {
			view, err := c.Look(b.Context())
			if err == nil && (len(view.Servers) != nodes || len(view.Jobs) != nodes/5) {
				err = fmt.Errorf("%d nodes, %d jobs, %v", len(view.Servers), len(view.Jobs), view.Rejected)
			}
			return err
		})
		measure("look-and-decide", func() error {
			_, _, err := controller.Plan(b.Context(), config, running)
			return err
		})
	}
}
