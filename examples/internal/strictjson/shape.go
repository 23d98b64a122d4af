// This file implements shapes: what encoding/json makes of a struct type.

package strictjson

import (
	"cmp"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
)

// shape is the JSON object that a struct type is read from.
type shape struct {
	// fields are in the order of the type, embedded ones last; byName has their positions.
	fields []shapeField
	byName map[string]int
	// item is what an element of this type is called where it has an ID, "application" for a type
	// Application; empty where it has none.
	item string
	// custom says that the type has an UnmarshalJSON of its own, opaque that only this can judge a part of
	// the object, because the field has an interface for a type.
	custom, opaque bool
}

// shapeField is one field of the object.
type shapeField struct {
	// name is that of JSON, goName that of Go, in which the library's own faults are told.
	name, goName string
	typ          reflect.Type
	// required fields must be in the text.
	required bool
}

var shapes sync.Map // of reflect.Type to *shape: types are what the program was built with

// shapeOf returns the shape of a struct type. It is made once for each type: an input has as many structs as
// it has applications.
func shapeOf(t reflect.Type) *shape {
	// Two goroutines may make the same shape at once; they are equal, and either may stay.
	if s, ok := shapes.Load(t); ok {
		return s.(*shape)
	}
	// The fields come first, since what follows looks at them.
	s := &shape{byName: map[string]int{}, custom: reads[json.Unmarshaler](t)}
	s.collect(t)
	for i, f := range s.fields {
		// Names are unique by now, because add has hidden the deeper ones.
		s.byName[f.name] = i
		// The kind of an item is its type's name: errors of Validate call it the same.
		if f.goName == "ID" && f.typ.Kind() == reflect.String {
			s.item = strings.ToLower(t.Name())
		}
		// An interface can be read by a method alone, which knows what is meant.
		s.opaque = s.opaque || s.custom && f.typ.Kind() == reflect.Interface
	}
	// Only a method can give a value to what is absent.
	if s.custom {
		s.forgiveDefaults(t)
	}
	shapes.Store(t, s)
	return s
}

// collect adds the fields of t. Those of embedded structs come behind, without those that t hides: the rule of
// Go and of encoding/json, but for two embedded structs with the same field, which encoding/json leaves out and
// our types do not have.
func (s *shape) collect(t reflect.Type) {
	// embedded wait until all fields of t are there: who is nearer hides who is deeper.
	var embedded []reflect.Type
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		// Options that do not matter here, as string, are for encoding/json.
		name, options, _ := strings.Cut(tag, ",")
		switch {
		// An embedded struct with a name of its own is a field like any other.
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct:
			embedded = append(embedded, f.Type)
		case !f.IsExported() || tag == "-": // "-," is the way to call a field "-"
		default:
			name = cmp.Or(name, f.Name)
			// Both omitempty and omitzero say that a value may be missing in what our own types write, and
			// so in what they read.
			s.add(shapeField{name, f.Name, f.Type, !strings.Contains(options, "omit")})
		}
	}
	for _, t := range embedded {
		s.collect(t)
	}
}

// add appends a field unless there is one with its name.
func (s *shape) add(field shapeField) {
	for _, f := range s.fields {
		if f.name == field.name {
			return
		}
	}
	s.fields = append(s.fields, field)
}

// forgiveDefaults makes those fields optional to which the type's own UnmarshalJSON gives a value where
// they are absent.
func (s *shape) forgiveDefaults(t reflect.Type) {
	// An empty object shows every default at once: what is not zero then was set by the method.
	v := reflect.New(t)
	_ = v.Interface().(json.Unmarshaler).UnmarshalJSON([]byte("{}")) // what it refuses has no default
	for i, f := range s.fields {
		if !v.Elem().FieldByName(f.goName).IsZero() {
			s.fields[i].required = false
		}
	}
}

// reads reports whether a pointer to t implements the interface.
func reads[T any](t reflect.Type) bool {
	// The methods of a pointer include those of its value, so that one question suffices.
	return reflect.PointerTo(t).Implements(reflect.TypeFor[T]())
}
