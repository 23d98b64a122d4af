// This file measures a whole step of the monitor at 10 to 10,000 jobs.

package specon_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/growth/specon"
	"github.com/apportion/apportion/internal/must"
)

// perJob measures step once a second, prepare left out, after four runs to warm up.
func perJob(b *testing.B, n int, prepare func(now time.Duration), step func(now time.Duration) error) {
	now := time.Duration(0)
	for range 4 {
		prepare(now)
		must.Do(b, step(now))
		now += second
	}
	b.ReportAllocs()
	b.ResetTimer()
	for b.Loop() {
		b.StopTimer()
		prepare(now)
		b.StartTimer()
		must.Do(b, step(now))
		now += second
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/job")
}

// TestStepsDoNotAllocate holds the steps to what their documentation says.
func TestStepsDoNotAllocate(t *testing.T) {
	m := monitor(t, nil)
	observations := make([]specon.Observation, 100)
	var report specon.Report
	now := time.Duration(0)
	run := func() {
		for i := range observations {
			observations[i] = specon.Observation{Job: names[i], Worker: ids[i%len(ids)], At: now,
				Value: float64(1+i%13) / (1 + now.Seconds()), Usage: growth.Used(0.5)}
		}
		must.Do(t, m.Step(now, observations, &report))
		now += 20 * second
	}
	for range 10 {
		run()
	}
	must.Equal(t, testing.AllocsPerRun(50, run), 0, "allocations in a step")
}

// names are those of 100 jobs.
var names = func() (names [100]string) {
	for i := range names {
		names[i] = "job" + strconv.Itoa(1_000_000+i)
	}
	return names
}()

// BenchmarkManagerTick is a check of a whole cluster, eight jobs on each worker, that moves nobody.
func BenchmarkManagerTick(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000} {
		b.Run(fmt.Sprintf("jobs=%d", n), func(b *testing.B) {
			m := must.Have(specon.NewManager(oneKind, nil))(b)
			step := func(e specon.Event) {
				must.Do(b, m.Step(e))
			}
			jobs := make([]string, n)
			for i := range jobs {
				jobs[i] = "job" + strconv.Itoa(1_000_000+i)
				worker := "worker" + strconv.Itoa(i/8)
				if i%8 == 0 {
					step(specon.Event{Kind: specon.WorkerUp, Worker: worker, Capacity: apportion.Resources{8}})
				}
				step(specon.Event{Kind: specon.Arrival, Job: jobs[i], Worker: worker, Demand: apportion.Resources{1}})
			}
			perJob(b, n, func(now time.Duration) {
				for i, job := range jobs {
					step(specon.Event{Kind: specon.Reading, Job: job, At: now, Value: float64(i%13) * now.Seconds(), Usage: growth.Used(0.1)})
				}
			}, func(now time.Duration) error {
				_, err := m.Tick(now)
				return err
			})
		})
	}
}
