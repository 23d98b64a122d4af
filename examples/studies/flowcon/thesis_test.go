// This file checks which directions of the thesis' results ours have.

package main

import (
	"io"
	"slices"
	"testing"
	"time"

	"github.com/apportion/apportion/examples/studies/flowcon/noisy"
	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/internal/must"
)

// Reference: [Zheng] §6.1.3: every setting of Table 6.2 lets MNIST-T complete sooner, more with an
// interval of 30 s than with 60 s, and the makespan is no longer.
func TestTable62(t *testing.T) {
	scenario := must.Have(fixedSchedule())(t)
	byInterval := map[int]float64{}
	for _, row := range table62 {
		p := must.Have(playPair(scenario, []setting{threshold(row.alpha, time.Duration(row.interval)*time.Second, growth.FirstValue)}))(t)
		_, reductions := p.with[0].Gains(p.na)
		if reductions[2] < 0.03 {
			t.Errorf("alpha %v, interval %d: reduction %v, the thesis has %s %%", row.alpha, row.interval, reductions[2], row.thesis)
		}
		if row.alpha == 0.10 {
			byInterval[row.interval] = reductions[2]
		}
		if longer := p.with[0].Makespan() - p.na.Makespan(); longer > time.Microsecond {
			t.Errorf("alpha %v, interval %d: makespan longer by %v", row.alpha, row.interval, longer)
		}
	}
	if !(byInterval[30] > byInterval[40] && byInterval[40] > byInterval[50] && byInterval[50] > byInterval[60]) {
		t.Errorf("reductions by interval %v, want fewer for longer ones from 30 s on", byInterval)
	}
}

// Reference: [Zheng] §6.1.4, §6.1.5: most random jobs gain, and where jobs disturb each other the
// makespan is shorter. So it is with the reading that is shown, and with our classifier.
func TestRandomSchedulesGain(t *testing.T) {
	studies := must.Have(playRandom(&noisy.Options{Seeds: 20, Interference: 0.05}, io.Discard))(t)
	for _, s := range studies {
		for _, i := range shown {
			got := summarize(s.lossy, i)
			if got.sooner < 0.5 || got.mean <= 0 || got.span >= 0 {
				t.Errorf("%d jobs, %s: %+v, want most sooner, a mean gain, a shorter makespan", s.jobs, s.settings[i].name, got)
			}
		}
	}
}

// Random schedules keep to the thesis' setting.
func TestRandomSchedule(t *testing.T) {
	for _, n := range sizes {
		s := must.Have(randomSchedule(n, 3))(t)
		if err := s.Validate(); err != nil || len(s.Jobs) != n {
			t.Errorf("%d jobs, %v; want %d", len(s.Jobs), err, n)
		}
		var arrivals []time.Duration
		models := map[string]bool{}
		for _, job := range s.Jobs {
			arrivals = append(arrivals, job.Arrival)
			models[job.Model] = true
		}
		if !slices.IsSorted(arrivals) || arrivals[n-1] >= randomSpan {
			t.Errorf("arrivals %v", arrivals)
		}
		if n == 5 && len(models) != 5 {
			t.Errorf("models %v, want the five of the thesis", models)
		}
	}
}
