// This file checks what follows from the ranges of the paper's simulation: how long its jobs last in either reading.

package oasistest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apportion/apportion/primaldual"
)

// drawn are many jobs, none of which is drawn again: the span has room for all.
func drawn(perMinibatch bool) []primaldual.Job {
	settings := Settings{Slots: 1_000_000, WorkerServers: 1, PSServers: 1, Jobs: 20_000, PerMinibatch: perMinibatch}
	_, jobs := Generate(rand.New(rand.NewPCG(11, 12)), settings)
	return jobs
}

// part is the part of jobs for which something holds.
func part(jobs []primaldual.Job, holds func(*primaldual.Job) bool) float64 {
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
		return part(jobs, func(j *primaldual.Job) bool { return j.ShortestSlots() <= slots })
	}
	slow := part(jobs, func(j *primaldual.Job) bool { return j.ChunkSlots() > 1 })
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
		s, ok := jobs[i].Utility.(primaldual.Sigmoid)
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
