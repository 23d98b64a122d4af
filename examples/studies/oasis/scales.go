// This file plays OASiS with other U and L, [OASiS] §5, estimates of U and L.

package main

import (
	"context"
	"fmt"
	"io"

	"github.com/apportion/apportion/examples/studies/command"
	"github.com/apportion/apportion/placement/sim/policies"
	"github.com/apportion/apportion/primaldual"
)

// scale is a choice of U and L; second: from the total utility of a first run.
type scale struct {
	name    string
	second  bool
	options primaldual.BoundsOptions
}

// bounds returns U and L for a workload.
func (c *scale) bounds(ctx context.Context, w *workload) (primaldual.Bounds, error) {
	if c.second {
		return secondBounds(ctx, w, c.options)
	}
	return primaldual.BoundsOf(w.cluster, w.jobs, &c.options)
}

// scales are the form of L that the paper prints, that of a second run, and factors on U and L.
// The paper varies both by factors of two around the truth; here the range is wider, as the interesting
// part lies outside.
var scales = []scale{
	{"as computed", false, primaldual.BoundsOptions{}},
	{"2nd run", true, primaldual.BoundsOptions{}},
	{"2nd run, L / 3", true, primaldual.BoundsOptions{LScale: 1.0 / 3}},
	{"2nd run, L x 3", true, primaldual.BoundsOptions{LScale: 3}},
	{"as printed", false, primaldual.BoundsOptions{Literal: true}},
	{"L / 100", false, primaldual.BoundsOptions{LScale: 0.01}},
	{"L / 2", false, primaldual.BoundsOptions{LScale: 0.5}},
	{"L x 2", false, primaldual.BoundsOptions{LScale: 2}},
	{"L x 100", false, primaldual.BoundsOptions{LScale: 100}},
	{"L x 1000", false, primaldual.BoundsOptions{LScale: 1000}},
	{"L x 10000", false, primaldual.BoundsOptions{LScale: 10000}},
	{"U / 100", false, primaldual.BoundsOptions{UScale: 0.01}},
	{"U / 2", false, primaldual.BoundsOptions{UScale: 0.5}},
	{"U x 2", false, primaldual.BoundsOptions{UScale: 2}},
	{"U x 100", false, primaldual.BoundsOptions{UScale: 100}},
	{"both / 100", false, primaldual.BoundsOptions{LScale: 0.01, UScale: 0.01}},
	{"both / 2", false, primaldual.BoundsOptions{LScale: 0.5, UScale: 0.5}},
	{"both x 2", false, primaldual.BoundsOptions{LScale: 2, UScale: 2}},
	{"both x 100", false, primaldual.BoundsOptions{LScale: 100, UScale: 100}},
}

// playScales plays every workload with every scale and returns the totals by size, seed and scale.
func (s *study) playScales(ctx context.Context, stderr io.Writer) ([][][]float64, error) {
	return command.Grid(ctx, [2]int{len(s.sizes), s.seeds}, stderr, "simulating", func(ctx context.Context, size, seed int) ([]float64, error) {
		w, totals := s.workload(size, seed), make([]float64, len(scales))
		for i := range scales {
			bounds, err := scales[i].bounds(ctx, w)
			if err != nil {
				return nil, err
			}
			_, result, err := w.run(ctx, &policies.OASiS{Bounds: &bounds})
			if err != nil {
				return nil, err
			}
			totals[i] = result.Worth()
		}
		return totals, nil
	})
}

// reportScales prints the total utility of OASiS with other bounds, and the change against those that
// are computed.
func (s *study) reportScales(ctx context.Context, w, stderr io.Writer) error {
	totals, err := s.playScales(ctx, stderr)
	if err != nil {
		return err
	}
	fmt.Fprintln(w, "OASiS with other U and L: total utility, mean, and change.")
	table := command.NewTable(w)
	table.Row("bounds", len(s.sizes), func(size int) string { return fmt.Sprintf("%d jobs\t", s.sizes[size]) })
	for i, scale := range scales {
		table.Row(scale.name, len(s.sizes), func(size int) string {
			total, first := 0.0, 0.0
			for _, of := range totals[size] {
				total, first = total+of[i], first+of[0]
			}
			return fmt.Sprintf("%.0f\t%+.0f %%", total/float64(s.seeds), 100*(total/first-1))
		})
	}
	table.End()
	return nil
}
