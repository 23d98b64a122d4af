// This file implements how a controller follows its cluster: what has changed there becomes events of the protocol.

package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/bridge"
	"github.com/apportion/apportion/checkpoint/driver"
	"github.com/apportion/apportion/checkpoint/store"
)

// follow looks at the cluster again and again until the context ends.
func (c *Controller) follow(ctx context.Context) {
	pause := c.config.Look
	for {
		// A look that fails changes nothing. The next one is as far away as after one that went well: managers that are down are
		// not to be asked more often.
		changed, err := c.look(ctx)
		if err != nil && ctx.Err() == nil {
			c.config.Report(err)
		}
		// The less happens the less there is to look at.
		if pause = min(2*pause, c.config.Idle); changed {
			pause = c.config.Look
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// look looks at the cluster once and hands on what has changed. What cannot be handed on now is tried again with the next
// look, and holds up nothing else. It reports whether the cluster is not as it was.
func (c *Controller) look(ctx context.Context) (changed bool, err error) {
	view, err := c.config.Cluster.Look(ctx)
	c.meters.looked(err)
	if err != nil {
		return false, fmt.Errorf("controller: the cluster cannot be seen: %w", err)
	}
	// The look is seen by all others before anything of it is handed on: a driver that lets a server in asks at once
	// whether it is up.
	c.config.prepare(view, time.Now())
	changed = !reflect.DeepEqual(c.found, *view)
	c.found = *view
	last := c.Last()
	c.waits.count(view, last.hasRoom, c.config.Hold, time.Now())
	c.see(view)
	state := c.driver.State()
	return changed, errors.Join(c.followServers(ctx, view, &state), c.followJobs(ctx, view, &state))
}

// sift moves jobs of which no decision like this one could be taken to those that are rejected, with the reason: they hold up nobody.
func sift(view *View, like *alloc.Problem) {
	rejected, seen := maps.Clone(view.Rejected), map[string]bool{}
	if rejected == nil {
		rejected = map[string]string{}
	}
	// Jobs keep their order, which is that of their submission and decides between equals.
	var jobs []Job
	for _, job := range view.Jobs {
		// A job is tried alone, on a server without anything: what is wrong then is wrong with the job, or with the
		// queues, and not with what the cluster has.
		alone := alloc.Problem{Kinds: like.Kinds, Topology: like.Topology, Queues: slices.Concat(like.Queues, view.Queues), Applications: []alloc.Application{job.Application},
			Servers: []apportion.Server{{ID: "any", Capacity: make(apportion.Resources, len(like.Kinds))}}}
		err := errors.Join(alone.Validate(), store.CheckJob(job.Application.ID))
		if err == nil && job.Application.Max > bridge.MaxContainers {
			err = fmt.Errorf("max %d is more than %d", job.Application.Max, bridge.MaxContainers)
		}
		switch {
		case err != nil:
			rejected[job.Application.ID] = err.Error()
		// Of two jobs with one ID the first counts; the ID is rejected and stands, so that users are told.
		case seen[job.Application.ID]:
			rejected[job.Application.ID] = apportion.ErrDuplicate.Error()
		default:
			seen[job.Application.ID] = true
			jobs = append(jobs, job)
		}
	}
	view.Jobs, view.Rejected = jobs, rejected
}

// see keeps a look and the index of its servers, which change together, and adds to what is known of jobs. What a job that
// is gone has run is dropped by forget.
func (c *Controller) see(view *View) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen, c.seenAt = view, time.Now()
	c.servers = make(map[string]*Server, len(view.Servers))
	for i := range view.Servers {
		c.servers[view.Servers[i].ID] = &view.Servers[i]
	}
	c.queues = make(map[string]string, len(view.Jobs))
	for i := range view.Jobs {
		app := &view.Jobs[i].Application
		c.specs[app.ID], c.queues[app.ID] = view.Jobs[i].Spec, app.Queue
	}
}

// followServers lets servers in that are up, with what they have now, and begins and ends drains.
func (c *Controller) followServers(ctx context.Context, view *View, state *driver.State) error {
	// known are the servers of the protocol, with what they had when they were let in.
	known := map[string]apportion.Resources{}
	for _, s := range state.Servers {
		known[s.ID] = s.Capacity
	}
	var err error
	for i := range view.Servers {
		s := &view.Servers[i]
		// A server that is down is not told to be lost here. Its guards may live, and the driver finds out by itself when
		// nothing can run there any more.
		if s.Down != "" {
			continue
		}
		// A server of the journal has no agent until it has joined this driver.
		if was, there := known[s.ID]; !there || !was.Equal(s.Capacity) || c.driver.Agent(s.ID) == nil {
			err = errors.Join(err, c.join(ctx, s))
		}
		err = errors.Join(err, c.drain(ctx, s, slices.Contains(state.Draining, s.ID)))
	}
	return err
}

// drain begins or ends the drain of a server, or tells its new deadline. draining is how the protocol has it. The protocol
// keeps deadlines by job and not by server, so that what was told of each server is remembered here; a controller that
// has just begun tells it once more, which changes nothing.
func (c *Controller) drain(ctx context.Context, s *Server, draining bool) error {
	if draining == s.Draining && (!s.Draining || s.Deadline.Equal(c.deadlines[s.ID])) {
		return nil
	}
	err := c.driver.Apply(ctx, checkpoint.Drain{ID: s.ID, Deadline: s.Deadline, Over: !s.Draining})
	// What could not be told is told with the next look.
	if err == nil && s.Draining {
		c.deadlines[s.ID] = s.Deadline
	}
	return err
}

// join lets a server in. Its agent is the same for as long as this controller runs, so that what it remembers is known.
func (c *Controller) join(ctx context.Context, s *Server) error {
	a := c.agents[s.ID] // which only the goroutine of follow touches
	if a == nil {
		id := s.ID
		made, err := c.fleet.Agent(id, func() error { return c.up(id) })
		if err != nil {
			return err
		}
		a, c.agents[id] = made, made
	}
	// The driver keeps what it is given, so it gets a copy of its own.
	return c.driver.Join(ctx, apportion.Server{ID: s.ID, Capacity: s.Capacity.Clone()}, a)
}

// followJobs submits jobs that are new, cancels those that were withdrawn, and forgets those that have ended.
func (c *Controller) followJobs(ctx context.Context, view *View, state *driver.State) error {
	wanted := map[string]bool{}
	var err error
	for i := range view.Jobs {
		job := &view.Jobs[i]
		wanted[job.Application.ID] = true
		delete(c.missing, job.Application.ID)
		switch j, known := state.Job(job.Application.ID); {
		case !known:
			err = errors.Join(err, c.submit(ctx, job))
		// Its records, checkpoints and name stay until the manager lists it no more.
		// The manager is told at every look for as long as it lists the job: its answer to an earlier call may have been
		// lost.
		case j.Job.Phase == checkpoint.Ended:
			err = errors.Join(err, c.ended(ctx, &j.Job))
		case j.Job.Ending == "":
			err = errors.Join(err, c.giveUp(ctx, job))
		}
	}
	// One that cannot be understood any more runs on as it was. It is there, so its clock stops as well: one that is missing
	// for a moment before and after is not withdrawn.
	for id := range view.Rejected {
		delete(c.missing, id)
		if wanted[id] {
			continue // the second of two jobs of one ID was rejected
		}
		wanted[id] = true
		if j, known := state.Job(id); known && j.Job.Phase == checkpoint.Ended {
			err = errors.Join(err, c.ended(ctx, &j.Job))
		}
	}
	// Jobs that are not in the cluster any more go in two steps, with looks in between: they are cancelled, which ends
	// what runs, and once they have ended they are forgotten.
	for i := range state.Jobs {
		j := &state.Jobs[i]
		switch {
		case wanted[j.Name] || !c.isWithdrawn(view, j.Name):
		case j.Phase == checkpoint.Ended:
			err = errors.Join(err, c.forget(ctx, j.Name))
		case j.Ending == "":
			err = errors.Join(err, c.driver.Apply(ctx, checkpoint.Cancel{Job: j.Name}))
		}
	}
	return err
}

func (c *Controller) ended(ctx context.Context, j *checkpoint.Job) error {
	return c.config.Cluster.Ended(ctx, j.Name, j.Ending, j.Reason.Text)
}

// maxBySave is how many runs of a job may die of the signal that asks them to save: the first may be somebody's mistake.
const maxBySave = 2

// giveUp ends a job as failed whose runs come to nothing.
func (c *Controller) giveUp(ctx context.Context, job *Job) error {
	most := cmp.Or(job.MaxDeaths, c.config.MaxDeaths)
	if most < 0 {
		return nil
	}
	deaths, why := c.fleet.Desk().Deaths(job.Application.ID), ""
	switch {
	case deaths.BySave >= maxBySave:
		why = fmt.Sprintf("the signal that asks it to save has ended it %d times (%v): its trainer does not handle it", deaths.BySave, deaths.Last)
	case deaths.Futile >= most:
		why = fmt.Sprintf("%d runs have died without a step further, the last by %v", deaths.Futile, deaths.Last)
	}
	if why == "" {
		return nil
	}
	return c.driver.Apply(ctx, checkpoint.Cancel{Job: job.Application.ID, Failed: why})
}

// isWithdrawn reports whether a job that is not in the view was withdrawn: the manager says so, or it has been missing for
// long enough.
func (c *Controller) isWithdrawn(view *View, job string) bool {
	// The clock begins with the first look that misses the job. It stops when a look has it again, see followJobs.
	since, missing := c.missing[job]
	if !missing {
		since = time.Now()
		c.missing[job] = since
	}
	return slices.Contains(view.Withdrawn, job) || time.Since(since) >= c.config.Missing
}

// submit makes a job known to the protocol, without any containers: these come with a decision.
func (c *Controller) submit(ctx context.Context, job *Job) error {
	// The demand that is written down here is that of all its containers from now on, see problem.
	event, err := bridge.Submit(&job.Application)
	if err != nil {
		return err
	}
	return c.driver.Apply(ctx, event)
}

// forget removes what is known of a job that has ended, and its checkpoints. Another job may have its name then.
//
// The protocol's record goes last but for what is in memory: a controller that dies in between finds the job there, ended,
// and does it all again. Each step may be done twice.
func (c *Controller) forget(ctx context.Context, job string) error {
	// Checkpoints go first: nobody knows of them when the record is gone.
	manifests, err := c.config.Store.List(ctx, job)
	for _, m := range manifests {
		err = errors.Join(err, c.config.Store.Delete(ctx, job, m.Number))
	}
	if err != nil {
		return fmt.Errorf("controller: the checkpoints of job %q, which has ended: %w", job, err)
	}
	if err := errors.Join(c.config.Cluster.Forget(ctx, job), c.fleet.Forget(job)); err != nil {
		return err
	}
	if err := c.driver.Apply(ctx, checkpoint.Forget{Job: job}); err != nil {
		return err
	}
	delete(c.missing, job)
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.specs, job)
	return nil
}
