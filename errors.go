// This file holds the errors that every package shares: one sentinel for each sort of bad input,
// FieldError that says where it is, and Faults that lists all of them.

package apportion

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// The sorts of bad input. Match them with errors.Is; the place is in the [*FieldError] around.
var (
	ErrEmpty     = errors.New("is empty")
	ErrDuplicate = errors.New("is there twice")
	ErrUnknown   = errors.New("is unknown")
	ErrNegative  = errors.New("is negative")
	ErrRange     = errors.New("is out of range")
	ErrNotFinite = errors.New("is not a finite number")
	ErrOverflow  = errors.New("overflows int64")
	ErrLength    = errors.New("has the wrong length")
	ErrConflict  = errors.New("contradicts another field")
)

// FieldError is one fault in the caller's input.
type FieldError struct {
	// Item is what has the fault, for instance `application "lr"`; empty: the input itself.
	Item string
	// Field is the field of the item, for instance "Demand[gpu]".
	Field string
	// Detail is the offending value or a remark; it may be empty.
	Detail string
	// Err is the sort of fault: one of the sentinels of this package or of the package called.
	Err error
}

// Error returns "item: field is negative: -3".
func (e *FieldError) Error() string {
	var text strings.Builder
	if e.Item != "" {
		text.WriteString(e.Item + ": ")
	}
	if e.Field != "" {
		text.WriteString(e.Field + " ")
	}
	text.WriteString(e.Err.Error())
	if e.Detail != "" {
		text.WriteString(": " + e.Detail)
	}
	return text.String()
}

// Unwrap returns the sort of fault, for errors.Is.
func (e *FieldError) Unwrap() error { return e.Err }

// Faults lists every fault of an input, in the order of the input. As an error it is never empty;
// errors.Is and errors.As look into each fault.
type Faults []*FieldError

// Error returns the faults, one a line.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, fault := range f {
		lines[i] = fault.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the faults one by one.
func (f Faults) Unwrap() []error {
	errs := make([]error, len(f))
	for i, fault := range f {
		errs[i] = fault
	}
	return errs
}

// Add appends a fault.
func (f *Faults) Add(item, field string, err error, detail string) {
	*f = append(*f, &FieldError{Item: item, Field: field, Detail: detail, Err: err})
}

// Err returns f as an error, or nil if there is no fault.
func (f Faults) Err() error {
	if len(f) == 0 {
		return nil
	}
	return f
}

// CheckWeight adds to faults a weight that is not positive and finite: NaN and infinities are
// ErrNotFinite, zero and below ErrRange. A weight of zero is refused because a client of weight
// zero would never run.
func CheckWeight(faults *Faults, weight float64, item string) {
	switch {
	case math.IsNaN(weight) || math.IsInf(weight, 0):
		faults.Add(item, "Weight", ErrNotFinite, formatFloat(weight))
	case weight <= 0:
		faults.Add(item, "Weight", ErrRange, formatFloat(weight)+" is not positive")
	}
}

func formatFloat(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
