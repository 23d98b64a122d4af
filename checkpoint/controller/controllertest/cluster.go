// This file implements a cluster in memory that a controller can look at.

// Package controllertest has a cluster in memory for tests of programs on a controller: what it shows is changed by the test, and its
// containers are those of [managedtest.Cluster], which are started, stopped, lost and delayed there.
package controllertest

import (
	"context"
	"slices"
	"sync"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/controller"
	"github.com/apportion/apportion/checkpoint/managed/managedtest"
)

// Cluster is a cluster manager in memory. It implements daemon.Cluster and is safe for concurrent use.
type Cluster struct {
	*managedtest.Cluster

	mu    sync.Mutex
	view  controller.View
	fault error
}

// New returns a cluster that shows a view.
func New(under *managedtest.Cluster, view controller.View) *Cluster {
	return &Cluster{Cluster: under, view: view}
}

// Change changes what the cluster shows, and returns its fault: an error of every Look from then on; nil: there is none.
func (c *Cluster) Change(how func(*controller.View) (fault error)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fault = how(&c.view)
}

// Look implements controller.Cluster.
func (c *Cluster) Look(context.Context) (*controller.View, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	view := c.view
	view.Servers, view.Jobs = slices.Clone(view.Servers), slices.Clone(view.Jobs)
	return &view, c.fault
}

// Ended implements controller.Cluster: the job is not shown any more.
func (c *Cluster) Ended(_ context.Context, job string, _ checkpoint.Ending, _ string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.view.Jobs = slices.DeleteFunc(slices.Clone(c.view.Jobs), func(j controller.Job) bool { return j.Application.ID == job })
	return nil
}

// Forget implements controller.Cluster.
func (c *Cluster) Forget(_ context.Context, job string) error {
	c.ForgetJob(job)
	return nil
}

// Running implements daemon.Cluster.
func (c *Cluster) Running(context.Context) (alloc.Allocation, error) {
	running := alloc.Allocation{}
	c.Each("", func(one *managedtest.Container) {
		if running[one.Job] == nil {
			running[one.Job] = map[string]int64{}
		}
		if one.Alive() {
			running[one.Job][one.Server]++
		}
	})
	return running, nil
}
