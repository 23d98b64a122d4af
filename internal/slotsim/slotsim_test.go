// This file tests each policy on scenarios small enough to play by hand.

package slotsim

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/primaldual"
)

type placements = []apportion.Placement

// The first job takes half of the workers for two slots, the second needs three quarters of them, the
// third would fit beside the first.
func TestFIFO(t *testing.T) {
	jobs := []primaldual.Job{tinyJob("A", 1, 4, 4, always), tinyJob("B", 1, 2, 8, always), tinyJob("C", 2, 2, 2, always)}
	for _, test := range []struct {
		policy FIFO
		want   []int
	}{{FIFO{}, []int{2, 4, 3}}, {FIFO{Backfill: true}, []int{2, 4, 2}}} {
		r := runTiny(t, test.policy, 6, []int64{9, 6, 2}, jobs...)
		if diff := cmp.Diff(test.want, r.Completion); diff != "" {
			t.Errorf("%s: completions (-want +got):\n%s", r.Policy, diff)
		}
		if r.Total != 3 {
			t.Errorf("%s: total %v, want 3", r.Policy, r.Total)
		}
		plan := r.Schedules[0][0]
		if !cmp.Equal(plan.Workers, placements{{Server: 0, Count: 2}, {Server: 1, Count: 2}}) || !cmp.Equal(plan.PS, placements{{Server: 0, Count: 1}, {Server: 1, Count: 1}}) {
			t.Errorf("%s: %+v, want two workers and one parameter server on each server", r.Policy, plan)
		}
	}
}

// 8 + 12 + 2 worker-slots and as many halves of parameter servers, in 6 slots of 8 workers and 4
// parameter servers.
func TestUsage(t *testing.T) {
	r := runTiny(t, FIFO{}, 6, []int64{9, 6, 2}, tinyJob("A", 1, 4, 4, always), tinyJob("B", 1, 2, 8, always), tinyJob("C", 2, 2, 2, always))
	for side, want := range []float64{22.0 / 48, 11.0 / 24} {
		if got := r.Usage[side][0]; math.Abs(got-want) > 1e-12 {
			t.Errorf("%v: usage %v, want %v", sides[side], got, want)
		}
	}
}

// Tasks go A, B, A, A, B, A: shares 1/4, 1/4, 1/4, 1/2, 1/2, 1/2, the earlier job on ties. In slot 2 B
// gets no more workers than it has work for.
func TestDRF(t *testing.T) {
	b := tinyJob("B", 1, 1, 8, always)
	b.Worker = apportion.Resources{2}
	r := runTiny(t, DRF{}, 3, []int64{1, 1}, tinyJob("A", 1, 1, 8, always), b)
	type counts struct{ workers, ps placements }
	for _, test := range []struct {
		job, slot int
		want      counts
	}{
		{0, 0, counts{placements{{Server: 0, Count: 2}, {Server: 1, Count: 2}}, placements{{Server: 0, Count: 2}}}},
		{1, 0, counts{placements{{Server: 0, Count: 1}, {Server: 1, Count: 1}}, placements{{Server: 1, Count: 1}}}},
		{1, 1, counts{placements{{Server: 0, Count: 1}, {Server: 1, Count: 1}}, placements{{Server: 1, Count: 1}}}},
	} {
		plan := r.Schedules[test.job][test.slot]
		if diff := cmp.Diff(test.want, counts{plan.Workers, plan.PS}, cmp.AllowUnexported(counts{})); diff != "" {
			t.Errorf("job %d, slot %d (-want +got):\n%s", test.job, plan.Slot, diff)
		}
	}
	if diff := cmp.Diff([]int{1, 2}, r.Completion); diff != "" {
		t.Errorf("completions (-want +got):\n%s", diff)
	}
}

// Of three equal jobs the first two get the only two workers that fit.
func TestDRFTies(t *testing.T) {
	var jobs []primaldual.Job
	for _, id := range []string{"C", "B", "A"} {
		job := tinyJob(id, 1, 2, 1, always)
		job.Worker = apportion.Resources{3}
		jobs = append(jobs, job)
	}
	if r := runTiny(t, DRF{}, 3, []int64{1, 1, 1}, jobs...); !cmp.Equal(r.Completion, []int{1, 1, 2}) {
		t.Errorf("completions %v, want [1 1 2]", r.Completion)
	}
}

// A worker whose parameter server does not fit is taken back, and the next goes where it would have.
func TestDRFRollsBack(t *testing.T) {
	wide := tinyJob("wide", 1, 4, 8, always)
	wide.PS = apportion.Resources{2}
	st := newState(&Scenario{Cluster: tinyCluster(1), Jobs: []primaldual.Job{wide}, Workers: []int64{1}})
	st.pool.free[1] = []apportion.Resources{{1}, {1}}
	if (&shareOf{den: 1}).grow(st) || st.pool.next != [2]int{} || st.pool.free[0][0][0] != 4 || len(st.plans[0].Workers) > 0 {
		t.Errorf("after a failure: next %v, free %v, plan %+v", st.pool.next, st.pool.free, st.plans[0])
	}
}

// Every job takes the whole cluster. B earns 6/1.01 less the 6 that A loses by its delay: refused,
// unless the threshold lets it in, and then second, as A has the greater reward. C is worth more than
// A, which pauses and keeps its progress.
func TestRRH(t *testing.T) {
	a := tinyJob("A", 1, 4, 8, primaldual.Steps{{Within: 1, Value: 10}, {Within: 3, Value: 4}})
	b := tinyJob("B", 1, 2, 8, primaldual.Steps{{Within: 0, Value: 6}, {Within: 3, Value: 5}})
	c := tinyJob("C", 2, 2, 8, primaldual.Steps{{Within: 0, Value: 100}})
	// One slot of delay costs the short job 1, the two of the long one 9, more than the 8 it is worth.
	short := tinyJob("short", 1, 2, 8, primaldual.Steps{{Within: 0, Value: 10}, {Within: 1, Value: 9}, {Within: 9, Value: 1}})
	long := tinyJob("long", 1, 4, 8, primaldual.Steps{{Within: 9, Value: 8}})
	for _, test := range []struct {
		name       string
		policy     RRH
		jobs       []primaldual.Job
		completion []int
		total      float64
	}{
		{"refused", RRH{}, []primaldual.Job{a, b}, []int{2, 0}, 10},
		{"admitted", RRH{Threshold: -1}, []primaldual.Job{a, b}, []int{2, 3}, 15},
		{"own worth only", RRH{Threshold: -1, Alpha: 1}, []primaldual.Job{a, b}, []int{3, 1}, 10},
		{"no discount", RRH{Rate: 1e-9, Threshold: -0.001}, []primaldual.Job{a, b}, []int{2, 3}, 15},
		{"paused", RRH{}, []primaldual.Job{a, c}, []int{3, 2}, 104},
		{"delays by two slots", RRH{}, []primaldual.Job{short, long}, []int{1, 0}, 10},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := runTiny(t, test.policy, 4, []int64{8, 8}, test.jobs...)
			if !cmp.Equal(r.Completion, test.completion) || r.Total != test.total {
				t.Errorf("completions %v, total %v; want %v, %v", r.Completion, r.Total, test.completion, test.total)
			}
		})
	}
}

// A job that could not end on its fixed workers is worth nothing and refused.
func TestRRHTooLate(t *testing.T) {
	for slots, want := range map[int]int{5: 5, 4: 0} {
		r := runTiny(t, RRH{}, slots, []int64{8}, tinyJob("A", 1, 10, 8, always))
		if r.Completion[0] != want || len(r.Schedules[0]) != want {
			t.Errorf("%d slots: completion %d after %d slots, want %d", slots, r.Completion[0], len(r.Schedules[0]), want)
		}
	}
}

// A has all 8 containers in slot 1; in slot 2 it shares with B, half each.
func TestDorm(t *testing.T) {
	r := runTiny(t, Dorm3(nil), 5, []int64{1, 1}, tinyJob("A", 1, 4, 8, always), tinyJob("B", 2, 2, 8, always))
	if diff := cmp.Diff([]int{3, 3}, r.Completion); diff != "" {
		t.Errorf("completions (-want +got):\n%s", diff)
	}
	for slot, want := range []int64{8, 4, 4} {
		if got := r.Schedules[0][slot].Total(); got != want {
			t.Errorf("slot %d: %d workers, want %d", slot+1, got, want)
		}
	}
}

// No job has more workers than chunks.
func TestDormMaximum(t *testing.T) {
	r := runTiny(t, Dorm3(nil), 5, []int64{1}, tinyJob("A", 1, 4, 2, always))
	if got := r.Schedules[0][0].Total(); got != 2 {
		t.Errorf("%d workers, want 2", got)
	}
}

// Three workers need two parameter servers where there is room for one: the last worker goes.
func TestDormShortOfParameterServers(t *testing.T) {
	s := &Scenario{Cluster: tinyCluster(2), Jobs: []primaldual.Job{tinyJob("A", 1, 1, 8, always)}, Workers: []int64{1}}
	for _, test := range []struct {
		free int64
		want placements
	}{{2, placements{{Server: 0, Count: 2}, {Server: 1, Count: 1}}}, {1, placements{{Server: 0, Count: 2}}}, {0, nil}} {
		st := newState(s)
		st.pool.free[1] = []apportion.Resources{{test.free}, {0}}
		st.startOn(0, placements{{Server: 0, Count: 2}, {Server: 1, Count: 1}})
		if diff := cmp.Diff(test.want, st.plans[0].Workers); diff != "" {
			t.Errorf("room for %d (-want +got):\n%s", test.free, diff)
		}
		used := int64(0)
		for _, p := range test.want {
			used += p.Count
		}
		if left := st.pool.free[0][0][0] + st.pool.free[0][1][0]; left != 8-used {
			t.Errorf("room for %d: %d workers left, want %d", test.free, left, 8-used)
		}
	}
}

// A part of a parameter server is rounded up to thousandths.
func TestContainer(t *testing.T) {
	job := tinyJob("A", 1, 1, 1, always)
	job.PSBandwidth, job.PS = 3, apportion.Resources{2}
	if got := container(&job); !cmp.Equal(got, apportion.Resources{1, 667}) {
		t.Errorf("%v, want [1 667]", got)
	}
}

// A fourth worker fits but its parameter server does not: the worker is taken back.
func TestPlaceRollsBack(t *testing.T) {
	p := newPool(tinyCluster(1))
	job := tinyJob("A", 1, 1, 8, always)
	job.PS = apportion.Resources{2}
	if _, ok := p.place(&job, 3); !ok {
		t.Fatal("three workers do not fit")
	}
	free, next := [2]int64{p.free[0][0][0], p.free[0][1][0]}, p.next
	if _, ok := p.place(&job, 1); ok {
		t.Error("a parameter server fits where there is none left")
	}
	if [2]int64{p.free[0][0][0], p.free[0][1][0]} != free || p.next != next {
		t.Errorf("%v, %v after a failure, want %v, %v", p.free[0], p.next, free, next)
	}
}

// Jobs that can never run are refused and block nobody.
func TestUnservable(t *testing.T) {
	narrow, wide, heavy := tinyJob("narrow", 1, 2, 2, always), tinyJob("wide", 1, 2, 2, always), tinyJob("heavy", 1, 2, 2, always)
	narrow.PSBandwidth = 1
	narrow.WorkerBandwidth = 2
	wide.Worker = apportion.Resources{5}
	heavy.PS = apportion.Resources{3}
	for _, policy := range policies() {
		r := runTiny(t, policy, 4, []int64{2, 2, 2, 2}, narrow, wide, heavy, tinyJob("B", 1, 2, 2, primaldual.Sigmoid{Gamma1: 1000}))
		if diff := cmp.Diff([]int{0, 0, 0, 1}, r.Completion); diff != "" {
			t.Errorf("%s: completions (-want +got):\n%s", r.Policy, diff)
		}
	}
}

// A job that does not end is worth nothing, but takes what it takes.
func TestUnfinished(t *testing.T) {
	r := runTiny(t, FIFO{}, 2, []int64{2}, tinyJob("A", 1, 20, 2, always))
	if r.Completion[0] != 0 || r.Total != 0 || r.Schedules[0].WorkerSlots() != 4 {
		t.Errorf("%+v, want no completion, no utility, 4 worker-slots", r)
	}
}

func TestFaults(t *testing.T) {
	good := tinyJob("A", 1, 1, 1, always)
	late, early, bad := tinyJob("B", 3, 1, 1, always), tinyJob("B", 1, 1, 1, always), tinyJob("", 1, 1, 1, nil)
	two := tinyJob("C", 2, 1, 1, always)
	for name, test := range map[string]struct {
		scenario Scenario
		want     error
	}{
		"no cluster":     {Scenario{}, apportion.ErrEmpty},
		"cluster":        {Scenario{Cluster: &primaldual.Cluster{}}, apportion.ErrEmpty},
		"numbers":        {Scenario{Cluster: tinyCluster(2), Jobs: []primaldual.Job{good}}, apportion.ErrLength},
		"no workers":     {Scenario{tinyCluster(2), []primaldual.Job{good}, []int64{0}}, apportion.ErrRange},
		"after the end":  {Scenario{tinyCluster(2), []primaldual.Job{late}, []int64{1}}, apportion.ErrRange},
		"not ascending":  {Scenario{tinyCluster(2), []primaldual.Job{two, early}, []int64{1, 1}}, apportion.ErrRange},
		"one name twice": {Scenario{tinyCluster(2), []primaldual.Job{good, good}, []int64{1, 1}}, apportion.ErrDuplicate},
		"bad job":        {Scenario{tinyCluster(2), []primaldual.Job{bad}, []int64{1}}, apportion.ErrEmpty},
	} {
		if _, err := Run(t.Context(), &test.scenario, &tinyBounds, FIFO{}); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
	}
	s := &Scenario{tinyCluster(2), []primaldual.Job{good}, []int64{1}}
	if _, err := Run(t.Context(), s, &primaldual.Bounds{}, FIFO{}); err == nil {
		t.Error("no error for bounds of another cluster")
	}
	nothing := tinyJob("A", 1, 1, 1, always)
	nothing.Worker, nothing.PS = apportion.Resources{0}, apportion.Resources{0}
	s.Jobs = []primaldual.Job{nothing}
	if _, err := Run(t.Context(), s, &tinyBounds, Dorm3(nil)); err == nil {
		t.Error("no error under Dorm for a job that demands nothing")
	}
}

// A context that has ended ends the run, whatever the policy.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := &Scenario{tinyCluster(2), []primaldual.Job{tinyJob("A", 1, 1, 1, always)}, []int64{1}}
	for _, policy := range policies() {
		if _, err := Run(ctx, s, &tinyBounds, policy); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want %v", policy.Name(), err, context.Canceled)
		}
	}
}

// A number of workers beyond the room is reduced to what the workers' side or the other has room for.
func TestFitting(t *testing.T) {
	st := newState(&Scenario{Cluster: tinyCluster(1)})
	light, heavy := tinyJob("light", 1, 1, 1, always), tinyJob("heavy", 1, 1, 1, always)
	heavy.PS = apportion.Resources{2}
	light.Worker = apportion.Resources{0}
	for _, test := range []struct {
		job         primaldual.Job
		limit, want int64
	}{{tinyJob("A", 1, 1, 1, always), 30, 8}, {heavy, 30, 4}, {heavy, 3, 3}, {light, 1 << 52, 8}} {
		if got := st.fitting(&test.job, test.limit); got != test.want {
			t.Errorf("%s: %d workers, want %d", test.job.ID, got, test.want)
		}
	}
}

func TestDrawWorkers(t *testing.T) {
	seen := map[int64]bool{}
	for _, n := range DrawWorkers(rand.New(rand.NewPCG(1, 2)), 1000) {
		if n < 1 || n > 30 {
			t.Fatalf("%d workers", n)
		}
		seen[n] = true
	}
	if len(seen) != 30 {
		t.Errorf("%d different numbers, want 30", len(seen))
	}
}
