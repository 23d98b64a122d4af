// This file tests the growth of the embedded solver's time.

package main

import (
	"bytes"
	"io"
	"testing"
	"time"

	"github.com/apportion/apportion/examples/studies/command/commandtest"
	"github.com/apportion/apportion/internal/must"
)

// Every value of every axis has an instance of the sort that is asked for.
func TestAxes(t *testing.T) {
	for _, x := range axes {
		for _, n := range x.values[:3] {
			for _, full := range []bool{false, true} {
				inst, running := x.draw(n, full), 0
				for i := range inst.Apps {
					if inst.Apps[i].Running {
						running++
					}
				}
				must.Equal(t, full, running > 0, x.name, n, "full", running, "run")
			}
		}
	}
}

func TestGrowthReport(t *testing.T) {
	curves := []curve{
		{axis: &axes[2], samples: []sample{{2, 1500 * time.Microsecond, 0, 1.25}, {3, 20 * time.Millisecond, 0.0125, 12}}},
		{axis: &axes[2], full: true, samples: []sample{{2, 2 * time.Second, 0.001, 345}}},
	}
	var out bytes.Buffer
	must.Do(t, reportGrowth(&out, curves))
	const want = `The embedded solver at its usual effort: median seconds of 3 runs, its own gap, and MB allocated in one.

Kinds, 50 servers, 50 applications, 6 demands; nothing runs yet
kinds  seconds  gap      MB
2      0.0015   0.000 %  1.25
3      0.02     1.250 %  12

Kinds, 50 servers, 50 applications, 6 demands; full cluster
kinds  seconds  gap      MB
2      2        0.100 %  345
`
	must.Equal(t, out.String(), want)
}

// A curve ends with the first sample beyond the limit, and each axis has a figure.
func TestGrowth(t *testing.T) {
	curves := must.Have(grow(t.Context(), io.Discard, time.Nanosecond))(t)
	must.Equal(t, len(curves), 2*len(axes), "curves")
	for _, c := range curves {
		if len(c.samples) != 1 || c.samples[0].n != c.axis.values[0] || c.samples[0].took <= 0 || c.samples[0].megabytes <= 0 {
			t.Errorf("%s, %s: %+v", c.axis.name, c.name(), c.samples)
		}
	}
	must.Equal(t, len(growthFigures(curves)), len(axes), "figures")
	commandtest.Cancelled(t, run, "-growth", "-limit", "1ns")
}
