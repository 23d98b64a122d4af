// This file implements the decisions of a controller: when one is due, on what, and what becomes of it, [Dorm] §IV.

package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/bridge"
	"github.com/apportion/apportion/checkpoint/driver"
)

// decideAll decides until the context ends: whenever what a decision is about has changed, and not more often than once in
// a Settle. One that could not be carried out is taken again.
func (c *Controller) decideAll(ctx context.Context) {
	shape := ""
	for {
		state := c.driver.State()
		if view := c.View(); view != nil {
			p, now := c.problem(view, &state)
			if now != shape {
				if err := c.decide(ctx, p, &state); err == nil {
					shape = now
				} else if shape = ""; ctx.Err() == nil {
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

// problem is what there is to decide, and what of it makes a new decision due: servers, jobs, and where these are to be.
func (c *Controller) problem(view *View, state *driver.State) (*alloc.Problem, string) {
	p := c.config.Problem
	p.Servers, p.Applications = nil, nil
	hosts := map[string]*Server{}
	for i := range view.Servers {
		hosts[view.Servers[i].ID] = &view.Servers[i]
	}
	for _, s := range state.Servers {
		// One that is silent, or not in the cluster any more, keeps what it has until it is known that nothing lives there.
		if host := hosts[s.ID]; host != nil {
			s.Labels, s.Cordoned = host.Labels, host.Cordoned || host.Down != "" || host.Draining
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
			add(alloc.Application{ID: j.Name, Weight: 1, Min: n, Max: n, Pinned: true}, j)
		}
	}
	p.Previous = bridge.Previous(jobs, p.Servers)
	return &p, shapeOf(&p)
}

// onSilent reports whether a job has containers on a server that does not answer: it cannot be saved there, and what is
// asked of it waits.
func onSilent(j *checkpoint.Job, silent []string) bool {
	return slices.ContainsFunc(j.Containers, func(server string) bool { return slices.Contains(silent, server) })
}

// shapeOf says in a text what a decision depends on. fmt writes maps in the order of their keys.
func shapeOf(p *alloc.Problem) string {
	var text strings.Builder
	for i := range p.Servers {
		fmt.Fprintf(&text, "%q\n", fmt.Sprint(p.Servers[i]))
	}
	for i := range p.Applications {
		fmt.Fprintf(&text, "%q %v\n", fmt.Sprintf("%+v", p.Applications[i]), p.Previous[p.Applications[i].ID])
	}
	return text.String()
}

// decide takes a decision and has it carried out.
func (c *Controller) decide(ctx context.Context, p *alloc.Problem, state *driver.State) error {
	taken := Taken{At: time.Now(), Problem: p}
	decision, err := c.config.Decide(ctx, p)
	taken.Took = time.Since(taken.At)
	if err == nil {
		taken.Decision = decision
	}
	var adjust checkpoint.Adjust
	if err == nil {
		adjust, err = bridge.Targets(p, decision.Allocation, state.Jobs)
	}
	// Targets that name a server which is being left or does not answer are kept as they are.
	if err == nil && len(adjust.Targets) > 0 {
		err = c.driver.Apply(ctx, adjust)
	}
	if err != nil {
		taken.Fault = err.Error()
	}
	c.mu.Lock()
	c.last = taken
	c.mu.Unlock()
	return err
}

// Plan takes a decision on how the cluster looks, and does nothing: what a controller would begin with.
func Plan(ctx context.Context, config Config, running alloc.Allocation) (*alloc.Problem, *alloc.Decision, error) {
	view, err := config.Cluster.Look(ctx)
	if err != nil {
		return nil, nil, err
	}
	p := config.Problem
	p.Previous = running
	for i := range view.Servers {
		s := view.Servers[i].Server
		s.Cordoned = s.Cordoned || view.Servers[i].Draining
		if view.Servers[i].Down != "" {
			s.Capacity = make(apportion.Resources, len(p.Kinds))
		}
		p.Servers = append(p.Servers, s)
	}
	for i := range view.Jobs {
		p.Applications = append(p.Applications, view.Jobs[i].Application)
	}
	decision, err := config.filled().Decide(ctx, &p)
	return &p, decision, err
}
