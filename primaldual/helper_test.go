// This file holds what the tests of this package share.

package primaldual

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/primaldual/internal/schedule"
)

// approx compares decisions of which costs were added up in different orders.
var approx = cmpopts.EquateApprox(1e-12, 1e-12)

var ignorePrice = cmpopts.IgnoreFields(SlotPlan{}, "Price")

func newScheduler(t testing.TB, cluster *Cluster, bounds *Bounds, method Method) *Scheduler {
	t.Helper()
	return must.Have(NewScheduler(cluster, bounds, &SchedulerOptions{Method: method}))(t)
}

func boundsOf(t testing.TB, cluster *Cluster, jobs []Job, options *BoundsOptions) Bounds {
	t.Helper()
	return must.Have(BoundsOf(cluster, jobs, options))(t)
}

func offer(t testing.TB, s *Scheduler, job Job) Decision {
	t.Helper()
	return must.Have(s.Offer(job))(t)
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

// tablesOf returns C_t of a job, for every slot from its arrival on.
func tablesOf(t testing.TB, s *Scheduler, job *Job) [][]float64 {
	t.Helper()
	r := &request{job: job, first: job.Arrival, work: job.WorkerSlots(), chunks: job.Epochs * job.Chunks}
	r.set(&s.ledger.market)
	var costs slotCosts
	var tables schedule.Tables
	tables.Reset()
	costs.reset(&s.ledger.market, r)
	var out [][]float64
	for slot := range s.Last() - job.Arrival + 1 {
		costs.Add(&tables, inf)
		out = append(out, slices.Clone(tables.Of(slot)))
	}
	return out
}

// costsByCompletion returns the least cost of a job by the slot of its completion, by recursion.
func costsByCompletion(t testing.TB, s *Scheduler, job *Job) []float64 {
	t.Helper()
	tables := tablesOf(t, s, job)
	var least func(slot int, work int64) float64
	least = func(slot int, work int64) float64 {
		switch {
		case work <= 0:
			return 0
		case slot < 0:
			return inf
		}
		best := inf
		for y, cost := range tables[slot] {
			best = min(best, cost+least(slot-1, work-int64(y)))
		}
		return best
	}
	costs := make([]float64, len(tables))
	for slot := range costs {
		costs[slot] = least(slot, job.WorkerSlots())
	}
	return costs
}

func mustPrices(t testing.TB, s *Scheduler, side Side, slot, server int) []float64 {
	t.Helper()
	return must.Have(s.ledger.Prices(side, slot, server))(t)
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

// deadlined is a job of so many worker-slots, four at a time, that is worth something if it ends in time.
func deadlined(id string, arrival int, work int64, slots int, worth float64) Job {
	j := plainJob(id, arrival)
	j.Epochs, j.Chunks, j.MinibatchSlots = 1, 4, float64(work)/4
	j.Utility = Steps{{Within: slots - 1, Value: worth}}
	return j
}

// utilityFunc is a utility of a caller's own.
type utilityFunc func(slots int) float64

func (f utilityFunc) Value(d int) float64 { return f(d) }

// picture returns all that a ledger holds.
func picture(l *Ledger) string { return fmt.Sprint(l.first, l.slots) }
