// This file tests the worked examples of the price functions and of Algorithms 1 and 2.

package primaldual

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
)

// servers returns servers named prefix0, prefix1, ... of these capacities.
func servers(prefix string, capacities ...apportion.Resources) []apportion.Server {
	var out []apportion.Server
	for i, c := range capacities {
		out = append(out, apportion.Server{ID: fmt.Sprint(prefix, i), Capacity: c})
	}
	return out
}

// table returns a utility that is given value by value.
func table(values ...float64) Steps {
	var steps Steps
	for d, value := range values {
		steps = append(steps, Step{d, value})
	}
	return steps
}

type vec = apportion.Resources

// powersOfTwo is a cluster whose prices are 2^used: L = 1, U = 16 on 4 units, U = 4 on 2.
func powersOfTwo() (*Cluster, *Bounds, []Job) {
	cluster := &Cluster{
		Kinds: apportion.Kinds{"unit"}, Slots: 3,
		WorkerServers: servers("w", vec{4}, vec{4}), PSServers: servers("p", vec{2}, vec{2}),
	}
	bounds := &Bounds{UWorker: []float64{16}, LWorker: []float64{1}, UPS: []float64{4}, LPS: []float64{1}}
	job := func(id string, epochs, chunks int64, values ...float64) Job {
		return Job{
			ID: id, Arrival: 1, Epochs: epochs, Chunks: chunks, Minibatches: 1, MinibatchSlots: 0.5,
			WorkerBandwidth: 1, PSBandwidth: 2, Worker: vec{1}, PS: vec{1}, Utility: table(values...),
		}
	}
	return cluster, bounds, []Job{
		job("A", 2, 4, 30, 20, 10), job("B", 4, 4, 40, 32, 20), job("C", 2, 2, 9, 7, 2), job("D", 2, 2, 9, 9, 2),
	}
}

// Reference: [OASiS] eqs. (22)-(26), Algorithms 1 and 2: every number of a run with prices 2^used.
func TestPaperPowersOfTwo(t *testing.T) {
	cluster, bounds, jobs := powersOfTwo()
	type prices = [3][2]float64 // slot, server
	tests := []struct {
		work         int64
		costs        []float64 // by completion
		decision     Decision
		workers, psP prices // prices afterwards
	}{
		{4, []float64{6, 6, 6}, Decision{
			Admitted: true, Verdict: Admitted, Payoff: 24, Utility: 30, Cost: 6, Completion: 1,
			Schedule: Schedule{{Slot: 1, Price: 6, Workers: []apportion.Placement{{Server: 0, Count: 4}}, PS: []apportion.Placement{{Server: 0, Count: 2}}}},
		}, prices{{16, 1}, {1, 1}, {1, 1}}, prices{{4, 1}, {1, 1}, {1, 1}}},
		{8, []float64{inf, 12, 12}, Decision{
			Admitted: true, Verdict: Admitted, Payoff: 20, Utility: 32, Cost: 12, Completion: 2,
			Schedule: Schedule{
				{Slot: 1, Price: 6, Workers: []apportion.Placement{{Server: 1, Count: 4}}, PS: []apportion.Placement{{Server: 1, Count: 2}}},
				{Slot: 2, Price: 6, Workers: []apportion.Placement{{Server: 0, Count: 4}}, PS: []apportion.Placement{{Server: 0, Count: 2}}},
			},
		}, prices{{16, 16}, {16, 1}, {1, 1}}, prices{{4, 4}, {4, 1}, {1, 1}}},
		{2, []float64{inf, 3, 3}, Decision{
			Admitted: true, Verdict: Admitted, Payoff: 4, Utility: 7, Cost: 3, Completion: 2,
			Schedule: Schedule{{Slot: 2, Price: 3, Workers: []apportion.Placement{{Server: 1, Count: 2}}, PS: []apportion.Placement{{Server: 1, Count: 1}}}},
		}, prices{{16, 16}, {16, 4}, {1, 1}}, prices{{4, 4}, {4, 2}, {1, 1}}},
		{2, []float64{inf, 10, 3}, Decision{Verdict: TooExpensive, Completion: 3, Utility: 2, Cost: 3},
			prices{{16, 16}, {16, 4}, {1, 1}}, prices{{4, 4}, {4, 2}, {1, 1}}},
	}
	for _, method := range []Method{BoundsFirst, CappedDP, ChunkDP} {
		s := newScheduler(t, cluster, bounds, method)
		total := 0.0
		for i, test := range tests {
			name := fmt.Sprintf("%v, job %s", method, jobs[i].ID)
			must.Equal(t, jobs[i].WorkerSlots(), test.work, name, "W")
			near(t, name+": least cost by completion", costsByCompletion(t, s, &jobs[i]), test.costs)
			got := offer(t, s, jobs[i])
			if method != BoundsFirst && i == 3 { // payoffs -1 twice: the plain pass takes the earlier one
				test.decision.Completion, test.decision.Utility, test.decision.Cost = 2, 9, 10
			}
			got.Reason = apportion.Reason{} // TestOfferReasons looks at it
			must.Equal(t, cmp.Diff(test.decision, got, approx), "", name)
			if got.Admitted {
				total += got.Utility
			}
			for slot := 1; slot <= 3; slot++ {
				near(t, fmt.Sprint(name, ": p in slot ", slot), pricesOf(t, s, Workers, slot, 0), test.workers[slot-1][:])
				near(t, fmt.Sprint(name, ": q in slot ", slot), pricesOf(t, s, ParameterServers, slot, 0), test.psP[slot-1][:])
			}
		}
		must.Equal(t, total, 69, method, "total utility")
	}
}

// Reference: [OASiS] §4.1: the cost of y workers in one slot at base prices.
func TestPaperSlotCost(t *testing.T) {
	cluster, bounds, jobs := powersOfTwo()
	s := newScheduler(t, cluster, bounds, CappedDP)
	near(t, "C(y)", tablesOf(t, s, &jobs[0])[0], []float64{0, 2, 3, 5, 6})
}

// formulaExample has every quantity of eqs. (22)-(26) different.
func formulaExample() (*Cluster, []Job) {
	cluster := &Cluster{
		Kinds: apportion.Kinds{"gpu", "cpu"}, Slots: 3,
		WorkerServers: servers("w", vec{2, 8}, vec{4, 8}), PSServers: servers("p", vec{0, 4}, vec{0, 4}),
	}
	return cluster, []Job{
		{
			ID: "A", Arrival: 1, Epochs: 2, Chunks: 3, Minibatches: 10, MinibatchSlots: 0.04, CommSlots: 0.01,
			WorkerBandwidth: 1, PSBandwidth: 2, Worker: vec{1, 2}, PS: vec{0, 1}, Utility: Sigmoid{80, 1, 2},
		},
		{
			ID: "B", Arrival: 1, Epochs: 1, Chunks: 2, Minibatches: 10, MinibatchSlots: 0.08, CommSlots: 0.02,
			WorkerBandwidth: 1, PSBandwidth: 2, Worker: vec{2, 1}, PS: vec{0, 2}, Utility: Sigmoid{20, 0, 1},
		},
		{
			ID: "C", Arrival: 2, Epochs: 2, Chunks: 2, Minibatches: 10, MinibatchSlots: 0.08, CommSlots: 0.02,
			WorkerBandwidth: 1, PSBandwidth: 2, Worker: vec{2, 1}, PS: vec{0, 2}, Utility: Sigmoid{4, 2, 1},
		},
	}
}

// Reference: [OASiS] §3.1 and eqs. (23)-(26): derived quantities, U, L, eta and alpha.
func TestPaperBounds(t *testing.T) {
	cluster, jobs := formulaExample()
	for i, want := range []struct {
		m       float64
		w, n, z int64
		f       []float64
	}{
		{0.5, 3, 1, 2, []float64{70.463766, 58.484686, 40}},
		{1, 2, 1, 1, []float64{10, 10, 10}},
		{1, 4, 2, 2, []float64{3.523188, 2, 0.476812}},
	} {
		j := &jobs[i]
		if w, n, z := j.WorkerSlots(), j.ShortestSlots(), j.PSFor(j.WorkerSlots()); w != want.w || n != want.n || z != want.z {
			t.Errorf("job %s: W, n, Z = %d, %d, %d, want %d, %d, %d", j.ID, w, n, z, want.w, want.n, want.z)
		}
		near(t, "job "+j.ID+": m", []float64{j.ChunkSlots()}, []float64{want.m})
		near6(t, "job "+j.ID+": f", []float64{j.Utility.Value(0), j.Utility.Value(1), j.Utility.Value(2)}, want.f)
	}
	literal := boundsOf(t, cluster, jobs, &BoundsOptions{Literal: true})
	near6(t, "U of workers", literal.UWorker, []float64{70.463766, 35.231883})
	near6(t, "U of parameter servers", literal.UPS, []float64{0, 70.463766})
	near9(t, "L of workers", literal.LWorker, []float64{0.003787879, 0.003787879})
	near9(t, "L of parameter servers", literal.LPS, []float64{0, 0.010416667})
	near(t, "eta", []float64{literal.EtaWorker, literal.EtaPS}, []float64{11, 12})
	near6(t, "alpha", []float64{literal.Alpha()}, []float64{9.831048})
	perJob := boundsOf(t, cluster, jobs, &BoundsOptions{RawUnits: true, LFloorEps: -1})
	near9(t, "L of workers, eta per job", perJob.LWorker, []float64{0.007575758, 0.007575758})
	near9(t, "L of parameter servers, eta per job", perJob.LPS, []float64{0, 0.020833333})
}

// Reference: [OASiS] Algorithms 1 and 2 on the example of TestPaperBounds.
func TestPaperFormulaRun(t *testing.T) {
	cluster, jobs := formulaExample()
	bounds := boundsOf(t, cluster, jobs, &BoundsOptions{Literal: true})
	s := newScheduler(t, cluster, &bounds, BoundsFirst)

	near6(t, "costs of A", costsByCompletion(t, s, &jobs[0]), []float64{0.054924, 0.054924, 0.054924})
	a := offer(t, s, jobs[0])
	near6(t, "payoff of A", []float64{a.Payoff}, []float64{70.408842})
	wantA := Schedule{{Slot: 1, Workers: []apportion.Placement{{Server: 0, Count: 2}, {Server: 1, Count: 1}}, PS: []apportion.Placement{{Server: 0, Count: 2}}}}
	if diff := cmp.Diff(wantA, a.Schedule, ignorePrice); diff != "" || a.Completion != 1 {
		t.Errorf("A ends in %d (-want +got):\n%s", a.Completion, diff)
	}
	near6(t, "p(1) of server 0", mustPrices(t, s, Workers, 1, 0), []float64{70.463766, 0.365314})
	near6(t, "p(1) of server 1", mustPrices(t, s, Workers, 1, 1), []float64{0.044237, 0.037199})
	near6(t, "q(1) of cpu", pricesOf(t, s, ParameterServers, 1, 1), []float64{0.856737, 0.010417})

	near6(t, "costs of B", costsByCompletion(t, s, &jobs[1]), []float64{inf, 0.043561, 0.043561})
	b := offer(t, s, jobs[1])
	near6(t, "payoff of B", []float64{b.Payoff}, []float64{9.956439})
	wantB := Schedule{{Slot: 2, Workers: []apportion.Placement{{Server: 0, Count: 1}, {Server: 1, Count: 1}}, PS: []apportion.Placement{{Server: 0, Count: 1}}}}
	if diff := cmp.Diff(wantB, b.Schedule, ignorePrice); diff != "" || b.Completion != 2 {
		t.Errorf("B ends in %d (-want +got):\n%s", b.Completion, diff)
	}
	near6(t, "p(2) of server 0", mustPrices(t, s, Workers, 2, 0), []float64{70.463766, 0.011870})
	near6(t, "p(2) of server 1", mustPrices(t, s, Workers, 2, 1), []float64{0.516632, 0.011870})

	c := offer(t, s, jobs[2])
	if c.Admitted || c.Verdict != NoRoom {
		t.Errorf("C: %+v, want no room", c)
	}
	near6(t, "total utility", []float64{a.Utility + b.Utility}, []float64{80.463766})
}

// Reference: [OASiS] constraint (2) and Algorithm 2, line 24: where 1/m_i is no integer, whole chunks
// in every slot take more worker-slots than constraint (2) asks for.
func TestPaperChunkRounding(t *testing.T) {
	for _, test := range []struct {
		slots            int
		room             int64
		workers, inChunk float64 // payoffs
	}{
		{2, 2, 95, 94},
		{1, 3, 95, 95},
	} {
		cluster := &Cluster{
			Kinds: apportion.Kinds{"unit"}, Slots: test.slots,
			WorkerServers: servers("w", vec{test.room}), PSServers: servers("p", vec{2}),
		}
		// Prices of (almost) 1 however much is taken.
		bounds := &Bounds{UWorker: []float64{8}, LWorker: []float64{1}, UPS: []float64{8}, LPS: []float64{1}}
		job := Job{
			ID: "j", Arrival: 1, Epochs: 1, Chunks: 5, Minibatches: 1, MinibatchSlots: 0.6,
			WorkerBandwidth: 1, PSBandwidth: 2, Worker: vec{1}, PS: vec{1}, Utility: Constant(100),
		}
		for method, want := range map[Method]float64{BoundsFirst: test.workers, CappedDP: test.workers, ChunkDP: test.inChunk} {
			got := offer(t, newScheduler(t, cluster, bounds, method), job)
			near(t, fmt.Sprintf("%d slots, %v: payoff", test.slots, method), []float64{got.Payoff}, []float64{want})
		}
	}
}

// Reference: [OASiS] eq. (23): with U from f_i(n_i - 1) a full server refuses every job; with
// f_i(n_i) it would not.
func TestPaperFullServerRefuses(t *testing.T) {
	cluster := &Cluster{
		Kinds: apportion.Kinds{"unit"}, Slots: 3,
		WorkerServers: servers("w", vec{4}), PSServers: servers("p", vec{4}),
	}
	job := Job{
		ID: "k", Arrival: 1, Epochs: 1, Chunks: 1, Minibatches: 1, MinibatchSlots: 1,
		WorkerBandwidth: 1, PSBandwidth: 1, Worker: vec{1}, PS: vec{1}, Utility: table(100, 10, 1),
	}
	bounds := boundsOf(t, cluster, []Job{job}, &BoundsOptions{Literal: true})
	near(t, "U", bounds.UWorker, []float64{100})
	full := newCurve(bounds.UWorker[0], bounds.LWorker[0])
	if payoff := 100 - full.at(4, 4) - bounds.LPS[0]; payoff > 0 {
		t.Errorf("payoff %g on a full server, want at most 0", payoff)
	}
	late := newCurve(job.Utility.Value(int(job.ShortestSlots())), bounds.LWorker[0])
	if payoff := 100 - late.at(4, 4) - bounds.LPS[0]; math.Abs(payoff-89.98) > 0.01 {
		t.Errorf("payoff %g with U from f(n), want 89.98", payoff)
	}
}
