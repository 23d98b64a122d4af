// This file tests the scheduler's transitions: what they refuse, and what they leave behind.

package primaldual

import (
	"bytes"
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
)

// plainJob runs in two slots of one worker and one parameter server.
func plainJob(id string, arrival int) Job {
	return Job{
		ID: id, Arrival: arrival, Epochs: 2, Chunks: 1, Minibatches: 1, MinibatchSlots: 1,
		WorkerBandwidth: 1, PSBandwidth: 1, Worker: vec{1}, PS: vec{1}, Utility: Linear{100, 1},
	}
}

func plainCluster(slots int, capacity int64) (*Cluster, *Bounds) {
	cluster := &Cluster{
		Kinds: apportion.Kinds{"unit"}, Slots: slots,
		WorkerServers: servers("w", vec{capacity}, vec{capacity}), PSServers: servers("p", vec{capacity}, vec{capacity}),
	}
	return cluster, &Bounds{UWorker: []float64{64}, LWorker: []float64{1}, UPS: []float64{64}, LPS: []float64{1}}
}

// unchanged runs action, which must fail with want, and checks that the scheduler is as before.
func unchanged(t *testing.T, s *Scheduler, name string, want error, action func() error) {
	t.Helper()
	before := must.Have(s.Snapshot())(t)
	must.Err(t, action(), want, name, "error")
	after, err := s.Snapshot()
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("%s: the scheduler has changed (%v)", name, err)
	}
}

func TestOfferRefusesBadInput(t *testing.T) {
	cluster, bounds := plainCluster(5, 4)
	s := newScheduler(t, cluster, bounds, BoundsFirst)
	offer(t, s, plainJob("running", 2))
	change := func(f func(j *Job)) Job {
		j := plainJob("j", 2)
		f(&j)
		return j
	}
	nan := math.NaN()
	for _, test := range []struct {
		name string
		job  Job
		want error
	}{
		{"no id", change(func(j *Job) { j.ID = "" }), apportion.ErrEmpty},
		{"an id that runs", change(func(j *Job) { j.ID = "running" }), apportion.ErrDuplicate},
		{"arrival 0", change(func(j *Job) { j.Arrival = 0 }), apportion.ErrRange},
		{"arrival before the last one", change(func(j *Job) { j.Arrival = 1 }), apportion.ErrRange},
		{"arrival after the horizon", change(func(j *Job) { j.Arrival = 6 }), apportion.ErrRange},
		{"no epochs", change(func(j *Job) { j.Epochs = 0 }), apportion.ErrRange},
		{"negative epochs", change(func(j *Job) { j.Epochs = -1 }), apportion.ErrRange},
		{"no chunks", change(func(j *Job) { j.Chunks = 0 }), apportion.ErrRange},
		{"no mini-batches", change(func(j *Job) { j.Minibatches = 0 }), apportion.ErrRange},
		{"tau 0", change(func(j *Job) { j.MinibatchSlots = 0 }), apportion.ErrRange},
		{"tau negative", change(func(j *Job) { j.MinibatchSlots = -1 }), apportion.ErrNegative},
		{"tau not a number", change(func(j *Job) { j.MinibatchSlots = nan }), apportion.ErrNotFinite},
		{"tau infinite", change(func(j *Job) { j.MinibatchSlots = inf }), apportion.ErrNotFinite},
		{"e negative", change(func(j *Job) { j.CommSlots = -0.1 }), apportion.ErrNegative},
		{"e not a number", change(func(j *Job) { j.CommSlots = nan }), apportion.ErrNotFinite},
		{"b 0", change(func(j *Job) { j.WorkerBandwidth = 0 }), apportion.ErrRange},
		{"B negative", change(func(j *Job) { j.PSBandwidth = -1 }), apportion.ErrRange},
		{"a demand too many", change(func(j *Job) { j.Worker = vec{1, 1} }), apportion.ErrLength},
		{"no demand", change(func(j *Job) { j.PS = nil }), apportion.ErrLength},
		{"a negative demand", change(func(j *Job) { j.PS = vec{-1} }), apportion.ErrNegative},
		{"no utility", change(func(j *Job) { j.Utility = nil }), apportion.ErrEmpty},
		{"utility not a number", change(func(j *Job) { j.Utility = Constant(nan) }), apportion.ErrNotFinite},
		{"utility infinite", change(func(j *Job) { j.Utility = Constant(inf) }), apportion.ErrNotFinite},
		{"utility negative", change(func(j *Job) { j.Utility = Constant(-1) }), apportion.ErrNegative},
		{"utility negative in the last slot", change(func(j *Job) { j.Utility = table(9, 8, 7, -1) }), apportion.ErrNegative},
		{"utility increasing", change(func(j *Job) { j.Utility = Linear{5, -1} }), ErrIncreasing},
		{"utility increasing at the end", change(func(j *Job) { j.Utility = table(9, 8, 7, 7.5) }), ErrIncreasing},
		{"steps out of order", change(func(j *Job) { j.Utility = Steps{{1, 2}, {0, 9}, {5, 4}} }), apportion.ErrRange},
		{"work overflows", change(func(j *Job) { j.Epochs, j.Chunks, j.Minibatches = 1<<40, 1<<40, 1 }), apportion.ErrOverflow},
		{"time overflows", change(func(j *Job) { j.MinibatchSlots = 1e300; j.Epochs = 1e15 }), apportion.ErrOverflow},
	} {
		unchanged(t, s, test.name, test.want, func() error {
			_, err := s.Offer(test.job)
			return err
		})
	}
}

// Where every kind is there on some server, but not all of them on one, no kind is to blame.
func TestReasonOfAllKindsTogether(t *testing.T) {
	servers := func(prefix string) []apportion.Server {
		return []apportion.Server{{ID: prefix + "0", Capacity: vec{4, 1}}, {ID: prefix + "1", Capacity: vec{1, 4}}}
	}
	cluster := &Cluster{Kinds: apportion.Kinds{"cpu", "gpu"}, Slots: 3, WorkerServers: servers("w"), PSServers: servers("p")}
	bounds := &Bounds{UWorker: []float64{9, 9}, LWorker: []float64{1, 1}, UPS: []float64{9, 9}, LPS: []float64{1, 1}}
	j := plainJob("j", 1)
	j.Worker, j.PS = vec{1, 1}, vec{1, 1}
	s := newScheduler(t, cluster, bounds, BoundsFirst)
	for _, test := range []struct {
		worker, ps vec
		want       apportion.Reason
	}{
		{vec{4, 4}, vec{1, 1}, apportion.Reason{Constraint: "fits no worker server", Text: "no worker server has enough of all kinds together"}},
		{vec{1, 1}, vec{4, 4}, apportion.Reason{Constraint: "fits no ps server", Text: "no ps server has enough of all kinds together"}},
		{vec{1, 1}, vec{4, 5}, apportion.Reason{Constraint: "fits no ps server", Kind: "gpu", Need: 5, Have: 4, Text: "one container needs 5 gpu, no ps server has more than 4"}},
	} {
		j.Worker, j.PS = test.worker, test.ps
		d, err := s.Quote(j)
		if diff := cmp.Diff(test.want, d.Reason); diff != "" || err != nil {
			t.Errorf("%v, %v: %v, reason (-want +got):\n%s", test.worker, test.ps, err, diff)
		}
	}
}

// All costs being equal, a job ends as early as it can and takes servers in the order of their index.
func TestOfferTies(t *testing.T) {
	cluster, bounds := plainCluster(6, 4)
	j := plainJob("j", 2)
	j.Epochs, j.Chunks, j.Utility = 1, 6, Constant(1000)
	for _, method := range []Method{BoundsFirst, CappedDP, ChunkDP} {
		d := offer(t, newScheduler(t, cluster, bounds, method), j)
		want := Schedule{{Slot: 2, Price: 12, Workers: []apportion.Placement{{Server: 0, Count: 4}, {Server: 1, Count: 2}}, PS: []apportion.Placement{{Server: 0, Count: 4}, {Server: 1, Count: 2}}}}
		must.Equal(t, cmp.Diff(want, d.Schedule), "", method)
	}
}

func TestEndOfJob(t *testing.T) {
	cluster, bounds := plainCluster(6, 4)
	s := newScheduler(t, cluster, bounds, BoundsFirst)
	empty := mustPrices(t, s, Workers, 3, 0)[0]
	long := plainJob("long", 1)
	long.Epochs = 5
	offer(t, s, long)
	offer(t, s, plainJob("short", 1))
	if got := mustPrices(t, s, Workers, 3, 0)[0]; got <= empty {
		t.Fatalf("price %g with a job, %g without", got, empty)
	}
	for _, test := range []struct {
		name string
		id   string
		slot int
		want error
	}{
		{"unknown", "nobody", 2, apportion.ErrUnknown},
		{"before its arrival", "long", 0, apportion.ErrRange},
		{"after the current slot", "long", 2, apportion.ErrRange},
	} {
		unchanged(t, s, test.name, test.want, func() error {
			_, err := s.Complete(test.id, test.slot)
			return err
		})
	}
	unchanged(t, s, "cancel of nobody", apportion.ErrUnknown, func() error { return s.Cancel("nobody") })
	unchanged(t, s, "advance back", apportion.ErrRange, func() error { _, err := s.Advance(0); return err })
	unchanged(t, s, "advance for ever", apportion.ErrRange, func() error { _, err := s.Advance(math.MaxInt); return err })

	ended, err := s.Advance(3)
	if want := []Finish{{ID: "short", Slot: 2, Utility: 99}}; err != nil || !cmp.Equal(want, ended) {
		t.Errorf("ended %v, %v, want %v", ended, err, want)
	}
	if _, ok := s.Schedule("short"); ok {
		t.Error("a job that ended still runs")
	}
	got, err := s.Complete("long", 2)
	if want := (Finish{ID: "long", Slot: 2, Utility: 99}); err != nil || got != want {
		t.Errorf("completed %v, %v, want %v", got, err, want)
	}
	must.Equal(t, mustPrices(t, s, Workers, 3, 0)[0], empty, "price", "after the job")
	offer(t, s, plainJob("short", 3))
	must.Have(s.Advance(4))(t)
	unchanged(t, s, "completion after the planned one", apportion.ErrRange, func() error { _, err := s.Complete("short", 5); return err })
	must.Do(t, s.Cancel("short"))
	must.Equal(t, mustPrices(t, s, Workers, 4, 0)[0], empty, "price", "after a cancelled job")
	must.Do(t, s.recount())
}

// A search that would exceed the limit on memory costs the job its place; the failure is recorded.
func TestFailTooLarge(t *testing.T) {
	cluster, bounds := plainCluster(4, 12)
	s := newScheduler(t, cluster, bounds, BoundsFirst)
	offer(t, s, plainJob("j", 1))
	s.planner.search.Limit = 1
	out, err := s.Fail("p0", 1)
	if err != nil || len(out) != 1 || out[0].Decision.Verdict != TooLarge || out[0].Decision.Reason.Text == "" {
		t.Fatalf("%+v, %v, want too large", out, err)
	}
	if _, ok := s.Schedule("j"); ok {
		t.Error("the job still runs")
	}
	must.Do(t, s.recount())
	if down := s.ledger.slot(1).down; down == nil || !down[s.ledger.machine(ParameterServers, 0)] {
		t.Error("the server is not down")
	}
}

// Tables above the limit are refused before they are allocated, and nothing changes.
func TestLimits(t *testing.T) {
	cluster, bounds := plainCluster(1000, 1000)
	huge := *cluster
	for _, huge.Slots = range []int{1 << 30, math.MaxInt} {
		must.Fail(NewScheduler(&huge, bounds, nil))(t, ErrTooLarge, huge.Slots, "slots")
	}
	for _, err := range []error{
		second(NewScheduler(cluster, bounds, &SchedulerOptions{MaxCells: -1})),
		second(Certify(newScheduler(t, cluster, bounds, BoundsFirst).Ledger(), nil, 0, &CertificateOptions{MaxCells: -1})),
	} {
		must.Err(t, err, apportion.ErrNegative, "a negative limit")
	}
	must.Fail(NewScheduler(cluster, bounds, &SchedulerOptions{MaxCells: 3999}))(t, ErrTooLarge, "4000 cells where 3999 are allowed")
	must.Fail(NewScheduler(cluster, bounds, &SchedulerOptions{Method: 3}))(t, apportion.ErrUnknown, "method 3")
	j := plainJob("j", 1)
	j.Utility = Constant(1e9)
	for _, test := range []struct {
		method         Method
		demand         vec
		epochs, chunks int64
		reason         Verdict
		want           error
	}{
		{BoundsFirst, vec{1}, 500, 2000, Admitted, nil},
		{CappedDP, vec{1}, 500, 2000, "", ErrTooLarge}, // 1000 slots x 10^6 worker-slots
		{ChunkDP, vec{1}, 500, 2000, "", ErrTooLarge},
		{BoundsFirst, vec{1}, 500, 1 << 30, NoRoom, nil}, // 2,000 workers fit a slot, whatever the chunks
		{CappedDP, vec{1}, 500, 1 << 30, NoRoom, nil},
		{BoundsFirst, vec{0}, 500, 1 << 30, "", ErrTooLarge}, // 2^30 workers in each slot
	} {
		s := must.Have(NewScheduler(cluster, bounds, &SchedulerOptions{Method: test.method, MaxCells: 1 << 22}))(t)
		j.Worker, j.PS, j.Epochs, j.Chunks = test.demand, test.demand, test.epochs, test.chunks
		if d, err := s.Offer(j); !errors.Is(err, test.want) || d.Verdict != test.reason {
			t.Errorf("%v, demand %v, %d chunks: %v, %v, want %v, %v", test.method, test.demand, test.chunks, d.Verdict, err, test.reason, test.want)
		}
	}
	j.Minibatches, j.MinibatchSlots, j.Epochs, j.Chunks = 1, 1e-12, 1<<40, 1<<30
	must.Fail(newScheduler(t, cluster, bounds, ChunkDP).Offer(j))(t, apportion.ErrOverflow, "2^70 chunk trainings")
}

// second returns the error of a call.
func second[T any](_ T, err error) error { return err }

func TestOfferReasons(t *testing.T) {
	cluster, bounds := plainCluster(3, 4)
	change := func(f func(j *Job)) Job {
		j := plainJob("j", 1)
		f(&j)
		return j
	}
	tests := []struct {
		name string
		job  Job
		want Verdict
		text string
	}{
		{"fits", plainJob("j", 1), Admitted, ""},
		{"bandwidth", change(func(j *Job) { j.WorkerBandwidth = 2 }), BandwidthTooSmall, "one worker reserves bandwidth 2, one parameter server only 1"},
		{"worker", change(func(j *Job) { j.Worker = vec{5} }), FitsNoWorkerServer, "one container needs 5 unit, no worker server has more than 4"},
		{"ps", change(func(j *Job) { j.PS = vec{5} }), FitsNoPSServer, "one container needs 5 unit, no ps server has more than 4"},
		{"demand of everything there is", change(func(j *Job) { j.PS = vec{math.MaxInt64} }), FitsNoPSServer, "one container needs 9223372036854775807 unit, no ps server has more than 4"},
		{"slots", change(func(j *Job) { j.Epochs = 4 }), TooFewSlots, "it takes 4 slots at least, the horizon has 3"},
		{"very many slots", change(func(j *Job) { j.Epochs = 1 << 52 }), TooFewSlots, "it takes 4503599627370496 slots at least, the horizon has 3"},
		{"worthless", change(func(j *Job) { j.Utility = table(5) }), Worthless, "it is worth nothing in slot 2, where it could end at the earliest"},
		{"room", change(func(j *Job) { j.Epochs, j.Chunks = 3, 9 }), NoRoom, "it takes 27 worker-slots, servers have room for 24"},
		{"price", change(func(j *Job) { j.Utility = Constant(3.9) }), TooExpensive, "ending in slot 2 costs at least 4 and is worth 3.9"},
		{"payoff of nothing", change(func(j *Job) { j.Utility = Constant(4) }), TooExpensive, "ending in slot 2 costs at least 4 and is worth 4"},
		{"payoff of almost nothing", change(func(j *Job) { j.Utility = Constant(4.0001) }), Admitted, ""},
		{"nothing demanded", change(func(j *Job) { j.Worker, j.PS = vec{0}, vec{0} }), Admitted, ""},
	}
	for _, method := range []Method{BoundsFirst, CappedDP, ChunkDP} {
		s := newScheduler(t, cluster, bounds, method)
		for _, test := range tests {
			got, err := s.Quote(test.job)
			if err != nil || got.Verdict != test.want || got.Admitted != (test.want == Admitted) {
				t.Errorf("%v, %s: %v (%v), want %v", method, test.name, got.Verdict, err, test.want)
			}
			must.Equal(t, got.Reason.Text, test.text, method, test.name)
		}
	}
}
