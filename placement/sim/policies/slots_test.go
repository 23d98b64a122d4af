// This file tests each policy on scenarios small enough to play by hand.

package policies

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/primaldual"
)

type placements = []apportion.Placement

// The first job takes half of the workers for two slots, the second needs three quarters of them, the
// third would fit beside the first.
func TestFIFO(t *testing.T) {
	jobs := []primaldual.Job{tinyJob("A", 1, 4, 4, always), tinyJob("B", 1, 2, 8, always), tinyJob("C", 2, 2, 2, always)}
	for _, test := range []struct {
		policy *FIFO
		want   []int
	}{{&FIFO{}, []int{2, 4, 3}}, {&FIFO{Backfill: true}, []int{2, 4, 2}}} {
		r := runTiny(t, test.policy, 6, []int64{9, 6, 2}, jobs...)
		must.Equal(t, cmp.Diff(test.want, r.completion), "", r.Policy, "completions")
		must.Equal(t, r.Worth(), 3, r.Policy, "total")
		plan := r.schedules[0][0]
		if !cmp.Equal(plan.Workers, placements{{Server: 0, Count: 2}, {Server: 1, Count: 2}}) || !cmp.Equal(plan.PS, placements{{Server: 0, Count: 1}, {Server: 1, Count: 1}}) {
			t.Errorf("%s: %+v, want two workers and one parameter server on each server", r.Policy, plan)
		}
	}
}

// Tasks go A, B, A, A, B, A: shares 1/4, 1/4, 1/4, 1/2, 1/2, 1/2, the earlier job on ties. In slot 2 B
// gets no more workers than it has work for.
func TestDRF(t *testing.T) {
	b := tinyJob("B", 1, 1, 8, always)
	b.Worker = apportion.Resources{2}
	r := runTiny(t, &DRF{}, 3, []int64{1, 1}, tinyJob("A", 1, 1, 8, always), b)
	type counts struct{ workers, ps placements }
	for _, test := range []struct {
		job, slot int
		want      counts
	}{
		{0, 0, counts{placements{{Server: 0, Count: 2}, {Server: 1, Count: 2}}, placements{{Server: 0, Count: 2}}}},
		{1, 0, counts{placements{{Server: 0, Count: 1}, {Server: 1, Count: 1}}, placements{{Server: 1, Count: 1}}}},
		{1, 1, counts{placements{{Server: 0, Count: 1}, {Server: 1, Count: 1}}, placements{{Server: 1, Count: 1}}}},
	} {
		plan := r.schedules[test.job][test.slot]
		if diff := cmp.Diff(test.want, counts{plan.Workers, plan.PS}, cmp.AllowUnexported(counts{})); diff != "" {
			t.Errorf("job %d, slot %d (-want +got):\n%s", test.job, plan.Slot, diff)
		}
	}
	must.Equal(t, cmp.Diff([]int{1, 2}, r.completion), "", "completions")
}

// Of three equal jobs the first two get the only two workers that fit.
func TestDRFTies(t *testing.T) {
	var jobs []primaldual.Job
	for _, id := range []string{"C", "B", "A"} {
		job := tinyJob(id, 1, 2, 1, always)
		job.Worker = apportion.Resources{3}
		jobs = append(jobs, job)
	}
	if r := runTiny(t, &DRF{}, 3, []int64{1, 1, 1}, jobs...); !cmp.Equal(r.completion, []int{1, 1, 2}) {
		t.Errorf("completions %v, want [1 1 2]", r.completion)
	}
}

// A worker whose parameter server does not fit is taken back, and the next goes where it would have.
func TestDRFRollsBack(t *testing.T) {
	wide := tinyJob("wide", 1, 4, 8, always)
	wide.PS = apportion.Resources{2}
	s, d := opened(t, wide)
	d.servers.packer.Place(apportion.Resources{1}, 2, nil)
	if d.grow(&s.Jobs[0], 0, 1) || len(d.workers.held) > 0 || d.workers.packer.Free(0)[0] != 4 {
		t.Errorf("after a failure: %v, %v left", d.workers.held, d.workers.packer.Free(0))
	}
	d.servers.packer.Release(0, apportion.Resources{1}, 1)
	if !d.grow(&s.Jobs[0], 0, 1) || d.order("wide").On[0].Server != 0 || d.order("wide").PS[0].Server != 0 {
		t.Errorf("with room for one: %+v, want the first server on both sides", d.order("wide"))
	}
}

// opened returns a scenario with jobs on tinyCluster, and a desk with everything free.
func opened(t *testing.T, jobs ...primaldual.Job) (*sim.Scenario, *desk) {
	t.Helper()
	fixed := make([]int64, len(jobs))
	for i := range fixed {
		fixed[i] = 30
	}
	s := must.Have(sim.FromSlots(tinyCluster(1), jobs, fixed, slot))(t)
	d := &desk{}
	d.open(&sim.State{Scenario: s})
	return s, d
}

// Every job takes the whole cluster. B earns 6/1.01 less the 6 that A loses by its delay: refused. C is worth more than
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
		policy     *RRH
		jobs       []primaldual.Job
		completion []int
		total      float64
	}{
		{"refused", &RRH{}, []primaldual.Job{a, b}, []int{2, 0}, 10},
		{"paused", &RRH{}, []primaldual.Job{a, c}, []int{3, 2}, 104},
		{"delays by two slots", &RRH{}, []primaldual.Job{short, long}, []int{1, 0}, 10},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := runTiny(t, test.policy, 4, []int64{8, 8}, test.jobs...)
			if !cmp.Equal(r.completion, test.completion) || r.Worth() != test.total {
				t.Errorf("completions %v, total %v; want %v, %v", r.completion, r.Worth(), test.completion, test.total)
			}
		})
	}
}

// A job that could not end on its fixed workers is worth nothing and refused.
func TestRRHTooLate(t *testing.T) {
	for slots, want := range map[int]int{5: 5, 4: 0} {
		r := runTiny(t, &RRH{}, slots, []int64{8}, tinyJob("A", 1, 10, 8, always))
		if r.completion[0] != want || len(r.schedules[0]) != want {
			t.Errorf("%d slots: completion %d after %d slots, want %d", slots, r.completion[0], len(r.schedules[0]), want)
		}
	}
}

// A has all 8 containers in slot 1; in slot 2 it shares with B, half each.
func TestDorm(t *testing.T) {
	r := runTiny(t, DormInSlots(nil), 5, []int64{1, 1}, tinyJob("A", 1, 4, 8, always), tinyJob("B", 2, 2, 8, always))
	must.Equal(t, cmp.Diff([]int{3, 3}, r.completion), "", "completions")
	for slot, want := range []int64{8, 4, 4} {
		must.Equal(t, r.schedules[0][slot].Total(), want, "slot", slot+1, "workers")
	}
}

// Three workers need two parameter servers where there is room for one: the last worker goes.
func TestDormShortOfParameterServers(t *testing.T) {
	s, _ := opened(t, tinyJob("A", 1, 1, 8, always))
	for _, test := range []struct {
		free int64
		want placements
	}{{2, placements{{Server: 0, Count: 2}, {Server: 1, Count: 1}}}, {1, placements{{Server: 0, Count: 2}}}, {0, nil}} {
		d := DormInSlots(nil)
		d.servers.open(s.Kinds, s.ParameterServers)
		d.servers.packer.Place(apportion.Resources{1}, 4-test.free, nil)
		place := sim.Place{Job: "A", On: placements{{Server: 0, Count: 2}, {Server: 1, Count: 1}}}
		d.serve(&sim.JobState{Job: &s.Jobs[0]}, &place)
		if diff := cmp.Diff(test.want, place.On, cmpopts.EquateEmpty()); diff != "" || len(place.PS) != int(test.free) {
			t.Errorf("room for %d: parameter servers %v, workers (-want +got):\n%s", test.free, place.PS, diff)
		}
	}
}

// Jobs that can never run are refused and block nobody.
func TestUnservable(t *testing.T) {
	narrow, wide, heavy := tinyJob("narrow", 1, 2, 2, always), tinyJob("wide", 1, 2, 2, always), tinyJob("heavy", 1, 2, 2, always)
	narrow.PSBandwidth = 1
	narrow.WorkerBandwidth = 2
	wide.Worker = apportion.Resources{5}
	heavy.PS = apportion.Resources{3}
	for _, policy := range inSlots() {
		r := runTiny(t, policy, 4, []int64{2, 2, 2, 2}, narrow, wide, heavy, tinyJob("B", 1, 2, 2, primaldual.Sigmoid{Gamma1: 1000}))
		must.Equal(t, cmp.Diff([]int{0, 0, 0, 1}, r.completion), "", r.Policy, "completions")
	}
}

// A number of workers beyond the room is reduced to what the workers' side or the other has room for.
func TestFitting(t *testing.T) {
	light, heavy, short := tinyJob("light", 1, 1, 30, always), tinyJob("heavy", 1, 1, 30, always), tinyJob("short", 1, 1, 3, always)
	heavy.PS, short.PS = apportion.Resources{2}, apportion.Resources{2}
	light.Worker = apportion.Resources{0}
	narrow := tinyJob("narrow", 1, 1, 30, always)
	narrow.PSBandwidth, narrow.WorkerBandwidth = 1, 2
	s, _ := opened(t, tinyJob("A", 1, 1, 30, always), heavy, short, light, narrow)
	for i, want := range []int64{8, 4, 3, 8, 0} {
		must.Equal(t, fitting(s, &s.Jobs[i]), want, s.Jobs[i].ID, "workers")
	}
	s.Jobs[1].Min = 5
	must.Equal(t, fitting(s, &s.Jobs[1]), 0, "workers, fewer than the least")
}
