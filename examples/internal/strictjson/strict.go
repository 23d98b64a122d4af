// This file implements Decode: it checks a text against a type, lets encoding/json set the value, and
// asks for what else is wrong with it.

package strictjson

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"

	"github.com/apportion/apportion"
)

// maxInput is the largest text in bytes: some hundred thousand applications.
const maxInput = 64 << 20

// ErrTooLong is a text of more than 64 MiB.
var ErrTooLong = fmt.Errorf("the input is longer than %d bytes", maxInput)

// Error lists the faults of a text that is JSON. It unwraps to its Faults.
type Error struct {
	// Faults are those of the text, in its order, and then those that Options.Validate has found.
	Faults apportion.Faults
	// Lines has the line of each fault in the text, from 1; 0 for those of Options.Validate.
	Lines []int
}

// Error returns the faults, one a line.
func (e *Error) Error() string { return e.Faults.Error() }

// Unwrap returns the faults.
func (e *Error) Unwrap() error { return e.Faults }

// Decode reads one JSON value and nothing behind it, and sets v, a pointer, to it. The error is an
// *Error with every fault, or says why the text is no JSON. After an error v holds what could be read.
// O(length of the text); the text is held in memory.
func Decode(in io.Reader, v any, o *Options) error {
	// One byte more than is allowed tells a text that is too long from one that just fits.
	// The walk needs the text twice, for offsets and for json.Unmarshal, so it cannot be a stream.
	text, err := io.ReadAll(io.LimitReader(in, maxInput+1))
	if err == nil && len(text) > maxInput {
		err = ErrTooLong
	}
	if err != nil {
		return err
	}
	return Unmarshal(text, v, o)
}

// Unmarshal is Decode for a text in memory.
func Unmarshal(text []byte, v any, o *Options) error {
	o = cmp.Or(o, &Options{})
	// Nearly all texts are right, and need no walk. What encoding/json refuses after all the walk puts into words.
	if into := reflect.ValueOf(v).Elem(); isClean(text, into.Type(), o) {
		before := reflect.New(into.Type()).Elem()
		before.Set(into)
		if json.Unmarshal(text, v) == nil {
			return (&walker{Options: o}).finish(into.Type())
		}
		into.Set(before)
	}
	return walk(text, v, o)
}

// walk is Unmarshal without a look beforehand.
func walk(text []byte, v any, o *Options) error {
	w := &walker{cursor: newCursor(text), Options: o}
	// The walk sees the whole text before anything is set; a text that is no JSON sets nothing.
	w.value(reflect.TypeOf(v).Elem(), "")
	// An error of the text outweighs all faults, of which some may be its consequence.
	if w.end(); w.err != nil {
		return w.err
	}
	// 1. the walk has noted the faults, 2. the rest is set, 3. finish asks for what else is wrong.
	if err := json.Unmarshal(w.repaired(0, len(text)), v); err != nil && len(w.faults) == 0 && !w.refused(err, "", 0) {
		return err // which would be a fault of the walk: it accepts no more than json.Unmarshal does
	}
	return w.finish(reflect.TypeOf(v).Elem())
}

// finish completes the faults of the text, and adds those of Validate.
func (w *walker) finish(t reflect.Type) error {
	o := w.Options
	// told is filled with the faults of the text before Validate speaks.
	names, told := newNames(t), make(told)
	result := &Error{Lines: linesOf(w.text, w.faults)}
	for _, f := range w.faults {
		fault := f.FieldError
		// Only now is the value set that Options.Item and Options.Kinds look at.
		if fault.Item.IsZero() && o.Item != nil {
			fault.Item = o.Item()
		}
		// The walk knows positions; the kinds may have come behind them in the text.
		fault.Field = names.withKind(fault.Field, o.Kinds)
		result.Faults = append(result.Faults, &fault)
		told.add(&fault)
	}
	// Validate is asked also where the text has faults: what it finds elsewhere is news.
	found, err := validate(o)
	if err != nil {
		return err
	}
	for _, fault := range found {
		// A copy, since the fault belongs to whoever validates.
		named := *fault
		named.Field = names.withKind(names.JSON(fault.Field), o.Kinds)
		// What only follows from a fault of the text would send its reader to the wrong place.
		if !told.covers(&named) {
			result.Faults, result.Lines = append(result.Faults, &named), append(result.Lines, 0)
		}
	}
	// A typed nil would be an error that is not nil.
	if len(result.Faults) == 0 {
		return nil
	}
	return result
}

// validate returns what Options.Validate finds.
func validate(o *Options) (apportion.Faults, error) {
	if o.Validate == nil {
		return nil, nil
	}
	var found apportion.Faults
	if err := o.Validate(); err != nil && !errors.As(err, &found) {
		return nil, err
	}
	return found, nil
}

// told maps items to the fields of which a fault was told.
type told map[string][]string

func (t told) add(f *apportion.FieldError) {
	// The text of an item is its identity here: the walk and Validate make it of the same kind and ID.
	item := f.Item.String()
	t[item] = append(t[item], f.Field)
}

// covers reports whether f says again what was told: of the same item, the same field, or the field of which
// that of the fault told is a part. A fault without a field concerns the whole item.
func (t told) covers(f *apportion.FieldError) bool {
	return slices.ContainsFunc(t[f.Item.String()], func(field string) bool {
		return field == "" || f.Field != "" && within(field, f.Field)
	})
}

// linesOf returns the lines, from 1, on which faults stand in a text. O(text + faults log faults).
func linesOf(text []byte, faults []located) []int {
	order := make([]int, len(faults))
	for i := range order {
		order[i] = i
	}
	// One pass over the text counts lines for all faults, whatever their order.
	slices.SortFunc(order, func(a, b int) int { return faults[a].offset - faults[b].offset })
	lines := make([]int, len(faults))
	// line is the number of the line in which the byte at stands.
	line, at := 1, 0
	for _, i := range order {
		line += bytes.Count(text[at:faults[i].offset], []byte("\n"))
		lines[i], at = line, faults[i].offset
	}
	return lines
}
