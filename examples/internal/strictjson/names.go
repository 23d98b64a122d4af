// This file implements the way from the names of Go fields to those of JSON.

package strictjson

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/apportion/apportion"
)

// Names knows the names that the fields of some types have in JSON.
type Names struct {
	// fields maps the name of a Go field to that of JSON.
	fields map[string]string
	// quantities are the JSON names of fields with a quantity for each kind of resource.
	quantities map[string]bool
}

// NamesOf serves faults that come from elsewhere than a text, from a scheduler for instance that refuses a job
// later on. It returns the names of all fields in the types of the values, and in those of their fields.
func NamesOf(values ...any) *Names {
	types := make([]reflect.Type, len(values))
	for i, v := range values {
		types[i] = reflect.TypeOf(v)
	}
	return newNames(types...)
}

// newNames is NamesOf for types, from which Unmarshal comes.
func newNames(types ...reflect.Type) *Names {
	n := &Names{map[string]string{}, map[string]bool{}}
	// Types may contain themselves through pointers or slices.
	seen := map[reflect.Type]bool{}
	for _, t := range types {
		n.add(t, seen)
	}
	return n
}

// add enters the fields of t and of all that t is made of.
func (n *Names) add(t reflect.Type, seen map[reflect.Type]bool) {
	// Each type is entered once, so that the cost is that of the types and not of the ways to them.
	if seen[t] {
		return
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		n.add(t.Elem(), seen)
	// Other kinds have no fields, and end the walk.
	case reflect.Struct:
		for _, f := range shapeOf(t).fields {
			// Of two types that call a Go field differently the first in the order of the walk wins.
			if _, known := n.fields[f.goName]; !known {
				n.fields[f.goName] = f.name
			}
			// Positions in vectors of quantities are kinds, which a reader knows by name.
			if f.typ == reflect.TypeFor[apportion.Resources]() {
				n.quantities[f.name] = true
			}
			n.add(f.typ, seen)
		}
	}
}

// JSON returns a field of a fault with the names of JSON: "Options.Share" becomes "options.share",
// "Demand[GPU]" becomes "demand[GPU]". The name of a field that no type has, for instance of a setting
// that is computed, is written in small letters.
func (n *Names) JSON(field string) string {
	// The text in brackets is an ID of the input, which may look like a field.
	from, to := strings.Index(field, "["), strings.LastIndex(field, "]")
	if from < 0 || to < from {
		return n.words(field)
	}
	return n.words(field[:from]) + field[from:to] + n.words(field[to:]) // what is in brackets is no field
}

// words returns text with the names of JSON for those of Go, which are at its beginning or behind a dot or space. It does without package
// regexp, which a page would have to load.
func (n *Names) words(text string) string {
	var out strings.Builder
	for at, end := 0, 0; at < len(text); at = end {
		end = at + 1
		if !isUpper(text[at]) || at > 0 && text[at-1] != '.' && text[at-1] != ' ' {
			out.WriteByte(text[at])
			continue
		}
		for end < len(text) && isWord(text[end]) {
			end++
		}
		out.WriteString(n.word(text[at:end]))
	}
	return out.String()
}

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }

func isWord(c byte) bool {
	return isUpper(c) || 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '_'
}

// word returns the name of JSON for what may be one of Go.
func (n *Names) word(word string) string {
	if name, ok := n.fields[word]; ok {
		return name
	}
	// Names of Go have no underscore, and those of JSON may begin with a capital: "U_worker".
	if strings.Contains(word, "_") {
		return word // which is a name of JSON
	}
	return strings.ToLower(word)
}

// withKind turns the position of a quantity at the end of a path, as in "demand[1]", into the name of its
// kind, where there is one.
func (n *Names) withKind(field string, kinds func() apportion.Kinds) string {
	// Only the first bracket counts: vectors of quantities are not nested.
	list, position, ok := strings.Cut(strings.TrimSuffix(field, "]"), "[")
	if kinds == nil || !ok || !n.quantities[list[strings.LastIndex(list, ".")+1:]] {
		return field
	}
	// A position beyond the kinds stays a number: it is one that Validate complains of.
	k, err := strconv.Atoi(position)
	if all := kinds(); err == nil && k < len(all) {
		return list + "[" + all.Name(k) + "]"
	}
	return field
}

// within reports whether a path is that of a field or of a part of it.
func within(path, field string) bool {
	// Paths are compared as texts, since every one of them is made by join and entryPath.
	rest, ok := strings.CutPrefix(path, field)
	// The character behind must end a name, so that "share" is not within "sha".
	return ok && (rest == "" || rest[0] == '[' || rest[0] == '.')
}
