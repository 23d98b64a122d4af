// This file measures how many hours of a cluster a second of the processor plays.

package world_test

import (
	"io"
	"syscall"
	"testing"
	"time"

	"github.com/apportion/apportion/internal/must"
)

// BenchmarkPlay plays clusters with a fault every 20 s or every five minutes.
func BenchmarkPlay(b *testing.B) {
	w := open(b)
	for _, size := range []struct{ name, servers, jobs, every, during string }{
		{"servers=4/jobs=6/every=20s", "4", "6", "20s", "10m"},
		{"servers=20/jobs=50/every=20s", "20", "50", "20s", "10m"},
		{"servers=20/jobs=50/every=5m", "20", "50", "5m", "1h"},
	} {
		b.Run(size.name, func(b *testing.B) {
			var hours float64
			before, seed := used(b), uint64(0)
			for b.Loop() {
				seed++
				s := play(b, w, seed, io.Discard, "-servers", size.servers, "-jobs", size.jobs, "-every", size.every, "-for", size.during)
				hours += s.Hours
			}
			b.ReportMetric(hours/(used(b)-before).Seconds(), "hours/cpu-s")
		})
	}
}

// used is the processor time of the children of this process that have ended.
func used(b *testing.B) time.Duration {
	var u syscall.Rusage
	must.Do(b, syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
