// This file declares how decisions are taken and implements Dorm's way: alloc is asked who should have
// how many containers on which server.

package master

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/bridge"
	"github.com/apportion/apportion/checkpoint/runner"
)

// Decider takes the decisions of a master. It is called from one goroutine, whenever something has
// changed and every now and then. The same state again must give no new targets.
// An error is shown and changes nothing; the next decision comes in time.
type Decider interface {
	Decide(ctx context.Context, s *State) (*Verdict, error)
}

// State is what a decision is taken on. It is the master's: read it, and keep nothing of it.
type State struct {
	Kinds   apportion.Kinds
	Servers []apportion.Server
	// Jobs are those that have not ended, in the order of submission.
	Jobs []JobState
}

// JobState is a job, what was submitted, and how it stands.
type JobState struct {
	Application alloc.Application
	// Policy is what was submitted beside the application.
	Policy   json.RawMessage
	Job      checkpoint.Job
	Progress runner.Progress
}

// Goal is what the job will have when all that was asked for is done.
func (j *JobState) Goal() []string { return bridge.Goal(&j.Job) }

// Verdict is a decision.
type Verdict struct {
	// Targets maps the jobs whose containers change to their servers, one entry a container.
	Targets map[string][]string
	// Problem and Decision are what it was taken on and what alloc has decided, for the page; nil: the decider is another.
	Problem  *alloc.Problem
	Decision *alloc.Decision
	// Explanation says in words why the jobs have what they have.
	Explanation string
	// Utilization is that of the decision, Bound what is possible at most; 0: the decider does not know, and
	// neither is shown.
	Utilization, Bound float64
	// Shares and Waiting say of some jobs how they fare, and why they have nothing.
	Shares  map[string]alloc.Share
	Waiting map[string]string
	// Refused are jobs that will never run, and why: they are cancelled.
	Refused map[string]string
	// Again is when the next decision is due although nothing has changed, if that is soon; 0: the
	// decider does not mind.
	Again time.Duration
}

// Dorm decides by the utilization-fairness optimizer with its two thresholds, see [alloc.Problem].
type Dorm struct{ Theta1, Theta2 float64 }

// Decide implements Decider.
// Jobs in the middle of an adjustment count with what they are going to have.
func (d Dorm) Decide(ctx context.Context, s *State) (*Verdict, error) {
	if len(s.Jobs) == 0 || len(s.Servers) == 0 {
		return &Verdict{Explanation: "There is no job or no server: nothing was decided.\n"}, nil
	}
	p, jobs := d.problem(s)
	decision, err := alloc.Reallocate(ctx, p, nil)
	if err != nil {
		return nil, err
	}
	adjust, err := bridge.Targets(p, decision.Allocation, jobs)
	if err != nil {
		return nil, err
	}
	v := &Verdict{Targets: adjust.Targets, Utilization: decision.Objective, Bound: decision.Bound, Problem: p, Decision: decision,
		Shares: map[string]alloc.Share{}, Waiting: map[string]string{}}
	for i, app := range p.Applications {
		v.Shares[app.ID] = decision.Shares[i]
	}
	for _, waiting := range decision.Waiting {
		v.Waiting[waiting.ID] = waiting.Reason.Text
	}
	explanation, err := alloc.Explain(p, decision)
	if err != nil {
		return nil, err
	}
	v.Explanation = fmt.Sprintf("%s: utilization %.4g, at most %.4g is possible\n%s", decision.Status, decision.Objective, decision.Bound,
		explanation)
	return v, nil
}

// problem is what alloc is asked, and the jobs that it is about.
func (d Dorm) problem(s *State) (*alloc.Problem, []checkpoint.Job) {
	p := &alloc.Problem{Kinds: s.Kinds, Servers: s.Servers, Theta1: d.Theta1, Theta2: d.Theta2}
	var jobs []checkpoint.Job
	for i := range s.Jobs {
		p.Applications = append(p.Applications, s.Jobs[i].Application)
		jobs = append(jobs, s.Jobs[i].Job)
	}
	p.Previous = bridge.Previous(jobs, s.Servers)
	return p, jobs
}
