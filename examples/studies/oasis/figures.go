// This file draws the study: utility by number of jobs, and completion against target.

package main

import (
	"fmt"

	"gonum.org/v1/plot/plotter"

	"github.com/apportion/apportion/examples/studies/chart"
)

// lateRange is how many slots after the target the figures show.
const lateRange = 20

func (s *study) figures() []*chart.Figure {
	utility := chart.New("utility", "Total utility by number of jobs", "", "Total utility (mean)")
	certified := chart.New("bound", "Part of the certified bound", "", "Total utility / bound (mean)")
	var groups []string
	for _, n := range s.sizes {
		groups = append(groups, fmt.Sprintf("%d jobs", n))
	}
	for place, name := range policyNames {
		var totals, parts []float64
		for size := range s.sizes {
			totals = append(totals, mean(s.totals(size, place)))
			parts = append(parts, mean(s.each(size, func(runs []*played) float64 { return runs[place].total / runs[0].bound })))
		}
		utility.Bars(groups, place, len(policyNames), name, totals)
		certified.Bars(groups, place, len(policyNames), name, parts)
	}
	figures := []*chart.Figure{utility, certified}
	for _, of := range []struct {
		name string
		class
	}{{"sensitive", sensitive}, {"critical", critical}} {
		title := fmt.Sprintf("Time-%s jobs that ended by a time, %d jobs", of.name, s.sizes[targetSize])
		f := chart.New(of.name, title, "Slots after the target (jobs in time: 0)", "Part of all such jobs")
		for place, name := range policyNames {
			late, jobs := s.lateness(targetSize, place, of.class)
			f.Steps(place, name, ended(late, jobs))
		}
		figures = append(figures, f)
	}
	return figures
}

// ended returns which part of the jobs has ended how many slots after the target.
func ended(late []float64, jobs int) plotter.XYs {
	var points plotter.XYs
	for slots := 0.0; slots <= lateRange; slots++ {
		points = append(points, plotter.XY{X: slots, Y: float64(atMost(late, slots)) / float64(max(jobs, 1))})
	}
	return points
}
