// This file holds every quantity of a generated workload to the range that the package comment names.

package oasistest

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/primaldual"
)

// span is a range of numbers that were seen.
type span struct{ least, most int64 }

func (s *span) note(n int64) {
	if *s == (span{}) {
		*s = span{n, n}
	}
	s.least, s.most = min(s.least, n), max(s.most, n)
}

// Reference: [OASiS] §5: of many jobs, none is outside the ranges, and numbers with few values reach both ends.
func TestRanges(t *testing.T) {
	_, jobs := Generate(rand.New(rand.NewPCG(7, 8)), Settings{Slots: 1000, WorkerServers: 1, PSServers: 1, Jobs: 20_000})
	seen := make(map[string]*span)
	note := func(name string, n int64) {
		if seen[name] == nil {
			seen[name] = &span{}
		}
		seen[name].note(n)
	}
	for i := range jobs {
		j := &jobs[i]
		note("epochs", j.Epochs)
		note("chunks", j.Chunks)
		note("minibatches", j.Minibatches)
		for k, kind := range kinds[:4] {
			note("worker "+kind, j.Worker[k])
			note("ps "+kind, j.PS[k])
		}
		if j.Worker[4] != j.WorkerBandwidth || j.PS[4] != j.PSBandwidth || j.WorkerBandwidth > j.PSBandwidth {
			t.Fatalf("bandwidths %v, %v of %+v", j.Worker, j.PS, j)
		}
		if chunk := j.MinibatchSlots * float64(j.Minibatches); chunk < .001-1e-12 || chunk > .1 {
			t.Fatalf("a chunk takes %g slots", chunk)
		}
		// The gradients of 30 to 575 MB go up and down once for each mini-batch.
		least, most := primaldual.CommSlots(30e6, j.WorkerBandwidth*1e6, time.Hour), primaldual.CommSlots(575e6, j.WorkerBandwidth*1e6, time.Hour)
		if j.CommSlots < least || j.CommSlots > most {
			t.Fatalf("a transfer takes %g slots, not in [%g, %g]", j.CommSlots, least, most)
		}
	}
	want := map[string]span{
		"epochs": {50, 200}, "chunks": {5, 100}, "minibatches": {10, 100},
		"worker gpu": {0, 4}, "worker cpu": {1, 10}, "worker memory": {2, 32}, "worker disk": {5, 10},
		"ps gpu": {0, 0}, "ps cpu": {1, 10}, "ps memory": {2, 32}, "ps disk": {5, 10},
	}
	for name, limits := range want {
		must.Equal(t, *seen[name], limits, name)
	}
}

// Worker servers are of the four types with GPUs, parameter servers of the type without; disk and network vary.
func TestServers(t *testing.T) {
	cluster, _ := Generate(rand.New(rand.NewPCG(1, 2)), Settings{Slots: 1, WorkerServers: 200, PSServers: 100})
	types := map[[3]int64]int{}
	for i, s := range append(cluster.WorkerServers, cluster.PSServers...) {
		c := s.Capacity
		types[[3]int64{c[0], c[1], c[2]}]++
		if c[3] < 200 || c[3] > 800 || c[4] < 20_000 || c[4] > 50_000 || c[4]%1000 != 0 {
			t.Errorf("server %d: disk %d, network %d", i, c[3], c[4])
		}
		must.Equal(t, c[0] > 0, i < 200, "server", i, c[0], "GPUs")
	}
	if len(types) != 5 || types[cpuServers[0]] != 100 {
		t.Errorf("types %v", types)
	}
}
