// This file holds the errors that every package shares: one sentinel for each sort of bad input,
// Item and FieldError that say where it is, and Faults that lists all of them.

package apportion

import (
	"errors"
	"strconv"
	"strings"

	"github.com/apportion/apportion/internal/exact"
)

// The sorts of bad input. Match them with errors.Is; the place is in the [*FieldError] around.
var (
	ErrEmpty     = errors.New("is empty")
	ErrDuplicate = errors.New("is there twice")
	ErrUnknown   = errors.New("is unknown")
	ErrNegative  = errors.New("is negative")
	ErrRange     = errors.New("is out of range")
	ErrNotFinite = errors.New("is not a finite number")
	ErrOverflow  = exact.ErrOverflow
	ErrLength    = errors.New("has the wrong length")
	ErrConflict  = errors.New("contradicts another field")
	// ErrMissing is a required field that a text leaves out, ErrType a value of another type than the
	// field's.
	ErrMissing = errors.New("is missing")
	ErrType    = errors.New("has the wrong type")
	// ErrNoDemand is a demand that is zero in every kind: nothing would limit its containers.
	ErrNoDemand = errors.New("demands nothing")
)

// Item says which thing of an input a fault is about. The zero Item is the input itself.
type Item struct {
	// Kind is what the thing is: "server", "application", "job", "claim", "container".
	Kind string `json:"kind,omitempty"`
	// ID is its name, empty where it has none.
	ID string `json:"id,omitempty"`
	// Index is its position in its list, from 0; 0 where the caller has no list.
	Index int `json:"index,omitempty"`
}

// IsZero reports whether the item is the input itself.
func (i Item) IsZero() bool { return i == Item{} }

// String returns `server "a"`, or "server 7" where the thing has no ID, or "" for the input itself.
func (i Item) String() string {
	switch {
	case i.Kind == "":
		return i.ID
	case i.ID == "":
		return i.Kind + " " + strconv.Itoa(i.Index)
	}
	return i.Kind + " " + strconv.Quote(i.ID)
}

// FieldError is one fault in the caller's input.
type FieldError struct {
	// Item is what has the fault; the zero Item: the input itself.
	Item Item
	// Field is the path of the field in the item, for instance "Demand[gpu]".
	Field string
	// Detail is the offending value or a remark; it may be empty.
	Detail string
	// Err is the sort of fault: one of the sentinels of this package or of the package called.
	Err error
}

// Error returns "item: field is negative: -3".
func (e *FieldError) Error() string {
	var text strings.Builder
	if !e.Item.IsZero() {
		text.WriteString(e.Item.String() + ": ")
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
func (f *Faults) Add(item Item, field string, err error, detail string) {
	*f = append(*f, &FieldError{Item: item, Field: field, Detail: detail, Err: err})
}

// Err returns f as an error, or nil if there is no fault.
func (f Faults) Err() error {
	if len(f) == 0 {
		return nil
	}
	return f
}
