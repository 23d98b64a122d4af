// This file reads measured speeds and turns them into the ways to run a job.
// Measurements come from short trial runs of a job, or from a curve fitted to them. A table keeps
// what was measured, and rounding is always to the safe side: a plan may end early, but does not
// promise what was never seen.

package primaldual

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/apportion/apportion"
)

// StepTime is a measurement: how long one training step takes with some numbers of workers and parameter servers.
// A step is one update of the parameters, whatever number of workers takes part in it.
type StepTime struct {
	Workers int64   `json:"workers"`
	PS      int64   `json:"ps"`
	Seconds float64 `json:"seconds"`
}

// stepColumns are the columns of a table of step times.
var stepColumns = []string{"workers", "parameter_servers", "seconds"}

// ReadStepTimes reads a CSV table with the columns workers, parameter_servers and seconds, in any order; other columns are
// left alone. A fault is an [*apportion.FieldError] that names line and column: a column that is missing (ErrMissing), a
// value that is no number (ErrType) or out of range: workers from 1, parameter servers from 0, seconds above 0 (ErrRange).
func ReadStepTimes(in io.Reader) ([]StepTime, error) {
	rows := csv.NewReader(in)
	header, err := rows.Read()
	if err != nil {
		return nil, fmt.Errorf("step times: header: %w", err)
	}
	var at [3]int
	// Columns are found by name: tables written by other programs have more of them, and in another
	// order.
	for i, name := range stepColumns {
		if at[i] = slices.Index(header, name); at[i] < 0 {
			return nil, &apportion.FieldError{Item: apportion.Item{ID: "step times"}, Field: name, Err: apportion.ErrMissing}
		}
	}
	var times []StepTime
	for {
		row, err := rows.Read()
		if err == io.EOF {
			return times, nil
		}
		if err != nil {
			return nil, fmt.Errorf("step times: %w", err)
		}
		// The reader knows the line also where a quoted field spans several; counting rows would
		// name a wrong one.
		line, _ := rows.FieldPos(0)
		var values [3]float64
		for i, name := range stepColumns {
			if values[i], err = readStep(row[at[i]], i); err != nil {
				return nil, &apportion.FieldError{Item: apportion.Item{ID: fmt.Sprint("line ", line)}, Field: name, Err: err, Detail: strconv.Quote(row[at[i]])}
			}
		}
		// readStep has refused what is not whole, so that the conversions are exact.
		times = append(times, StepTime{int64(values[0]), int64(values[1]), values[2]})
	}
}

// readStep reads a value of the i-th column.
func readStep(text string, i int) (float64, error) {
	x, err := strconv.ParseFloat(text, 64)
	// Whole numbers above 2^53 are not exact, and no cluster has so many servers.
	switch whole := x == math.Trunc(x) && x <= maxWorkerSlots; {
	case err != nil || math.IsNaN(x):
		return 0, apportion.ErrType
	case i == 0 && (!whole || x < 1), i == 1 && (!whole || x < 0), i == 2 && (!(x > 0) || math.IsInf(x, 0)):
		return 0, apportion.ErrRange
	}
	return x, nil
}

// StepTimes tabulates a fitted curve: what one step takes, in seconds, with every number of workers from 1 to workers and of
// parameter servers from 0 to ps. Where the curve returns no positive finite number those containers do not run together, and
// there is no row: a curve of a job that needs parameter servers returns 0 without any. O(workers x ps) calls.
// It also takes what a fit over a few points says of numbers that were never run, so that the
// caller chooses how far it reaches.
func StepTimes(seconds func(workers, ps int64) float64, workers, ps int64) []StepTime {
	var times []StepTime
	for y := int64(1); y <= workers; y++ {
		for z := int64(0); z <= ps; z++ {
			// t > 0 is false for what is not a number, too.
			if t := seconds(y, z); t > 0 && !math.IsInf(t, 1) {
				times = append(times, StepTime{y, z, t})
			}
		}
	}
	return times
}

// Speeds returns the ways to run a job whose steps take these times, where a unit of work is so many steps and a slot lasts
// slot: units are rounded down, so that no plan promises more than was measured, and ways that do not a single one are left
// out. Of several measurements of one way the slowest counts. Steps must be positive.
func Speeds(times []StepTime, slot time.Duration, steps float64) []Speed {
	var ways []Speed
	for _, t := range times {
		// units = floor(slot / (seconds a step) / (steps a unit)), within [1, 2^53] as checkSpeeds
		// wants it.
		if units := math.Floor(slot.Seconds() / t.Seconds / steps); units >= 1 && units <= maxWorkerSlots {
			ways = append(ways, Speed{t.Workers, t.PS, int64(units)})
		}
	}
	// Units come last in the order, ascending: of several measurements of one way CompactFunc keeps
	// the first, which is the slowest.
	slices.SortFunc(ways, func(a, b Speed) int {
		return cmp.Or(cmp.Compare(a.Workers, b.Workers), cmp.Compare(a.PS, b.PS), cmp.Compare(a.Units, b.Units))
	})
	return slices.CompactFunc(ways, func(a, b Speed) bool { return a.Workers == b.Workers && a.PS == b.PS })
}
