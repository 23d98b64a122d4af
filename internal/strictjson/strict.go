// This file implements Decode: it checks a text against a type, lets encoding/json set the value, and
// asks for what else is wrong with it.

package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/apportion/apportion"
)

const (
	// maxInput is the largest text in bytes where Options do not say otherwise: some hundred thousand
	// applications.
	maxInput = 64 << 20
	// maxDepth is how deep a value that is skipped may be nested.
	maxDepth = 100
)

// The ways in which a text can be no JSON, or too much of it.
var (
	ErrTooLong  = fmt.Errorf("the input is longer than %d bytes", maxInput)
	ErrTooDeep  = fmt.Errorf("the input is nested more than %d deep", maxDepth)
	ErrCutOff   = errors.New("the input ends too early")
	ErrTrailing = errors.New("the input goes on after its end")
)

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

// Options say what the types do not. The zero value and nil: there is nothing to say.
type Options struct {
	// Items maps the path of a JSON object with any keys to the kind of thing that its keys name:
	// {"previous": "application"}. Faults in an entry then name that item. The elements of lists need
	// no such entry: a struct with an ID is an item, and the name of its type the kind.
	Items map[string]string
	// Keys returns the keys that the object with that path must have, each of them and no other; nil: it
	// may have any.
	Keys func(path string) []string
	// Item names what the whole text is about, for faults of no other item. It is called when the value
	// has been set.
	Item func() apportion.Item
	// Kinds names the quantities of resources in faults. It is called when the value has been set.
	Kinds func() apportion.Kinds
	// Validate returns what else is wrong with the value that was read, as apportion.Faults whose fields
	// have the names of Go; any other error is returned as it is. Faults that only follow from one of the
	// text are left out.
	Validate func() error
}

// Decode reads one JSON value and nothing behind it, and sets v, a pointer, to it. The error is an
// *Error with every fault, or says why the text is no JSON. After an error v holds what could be read.
// O(length of the text); the text is held in memory.
func Decode(in io.Reader, v any, o *Options) error {
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
	if o == nil {
		o = &Options{}
	}
	w := newWalker(text, o)
	w.value(reflect.TypeOf(v).Elem(), "")
	if w.end(); w.err != nil {
		return w.err
	}
	if err := json.Unmarshal(w.repaired(0, len(text)), v); err != nil && len(w.faults) == 0 && !w.refused(err, "", 0) {
		return err // which would be a fault of the walk: it accepts no more than json.Unmarshal does
	}
	return o.finish(w, reflect.TypeOf(v).Elem())
}

// finish completes the faults of the text, and adds those of Validate.
func (o *Options) finish(w *walker, t reflect.Type) error {
	names := newNames(t)
	result := &Error{}
	for _, f := range w.faults {
		fault := f.FieldError
		if fault.Item.IsZero() && o.Item != nil {
			fault.Item = o.Item()
		}
		fault.Field = o.nameKind(names, fault.Field)
		result.Faults = append(result.Faults, &fault)
		result.Lines = append(result.Lines, lineOf(w.text, f.offset))
	}
	if o.Validate != nil {
		var found apportion.Faults
		if err := o.Validate(); err != nil && !errors.As(err, &found) {
			return err
		}
		ofText := result.Faults
		for _, fault := range found {
			named := *fault
			named.Field = o.nameKind(names, names.json(fault.Field))
			if !slices.ContainsFunc(ofText, func(f *apportion.FieldError) bool { return follows(&named, f) }) {
				result.Faults, result.Lines = append(result.Faults, &named), append(result.Lines, 0)
			}
		}
	}
	if len(result.Faults) == 0 {
		return nil
	}
	return result
}

// follows reports whether a says again what b says: it concerns the same item and the same field, or the
// field of which that of b is a part. A b without a field concerns the whole item.
func follows(a, b *apportion.FieldError) bool {
	return a.Item.String() == b.Item.String() && (b.Field == "" || a.Field != "" && within(b.Field, a.Field))
}

// within reports whether a path is that of a field or of a part of it.
func within(path, field string) bool {
	rest, ok := strings.CutPrefix(path, field)
	return ok && (rest == "" || rest[0] == '[' || rest[0] == '.')
}

// lineOf returns the line of a place in a text, from 1.
func lineOf(text []byte, offset int) int { return 1 + bytes.Count(text[:offset], []byte("\n")) }
