// This file measures fits.

package speedup_test

import (
	"fmt"
	"testing"

	"github.com/apportion/apportion/growth/speedup"
	"github.com/apportion/apportion/internal/must"
)

func BenchmarkFit(b *testing.B) {
	for _, model := range []speedup.Model{speedup.Amdahl, speedup.Optimus, speedup.Pollux, speedup.Auto} {
		for _, n := range []int64{4, 16, 64} {
			var observations []speedup.Observation
			for k := range n {
				containers := k%16 + 1
				observations = append(observations, speedup.Observation{Containers: containers, Servers: (containers + 3) / 4,
					Samples: float64(256 + k/16), Seconds: 0.1 + 0.8/float64(containers) + 0.01*float64(k%3)})
			}
			b.Run(fmt.Sprintf("model=%v/configurations=%d", model, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					must.Have(speedup.Fit(observations, &speedup.Options{Model: model}))(b)
				}
			})
		}
	}
}
