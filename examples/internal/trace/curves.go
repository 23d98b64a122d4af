// This file reads learning curves: the value of a job's evaluation function as it trains.

package trace

import (
	"io"
	"iter"
	"time"
)

// Point is one point of a learning curve.
type Point struct {
	// Step counts iterations or epochs.
	Step Maybe[float64]
	// At is the training time of that step.
	At Maybe[time.Duration]
	// Value is the evaluation function; NaN and infinities are real and say that the run diverged.
	Value Maybe[float64]
}

// Curve reads one learning curve.
func Curve(file string, in io.Reader) iter.Seq2[Point, error] {
	// Only the value may be NaN: a step or a time that is not finite is a fault of the file.
	return rows(file, in, []string{"step", "t_s", "value"}, func(r *row) Point {
		return Point{Step: r.number("step"), At: r.seconds("t_s"), Value: r.real("value")}
	})
}

// CurveInfo describes one learning curve of a folder.
type CurveInfo struct {
	File   string
	Points Maybe[int64]
	// Family is the kind of model, Metric the evaluation function.
	Family, Model, Dataset, Metric string
	// Better is "min" where smaller values are better, "max" where larger ones are.
	Better string
	// TimeIs says what Point.At measures; empty: the curve has steps only.
	TimeIs string
	Note   string
}

// CurveIndex reads the list of a folder's learning curves.
func CurveIndex(file string, in io.Reader) iter.Seq2[CurveInfo, error] {
	columns := []string{"file", "points", "family", "model", "dataset", "metric", "better", "t_s_is", "note"}
	return rows(file, in, columns, func(r *row) CurveInfo {
		return CurveInfo{
			File:    r.id("file"),
			Points:  r.count("points"),
			Family:  r.text("family"),
			Model:   r.text("model"),
			Dataset: r.text("dataset"),
			Metric:  r.text("metric"),
			Better:  r.text("better"),
			TimeIs:  r.text("t_s_is"),
			Note:    r.text("note"),
		}
	})
}
