package ortools_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/milp/bb"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/oracle/oasisoracle"
	"github.com/apportion/apportion/primaldual"
)

// smallCluster draws two worker servers and one for parameter servers over three slots, and three jobs
// of one to eight worker-slots; memory is in bytes.
func smallCluster(seed uint64) (*primaldual.Cluster, []primaldual.Job) {
	random := rand.New(rand.NewPCG(seed, 3))
	const gigabyte = 1_000_000_000
	server := func(id string) apportion.Server {
		return apportion.Server{ID: id, Capacity: apportion.Resources{2 + random.Int64N(3), (8 + random.Int64N(56)) * gigabyte}}
	}
	cluster := &primaldual.Cluster{
		Kinds: apportion.Kinds{"gpu", "memory"}, Slots: 3,
		WorkerServers: []apportion.Server{server("w0"), server("w1")}, PSServers: []apportion.Server{server("p0")},
	}
	var jobs []primaldual.Job
	for i := range 3 {
		jobs = append(jobs, primaldual.Job{
			ID: fmt.Sprint("job", i), Arrival: 1 + random.IntN(2),
			Epochs: 1 + random.Int64N(2), Chunks: 1 + random.Int64N(4), Minibatches: 1, MinibatchSlots: 1,
			WorkerBandwidth: 1, PSBandwidth: 1 + random.Int64N(3),
			Worker:  apportion.Resources{1, (2 + random.Int64N(20)) * gigabyte},
			PS:      apportion.Resources{random.Int64N(2), gigabyte},
			Utility: primaldual.Linear{Start: 10 + 10*random.Float64(), PerSlot: random.Float64()},
		})
	}
	return cluster, jobs
}

// exhaustive returns the greatest total utility, by trying everything.
func exhaustive(cluster *primaldual.Cluster, jobs []primaldual.Job) float64 {
	in := &oasisoracle.Instance{Slots: cluster.Slots}
	for _, server := range cluster.WorkerServers {
		in.Workers = append(in.Workers, server.Capacity)
	}
	for _, server := range cluster.PSServers {
		in.PS = append(in.PS, server.Capacity)
	}
	for i := range jobs {
		j := &jobs[i]
		values := make([]float64, cluster.Slots)
		for slot := j.Arrival; slot <= cluster.Slots; slot++ {
			values[slot-1] = j.Utility.Value(slot - j.Arrival)
		}
		in.Jobs = append(in.Jobs, oasisoracle.Job{
			Arrival: j.Arrival - 1, MaxWorkers: j.Chunks, Work: j.WorkerSlots(), Worker: j.Worker, PS: j.PS,
			WorkerBandwidth: j.WorkerBandwidth, PSBandwidth: j.PSBandwidth, Values: values,
		})
	}
	return oasisoracle.Optimum(in)
}

// TestOASiS solves the offline problem of OASiS with CP-SAT, HiGHS and SCIP: small ones to the optimum that
// the exhaustive search finds, and of what the schedules read off the answer earn.
func TestOASiS(t *testing.T) {
	all := engines(t)[:3]
	admitted, rejected := 0, 0
	for seed := range uint64(20) {
		cluster, jobs := smallCluster(seed)
		want := exhaustive(cluster, jobs)
		offline := must.Have(primaldual.NewOffline(cluster, jobs))(t)
		for _, e := range append(all, named{"bb", bb.Solver{}}) {
			got, err := milp.Solve(context.Background(), e.solver, offline.Model, nil)
			if err != nil {
				t.Fatalf("%s, seed %d: %v", e.name, seed, err)
			}
			earned := 0.0
			for i, schedule := range offline.Schedules(got.Values) {
				if schedule == nil {
					rejected++
					continue
				}
				admitted++
				earned += jobs[i].Utility.Value(schedule[len(schedule)-1].Slot - jobs[i].Arrival)
			}
			if got.Status != milp.Optimal || math.Abs(got.Objective-want) > 1e-6 || math.Abs(earned-want) > 1e-6 {
				t.Errorf("%s, seed %d: %s, objective %v, schedules earn %v, want %v", e.name, seed, got.Status, got.Objective, earned, want)
			}
		}
	}
	if admitted == 0 || rejected == 0 {
		t.Errorf("%d schedules, %d jobs left out: the test sees one side only", admitted, rejected)
	}
}

// TestOASiSWorkload solves workloads of the paper's kind, too large for the exhaustive search: the
// three engines agree on what can be earned.
func TestOASiSWorkload(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds")
	}
	all := engines(t)[:3]
	for seed := range uint64(3) {
		cluster, jobs := primaldual.Workload{Slots: 8, WorkerServers: 3, PSServers: 3, Jobs: 9}.Draw(rand.New(rand.NewPCG(seed, 0)))
		offline := must.Have(primaldual.NewOffline(cluster, jobs))(t)
		best, bound := math.Inf(-1), math.Inf(1)
		for _, e := range all {
			start := time.Now()
			got, err := milp.Solve(context.Background(), e.solver, offline.Model, &milp.Options{TimeLimit: 5 * time.Second})
			if err != nil {
				t.Fatalf("%s, seed %d: %v", e.name, seed, err)
			}
			bound = math.Min(bound, got.Bound)
			if got.HasSolution() {
				best = math.Max(best, got.Objective)
			}
			t.Logf("seed %d, %d variables, %s: %s, objective %.9g, bound %.9g after %.2f s", seed, offline.Model.Variables(),
				e.name, got.Status, got.Objective, got.Bound, time.Since(start).Seconds())
			if got.Status == milp.Infeasible {
				t.Errorf("%s, seed %d: admitting nothing is feasible", e.name, seed)
			}
		}
		if best > bound+1e-6*math.Abs(bound) {
			t.Errorf("seed %d: objective %v, bound %v", seed, best, bound)
		}
	}
}
