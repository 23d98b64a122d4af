// This file implements what a controller tells of itself: how everything stands, and why.

package controller

import (
	"math"
	"slices"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/driver"
	"github.com/apportion/apportion/checkpoint/page"
	"github.com/apportion/apportion/checkpoint/runner"
)

// Report is what a controller tells of itself, as JSON.
type Report struct {
	// Servers are as the newest look has seen them; Silent are those whose guards or manager do not answer, by ID.
	Servers []Server `json:"servers"`
	Silent  []string `json:"silent"`
	// Jobs are those of the checkpoint protocol, also those that have ended and are not forgotten yet.
	Jobs []JobReport `json:"jobs"`
	// Waiting is work of others for which room is made, see View.
	Waiting []Waiting `json:"waiting,omitempty"`
	// Rejected says of jobs that cannot be understood why.
	Rejected map[string]string `json:"rejected,omitempty"`
	// Objective, Bound and Gap are those of the newest decision. A decision that was cut short may have no bound: Bound
	// and Gap are 0 then.
	Status    alloc.Status `json:"status,omitempty"`
	Objective float64      `json:"objective,omitempty"`
	Bound     float64      `json:"bound,omitempty"`
	Gap       float64      `json:"gap,omitempty"`
	// Fault is why the newest decision could not be taken or carried out.
	Fault string `json:"fault,omitempty"`
}

// JobReport is how a job stands.
type JobReport struct {
	// Job is how the protocol has it, Progress what its run has told last, and Share what it has of the cluster beside
	// what it deserves, by the newest decision.
	Job      checkpoint.Job  `json:"job"`
	Progress runner.Progress `json:"progress"`
	Share    alloc.Share     `json:"share,omitzero"`
	// Why says why the job has nothing, or is not where it was to be; "": it is.
	Why string `json:"why,omitempty"`
	// Start is when a job that has nothing begins, by the newest forecast; nil: it has something, or that is not known.
	Start *page.Start `json:"start,omitempty"`
}

// Report returns how everything stands. Its parts are read one after the other, and what happens in between may show in
// one and not in the other: a job that has just been submitted has no share yet.
func (c *Controller) Report() Report {
	state, view, last := c.State(), c.View(), c.Last()
	r := reportOf(&state, view, &last)
	if f := c.forecasts.Newest(); f != nil {
		for i := range r.Jobs {
			if j := &r.Jobs[i]; len(j.Job.Containers) == 0 && j.Job.Ending == "" {
				j.Start = f.Starts[j.Job.Name]
			}
		}
	}
	return r
}

// reportOf puts together what the protocol, the newest look and the newest decision say. view is nil before the first look.
// O(jobs and servers).
func reportOf(state *driver.State, view *View, last *Taken) Report {
	r := Report{Servers: []Server{}, Silent: state.Silent, Jobs: []JobReport{}, Fault: last.Fault}
	// Before the first look there is no view, and before the first decision none of its numbers.
	if view != nil {
		r.Servers, r.Rejected, r.Waiting = slices.Clone(view.Servers), view.Rejected, view.Waiting
	}
	// The decision goes by its problem's order, and jobs by their names: shares and reasons are looked up by ID.
	shares, waiting := map[string]alloc.Share{}, map[string]string{}
	if d := last.Decision; d != nil {
		r.Status, r.Objective = d.Status, d.Objective
		// JSON has no infinity, which is the bound of a decision that was cut short.
		if !math.IsInf(d.Bound, 0) {
			r.Bound, r.Gap = d.Bound, d.Gap
		}
		for _, share := range d.Shares {
			shares[share.ID] = share
		}
		waiting = page.Reasons(d)
	}
	for i := range state.Jobs {
		j := &state.Jobs[i]
		one := JobReport{Job: *j, Progress: state.Progress[j.Name], Share: shares[j.Name], Why: waiting[j.Name]}
		// What the decision says goes first: it is why nothing was asked for. The protocol says why something that was
		// asked for has not come about.
		if one.Why == "" && j.Reason.Constraint != "" {
			one.Why = j.Reason.Constraint + ": " + j.Reason.Text
		}
		r.Jobs = append(r.Jobs, one)
	}
	return r
}

// Explain says in words why the jobs have what they have.
func (c *Controller) Explain() (string, error) {
	last := c.Last()
	return last.explain()
}

func (t *Taken) explain() (string, error) {
	// No decision is no error: a controller that has just begun has none, and one that cannot decide says why.
	if t.Decision == nil {
		if t.Fault != "" {
			return "No decision could be taken: " + t.Fault + "\n", nil
		}
		return "Nothing was decided yet.\n", nil
	}
	// The decision may be of another program, as Config.Decide can be: Explain says so where it does not fit its problem.
	e, err := alloc.Explain(t.Problem, t.Decision)
	if err != nil {
		return "", err
	}
	return e.String(), nil
}
