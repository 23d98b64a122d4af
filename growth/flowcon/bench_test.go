// This file measures a whole step at 10 to 10,000 jobs.

package flowcon_test

import (
	"fmt"
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/growth/flowcon"
	"github.com/apportion/apportion/internal/must"
)

// worker returns the readings of n jobs, each with values of its own.
func worker(n int) []flowcon.Reading {
	readings := make([]flowcon.Reading, n)
	for i := range readings {
		readings[i] = flowcon.Reading{Job: "job" + strconv.Itoa(1_000_000+i), Usage: []float64{float64(1+i%7) / 10}}
	}
	return readings
}

// advance gives every job its next value: half converge, half go on.
func advance(readings []flowcon.Reading, at time.Duration) {
	for i := range readings {
		readings[i].At = at
		readings[i].Value = float64(1+i%13) / (1 + math.Pow(at.Seconds(), 1+float64(i%5)/4))
	}
}

// BenchmarkArrival is a step in which one job arrives or leaves.
func BenchmarkArrival(b *testing.B) {
	for _, n := range []int{10, 1_000, 10_000} {
		b.Run(fmt.Sprintf("jobs=%d", n), func(b *testing.B) {
			f := must.Have(flowcon.New(flowcon.Config{Interval: second, Alpha: 1e-4, Kinds: 1}, nil))(b)
			readings := worker(n)
			advance(readings, 0)
			var d flowcon.Decision
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				must.Do(b, f.Step(0, readings[:n-i%2], &d))
				i++
			}
		})
	}
}

// TestStepsDoNotAllocate holds the steps to what their documentation says.
func TestStepsDoNotAllocate(t *testing.T) {
	e := executor(t, 1, &flowcon.Options{MaxInterval: 20 * second, Classifier: growth.Prospect{Alpha: 0.05}})
	readings := worker(100)
	var d flowcon.Decision
	now := time.Duration(0)
	run := func() {
		advance(readings, now)
		must.Do(t, e.Step(now, readings, &d))
		now += 20 * second
	}
	for range 10 {
		run()
	}
	must.Equal(t, testing.AllocsPerRun(50, run), 0, "allocations in a step")
}
