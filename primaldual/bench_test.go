// This file measures decisions along streams of jobs.

package primaldual_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/primaldual"
)

// workload returns the cluster, the bounds and the jobs of a stream.
func workload(b testing.TB, settings primaldual.Workload) (*primaldual.Cluster, *primaldual.Bounds, []primaldual.Job) {
	b.Helper()
	cluster, jobs := settings.Draw(rand.New(rand.NewPCG(1, 2)))
	bounds := must.Have(primaldual.BoundsOf(cluster, jobs, nil))(b)
	return cluster, &bounds, jobs
}

func scheduler(b testing.TB, cluster *primaldual.Cluster, bounds *primaldual.Bounds, method primaldual.Method) *primaldual.Scheduler {
	b.Helper()
	return must.Have(primaldual.NewScheduler(cluster, bounds, &primaldual.SchedulerOptions{Method: method}))(b)
}

// BenchmarkOffer offers a stream of jobs; ns/op is the whole stream, the metrics are one decision.
func BenchmarkOffer(b *testing.B) {
	for _, settings := range []primaldual.Workload{
		{Slots: 100, WorkerServers: 50, PSServers: 50, Jobs: 1000},
		{Slots: 300, WorkerServers: 500, PSServers: 500, Jobs: 1000},
		{Slots: 1000, WorkerServers: 2000, PSServers: 2000, Jobs: 1000},
	} {
		b.Run(fmt.Sprintf("slots=%d/servers=%d/jobs=%d", settings.Slots, settings.WorkerServers, settings.Jobs), func(b *testing.B) {
			cluster, bounds, jobs := workload(b, settings)
			var times, admitted []time.Duration
			b.ReportAllocs()
			for b.Loop() {
				s := scheduler(b, cluster, bounds, primaldual.BoundsFirst)
				times, admitted = times[:0], admitted[:0]
				for _, job := range jobs {
					start := time.Now()
					d, err := s.Offer(job)
					took := time.Since(start)
					times = append(times, took)
					must.Do(b, err)
					if d.Admitted {
						admitted = append(admitted, took)
					}
				}
			}
			slices.Sort(times)
			slices.Sort(admitted)
			b.ReportMetric(float64(times[len(times)/2].Microseconds()), "p50-us")
			b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), "p99-us")
			b.ReportMetric(float64(times[len(times)-1].Microseconds()), "max-us")
			b.ReportMetric(float64(len(admitted)), "admitted")
			b.ReportMetric(float64(admitted[len(admitted)/2].Microseconds()), "p50-admitted-us")
		})
	}
}

// BenchmarkMethods times the methods on the same decisions: admitted jobs of a stream, each method in
// a scheduler restored to the state before the decision. One op is all of them.
func BenchmarkMethods(b *testing.B) {
	const decisions = 8
	settings := primaldual.Workload{Slots: 100, WorkerServers: 50, PSServers: 50, Jobs: 1000}
	cluster, bounds, jobs := workload(b, settings)
	methods := []primaldual.Method{primaldual.BoundsFirst, primaldual.CappedDP, primaldual.ChunkDP}
	var total [3]time.Duration
	for b.Loop() {
		total = [3]time.Duration{}
		s := scheduler(b, cluster, bounds, primaldual.BoundsFirst)
		taken := 0
		for i := 0; taken < decisions; i++ {
			data := must.Have(s.Snapshot())(b)
			d := must.Have(s.Offer(jobs[i]))(b)
			if !d.Admitted {
				continue
			}
			taken++
			for m, method := range methods {
				restored := must.Have(primaldual.RestoreScheduler(cluster, bounds, &primaldual.SchedulerOptions{Method: method}, data))(b)
				total[m] += quoteTime(b, restored, jobs[i], method != primaldual.ChunkDP) // seconds without
			}
		}
	}
	for m, method := range methods {
		name := strings.ReplaceAll(method.String(), " ", "-")
		b.ReportMetric(float64(total[m].Microseconds())/decisions, name+"-us")
		b.ReportMetric(float64(total[m])/float64(total[0]), name+"/bounds-first")
	}
}

// quoteTime returns how long a restored scheduler takes to decide about a job, its storage being
// allocated already, as that of a running one is.
func quoteTime(b *testing.B, s *primaldual.Scheduler, job primaldual.Job, warm bool) time.Duration {
	b.Helper()
	if warm {
		must.Have(s.Quote(job))(b)
	}
	start := time.Now()
	must.Have(s.Quote(job))(b)
	return time.Since(start)
}

// BenchmarkQuote shows how one decision grows with T, H = K, N and W. The job's utility hardly falls,
// so that every completion up to the horizon counts, and the cluster is loaded.
func BenchmarkQuote(b *testing.B) {
	probe := func(chunks, epochs int64) primaldual.Job {
		return primaldual.Job{
			ID: "probe", Arrival: 1, Epochs: epochs, Chunks: chunks, Minibatches: 1, MinibatchSlots: 0.1,
			WorkerBandwidth: 1000, PSBandwidth: 7000,
			Worker: apportion.Resources{1, 4, 16, 8, 1000}, PS: apportion.Resources{0, 4, 16, 8, 7000},
			Utility: primaldual.Linear{Start: 100, PerSlot: 0.001},
		}
	}
	for _, c := range []struct {
		slots, servers int
		chunks, epochs int64
	}{
		{200, 200, 50, 100},
		{400, 200, 50, 100}, {800, 200, 50, 100}, // T
		{200, 400, 50, 100}, {200, 800, 50, 100}, // H and K
		{200, 200, 100, 50}, {200, 200, 200, 25}, // N at the same W
		{200, 200, 50, 200}, {200, 200, 50, 400}, // W
	} {
		name := fmt.Sprintf("slots=%d/servers=%d/chunks=%d/work=%d", c.slots, c.servers, c.chunks, c.chunks*c.epochs/10)
		b.Run(name, func(b *testing.B) {
			load := c.slots * c.servers / 100
			cluster, bounds, jobs := workload(b, primaldual.Workload{Slots: c.slots, WorkerServers: c.servers, PSServers: c.servers, Jobs: load})
			s := scheduler(b, cluster, bounds, primaldual.BoundsFirst)
			for _, job := range jobs {
				job.Arrival = 1
				must.Have(s.Offer(job))(b)
			}
			job := probe(c.chunks, c.epochs)
			b.ReportAllocs()
			for b.Loop() {
				must.Have(s.Quote(job))(b)
			}
		})
	}
}

// BenchmarkCertify bounds a run; one op is the whole certificate.
func BenchmarkCertify(b *testing.B) {
	settings := primaldual.Workload{Slots: 50, WorkerServers: 10, PSServers: 10, Jobs: 50}
	cluster, bounds, jobs := workload(b, settings)
	s := scheduler(b, cluster, bounds, primaldual.BoundsFirst)
	earned := 0.0
	for _, job := range jobs {
		d := must.Have(s.Offer(job))(b)
		if d.Admitted {
			earned += d.Utility
		}
	}
	var c primaldual.Certificate
	b.ReportAllocs()
	for b.Loop() {
		c = must.Have(primaldual.Certify(s.Ledger(), jobs, earned, nil))(b)
	}
	b.ReportMetric(c.Ratio, "ratio")
	b.ReportMetric(c.Zero/earned, "zero/earned")
}
