// This file checks on random scenarios what holds under every policy.

package slotsim

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
	"github.com/apportion/apportion/primaldual"
	"github.com/apportion/apportion/primaldual/oasistest"
)

// drawScenario draws a scenario with the ranges of the paper.
func drawScenario(t *rapid.T) (*Scenario, *primaldual.Bounds) {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	cluster, jobs := oasistest.Generate(rng, oasistest.Settings{
		Slots: rapid.IntRange(20, 40).Draw(t, "slots"), WorkerServers: rapid.IntRange(1, 5).Draw(t, "worker servers"),
		PSServers: rapid.IntRange(1, 4).Draw(t, "ps servers"), Jobs: rapid.IntRange(1, 15).Draw(t, "jobs"),
	})
	bounds, err := primaldual.BoundsOf(cluster, jobs, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &Scenario{cluster, jobs, DrawWorkers(rng, len(jobs))}, &bounds
}

// Every slot of every schedule keeps (3), (6), (7) and (9); a job ends in the slot in which its work
// is done, and not later; utility is that of the end; and nobody earns more than the certified bound.
func TestPropSchedules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, bounds := drawScenario(t)
		for _, policy := range policies() {
			r, err := Run(t.Context(), s, bounds, policy)
			if err != nil {
				t.Fatal(err)
			}
			total := 0.0
			for i := range s.Jobs {
				checkJob(t, s, r, i)
				total += r.Utility[i]
			}
			if total != r.Total {
				t.Fatalf("%s: total %v, sum %v", r.Policy, r.Total, total)
			}
			checkCapacity(t, s, r)
			if _, err := primaldual.Certify(r.Ledger, s.Jobs, r.Total, &primaldual.CertificateOptions{Steps: 3}); err != nil {
				t.Fatalf("%s: %v", r.Policy, err)
			}
		}
	})
}

func checkJob(t *rapid.T, s *Scenario, r *Result, i int) {
	job, done := &s.Jobs[i], int64(0)
	for k, plan := range r.Schedules[i] {
		if done >= job.WorkerSlots() {
			t.Fatalf("%s: job %+v runs in slot %d after its end", r.Policy, job, plan.Slot)
		}
		servers := int64(0)
		for _, p := range plan.PS {
			servers += p.Count
		}
		workers := plan.Total()
		if plan.Slot < job.Arrival || workers < 1 || workers > job.Chunks || servers != job.PSFor(workers) {
			t.Fatalf("%s: job %+v has %d workers and %d parameter servers in slot %d", r.Policy, job, workers, servers, plan.Slot)
		}
		if k > 0 && fixedWorkers(r.Policy) && workers != r.Schedules[i][k-1].Total() {
			t.Fatalf("%s: job %+v changes its workers in slot %d", r.Policy, job, plan.Slot)
		}
		done += workers
	}
	completion, utility := 0, 0.0
	if done >= job.WorkerSlots() {
		completion = r.Schedules[i][len(r.Schedules[i])-1].Slot
		utility = job.Utility.Value(completion - job.Arrival)
	}
	if r.Completion[i] != completion || r.Utility[i] != utility {
		t.Fatalf("%s: completion %d, utility %v; want %d, %v", r.Policy, r.Completion[i], r.Utility[i], completion, utility)
	}
}

// fixedWorkers says which policies keep a fixed number of workers.
func fixedWorkers(policy string) bool {
	return slices.Contains([]string{"FIFO", "FIFO+backfill", "RRH"}, policy)
}

// checkCapacity adds up what is taken, without the ledger.
func checkCapacity(t *rapid.T, s *Scenario, r *Result) {
	type cell struct{ side, slot, server, kind int }
	used := map[cell]int64{}
	for i, schedule := range r.Schedules {
		for _, plan := range schedule {
			for side, placed := range [2][]apportion.Placement{plan.Workers, plan.PS} {
				demand := [2]apportion.Resources{s.Jobs[i].Worker, s.Jobs[i].PS}[side]
				for _, p := range placed {
					for k, q := range demand {
						used[cell{side, plan.Slot, p.Server, k}] += p.Count * q
					}
				}
			}
		}
	}
	sums := [2][]float64{make([]float64, len(s.Cluster.Kinds)), make([]float64, len(s.Cluster.Kinds))}
	for c, amount := range used {
		capacity := [2][]apportion.Server{s.Cluster.WorkerServers, s.Cluster.PSServers}[c.side][c.server].Capacity[c.kind]
		if amount > capacity {
			t.Fatalf("%s: %+v takes %d of %d", r.Policy, c, amount, capacity)
		}
		sums[c.side][c.kind] += float64(amount)
	}
	for side, servers := range [2][]apportion.Server{s.Cluster.WorkerServers, s.Cluster.PSServers} {
		total, _ := check.Total(servers, len(s.Cluster.Kinds))
		for k, got := range r.Usage[side] {
			want := 0.0
			if total[k] > 0 {
				want = sums[side][k] / float64(total[k]) / float64(s.Cluster.Slots)
			}
			if math.Abs(got-want) > 1e-9 {
				t.Fatalf("%s: usage %v, want %v", r.Policy, got, want)
			}
		}
	}
}

// Where time is ample, no job is lost under the policies that let everybody in.
func TestPropNoJobLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, bounds := drawScenario(t)
		work := int64(0)
		for i := range s.Jobs {
			work += s.Jobs[i].WorkerSlots()
		}
		s.Cluster.Slots += int(min(work, 20_000))
		for _, policy := range []Policy{FIFO{}, FIFO{Backfill: true}, DRF{}} {
			r, err := Run(t.Context(), s, bounds, policy)
			if err != nil {
				t.Fatal(err)
			}
			st := newState(s)
			for i, completion := range r.Completion {
				if (completion > 0) != (st.fixed[i] > 0) {
					t.Fatalf("%s: job %+v ends in slot %d of %d", r.Policy, s.Jobs[i], completion, s.Cluster.Slots)
				}
			}
		}
	})
}

// The same scenario gives the same result, and stays as it is.
func TestDeterministic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, bounds := drawScenario(t)
		before := slices.Clone(s.Jobs)
		for _, policy := range policies() {
			first, err := Run(t.Context(), s, bounds, policy)
			if err != nil {
				t.Fatal(err)
			}
			again, err := Run(t.Context(), s, bounds, policy)
			if diff := cmp.Diff(first, again, cmpopts.IgnoreFields(Result{}, "Ledger")); diff != "" || err != nil {
				t.Fatalf("%s: %v, differs in a second run:\n%s", policy.Name(), err, diff)
			}
		}
		if diff := cmp.Diff(before, s.Jobs); diff != "" {
			t.Fatalf("a run changed the jobs:\n%s", diff)
		}
	})
}
