// This file tests single rules of the simulation: pauses, horizons, slots, and what ends a run.

package sim_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/placement/sim/simtest"
	"github.com/apportion/apportion/primaldual"
)

const second = time.Second

// script answers its n-th decision with its n-th orders, and then with none.
type script struct {
	orders []sim.Orders
	// asked are the instants, news the jobs that were new.
	asked []time.Duration
	news  []string
	ended []string
	err   error
}

func (*script) Name() string { return "script" }

func (p *script) Decide(_ context.Context, state *sim.State) (sim.Orders, error) {
	p.asked = append(p.asked, state.Now)
	p.ended = append(p.ended, state.Ended...)
	for i := range state.Jobs {
		if state.Jobs[i].New {
			p.news = append(p.news, state.Jobs[i].ID)
		}
		clear(state.Jobs[i].Places) // the state is the policy's own
	}
	if len(p.orders) == 0 {
		return sim.Orders{}, p.err
	}
	next := p.orders[0]
	p.orders = p.orders[1:]
	return next, p.err
}

// place gives a job n containers on a server.
func place(job string, server int, n int64) sim.Orders {
	return sim.Orders{Places: []sim.Place{{Job: job, On: []apportion.Placement{{Server: server, Count: n}}}}}
}

// onServers is a scenario of servers with so many CPUs.
func onServers(jobs []sim.Job, capacities ...int64) *sim.Scenario {
	s := &sim.Scenario{Kinds: apportion.Kinds{"cpu"}, Jobs: jobs}
	for i, c := range capacities {
		s.Servers = append(s.Servers, apportion.Server{ID: string(rune('s' + i)), Capacity: apportion.Resources{c}})
	}
	return s
}

// elastic is a job of 1 to 4 containers of one CPU.
func elastic(id string, arrival, work time.Duration) sim.Job {
	j := sim.Job{Arrival: arrival, Work: work, Fixed: 2}
	j.ID, j.Demand, j.Weight, j.Max, j.Min = id, apportion.Resources{1}, 1, 4, 1
	return j
}

// onWorkers is a scenario of two shared workers.
func onWorkers(law sim.Shared, jobs ...sim.Job) *sim.Scenario {
	s := onServers(jobs, sim.Whole, sim.Whole)
	s.Law = law
	return s
}

func whole(id string, arrival, work time.Duration) sim.Job {
	return sim.SharedJob(id, arrival, work, sim.Whole)
}

func run(t *testing.T, s *sim.Scenario, p sim.Policy) *sim.Result {
	t.Helper()
	r := must.Have(sim.Run(t.Context(), s, p))(t)
	must.Do(t, simtest.Check(s, r))
	return r
}

// A job that is moved pauses for AdjustCost, and the others share what it leaves; the policy is asked
// when it wants to be, and not when the pause ends.
func TestMove(t *testing.T) {
	s := onWorkers(sim.Shared{}, whole("a", 0, 10*second), whole("b", 0, 10*second))
	s.AdjustCost = 5 * second
	both := place("a", 0, 1)
	both.Places = append(both.Places, place("b", 1, 1).Places...)
	both.Next = 4 * second
	move := place("a", 1, 1)
	move.Places[0].Why = "slow"
	p := &script{orders: []sim.Orders{both, move}}
	r := run(t, s, p)
	on := func(server int) []apportion.Placement { return []apportion.Placement{{Server: server, Count: 1}} }
	want := []sim.Span{
		{From: 0, Until: 4 * second, Places: on(0), Rate: sim.Whole, Limit: sim.Whole},
		{From: 4 * second, Until: 9 * second, Places: on(1), Rate: 0, Limit: sim.Whole, Why: "slow"},
		{From: 9 * second, Until: 11 * second, Places: on(1), Rate: sim.Whole / 2, Limit: sim.Whole, Why: "slow"},
		{From: 11 * second, Until: 16 * second, Places: on(1), Rate: sim.Whole, Limit: sim.Whole, Why: "slow"},
	}
	must.Equal(t, cmp.Diff(want, r.Jobs[0].Spans), "", "spans")
	must.Equal(t, cmp.Diff([]time.Duration{0, 4 * second, 11 * second, 16 * second}, p.asked), "", "asked")
	if moves := r.Jobs[0].Moves(); len(moves) != 1 || moves[0].From != 4*second || moves[0].Why != "slow" {
		t.Errorf("moves %+v, want one at 4 s", moves)
	}
	if diff := cmp.Diff([]string{"a", "b"}, p.news); diff != "" || len(p.ended) != 2 || p.ended[0] != "b" {
		t.Errorf("ended %v, new (-want +got):\n%s", p.ended, diff)
	}
}

// Two jobs beside one another lose a fifth at an interference of a quarter.
func TestInterference(t *testing.T) {
	both := place("a", 0, 1)
	both.Places = append(both.Places, place("b", 0, 1).Places...)
	r := run(t, onWorkers(sim.Shared{Interference: 0.25}, whole("a", 0, 4*second), whole("b", 0, 4*second)), &script{orders: []sim.Orders{both}})
	must.Equal(t, r.Makespan(), 10*second, "makespan")
	if got, want := r.Samples[0], 0.4; math.Abs(got.Total-want) > 1e-9 || math.Abs(got.FairnessLoss-2*(0.5-0.2)) > 1e-9 {
		t.Errorf("sample %+v: want %v of two workers in use, and each job with a fifth of them instead of a half", got, want)
	}
}

// A job that is done within a slot stays to its end, and the policy is asked between slots only.
func TestSlots(t *testing.T) {
	s := onServers([]sim.Job{elastic("a", 10*second, 25*second)}, 4)
	s.Slot, s.Horizon = 10*second, 100*second
	first := place("a", 0, 1)
	first.Next = 21 * second
	p := &script{orders: []sim.Orders{first}}
	r := run(t, s, p)
	if got := r.Jobs[0]; got.Completion != 40*second || !got.Completed {
		t.Errorf("completed at %v, want the end of the slot at 40 s", got.Completion)
	}
	must.Equal(t, cmp.Diff([]time.Duration{10 * second, 30 * second, 40 * second}, p.asked), "", "asked")
}

// What completes at the horizon counts, what arrives at it does not, and nothing is decided.
func TestHorizon(t *testing.T) {
	s := onServers([]sim.Job{elastic("a", 0, 10*second), elastic("b", 0, 11*second), elastic("c", 10*second, second)}, 4)
	s.Horizon = 10 * second
	both := place("a", 0, 1)
	both.Places = append(both.Places, place("b", 0, 1).Places...)
	p := &script{orders: []sim.Orders{both}}
	r := run(t, s, p)
	if !r.Jobs[0].Completed || r.Jobs[1].Completed || r.Jobs[2].Started || r.End != 10*second || len(p.asked) != 1 {
		t.Errorf("%+v", r)
	}
}

// A job that is refused leaves, and one that never gets containers stays unfinished.
func TestRefusedAndForgotten(t *testing.T) {
	p := &script{orders: []sim.Orders{{Refused: []string{"a"}}}}
	r := run(t, onServers([]sim.Job{elastic("a", 0, second), elastic("b", 0, second)}, 4), p)
	if a, b := r.Jobs[0], r.Jobs[1]; !a.Refused || b.Refused || b.Started || b.Completed || r.Samples[0].Waiting != 1 {
		t.Errorf("%+v, want a refused and b waiting", r)
	}
}

func TestNobodyComes(t *testing.T) {
	r := run(t, onServers(nil, 4), &script{})
	if len(r.Samples) != 0 || r.End != 0 || r.Makespan() != 0 || r.MeanResponse() != 0 {
		t.Errorf("%+v, want nothing", r)
	}
}

// A policy that asks for ever to be asked again while nothing happens is stopped.
func TestForEver(t *testing.T) {
	var order *sim.OrderError
	if _, err := sim.Run(t.Context(), onServers([]sim.Job{elastic("a", 0, second)}, 4), again{}); !errors.As(err, &order) || order.Order != "next" {
		t.Errorf("error %v, want that of an order", err)
	}
}

type again struct{}

func (again) Name() string { return "again" }

func (again) Decide(_ context.Context, state *sim.State) (sim.Orders, error) {
	return sim.Orders{Next: state.Now + 1}, nil
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must.Fail(sim.Run(ctx, onServers([]sim.Job{elastic("a", 0, second)}, 4), &script{}))(t, context.Canceled, "error")
}

func TestRunErrors(t *testing.T) {
	broken := errors.New("broken")
	late := elastic("a", math.MaxInt64-1, time.Hour)
	crooked := elastic("a", 0, time.Hour)
	crooked.Speedup = func(int64) float64 { return math.NaN() }
	for _, test := range []struct {
		name string
		job  sim.Job
		cost time.Duration
		p    *script
		want error
	}{
		{"completion beyond time", late, 0, &script{orders: []sim.Orders{place("a", 0, 1)}}, apportion.ErrOverflow},
		{"pause beyond time", elastic("a", 1, 9), math.MaxInt64, &script{orders: []sim.Orders{func() sim.Orders {
			o := place("a", 0, 1)
			o.Next = 2
			return o
		}(), place("a", 0, 2)}}, apportion.ErrOverflow},
		{"no speed", crooked, 0, &script{orders: []sim.Orders{place("a", 0, 1)}}, apportion.ErrRange},
		{"policy", elastic("a", 0, 1), 0, &script{err: broken}, broken},
	} {
		s := onServers([]sim.Job{test.job}, 4)
		s.AdjustCost = test.cost
		must.Fail(sim.Run(t.Context(), s, test.p))(t, test.want, test.name, "error")
	}
}

// A utility that is no number ends the run with a fault that names the job.
func TestWorthIsFinite(t *testing.T) {
	s := inSlots(t)
	s.Jobs[0].Training.Utility = primaldual.Constant(math.Inf(1))
	o := place("A", 0, 2)
	o.Places[0].PS = []apportion.Placement{{Server: 0, Count: 1}}
	_, err := sim.Run(t.Context(), s, &script{orders: []sim.Orders{o}})
	var fault *apportion.FieldError
	if !errors.As(err, &fault) || !errors.Is(err, apportion.ErrNotFinite) || fault.Item.ID != "A" {
		t.Errorf("error %v, want %v of A", err, apportion.ErrNotFinite)
	}
}

// inSlots is a scenario of one job of two worker-slots, with one parameter server for two workers.
func inSlots(t *testing.T) *sim.Scenario {
	t.Helper()
	cluster := &primaldual.Cluster{
		Kinds: apportion.Kinds{"unit"}, Slots: 3,
		WorkerServers: []apportion.Server{{ID: "w", Capacity: apportion.Resources{4}}},
		PSServers:     []apportion.Server{{ID: "p", Capacity: apportion.Resources{2}}},
	}
	job := primaldual.Job{
		ID: "A", Arrival: 1, Epochs: 1, Chunks: 2, Minibatches: 1, MinibatchSlots: 1, WorkerBandwidth: 1, PSBandwidth: 2,
		Worker: apportion.Resources{1}, PS: apportion.Resources{1}, Utility: primaldual.Constant(7),
	}
	return must.Have(sim.FromSlots(cluster, []primaldual.Job{job}, []int64{9}, time.Minute))(t)
}

// What a job with Training ran is a schedule that a ledger takes, and it is worth its utility.
func TestSchedules(t *testing.T) {
	s := inSlots(t)
	o := place("A", 0, 1)
	o.Places[0].PS = []apportion.Placement{{Server: 0, Count: 1}}
	r := run(t, s, &script{orders: []sim.Orders{o}})
	on := []apportion.Placement{{Server: 0, Count: 1}}
	want := []primaldual.Schedule{{{Slot: 1, Workers: on, PS: on}, {Slot: 2, Workers: on, PS: on}}}
	if diff := cmp.Diff(want, sim.Schedules(s, r)); diff != "" || r.Worth() != 7 || s.Jobs[0].Fixed != 2 {
		t.Errorf("worth %v, fixed %d; schedules (-want +got):\n%s", r.Worth(), s.Jobs[0].Fixed, diff)
	}
	bounds := &primaldual.Bounds{UWorker: []float64{2}, LWorker: []float64{1}, UPS: []float64{2}, LPS: []float64{1}}
	ledger := must.Have(sim.Ledger(s, r, bounds))(t)
	if used, err := ledger.Used(primaldual.Workers, 2, 0); err != nil || used[0] != 1 {
		t.Errorf("slot 2 has %v in use (%v), want 1", used, err)
	}
	must.Equal(t, cmp.Diff([]float64{0.25, 0.5}, r.Samples[0].Utilization), "", "utilization")
	must.Fail(sim.Ledger(s, r, &primaldual.Bounds{}))(t, must.ErrAny, "no error for bounds of another cluster")
}

// A job with Training may be slower than that says: on a worker of half the speed it runs twice as long, and ends late.
func TestSlotsWithSpeedup(t *testing.T) {
	for _, test := range []struct {
		speed float64
		ends  time.Duration // 0: not within the three slots
	}{{2, time.Minute}, {1, 2 * time.Minute}, {0.75, 3 * time.Minute}, {0.5, 0}} {
		s := inSlots(t)
		s.Jobs[0].Speedup = func(n int64) float64 { return test.speed * float64(n) }
		o := place("A", 0, 1)
		o.Places[0].PS = []apportion.Placement{{Server: 0, Count: 1}}
		r := run(t, s, &script{orders: []sim.Orders{o}})
		if got := r.Jobs[0]; got.Completed != (test.ends > 0) || got.Completion != test.ends {
			t.Errorf("speed %g: completed %v at %v, want %v", test.speed, got.Completed, got.Completion, test.ends)
		}
	}
}
