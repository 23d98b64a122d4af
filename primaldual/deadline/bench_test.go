// This file measures a slot beside the decisions of the paper's scheduler on the same jobs.

package deadline_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/primaldual"
	"github.com/apportion/apportion/primaldual/deadline"
)

// benchSlots is the span of the paper's workload.
const benchSlots = 100

// workload returns jobs of the paper's workload on 50 + 50 servers with each of their five kinds on both sides, and the same jobs as
// package deadline has them: ten kinds, a worker with its part of a parameter server.
func workload(jobs int) (*primaldual.Cluster, []primaldual.Job, apportion.Resources, []deadline.Job) {
	cluster, training := primaldual.Workload{Slots: benchSlots, WorkerServers: 50, PSServers: 50, Jobs: jobs}.Draw(rand.New(rand.NewPCG(1, 2)))
	total := make(apportion.Resources, 2*len(cluster.Kinds))
	for _, server := range cluster.WorkerServers {
		for r, c := range server.Capacity {
			total[r] += c
		}
	}
	for _, server := range cluster.PSServers {
		for r, c := range server.Capacity {
			total[len(cluster.Kinds)+r] += 1000 * c
		}
	}
	out := make([]deadline.Job, len(training))
	for i := range training {
		j := &training[i]
		worker := slices.Clone(j.Worker)
		for _, q := range j.PS {
			worker = append(worker, (1000*q*j.WorkerBandwidth+j.PSBandwidth-1)/j.PSBandwidth)
		}
		out[i] = deadline.Job{ID: j.ID, Work: j.WorkerSlots(), Width: j.Chunks, Worker: worker,
			Deadlines: deadline.Deadlines(j.Utility.Value, j.Arrival, benchSlots)}
	}
	return cluster, training, total, out
}

// BenchmarkBeside plays 200 jobs in 100 slots under either scheduler; ns/op is the whole run, the metrics are one slot with its offers.
func BenchmarkBeside(b *testing.B) {
	cluster, training, total, jobs := workload(200)
	kinds := make(apportion.Kinds, len(total))
	for r := range kinds {
		kinds[r] = fmt.Sprint("kind", r)
	}
	bounds := must.Have(primaldual.BoundsOf(cluster, training, nil))(b)
	b.Run("deadline", func(b *testing.B) {
		play(b, training, func() (offer, end func(int) error) {
			s := must.Have(deadline.New(kinds, total, 1, nil))(b)
			return func(i int) error { _, err := s.Offer(jobs[i]); return err },
				func(int) error { s.Run(); _, err := s.Advance(nil); return err }
		})
	})
	b.Run("oasis", func(b *testing.B) {
		play(b, training, func() (offer, end func(int) error) {
			s := must.Have(primaldual.NewScheduler(cluster, &bounds, nil))(b)
			return func(i int) error { _, err := s.Offer(training[i]); return err }, func(int) error { return nil }
		})
	})
}

// play runs the slots of a fresh scheduler in each loop and reports what a slot takes.
func play(b *testing.B, jobs []primaldual.Job, fresh func() (offer, end func(int) error)) {
	b.Helper()
	var times []time.Duration
	sum := time.Duration(0)
	for b.Loop() {
		offer, end := fresh()
		next := 0
		for slot := 1; slot <= benchSlots; slot++ {
			start := time.Now()
			for ; next < len(jobs) && jobs[next].Arrival == slot; next++ {
				must.Do(b, offer(next))
			}
			must.Do(b, end(slot))
			times = append(times, time.Since(start))
			sum += times[len(times)-1]
		}
	}
	slices.Sort(times)
	b.ReportMetric(float64(sum.Microseconds())/float64(len(times)), "us/slot")
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), "p99-us")
}
