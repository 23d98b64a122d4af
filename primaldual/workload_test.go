// This file tests the workloads that are drawn: ranges, mix and least times.

package primaldual

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion/internal/must"
)

func TestWorkload(t *testing.T) {
	for _, perMinibatch := range []bool{false, true} {
		settings := Workload{Slots: 100, WorkerServers: 5, PSServers: 7, Jobs: 2000, PerMinibatch: perMinibatch}
		cluster, jobs := settings.Draw(rand.New(rand.NewPCG(3, 4)))
		must.Do(t, cluster.Validate())
		if len(cluster.WorkerServers) != 5 || len(cluster.PSServers) != 7 || len(jobs) != 2000 {
			t.Fatalf("%d, %d servers, %d jobs", len(cluster.WorkerServers), len(cluster.PSServers), len(jobs))
		}
		seen := map[string]bool{}
		before := 1
		for _, j := range jobs {
			must.Do(t, j.Validate(cluster.Kinds))
			if seen[j.ID] || j.Arrival < before || int64(j.Arrival)+j.ShortestSlots()-1 > 100 {
				t.Errorf("job %+v after slot %d", j, before)
			}
			seen[j.ID], before = true, j.Arrival
		}
		again, same := settings.Draw(rand.New(rand.NewPCG(3, 4)))
		if !cmp.Equal(cluster, again) || !cmp.Equal(jobs, same) {
			t.Error("the same seed gives another workload")
		}
	}
}

// span is a range of numbers that were seen.
type span struct{ least, most int64 }

func (s *span) note(n int64) {
	if *s == (span{}) {
		*s = span{n, n}
	}
	s.least, s.most = min(s.least, n), max(s.most, n)
}

// Reference: [OASiS] §5: of many jobs, none is outside the ranges, and numbers with few values reach both ends.
func TestWorkloadRanges(t *testing.T) {
	_, jobs := Workload{Slots: 1000, WorkerServers: 1, PSServers: 1, Jobs: 20_000}.Draw(rand.New(rand.NewPCG(7, 8)))
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
		for k, kind := range workloadKinds[:4] {
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
		least, most := CommSlots(30e6, j.WorkerBandwidth*1e6, time.Hour), CommSlots(575e6, j.WorkerBandwidth*1e6, time.Hour)
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
func TestWorkloadServers(t *testing.T) {
	cluster, _ := Workload{Slots: 1, WorkerServers: 200, PSServers: 100}.Draw(rand.New(rand.NewPCG(1, 2)))
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

// drawn are many jobs, none of which is drawn again: the span has room for all.
func drawn(perMinibatch bool) []Job {
	settings := Workload{Slots: 1_000_000, WorkerServers: 1, PSServers: 1, Jobs: 20_000, PerMinibatch: perMinibatch}
	_, jobs := settings.Draw(rand.New(rand.NewPCG(11, 12)))
	return jobs
}

// part is the part of jobs for which something holds.
func part(jobs []Job, holds func(*Job) bool) float64 {
	count := 0
	for i := range jobs {
		if holds(&jobs[i]) {
			count++
		}
	}
	return float64(count) / float64(len(jobs))
}

// Reference: [OASiS] §5 read literally, slots of a mini-batch: few jobs could end in the span, hardly any within its target,
// and most train less than a chunk in a slot, against the text.
func TestPaperLiteralRanges(t *testing.T) {
	jobs := drawn(true)
	within := func(slots int64) float64 {
		return part(jobs, func(j *Job) bool { return j.ShortestSlots() <= slots })
	}
	slow := part(jobs, func(j *Job) bool { return j.ChunkSlots() > 1 })
	for _, test := range []struct {
		name      string
		got, want float64
	}{
		{"end within 100 slots", within(100), 0.22}, {"end within 300 slots", within(300), 0.56},
		{"end within 15 slots", within(15), 0.02}, {"need more than a slot for a chunk", slow, 0.76},
	} {
		if math.Abs(test.got-test.want) > 0.015 {
			t.Errorf("%.3f of the jobs %s, want %g", test.got, test.name, test.want)
		}
	}
	var least []int64
	for i := range jobs {
		least = append(least, jobs[i].ShortestSlots())
	}
	slices.Sort(least)
	if median := least[len(least)/2]; median < 259-13 || median > 259+13 {
		t.Errorf("half of the jobs last %d slots or more, want about 259", median)
	}
}

// Reference: [OASiS] §5 read as slots of a chunk: the least times have the quantiles 3, 6, 10, 16 and 36.
func TestPaperChunkRanges(t *testing.T) {
	jobs := drawn(false)
	var least []int64
	for i := range jobs {
		least = append(least, jobs[i].ShortestSlots())
	}
	slices.Sort(least)
	for percent, want := range map[int]int64{5: 3, 25: 6, 50: 10, 75: 16, 95: 36} {
		if got := least[len(least)*percent/100]; got < want-1 || got > want+1 {
			t.Errorf("%d %% of the jobs last %d slots at least, want %d", percent, got, want)
		}
	}
}

// Reference: [OASiS] §5: 10, 55 and 35 of 100 jobs are insensitive, sensitive and critical; without a gamma2 a utility is
// constant at half of gamma1.
func TestPaperMix(t *testing.T) {
	var kinds [3]int
	jobs := drawn(false)
	for i := range jobs {
		s, ok := jobs[i].Utility.(Sigmoid)
		if !ok || s.Gamma1 < 1 || s.Gamma1 > 100 || s.Gamma3 < 1 || s.Gamma3 > 15 {
			t.Fatalf("%T %+v", jobs[i].Utility, s)
		}
		switch {
		case s.Gamma2 == 0:
			kinds[0]++
			if s.Value(0) != s.Gamma1/2 || s.Value(500) != s.Gamma1/2 {
				t.Errorf("%+v is %g at once", s, s.Value(0))
			}
		case s.Gamma2 >= 0.01 && s.Gamma2 <= 1:
			kinds[1]++
		case s.Gamma2 >= 4 && s.Gamma2 <= 6:
			kinds[2]++
		default:
			t.Errorf("gamma2 is %g", s.Gamma2)
		}
	}
	for i, want := range []float64{0.10, 0.55, 0.35} {
		if got := float64(kinds[i]) / float64(len(jobs)); math.Abs(got-want) > 0.015 {
			t.Errorf("%.3f of the jobs are of class %d, want %g", got, i, want)
		}
	}
}
