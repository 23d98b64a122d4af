// This file measures one classification, and a whole step at 10 to 10,000 containers.

package growth_test

import (
	"fmt"
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/apportion/apportion/growth"
)

var classifiers = []struct {
	name       string
	classifier growth.Classifier
}{
	{"threshold", growth.Threshold{Alpha: 0.05}},
	{"decline", growth.Decline{Alpha: 0.05}},
	{"prospect", growth.Prospect{Alpha: 0.05}},
}

// BenchmarkClassify is one reading added and judged.
func BenchmarkClassify(b *testing.B) {
	for _, row := range classifiers {
		b.Run("classifier="+row.name, func(b *testing.B) {
			b.ReportAllocs()
			var series growth.Series
			at, i := time.Duration(0), 1
			for b.Loop() {
				series.Add(at, 1/float64(i), 0.5)
				if series.Measured() {
					row.classifier.Judge(&series)
				}
				at += time.Millisecond
				i++
			}
		})
	}
}

// BenchmarkJudge is the judgement alone, where it costs most: the history is as long as it gets
// (31 averages), and the newest reading completed one.
func BenchmarkJudge(b *testing.B) {
	series := seriesOf(falls(31, 1, 2, 0.5)...)
	for _, row := range classifiers {
		b.Run("classifier="+row.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				row.classifier.Judge(series)
			}
		})
	}
}

// worker returns the readings of n containers, each with values of its own.
func worker(n int) []growth.Reading {
	readings := make([]growth.Reading, n)
	for i := range readings {
		readings[i] = growth.Reading{ID: "job" + strconv.Itoa(1_000_000+i), Usage: []float64{float64(1+i%7) / 10}}
	}
	return readings
}

// advance gives every container its next value: half converge, half go on.
func advance(readings []growth.Reading, at time.Duration) {
	for i := range readings {
		readings[i].At = at
		readings[i].Value = float64(1+i%13) / (1 + math.Pow(at.Seconds(), 1+float64(i%5)/4))
	}
}

func BenchmarkFlowConStep(b *testing.B) {
	for _, order := range []string{"sorted", "reversed"} {
		for _, n := range []int{10, 1_000, 10_000} {
			b.Run(fmt.Sprintf("order=%s/containers=%d", order, n), func(b *testing.B) {
				f, err := growth.NewFlowCon(growth.FlowConConfig{Interval: second, Alpha: 1e-4, Kinds: 1}, &growth.FlowConOptions{MaxInterval: second})
				if err != nil {
					b.Fatal(err)
				}
				readings := worker(n)
				if order == "reversed" {
					for i, j := 0, n-1; i < j; i, j = i+1, j-1 {
						readings[i], readings[j] = readings[j], readings[i]
					}
				}
				var d growth.Decision
				perContainer(b, n, func(now time.Duration) { advance(readings, now) }, func(now time.Duration) error {
					return f.Step(now, readings, &d)
				})
			})
		}
	}
}

// perContainer measures step once a second, prepare left out, after four runs to warm up.
func perContainer(b *testing.B, n int, prepare func(now time.Duration), step func(now time.Duration) error) {
	now := time.Duration(0)
	for range 4 {
		prepare(now)
		if err := step(now); err != nil {
			b.Fatal(err)
		}
		now += second
	}
	b.ReportAllocs()
	b.ResetTimer()
	for b.Loop() {
		b.StopTimer()
		prepare(now)
		b.StartTimer()
		if err := step(now); err != nil {
			b.Fatal(err)
		}
		now += second
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/container")
}

// BenchmarkFlowConArrival is a step in which one container arrives or leaves.
func BenchmarkFlowConArrival(b *testing.B) {
	for _, n := range []int{10, 1_000, 10_000} {
		b.Run(fmt.Sprintf("containers=%d", n), func(b *testing.B) {
			f, err := growth.NewFlowCon(growth.FlowConConfig{Interval: second, Alpha: 1e-4, Kinds: 1}, nil)
			if err != nil {
				b.Fatal(err)
			}
			readings := worker(n)
			advance(readings, 0)
			var d growth.Decision
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				if err := f.Step(0, readings[:n-i%2], &d); err != nil {
					b.Fatal(err)
				}
				i++
			}
		})
	}
}

func BenchmarkSpeConStep(b *testing.B) {
	for _, n := range []int{10, 1_000, 10_000} {
		b.Run(fmt.Sprintf("containers=%d", n), func(b *testing.B) {
			s, err := growth.NewSpeCon(growth.SpeConConfig{Interval: second, Alpha: 0.01}, nil)
			if err != nil {
				b.Fatal(err)
			}
			observations := make([]growth.Observation, n)
			for i := range observations {
				observations[i] = growth.Observation{ID: "job" + strconv.Itoa(1_000_000+i), Worker: "worker" + strconv.Itoa(i%64)}
			}
			var report growth.Report
			perContainer(b, n, func(now time.Duration) {
				for i := range observations {
					observations[i].At = now
					observations[i].Value = float64(1+i%13) / (1 + now.Seconds())
				}
			}, func(now time.Duration) error { return s.Step(now, observations, &report) })
		})
	}
}

// TestStepsDoNotAllocate holds the steps to what their documentation says.
func TestStepsDoNotAllocate(t *testing.T) {
	f := flowCon(t, 1, &growth.FlowConOptions{MaxInterval: 20 * second, Classifier: growth.Prospect{Alpha: 0.05}})
	s := speCon(t, nil)
	readings := worker(100)
	observations := make([]growth.Observation, len(readings))
	var d growth.Decision
	var report growth.Report
	now := time.Duration(0)
	run := func() {
		advance(readings, now)
		for i, r := range readings {
			observations[i] = growth.Observation{ID: r.ID, Worker: ids[i%len(ids)], At: now, Value: r.Value}
		}
		if err := f.Step(now, readings, &d); err != nil {
			t.Fatal(err)
		}
		if err := s.Step(now, observations, &report); err != nil {
			t.Fatal(err)
		}
		now += 20 * second
	}
	for range 10 {
		run()
	}
	if n := testing.AllocsPerRun(50, run); n != 0 {
		t.Errorf("%v allocations in a step", n)
	}
}
