// This file holds recorded learning curves with what was still ahead at every time: the truth that
// classifiers are held against.

package main

import (
	"math"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/apportion/apportion/examples/internal/trace"
	"github.com/apportion/apportion/growth"
)

// curve is one recorded run, its time stretched to [0, 1].
// at ascends from 0 to 1.
type curve struct {
	name, family string
	better       growth.Direction
	at, values   []float64
	// left is the share of all improvement that comes after each point.
	left []float64
}

// readCurves reads all curves of a folder.
// Their order is that of the index.
func readCurves(folder string) ([]*curve, error) {
	file, err := os.Open(filepath.Join(folder, "INDEX.csv"))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var all []*curve
	for info, err := range trace.CurveIndex("INDEX.csv", file) {
		if err != nil {
			return nil, err
		}
		// "CNN (U-Net)" is of the family of all CNNs.
		family, _, _ := strings.Cut(info.Family, " ")
		c := &curve{name: info.File, family: family, better: growth.SmallerIsBetter}
		if info.Better == "max" {
			c.better = growth.LargerIsBetter
		}
		if err := c.read(filepath.Join(folder, info.File), info.TimeIs != ""); err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// read reads the points: by time where that is known, by step elsewhere.
// A curve has at least two points at different times.
func (c *curve) read(path string, timed bool) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	for point, err := range trace.Curve(path, file) {
		if err != nil {
			return err
		}
		at := point.Step.Value
		if timed && point.At.Known {
			at = point.At.Value.Seconds()
		}
		c.at, c.values = append(c.at, at), append(c.values, point.Value.Value)
	}
	first, last := c.at[0], c.at[len(c.at)-1]
	for i := range c.at {
		c.at[i] = (c.at[i] - first) / (last - first)
	}
	c.look()
	return nil
}

// look fills left: of the best mean of the newest 5 % of the points so far, beside the best of all. A point that
// is not finite is as bad as the worst finite one.
// left falls from 1 to 0 and never rises; a curve without any improvement is 0 everywhere.
func (c *curve) look() {
	worst := math.Inf(-1)
	down := make([]float64, len(c.values)) // smaller is better
	for i, v := range c.values {
		down[i] = v
		if c.better == growth.LargerIsBetter {
			down[i] = -v
		}
		if finite(v) {
			worst = max(worst, down[i])
		}
	}
	// It is the width that noisy.PartOf has, so that both mean the same by learned.
	width := max(1, len(c.values)/20)
	best := math.Inf(1)
	for i := range down {
		if !finite(down[i]) {
			down[i] = worst
		}
		sum := 0.0
		newest := down[max(0, i-width+1) : i+1]
		for _, v := range newest {
			sum += v
		}
		best = min(best, sum/float64(len(newest)))
		c.left = append(c.left, best)
	}
	for i, start := range append([]float64(nil), c.left...) {
		c.left[i] = 0
		if all := down[0] - best; all > 0 {
			c.left[i] = (start - best) / all
		}
	}
}

// A diverging run prints NaN or infinity.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// point returns the newest point at a time in [0, 1].
// 1e-12 lets a time that was computed find the point that it is meant for.
func (c *curve) point(at float64) int {
	return max(0, sort.SearchFloat64s(c.at, at+1e-12)-1)
}
