// This file implements the decisions of a controller: on what they are taken, and what becomes of them, [Dorm] §IV.

package controller

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/bridge"
	"github.com/apportion/apportion/checkpoint/driver"
	"github.com/apportion/apportion/checkpoint/page"
)

// decideAll decides until the context ends: whenever what a decision is about has changed, and not more often than once in
// a Settle. What was asked for and could not be had is asked for again less and less often, unless something else changes.
func (c *Controller) decideAll(ctx context.Context) {
	pace := pace{again: patience{first: c.config.Settle}}
	for {
		state := c.driver.State()
		c.starts.reach(&state)
		if view := c.View(); view != nil {
			// State and view are of different moments, and problem takes from each what that knows better.
			p, others := c.problem(view, &state)
			if now := shapeOf(p); pace.isDue(now, time.Now()) {
				adjust, until, err := c.decide(ctx, p, others, &state)
				pace.decided(now, adjust.Targets, err, time.Now())
				pace.until = until
				if err != nil {
					c.config.Report(err)
				}
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(c.config.Settle):
		}
	}
}

// problem is what there is to decide: servers, jobs, and where these are to be. Which servers and jobs there are, what they
// have and what that takes are the protocol's word, which has been written down; what is wished for them is the cluster's. The last
// applications, as many as others says, are work that is not the controller's.
func (c *Controller) problem(view *View, state *driver.State) (made *alloc.Problem, others int) {
	p := c.config.Problem
	// The lists are made anew, so that nothing is appended to those of the Config.
	p.Servers, p.Applications, p.Queues = nil, nil, slices.Concat(p.Queues, view.Queues)
	// The newest look is an index by ID here, for the servers of the protocol may be others than those of the look.
	hosts := map[string]*Server{}
	for i := range view.Servers {
		hosts[view.Servers[i].ID] = &view.Servers[i]
	}
	for _, s := range state.Servers {
		// One that is silent, or not in the cluster any more, keeps what it has until it is known that nothing lives there.
		if host := hosts[s.ID]; host != nil {
			// What others have taken since the protocol was told counts: it is told in a moment.
			s.Capacity = least(s.Capacity, host.Capacity)
			s.Labels, s.Cordoned = host.Labels, s.Cordoned || host.Cordoned || host.Down != "" || host.Draining
		} else {
			s.Cordoned = true
		}
		s.Cordoned = s.Cordoned || slices.Contains(state.Silent, s.ID)
		p.Servers = append(p.Servers, s)
	}
	var jobs []checkpoint.Job
	add := func(app alloc.Application, j *checkpoint.Job) {
		// What a container takes was said when the job was submitted: its containers exist by that.
		app.Demand = j.Demand
		app.Pinned = app.Pinned || onSilent(j, state.Silent)
		p.Applications = append(p.Applications, app)
		jobs = append(jobs, *j)
	}
	// A job of the view that the protocol does not know yet is submitted by follow and comes with a later round.
	submitted := map[string]bool{}
	for i := range view.Jobs {
		submitted[view.Jobs[i].Application.ID] = true
		if j, known := state.Job(view.Jobs[i].Application.ID); known && j.Job.Ending == "" {
			add(view.Jobs[i].Application, &j.Job)
		}
	}
	// One that is there and cannot be understood any more stays as it is, and so does its room.
	for i := range state.Jobs {
		if j := &state.Jobs[i]; !submitted[j.Name] && j.Ending == "" && len(bridge.Goal(j)) > 0 {
			n := int64(len(bridge.Goal(j)))
			add(alloc.Application{ID: j.Name, Weight: 1, Form: alloc.Form{Min: n, Max: n}, Pinned: true}, j)
		}
	}
	// A job that is being moved counts where it is to be: what was decided stands, unless something else changes.
	p.Previous = bridge.Previous(jobs, p.Servers)
	waiting := outside(view, &p, c.config.Standing)
	p.Applications = append(p.Applications, waiting...)
	return &p, len(waiting)
}

func least(a, b apportion.Resources) apportion.Resources {
	c := a.Clone()
	for k := range min(len(a), len(b)) {
		c[k] = min(a[k], b[k])
	}
	return c
}

// onSilent reports whether a job has containers on a server that does not answer: it cannot be saved there, and what is
// asked of it waits. So a decision leaves it where it is, or all that makes room for it would wait as well. O(containers
// times silent servers).
func onSilent(j *checkpoint.Job, silent []string) bool {
	return slices.ContainsFunc(j.Containers, func(server string) bool { return slices.Contains(silent, server) })
}

// decide takes a decision and has it carried out. It returns what was asked for, which is empty where all jobs are to be
// what they are, and until when some were to stay that might be moved by then. To be carried out means to be written down by the driver: jobs move afterwards.
func (c *Controller) decide(ctx context.Context, p *alloc.Problem, others int, state *driver.State) (adjust checkpoint.Adjust, until time.Time, err error) {
	taken := Taken{At: time.Now()}
	rested, until := c.starts.rested(&c.config, p, taken.At)
	// This may take a second or more. The cluster is followed meanwhile, and what changes is decided in the next round.
	var decision *alloc.Decision
	taken.Problem, decision, err = decideBeside(ctx, c.config.Decide, rested, p, others)
	taken.Took = time.Since(taken.At)
	if err == nil {
		taken.Decision = decision
	}
	// Targets names jobs that change; the others have no part in the adjustment and go on undisturbed.
	if err == nil {
		own := *p
		own.Applications = p.Applications[:len(p.Applications)-others]
		adjust, err = bridge.Targets(&own, decision.Allocation, state.Jobs)
	}
	if err == nil {
		logChanges(c.config.Log, &taken)
	}
	if err == nil && len(adjust.Targets) > 0 {
		err = c.driver.Apply(ctx, adjust)
	}
	// A decision that could not be handed on is shown beside its fault: it was taken, and nothing of it happens.
	if err != nil {
		taken.Fault = err.Error()
		c.config.Log.Error("no decision", "fault", err, "took", taken.Took)
	}
	c.mu.Lock()
	c.last = taken
	c.mu.Unlock()
	c.meters.decided(&taken)
	c.board.Decided(page.NewDecision(clockOf(taken.At), taken.Took, taken.Problem, taken.Decision, taken.Fault))
	return adjust, until, err
}

// Plan takes a decision on how the cluster looks, and does nothing: what a controller would begin with. Of the Config it uses
// what [NewAdvisor] does; running is what the jobs have now, by job and server.
func Plan(ctx context.Context, config Config, running alloc.Allocation) (*alloc.Problem, *alloc.Decision, error) {
	config = config.filled()
	p, others, err := problemOf(ctx, config, func(context.Context) (alloc.Allocation, error) { return running, nil }, func(*View) {})
	if err != nil {
		return nil, nil, err
	}
	return decideBeside(ctx, config.Decide, p, p, others)
}

// problemOf is what there is to decide by the manager's word alone, about jobs that the checkpoint protocol need not know. The last
// applications, as many as others says, are work that waits: what count leaves of it.
func problemOf(ctx context.Context, config Config, running func(context.Context) (alloc.Allocation, error), count func(*View)) (made *alloc.Problem, others int, err error) {
	view, err := config.Cluster.Look(ctx)
	if err != nil {
		return nil, 0, fmt.Errorf("controller: the cluster cannot be seen: %w", err)
	}
	// What cannot be decided about leaves before the problem is made, so that one bad job is no fault of all.
	config.prepare(view, time.Now())
	count(view)
	p := config.Problem
	p.Servers, p.Applications, p.Queues = nil, nil, slices.Concat(p.Queues, view.Queues)
	if p.Previous, err = running(ctx); err != nil {
		return nil, 0, fmt.Errorf("controller: what runs cannot be seen: %w", err)
	}
	for i := range view.Servers {
		s := view.Servers[i].Server
		s.Cordoned = s.Cordoned || view.Servers[i].Draining
		// A server that is down stays in the list, since jobs may stand on it, and has room for nothing: its jobs are moved
		// by this decision. There is no protocol here that would wait until nothing lives there.
		if view.Servers[i].Down != "" {
			s.Capacity = make(apportion.Resources, len(p.Kinds))
		}
		p.Servers = append(p.Servers, s)
	}
	for i := range view.Jobs {
		p.Applications = append(p.Applications, view.Jobs[i].Application)
	}
	waiting := outside(view, &p, config.Standing)
	p.Applications = append(p.Applications, waiting...)
	return &p, len(waiting), nil
}
