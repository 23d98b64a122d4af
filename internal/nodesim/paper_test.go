// This file checks the numbers that the thesis gives for a worker's sharing of CPU and for its
// three jobs.

package nodesim

import (
	"slices"
	"testing"
	"time"

	"github.com/apportion/apportion/growth/flowcon"
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
			if got := Divide(Whole, shares(test.limits), shares(test.demands)); !slices.Equal(got, shares(test.want)) {
				t.Errorf("Divide = %v, want %v", got, shares(test.want))
			}
		})
	}
}

func shares(fractions []float64) []Share {
	var all []Share
	for _, f := range fractions {
		all = append(all, ShareOf(f))
	}
	return all
}

// thesisJobs are the three jobs of §6.1.3. Their work is what the thesis' times under NA imply for a
// worker that is shared evenly: MNIST-T 84.7 s, MNIST-P until 280.5 s, all until 394.0 s.
func thesisJobs() *Scenario {
	return &Scenario{Workers: 1, Jobs: []Job{
		job1("VAE-P", 0, 259634*time.Millisecond),
		job1("MNIST-P", 40*second, 106133*time.Millisecond),
		job1("MNIST-T", 80*second, 28233*time.Millisecond),
	}}
}

// Reference: [Zheng] §6.1.3: makespan 394.0 s, overlap of two jobs 240.5 s, of three 84.7 s.
func TestThreeJobsWithoutLimits(t *testing.T) {
	result, err := Run(thesisJobs(), &Default{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []time.Duration{394 * second, 240500 * time.Millisecond, 84700 * time.Millisecond} {
		if got := result.Outcomes[i].Time(); (got - want).Abs() > 10*time.Millisecond {
			t.Errorf("%s took %v, want %v", result.Outcomes[i].ID, got, want)
		}
	}
}

// Reference: [Zheng] §6.1.3: when MNIST-P is launched at 40 s, VAE's limit is 0.25 and it uses 25 %.
func TestConvergedJobIsHeldAtAQuarter(t *testing.T) {
	flowcon, err := NewFlowCon(flowcon.Config{Interval: 20 * second, Alpha: 0.05}, nil)
	if err != nil {
		t.Fatal(err)
	}
	result, err := Run(thesisJobs(), flowcon)
	if err != nil {
		t.Fatal(err)
	}
	for _, sample := range result.Samples {
		if sample.At == 40*second {
			want := []Running{{Job: 0, Share: 250_000, Limit: 250_000}, {Job: 1, Share: 750_000, Limit: Whole}}
			if !slices.Equal(sample.Running, want) {
				t.Errorf("at 40 s: %+v, want %+v", sample.Running, want)
			}
			return
		}
	}
	t.Error("no sample at 40 s")
}
