// This file lets Dorm schedule slot by slot: a container is a worker with its part of a parameter
// server, [Dorm] §III-C; [OASiS] §5.

package slotsim

import (
	"context"
	"math"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/check"
	"github.com/apportion/apportion/internal/exact"
	"github.com/apportion/apportion/primaldual"
)

// Dorm asks alloc.Reallocate whenever jobs arrive or end: each job has from 1 to Chunks containers.
// Its demand must not be zero in every kind.
type Dorm struct {
	// Theta1 and Theta2 are the thresholds of Dorm's (15) and (16); Dorm-3 has 0.1 and 0.1.
	Theta1, Theta2 float64
	// Queue is how many waiting jobs, first come first, take part in a decision; at least 1. The
	// longest prefix of them that leaves the problem solvable is let in.
	Queue int
	// Solver answers P2; nil: the embedded one.
	Solver solver.Solver
}

// Dorm3 returns Dorm with the thresholds of Dorm-3 and a queue of 4.
func Dorm3(solver solver.Solver) *Dorm {
	return &Dorm{Theta1: 0.1, Theta2: 0.1, Queue: 4, Solver: solver}
}

// Name returns the name of the policy.
func (*Dorm) Name() string { return "Dorm" }

func (d *Dorm) schedules(ctx context.Context, s *Scenario, _ *primaldual.Bounds) ([]primaldual.Schedule, error) {
	problem, err := pairedServers(s.Cluster)
	if err != nil {
		return nil, err
	}
	problem.Theta1, problem.Theta2, problem.Options.AdmitPrefix = d.Theta1, d.Theta2, true
	return play(ctx, s, &dormStepper{Dorm: d, base: problem})
}

// psParts is the precision of a part of a parameter server: demands and capacities of that side are
// in thousandths.
const psParts = 1000

// pairedServers returns a problem without applications: each worker server with an equal part of the
// capacity of all parameter-server servers, kinds of the worker side first.
func pairedServers(cluster *primaldual.Cluster) (*alloc.Problem, error) {
	total, err := check.Total(cluster.PSServers, len(cluster.Kinds))
	if err != nil {
		return nil, err
	}
	p := &alloc.Problem{}
	part := make(apportion.Resources, len(total))
	for r, q := range total {
		thousandths, ok := exact.Mul(q, psParts)
		if !ok {
			return nil, &apportion.FieldError{Field: "PSServers", Err: apportion.ErrOverflow}
		}
		part[r] = thousandths / int64(len(cluster.WorkerServers))
	}
	for _, side := range []string{"worker-", "ps-"} {
		for _, kind := range cluster.Kinds {
			p.Kinds = append(p.Kinds, side+kind)
		}
	}
	for _, server := range cluster.WorkerServers {
		p.Servers = append(p.Servers, apportion.Server{ID: server.ID, Capacity: slices.Concat(server.Capacity, part)})
	}
	return p, nil
}

// container returns the demand of a worker and its part b/B of a parameter server, rounded up.
func container(job *primaldual.Job) apportion.Resources {
	demand := job.Worker.Clone()
	for _, q := range job.PS {
		part := math.Ceil(psParts * float64(q) * float64(job.WorkerBandwidth) / float64(job.PSBandwidth))
		demand = append(demand, int64(part))
	}
	return demand
}

// dormStepper is Dorm in one simulation.
type dormStepper struct {
	*Dorm
	base *alloc.Problem
}

func (*dormStepper) admit(*state, int) bool { return true }

// decide solves P2 and moves the jobs that it changes.
func (d *dormStepper) decide(ctx context.Context, st *state) error {
	problem := *d.base
	problem.Previous = alloc.Allocation{}
	var taking []int
	waiting := 0
	for _, i := range st.active {
		if plan := &st.plans[i]; len(plan.Workers) > 0 {
			problem.Previous[st.Jobs[i].ID] = d.held(plan)
		} else if waiting++; waiting > d.Queue {
			continue
		}
		taking = append(taking, i)
		problem.Applications = append(problem.Applications, alloc.Application{
			ID: st.Jobs[i].ID, Demand: container(&st.Jobs[i]), Weight: 1, Min: 1, Max: st.Jobs[i].Chunks,
		})
	}
	if len(taking) == 0 {
		return nil
	}
	decision, err := alloc.Reallocate(ctx, &problem, d.Solver)
	if err != nil {
		return err
	}
	d.apply(st, taking, decision.Allocation)
	return nil
}

// held returns the containers of a plan by server ID.
func (d *dormStepper) held(plan *primaldual.SlotPlan) map[string]int64 {
	held := make(map[string]int64, len(plan.Workers))
	for _, p := range plan.Workers {
		held[d.base.Servers[p.Server].ID] = p.Count
	}
	return held
}

// apply takes what changed jobs hold and gives them what they are to have, in order of arrival.
func (d *dormStepper) apply(st *state, jobs []int, allocation alloc.Allocation) {
	type change struct {
		job     int
		workers []apportion.Placement
	}
	var changes []change
	for _, i := range jobs {
		var workers []apportion.Placement
		for h, server := range d.base.Servers {
			if n := allocation[st.Jobs[i].ID][server.ID]; n > 0 {
				workers = append(workers, apportion.Placement{Server: h, Count: n})
			}
		}
		if !slices.Equal(workers, st.plans[i].Workers) {
			st.release(i)
			changes = append(changes, change{i, workers})
		}
	}
	for _, c := range changes {
		st.startOn(c.job, c.workers)
	}
}

// startOn gives a job workers on the servers given, the last ones left out where parameter servers are
// short. There must be room for the workers.
func (st *state) startOn(i int, workers []apportion.Placement) {
	job, n := &st.Jobs[i], int64(0)
	for _, p := range workers {
		n += p.Count
	}
	servers := st.pool.room(primaldual.ParameterServers, job.PS, n)
	for ; job.PSFor(n) > servers; n-- {
		last := &workers[len(workers)-1]
		if last.Count--; last.Count == 0 {
			workers = workers[:len(workers)-1]
		}
	}
	if n == 0 {
		return
	}
	st.pool.move(primaldual.Workers, job.Worker, workers, -1)
	ps, _ := st.pool.roundRobin(primaldual.ParameterServers, job.PS, job.PSFor(n))
	st.plans[i] = primaldual.SlotPlan{Workers: workers, PS: ps}
}
