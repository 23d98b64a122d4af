// This file decodes the fields of one row.

package trace

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/apportion/apportion"
)

// Maybe is a value that the source may not know.
type Maybe[T any] struct {
	// Value is the zero value unless Known.
	Value T
	Known bool
}

// Known returns a value that is known.
func Known[T any](value T) Maybe[T] { return Maybe[T]{Value: value, Known: true} }

// row is one row of a table. Its methods take the name of a column that open has checked, and keep
// the first fault.
// fields are those of the present line, in the order of the header; the next line reuses them.
type row struct {
	table  *table
	fields []string
	fault  *Error
}

// err returns the first fault. It is no *Error, since a nil pointer in an interface would not be nil.
func (r *row) err() error {
	if r.fault == nil {
		return nil
	}
	return r.fault
}

// fail keeps the fault if it is the first one.
func (r *row) fail(column string, err error) {
	if r.fault != nil {
		return
	}
	// The position is that of the field, since a quoted field before it may go over several lines.
	line, _ := r.table.csv.FieldPos(r.at(column))
	detail := fmt.Errorf("%w: %q", err, r.text(column))
	r.fault = &Error{File: r.table.file, Line: line, Column: column, Err: detail}
}

// at returns the position of a column. The header is short, so a map would not pay.
func (r *row) at(column string) int { return slices.Index(r.table.header, column) }

// text returns the field as it is; empty where it is unknown.
func (r *row) text(column string) string { return r.fields[r.at(column)] }

// id returns a field that must not be empty.
func (r *row) id(column string) string {
	text := r.text(column)
	if text == "" {
		r.fail(column, apportion.ErrEmpty)
	}
	return text
}

// real returns any number, NaN and infinities included.
func (r *row) real(column string) Maybe[float64] {
	text := r.text(column)
	if text == "" {
		return Maybe[float64]{}
	}
	// ParseFloat takes "nan" and "inf" in any case; number refuses them where they make no sense.
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		r.fail(column, ErrNumber)
		return Maybe[float64]{}
	}
	return Known(x)
}

// number returns a finite number that is not negative.
func (r *row) number(column string) Maybe[float64] {
	x := r.real(column)
	switch {
	case math.IsNaN(x.Value) || math.IsInf(x.Value, 0):
		r.fail(column, apportion.ErrNotFinite)
	case x.Value < 0:
		r.fail(column, apportion.ErrNegative)
	}
	return x
}

// count returns an integer that is not negative.
func (r *row) count(column string) Maybe[int64] {
	text := r.text(column)
	if text == "" {
		return Maybe[int64]{}
	}
	// A fraction is refused: half a task is a fault of the file.
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil:
		r.fail(column, ErrNumber)
	case n < 0:
		r.fail(column, apportion.ErrNegative)
	}
	return Known(n)
}

// seconds returns a number of seconds, rounded to the microsecond: a float64 of seconds tells
// microseconds apart for 285 years, but nanoseconds for three months only.
func (r *row) seconds(column string) Maybe[time.Duration] {
	x := r.number(column)
	if !x.Known || r.fault != nil {
		return Maybe[time.Duration]{}
	}
	// Beyond 292 years a time.Duration would overflow, and the conversion of the float64 would be undefined.
	if x.Value >= float64(math.MaxInt64/time.Second) {
		r.fail(column, apportion.ErrOverflow)
		return Maybe[time.Duration]{}
	}
	return Known(time.Duration(math.Round(x.Value*1e6)) * time.Microsecond)
}
