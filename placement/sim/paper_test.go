// This file checks the numbers that the thesis gives for a worker's sharing of CPU.

package sim

import (
	"testing"

	"github.com/apportion/apportion/internal/must"
)

// Reference: [Zheng] §6.1.3, the CPU usage of figures 6.5 and 6.6; §6.1.4, that of figure 6.9.
func TestDivideAsReported(t *testing.T) {
	for _, test := range []struct {
		name                  string
		limits, demands, want []float64
	}{
		{"a converged job beside a new one", []float64{.25, 1}, []float64{1, 1}, []float64{.25, .75}},
		{"no limits", []float64{1, 1}, []float64{1, 1}, []float64{.5, .5}},
		{"soft limits", []float64{.25, .25}, []float64{1, 1}, []float64{.5, .5}},
		{"a job that cannot use more", []float64{1, 1}, []float64{.19, 1}, []float64{.19, .81}},
		{"nobody else can use the rest", []float64{.25}, []float64{1}, []float64{1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			must.Same(t, Divide(Whole, shares(test.limits), shares(test.demands)), shares(test.want), "Divide")
		})
	}
}

func shares(fractions []float64) []int64 {
	var all []int64
	for _, f := range fractions {
		all = append(all, ShareOf(f))
	}
	return all
}
