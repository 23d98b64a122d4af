// This file keeps a month under way: who waits, who runs, and what that came to.

package main

import (
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/drf"
)

// outcome is what a month came to.
// All but waiting and taken are GPU hours.
type outcome struct {
	policy   policy
	waiting  []float64          // of every job, hours until its first start
	loss     map[string]float64 // by project: GPU hours below what was due to it
	borrowed float64            // GPU hours above guarantees
	taken    int                // jobs taken back
	// reclaimed are the GPU hours that were taken back for others, lost the work that went with them.
	reclaimed, lost float64
}

// policy says how a month is shared.
type policy struct {
	name string
	// projects: users share below their projects; else all users share alike.
	projects bool
	// reclaim: jobs that have borrowed are taken back for projects below their guarantees.
	reclaim bool
}

// state is a month under way.
// queues are by client, in the order of submission; running has no order.
type state struct {
	policy  policy
	gpus    int64
	tree    *drf.Tree // of the projects, for what is due
	sorter  *drf.Sorter
	now     float64
	queues  map[*drf.Client][]*run
	clients map[string]*drf.Client
	running []*run
	out     *outcome
	count   int // of projects
}

// run is one job that waits or runs.
// left is what is still to be done when it starts, and is brought up to date when it is taken back.
type run struct {
	job
	client  *drf.Client
	left    float64 // seconds of work
	started float64 // when it started last, -1 before
	waited  bool    // it has started once
}

// ask tells the sorter what a client would start next, if anything.
func (s *state) ask(client *drf.Client) error {
	waiting := s.queues[client]
	if len(waiting) > 0 {
		if err := s.sorter.SetDemand(client, apportion.Resources{waiting[0].gpus}); err != nil {
			return err
		}
	}
	return s.sorter.SetActive(client, len(waiting) > 0)
}

// stop takes a job off the cluster.
func (s *state) stop(r *run) error {
	s.running = slices.DeleteFunc(s.running, func(x *run) bool { return x == r })
	return s.sorter.Release(r.client, apportion.Resources{r.gpus})
}
