// This file holds what a policy sees and answers: Policy, State and Orders.

package sim

import (
	"context"
	"slices"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/placement"
)

// Policy is a scheduler. The simulator asks it once for every instant at which jobs arrive or
// complete, and when it has asked to be asked. A value serves one run unless its type says more:
// policies may keep what they know of the jobs.
type Policy interface {
	// Name is a short name for tables and figures.
	Name() string
	// Decide says what changes. An order that cannot be carried out ends the run with an OrderError.
	Decide(ctx context.Context, state *State) (Orders, error)
}

// State is the cluster at a decision. It is made for the policy, which may change it, but not what
// Scenario and the jobs point to.
type State struct {
	Scenario *Scenario
	Now      time.Duration
	// Jobs have arrived and neither completed nor been refused, in the order of submission.
	Jobs []JobState
	// Ended are the jobs that completed since the decision before.
	Ended []string

	view *view
}

// JobState is a job as a policy sees it.
type JobState struct {
	*Job
	// Index is the job's position in Scenario.Jobs.
	Index int
	// New: no decision has seen it yet.
	New bool
	// Places are its containers, ascending by server, and Containers is their number; none: it waits.
	Places     []apportion.Placement
	Containers int64
	// ParameterServers are those that serve its containers, under a law of parameter servers.
	ParameterServers []apportion.Placement
	// Left is how long it still takes at speed 1, rounded up.
	Left time.Duration
	// Rate is what it ran at until now, in millionths of speed 1; on a Shared worker its share.
	Rate int64
	// Value is its evaluation function now; 0 for a job without a curve.
	Value float64
}

// Used returns how long the work that it has done takes at speed 1, cut to nanoseconds: on a Shared
// worker, the CPU time that it has used.
func (j *JobState) Used() time.Duration { return j.Work - j.Left }

// Server returns the server of a job's first container, or -1 for a job that waits.
func (j *JobState) Server() int {
	if len(j.Places) == 0 {
		return -1
	}
	return j.Places[0].Server
}

// Orders is what a policy decides. What it does not mention stays as it is.
type Orders struct {
	// Places has the jobs that hold other containers from now on, each at most once.
	Places []Place
	// Limits has the jobs of Shared workers that have another limit from now on.
	Limits []Limit
	// Refused are waiting jobs that leave without having run.
	Refused []string
	// Next is when the policy is to be asked again if nothing happens before, later than now; 0 is
	// for only when something happens. With slots it is taken for the end of its slot.
	Next time.Duration
	// Stop ends the run with this decision, as a horizon of now would: what begins with it has a span without length.
	Stop bool
}

// Place gives a job containers in place of those that it has. Places may be in any order and may
// name a server more than once, as placement.Packer writes them.
type Place struct {
	Job string
	// On is where its containers are; empty: it holds nothing.
	On []apportion.Placement
	// PS is where its parameter servers are: as many as Training.PSFor asks for.
	PS []apportion.Placement
	// Why is for reports.
	Why string
}

// Limit is a soft limit for the share of a job of a Shared worker; positive. A job has the whole
// worker until it is limited.
type Limit struct {
	Job   string
	Share int64
}

// Problem returns the state as a problem of package alloc with both thresholds zero, for policies
// that share out containers. Where there are parameter servers a container has its part of them.
func (s *State) Problem() *alloc.Problem {
	if s.view == nil { // a state that a test has made
		s.view, _ = newView(s.Scenario)
	}
	positions := make([]int, len(s.Jobs))
	held := make(alloc.Allocation, len(s.Jobs))
	for i := range s.Jobs {
		job := &s.Jobs[i]
		positions[i] = job.Index
		// Who holds nothing is no entry of Previous: package alloc takes such a job for a new one.
		if len(job.Places) > 0 {
			held[job.ID] = make(map[string]int64, len(job.Places))
		}
		for _, p := range job.Places {
			held[job.ID][s.Scenario.Servers[p.Server].ID] = p.Count
		}
	}
	p := s.view.problem(positions)
	p.Previous = held
	return p
}

// Changes returns the jobs whose containers are others in an allocation, in the order of s.Jobs, with these: an order for what a
// job holds already would restart it. O(jobs x servers).
func (s *State) Changes(allocation alloc.Allocation) []Place {
	var places []Place
	for i := range s.Jobs {
		job := &s.Jobs[i]
		var on []apportion.Placement
		for h := range s.Scenario.Servers {
			if n := allocation[job.ID][s.Scenario.Servers[h].ID]; n > 0 {
				on = append(on, apportion.Placement{Server: h, Count: n})
			}
		}
		if !slices.Equal(on, job.Places) {
			places = append(places, Place{Job: job.ID, On: on})
		}
	}
	return places
}

// Bins returns what is free on each server and how many containers it has, for a placement.Packer. The
// bins are the caller's. O(servers x kinds + placements).
func (s *State) Bins() []placement.Bin {
	bins := make([]placement.Bin, len(s.Scenario.Servers))
	for h := range bins {
		bins[h].Free = s.Scenario.Servers[h].Capacity.Clone()
	}
	for i := range s.Jobs {
		for _, p := range s.Jobs[i].Places {
			bin := &bins[p.Server]
			for k, q := range s.Jobs[i].Demand {
				bin.Free[k] -= p.Count * q // cannot overflow: it has room there
			}
			bin.Containers += p.Count
		}
	}
	return bins
}

// Packer returns a packer of what is free now, by a rule. It does not know of parameter servers.
func (s *State) Packer(rule placement.Rule) (*placement.Packer, error) {
	return placement.NewPacker(rule, s.Scenario.Kinds, s.Bins())
}
