// This file measures a driver: a hundred jobs on twenty agents in one process, whose journal is on a real disk.

package driver_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent/agenttest"
	"github.com/apportion/apportion/checkpoint/driver"
	"github.com/apportion/apportion/checkpoint/journal"
	"github.com/apportion/apportion/checkpoint/storetest"
	"github.com/apportion/apportion/checkpoint/vfs"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/vfstest"
)

// BenchmarkAdjust moves all jobs at the same time to other servers, again and again. An adjustment is a save,
// its verification, a stop, a release, a creation, a resumption and its confirmation.
func BenchmarkAdjust(b *testing.B) {
	for _, size := range []struct{ jobs, servers int }{{1, 4}, {100, 20}, {1000, 200}} {
		b.Run(fmt.Sprintf("jobs=%d/servers=%d", size.jobs, size.servers), func(b *testing.B) { benchmarkAdjust(b, size.jobs, size.servers) })
	}
}

func benchmarkAdjust(b *testing.B, jobs, servers int) {
	var syncs atomic.Int64
	f := newFleet(b, jobs, servers, &syncs)
	before, began, peak := syncs.Load(), time.Now(), 0
	for b.Loop() {
		peak = max(peak, f.move(b))
	}
	adjustments := float64(f.rounds * jobs)
	b.ReportMetric(adjustments/time.Since(began).Seconds(), "adjustments/s")
	b.ReportMetric(float64(syncs.Load()-before)/adjustments, "syncs/adjustment")
	b.ReportMetric(float64(peak), "goroutines")
}

// fleet is a driver with jobs that run.
type fleet struct {
	d      *driver.Driver
	jobs   []string
	ids    []string
	rounds int
}

func newFleet(b *testing.B, jobs, servers int, syncs *atomic.Int64) *fleet {
	disk := must.Have(vfs.NewOS(b.TempDir()))(b)
	counting := vfstest.Hooked(disk, func(op vfstest.Op, _ string) error {
		if op == vfstest.Sync || op == vfstest.SyncDir {
			syncs.Add(1)
		}
		return nil
	})
	m, j, err := journal.Open(counting, checkpoint.Config{Kinds: apportion.Kinds{"slot"}})
	must.Do(b, err)
	memory := &storetest.MemStore{}
	f := &fleet{}
	f.d = must.Have(driver.New(m, j, driver.Config{Store: memory, Grace: time.Minute}, nil))(b)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- f.d.Run(ctx) }()
	b.Cleanup(func() {
		cancel()
		must.Do(b, <-ended)
	})
	for i := range servers {
		id := fmt.Sprintf("s%04d", i)
		f.ids = append(f.ids, id)
		server := apportion.Server{ID: id, Capacity: apportion.Resources{int64(4*jobs/servers + 4)}}
		must.Do(b, f.d.Join(ctx, server, &agenttest.Server{ID: id, Store: memory}))
	}
	for i := range jobs {
		f.jobs = append(f.jobs, fmt.Sprintf("j%04d", i))
		must.Do(b, f.d.Apply(ctx, checkpoint.Submit{Job: f.jobs[i], Demand: slot}))
	}
	f.move(b)
	f.rounds = 0
	return f
}

// move has every job go on by a server, waits until all run there, and returns the most goroutines seen.
func (f *fleet) move(b *testing.B) (peak int) {
	targets := map[string][]string{}
	for i, job := range f.jobs {
		at := (i + f.rounds) % len(f.ids)
		targets[job] = []string{f.ids[at], f.ids[(at+1)%len(f.ids)]}
		slices.Sort(targets[job])
	}
	must.Do(b, f.d.Apply(b.Context(), checkpoint.Adjust{Targets: targets}))
	left := len(f.jobs)
	_, err := f.d.Await(b.Context(), func(s *driver.State) bool {
		peak = max(peak, runtime.NumGoroutine())
		left = 0
		for i := range s.Jobs {
			if j := &s.Jobs[i]; j.Phase != checkpoint.Running || !slices.Equal(j.Containers, targets[j.Name]) {
				left++
			}
		}
		return left == 0
	})
	must.Do(b, err, left, "jobs are not there")
	f.rounds++
	return peak
}
