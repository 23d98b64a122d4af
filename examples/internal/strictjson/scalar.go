// This file implements the reading of single values, and of those that a type reads by itself.

package strictjson

import (
	"encoding"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/apportion/apportion"
)

// scalar reads a text, a number or a truth value.
func (w *walker) scalar(t reflect.Type, path string) {
	from := w.offset()
	token := w.next()
	// Only a type that reads itself knows words for numbers; the walk cannot know whether this one does.
	if w.words && isWordForNumber(token) && !isWhole(t) {
		w.spoken = true // whether the type takes the word is for itself to say
		return
	}
	if due := dueFor(t, token); due != "" {
		w.wrong(token, path, due, from)
		return
	}
	// A number of the right form may still be too large, or have a fraction where none may be.
	if number, ok := token.(json.Number); ok && !fits(number.String(), t) {
		w.add(path, apportion.ErrRange, unfit(number.String(), t), from)
		w.drop(from)
	}
}

// dueFor returns what a value of type t must be, or "" where the token is that.
func dueFor(t reflect.Type, token json.Token) string {
	due, ok := "a number", false
	switch t.Kind() {
	case reflect.Bool:
		due = "true or false"
		_, ok = token.(bool)
	// encoding/json writes bytes as text; whether it is base 64 is for json.Unmarshal to say.
	case reflect.String, reflect.Slice: // of bytes, in base 64
		due = "a string"
		_, ok = token.(string)
	default:
		if isWhole(t) {
			due = "a whole number"
		}
		_, ok = token.(json.Number)
	}
	if ok {
		return ""
	}
	return due
}

// fits reports whether a number is one of type t, as encoding/json reads them: a whole number is written
// without a fraction and without an exponent.
func fits(number string, t reflect.Type) bool {
	var err error
	switch kind := t.Kind(); {
	// The kinds of whole numbers stand in one row in package reflect, first those with a sign.
	case reflect.Int <= kind && kind <= reflect.Int64:
		_, err = strconv.ParseInt(number, 10, t.Bits())
	case reflect.Uint <= kind && kind <= reflect.Uintptr:
		_, err = strconv.ParseUint(number, 10, t.Bits())
	default:
		// A number that rounds to infinity does not fit; one that rounds to 0 does, as in encoding/json.
		_, err = strconv.ParseFloat(number, t.Bits())
	}
	return err == nil
}

// isWhole reports whether the numbers of type t are whole.
func isWhole(t reflect.Type) bool { return t.Kind() != reflect.Float32 && t.Kind() != reflect.Float64 }

// unfit says that a number is none of type t.
func unfit(number string, t reflect.Type) string {
	bits := strconv.Itoa(t.Bits())
	if !isWhole(t) {
		return number + " does not fit a " + bits + "-bit floating-point number"
	}
	return number + " is no whole number that fits " + bits + " bits"
}

// named reads a text that stands for a value of t, for instance one of an enumeration. Its UnmarshalText is
// tried on a value that is thrown away.
func (w *walker) named(t reflect.Type, path string) {
	from := w.offset()
	token := w.next()
	text, ok := token.(string)
	if !ok {
		w.wrong(token, path, "a string", from)
		return
	}
	// The error of a type may be a fault of its own, with the right sort; any other counts as an unknown name.
	err := reflect.New(t).Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(text))
	if err == nil {
		return
	}
	if !w.refused(err, path, from) {
		w.add(path, apportion.ErrUnknown, strconv.Quote(text), from)
	}
	w.drop(from)
}

// judged reads a value whose form only its own UnmarshalJSON knows: a number of seconds, a list or a number. It
// is not asked about null, which by convention it would accept and ignore.
func (w *walker) judged(t reflect.Type, path string) {
	from := w.offset()
	token := w.next()
	if token == nil {
		w.wrong(token, path, "a value", from)
		return
	}
	// The whole value is read first: the method needs its text.
	w.skip(token)
	w.judge(t, path, from)
}

// judge asks the UnmarshalJSON of t about the value that began at the offset from and has been read; what
// is known to be wrong with it counts as absent.
func (w *walker) judge(t reflect.Type, path string, from int) {
	if w.err != nil {
		return
	}
	// The method sees the value without what is known to be wrong with it, and so cannot tell the same
	// again.
	err := reflect.New(t).Interface().(json.Unmarshaler).UnmarshalJSON(w.repaired(from, w.passed()))
	if err == nil {
		return
	}
	if !w.refused(err, path, from) {
		w.add(path, apportion.ErrType, err.Error(), from)
	}
	w.drop(from)
}

// judgeFields is judge for a struct whose fields have those places: where the faults name fields, only those
// count as absent.
func (w *walker) judgeFields(t reflect.Type, path string, from int, places map[string]repair) {
	before := len(w.faults)
	w.judge(t, path, from)
	if len(w.faults) == before {
		return
	}
	// named counts the faults for which a field was found.
	// whole is the place of that repair, which is taken back below if only fields are at fault.
	whole, named := len(w.repairs)-1, 0 // judge has dropped the whole struct
	for i := before; i < len(w.faults); i++ {
		// At most one field has the name, so that the order of the map does not matter.
		for name, place := range places {
			if within(w.faults[i].Field, join(path, name)) {
				w.faults[i].offset = place.from
				w.repairs = append(w.repairs, place)
				named++
			}
		}
	}
	if named == len(w.faults)-before { // every fault has a field: the rest of the struct is right
		w.repairs = slices.Delete(w.repairs, whole, whole+1)
	}
}

// refused records the faults in an error of a type's own reading, whose fields are relative to path. It
// returns false where the error has none.
func (w *walker) refused(err error, path string, from int) bool {
	var faults apportion.Faults
	var single *apportion.FieldError
	var wrong *json.UnmarshalTypeError // of a type that hands parts of itself to encoding/json
	switch {
	// Several faults are looked for before a single one: errors.As would find the first of them.
	case errors.As(err, &faults):
	case errors.As(err, &single):
		faults = apportion.Faults{single}
	// encoding/json tells one fault and stops; another may be found when this one is gone.
	case errors.As(err, &wrong):
		faults = apportion.Faults{{Field: wrong.Field, Err: apportion.ErrType, Detail: wrong.Value + ", not " + wrong.Type.String()}}
	}
	for _, fault := range faults {
		// A fault without a field concerns the value itself.
		field := path
		switch {
		case fault.Field == "":
		// A position goes straight behind its list: "demand[1]", not "demand.[1]".
		case path == "" || strings.HasPrefix(fault.Field, "["):
			field += fault.Field
		default:
			field += "." + fault.Field
		}
		w.add(field, fault.Err, fault.Detail, from)
	}
	return len(faults) > 0
}

// wordsForNumbers are the texts that stand for numbers which JSON does not have, see package number.
var wordsForNumbers = []string{"+Inf", "-Inf", "NaN"}

// isWordForNumber reports whether a token is one of them.
func isWordForNumber(token json.Token) bool {
	text, ok := token.(string)
	return ok && slices.Contains(wordsForNumbers, text)
}
