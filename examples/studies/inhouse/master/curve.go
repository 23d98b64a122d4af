// This file reads the loss curves of jobs from the files that the trainers of all attempts append to.

package master

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apportion/apportion/checkpoint/page"
	"github.com/apportion/apportion/checkpoint/store"
)

// CurveFile is the file in the directory of an attempt that holds its losses, one JSON object a line.
const CurveFile = "curve.jsonl"

// Point is the loss after a step.
type Point struct {
	Step  int64   `json:"step"`
	Value float64 `json:"value"`
	// At is when the step was done, in seconds since 1970; 0 if the trainer does not say.
	At float64 `json:"at,omitempty"`
}

// Time is At.
func (p *Point) Time() time.Time { return time.UnixMicro(int64(p.At * 1e6)) }

// Run is an attempt and the steps that it did, in the order in which they were done. An agent that dies before it has noted a start leaves
// an attempt that is started anew: its steps are then there twice.
type Run struct {
	Attempt int64
	Points  []Point
}

// Runs returns the attempts of a job that did a step, in the order of their numbers.
// A job without a folder has none.
func Runs(shared, job string) ([]Run, error) {
	folder := filepath.Join(shared, string(store.FolderOf(job)))
	attempts, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var runs []Run
	for _, entry := range attempts {
		name := filepath.Join(folder, entry.Name(), CurveFile)
		if _, err := os.Stat(name); err != nil {
			continue // it has not written any yet
		}
		attempt, err := strconv.ParseInt(entry.Name(), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		points, err := readCurve(name)
		if err != nil {
			return nil, err
		}
		if len(points) > 0 {
			runs = append(runs, Run{attempt, points})
		}
	}
	slices.SortFunc(runs, func(a, b Run) int { return cmp.Compare(a.Attempt, b.Attempt) })
	return runs, nil
}

// Curve returns the losses of a job by step. A step that was done again counts as it was done last: what was done after the
// newest checkpoint was lost with its process.
// It never has a step twice, and has no gap if nothing was lost.
func Curve(shared, job string) ([]Point, error) {
	runs, err := Runs(shared, job)
	var curve []Point
	for _, run := range runs {
		for _, p := range run.Points {
			curve = follow(curve, p)
		}
	}
	return curve, err
}

// follow puts a point behind a curve, in place of all from its step on.
func follow(curve []Point, p Point) []Point {
	for len(curve) > 0 && curve[len(curve)-1].Step >= p.Step {
		curve = curve[:len(curve)-1]
	}
	return append(curve, p)
}

// readCurve reads one file. A last line that is not whole belongs to a process that was killed.
func readCurve(name string) ([]Point, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var curve []Point
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var p Point
		if json.Unmarshal(lines.Bytes(), &p) == nil {
			curve = append(curve, p)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return curve, nil
}

// polyline returns a curve as the points of an SVG line, at most one a pixel: the mean of the losses
// there, on a scale from the least to the greatest.
func polyline(curve []Point, steps int64) string {
	var sums, counts [page.CurveWidth + 1]float64
	for _, p := range curve {
		x := min(p.Step*page.CurveWidth/max(steps, 1), page.CurveWidth)
		sums[x] += p.Value
		counts[x]++
	}
	low, high := math.Inf(1), math.Inf(-1)
	for x := range sums {
		if counts[x] > 0 {
			sums[x] /= counts[x]
			low, high = min(low, sums[x]), max(high, sums[x])
		}
	}
	var text strings.Builder
	for x := range sums {
		if counts[x] > 0 {
			y := page.CurveHeight * (high - sums[x]) / max(high-low, 1e-9)
			fmt.Fprintf(&text, "%d,%.1f ", x, y)
		}
	}
	return strings.TrimSpace(text.String())
}
