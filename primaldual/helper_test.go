// This file holds what the tests of this package share.

package primaldual

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// approx compares decisions of which costs were added up in different orders.
var approx = cmpopts.EquateApprox(1e-12, 1e-12)

var ignorePrice = cmpopts.IgnoreFields(SlotPlan{}, "Price")

func newScheduler(t testing.TB, cluster *Cluster, bounds *Bounds, method Method) *Scheduler {
	t.Helper()
	s, err := NewScheduler(cluster, bounds, &SchedulerOptions{Method: method})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func boundsOf(t testing.TB, cluster *Cluster, jobs []Job, options *BoundsOptions) Bounds {
	t.Helper()
	bounds, err := BoundsOf(cluster, jobs, options)
	if err != nil {
		t.Fatal(err)
	}
	return bounds
}

func offer(t testing.TB, s *Scheduler, job Job) Decision {
	t.Helper()
	d, err := s.Offer(job)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// near checks numbers to 12 digits, near9 and near6 to 9 and 6 places.
func near(t testing.TB, what string, got, want []float64) {
	t.Helper()
	within(t, what, got, want, 1e-12)
}

func near9(t testing.TB, what string, got, want []float64) {
	t.Helper()
	within(t, what, got, want, 5.1e-10)
}

func near6(t testing.TB, what string, got, want []float64) {
	t.Helper()
	within(t, what, got, want, 5.1e-7)
}

func within(t testing.TB, what string, got, want []float64, margin float64) {
	t.Helper()
	if !cmp.Equal(want, got, cmpopts.EquateApprox(margin/10, margin)) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// requestOf returns the whole work of a job as a request to s.
func requestOf(t testing.TB, s *Scheduler, job *Job) *request {
	t.Helper()
	r := &request{job: job, first: job.Arrival, work: job.WorkerSlots(), chunks: job.Epochs * job.Chunks}
	var err error
	if r.values, err = job.values(nil, 0, s.Last()-job.Arrival); err != nil {
		t.Fatal(err)
	}
	r.set(&s.ledger.market)
	return r
}

// costsByCompletion returns the least cost of a job by the slot of its completion.
func costsByCompletion(t testing.TB, s *Scheduler, job *Job) []float64 {
	t.Helper()
	b := &s.planner.search
	r := requestOf(t, s, job)
	b.costs.addAll(&s.ledger.market, r, len(r.values)-1)
	if err := b.dp.run(b.prefix(r, len(r.values)-1)); err != nil {
		t.Fatal(err)
	}
	return append([]float64(nil), b.dp.least...)
}

func mustPrices(t testing.TB, s *Scheduler, side Side, slot, server int) []float64 {
	t.Helper()
	prices, err := s.Ledger().Prices(side, slot, server)
	if err != nil {
		t.Fatal(err)
	}
	return prices
}

// pricesOf returns the price of one kind on each server of a side.
func pricesOf(t testing.TB, s *Scheduler, side Side, slot, kind int) []float64 {
	t.Helper()
	var out []float64
	for server := range s.ledger.cluster.servers(side) {
		out = append(out, mustPrices(t, s, side, slot, server)[kind])
	}
	return out
}

// isClose reports whether two payoffs or costs are equal up to a part of scale.
func isClose(a, b, scale float64) bool { return math.Abs(a-b) <= 1e-9*max(1, scale) || a == b }
