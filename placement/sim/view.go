// This file implements the view of a scenario as a problem of package alloc, and the fairness loss in it,
// [Dorm eq. (2)]; with parameter servers, [OASiS] §5.

package sim

import (
	"math"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/check"
	"github.com/apportion/apportion/internal/exact"
	"github.com/apportion/apportion/primaldual"
)

// view is a scenario as package alloc sees it. Where there are parameter servers, each server has an
// equal part of the capacity of them all, and a container is a worker with its part b/B of a parameter
// server, rounded up; the kinds of the workers' side come first.
type view struct {
	kinds   apportion.Kinds
	servers []apportion.Server
	// apps are the jobs, by position in Scenario.Jobs.
	apps []alloc.Application
}

// newView returns the view of a scenario. The error is ErrOverflow, of parameter servers.
func newView(s *Scenario) (*view, error) {
	v := &view{kinds: s.Kinds, servers: s.Servers, apps: make([]alloc.Application, len(s.Jobs))}
	for i := range s.Jobs {
		v.apps[i] = s.Jobs[i].Application
	}
	if len(s.ParameterServers) == 0 {
		return v, nil
	}
	// Each kind is there twice, since the two sides must not be added up.
	v.kinds, v.servers = nil, slices.Clone(s.Servers)
	for _, side := range []string{"worker-", "ps-"} {
		for _, kind := range s.Kinds {
			v.kinds = append(v.kinds, side+kind)
		}
	}
	part, err := serverPart(s)
	// The list was cloned, and Concat makes new vectors: the scenario's own capacities stay.
	for h := range v.servers {
		v.servers[h].Capacity = slices.Concat(v.servers[h].Capacity, part)
	}
	for i := range s.Jobs {
		v.apps[i].Demand = slices.Concat(v.apps[i].Demand, containerPart(s.Jobs[i].Training, len(s.Kinds)))
	}
	return v, err
}

// psParts is the precision of a part of a parameter server: demands and capacities of that side are in
// thousandths.
const psParts = 1000

// serverPart returns what each server has of the capacity of all parameter servers, in thousandths and
// rounded down. The error is ErrOverflow.
func serverPart(s *Scenario) (apportion.Resources, error) {
	part, err := check.Total(s.ParameterServers, len(s.Kinds))
	for k, q := range part {
		thousandths, ok := exact.Mul(q, psParts)
		if !ok {
			return nil, &apportion.FieldError{Field: "ParameterServers", Err: apportion.ErrOverflow}
		}
		// Rounded down here and up in containerPart: the view never promises more than there is.
		part[k] = thousandths / int64(len(s.Servers))
	}
	return part, err
}

// containerPart returns the part of a parameter server that one worker needs, in thousandths; nothing
// where the job has no parameter servers.
func containerPart(training *primaldual.Job, kinds int) apportion.Resources {
	part := make(apportion.Resources, kinds)
	if training == nil {
		return part
	}
	for k, q := range training.PS {
		part[k] = int64(math.Ceil(psParts * float64(q) * float64(training.WorkerBandwidth) / float64(training.PSBandwidth)))
	}
	return part
}

// problem returns the jobs at some positions as a problem, with both thresholds zero.
func (v *view) problem(positions []int) *alloc.Problem {
	p := &alloc.Problem{Kinds: v.kinds, Servers: v.servers, Applications: make([]alloc.Application, len(positions))}
	for i, at := range positions {
		p.Applications[i] = v.apps[at]
	}
	return p
}

// fairness computes losses. It keeps the theoretical shares for as long as the jobs stay the same.
type fairness struct {
	view      *view
	positions []int
	instance  *solver.Instance
	// servable are the jobs that can be served at all, by place in positions; the others have no share.
	servable []int
}

// loss returns how far the shares of jobs are off their theoretical shares, added up in the order of the
// jobs. The theoretical shares cost most, so they are computed when the jobs have changed.
func (f *fairness) loss(jobs []*job) (float64, error) {
	if len(jobs) == 0 {
		return 0, nil
	}
	positions := make([]int, len(jobs))
	for i, j := range jobs {
		positions[i] = j.index
	}
	if !slices.Equal(positions, f.positions) {
		p := f.view.problem(positions)
		p.Options.Paper = true // jobs that wait have a share as well
		instance, servable, err := p.Instance()
		if err != nil {
			return 0, err
		}
		f.positions, f.instance, f.servable = positions, instance, servable
	}
	// Who can never be served holds nothing and is due nothing.
	// Placements are shared with the jobs and only read.
	counts := make(solver.Counts, len(f.servable))
	for a, i := range f.servable {
		counts[a] = jobs[i].places
	}
	return f.instance.FairnessLoss(counts), nil
}
