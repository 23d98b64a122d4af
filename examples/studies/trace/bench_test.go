// This file measures how fast rows are read.

package trace

import (
	"bytes"
	"strings"
	"testing"
)

func BenchmarkJobs(b *testing.B) {
	const rows = 1000
	text := []byte(strings.Join(jobColumns, ",") + "\n" + strings.Repeat("j0,0,18431.92,0.46,6,12,u0,g0,1,0,21600,Pass,LS\n", rows))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if jobs, err := collect(Jobs("jobs", bytes.NewReader(text))); err != nil || len(jobs) != rows {
			b.Fatal(len(jobs), err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rows), "ns/row")
}
