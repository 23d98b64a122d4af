// This file says what the page of a controller shows, and answers what is asked there.

package controller

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint/bridge"
	"github.com/apportion/apportion/checkpoint/driver"
	"github.com/apportion/apportion/checkpoint/page"
)

// clockOf is a time by the clock of the page; 0: not known.
func clockOf(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1000
}

func (c *Controller) shown() page.State {
	r, last := c.Report(), c.Last()
	s := page.State{Clock: clockOf(time.Now()), Head: page.Head{Title: "Elastic jobs", Summary: r.summary(), Notes: c.limits(),
		Kinds: c.config.Problem.Kinds, Rate: 1, Wall: true}}
	if r.Fault != "" {
		s.Fault = "The newest decision: " + r.Fault
	}
	for i := range r.Servers {
		server := &r.Servers[i]
		s.Servers = append(s.Servers, page.Server{ID: server.ID, Rack: page.RackOf(server.Labels), State: r.stateOf(server), Capacity: server.Capacity})
	}
	for i := range r.Jobs {
		j := &r.Jobs[i]
		one := page.Job{ID: j.Job.Name, State: string(j.Job.Phase), Since: clockOf(c.starts.since(j.Job.Name)), On: bridge.Counts(j.Job.Containers),
			Step: j.Progress.Step, Saved: j.Job.Newest().Step, Attempt: j.Job.Attempt, Why: j.Why}
		if j.Job.Ending != "" {
			one.State, one.Since = string(j.Job.Ending), 0
		}
		s.Jobs = append(s.Jobs, one)
	}
	s.Decided(last.Problem, last.Decision)
	s.Foreseen(c.forecasts.Newest())
	for i := range r.Jobs {
		s.Jobs[i].Demand = r.Jobs[i].Job.Demand // its containers exist by that
	}
	// A job that was understood before may be among both.
	for _, id := range slices.Sorted(maps.Keys(r.Rejected)) {
		if !slices.ContainsFunc(s.Jobs, func(j page.Job) bool { return j.ID == id }) {
			s.Jobs = append(s.Jobs, page.Job{ID: id, State: "rejected", Why: r.Rejected[id]})
		}
	}
	return s
}

func (r *Report) summary() string {
	text := fmt.Sprintf("%d servers, %d jobs", len(r.Servers), len(r.Jobs))
	if r.Bound != 0 {
		text += fmt.Sprintf("; objective %.4g, at most %.4g is possible", r.Objective, r.Bound)
	}
	if len(r.Waiting) == 0 {
		return text + "."
	}
	var names []string
	for i := range r.Waiting {
		names = append(names, r.Waiting[i].ID)
	}
	return text + ". Room is made for what waits beside the jobs: " + strings.Join(names, ", ") + "."
}

// stateOf says why nothing new comes to a server; "": it is up.
func (r *Report) stateOf(s *Server) string {
	switch {
	case s.Down != "":
		return s.Down
	case slices.Contains(r.Silent, s.ID):
		return "it does not answer"
	case s.Draining:
		return "draining"
	case s.Cordoned:
		return "cordoned"
	}
	return ""
}

func (c *Controller) limits() []string {
	stall := driver.DefaultStallAfter
	if o := c.config.Options; o != nil && o.StallAfter != 0 {
		stall = o.StallAfter
	}
	notes := []string{fmt.Sprintf("Without a controller a job ends after %v.", c.config.Lease)}
	if stall > 0 {
		notes = append(notes, fmt.Sprintf("A job that tells no new step for %v is resumed.", stall))
	}
	if c.config.MaxDeaths > 0 {
		notes = append(notes, fmt.Sprintf("A job has failed when %d runs have died without a step further.", c.config.MaxDeaths))
	}
	return notes
}

func (c *Controller) ask(ctx context.Context, q page.Question) (string, error) {
	last := c.Last()
	return c.forecasts.Newest().Answer(ctx, last.Problem, last.Decision, q)
}

// decided is what forecasts are about.
func (c *Controller) decided() (*alloc.Problem, *alloc.Decision, time.Time) {
	last := c.Last()
	return last.Problem, last.Decision, time.Now()
}
