//go:build unix

// This file measures forecasts of a large cluster, in time of the processor.

package forecast_test

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/placement/sim/forecast"
	"github.com/apportion/apportion/placement/sim/policies"
)

// used returns the time of the processor that this process has used.
func used(b *testing.B) time.Duration {
	var usage syscall.Rusage
	must.Do(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// full is a cluster of servers with eight GPUs, full of gangs, for which others wait; all have a limit.
func full(servers, waiting int) *alloc.Problem {
	random := rand.New(rand.NewPCG(1, 1))
	p := &alloc.Problem{Kinds: apportion.Kinds{"cpu", "gpu"}, Theta1: 0.1, Theta2: 0.1, Previous: alloc.Allocation{}}
	gang := func(gpus int64) *alloc.Application {
		ends := float64(60 + random.IntN(24*3600))
		p.Applications = append(p.Applications, alloc.Application{
			ID: fmt.Sprint("job-", len(p.Applications)), Weight: 1, Ends: &ends,
			Form: alloc.Form{Demand: apportion.Resources{8, 1}, Min: gpus, Max: gpus},
		})
		return &p.Applications[len(p.Applications)-1]
	}
	for j := range servers {
		p.Servers = append(p.Servers, apportion.Server{ID: fmt.Sprint("s", j), Capacity: apportion.Resources{96, 8}})
	}
	for j := 0; j < servers; {
		n := min(1<<random.IntN(4), servers-j)
		held := make(map[string]int64, n)
		for range n {
			held[p.Servers[j].ID] = 8
			j++
		}
		p.Previous[gang(int64(8*n)).ID] = held
	}
	for range waiting {
		gang(1 << random.IntN(7))
	}
	return p
}

// BenchmarkForecast has 32 replays: with a decision of package alloc at every event, with few of them a replay, and with first come first served.
func BenchmarkForecast(b *testing.B) {
	runs := make([]forecast.Run, 100)
	for i := range runs {
		runs[i] = forecast.Run{Length: float64(i * 36), Limit: 3600}
	}
	history := must.Have(forecast.NewHistory(runs, nil))(b)
	fifo := func() sim.Policy { return &policies.FIFO{Backfill: true} }
	for _, row := range []struct {
		name             string
		servers, waiting int
		options          forecast.Options
	}{
		{"every", 100, 50, forecast.Options{}},
		{"10", 100, 50, forecast.Options{Decisions: 10}},
		{"8", 1000, 200, forecast.Options{Decisions: 8}},
		{"8", 1000, 200, forecast.Options{Decisions: 8}},
		{"10", 1000, 200, forecast.Options{Decisions: 10}},
		{"20", 1000, 200, forecast.Options{Decisions: 20}},
		{"fifo", 1000, 200, forecast.Options{Policy: fifo}},
		{"every", 1000, 200, forecast.Options{}},
	} {
		b.Run(fmt.Sprintf("servers=%d/waiting=%d/decisions=%s", row.servers, row.waiting, row.name), func(b *testing.B) {
			p := full(row.servers, row.waiting)
			row.options.History = history
			known := make([]forecast.Known, len(p.Applications))
			for i := range known {
				known[i] = forecast.Known{ID: p.Applications[i].ID, User: fmt.Sprint("u", i%40)}
			}
			row.options.StartsOnly = true
			before, n := used(b), 0
			var f *forecast.Forecast
			for b.Loop() {
				f = must.Have(forecast.New(b.Context(), p, known, &row.options))(b)
				n++
			}
			b.ReportMetric(float64((used(b)-before).Milliseconds())/float64(n), "cpu-ms/op")
			b.ReportMetric(float64(f.Decisions)/float64(f.Replays), "decisions/replay")
			b.ReportMetric(sum(f), "mean-P50-h")
		})
	}
}

// sum is the mean of the medians of all starts within the horizon, in hours.
func sum(f *forecast.Forecast) float64 {
	total, n := 0.0, 0.0
	for _, job := range f.Jobs {
		if job.Start.P50 != nil {
			total, n = total+*job.Start.P50/3600, n+1
		}
	}
	return total / max(n, 1)
}
