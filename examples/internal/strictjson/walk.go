// This file implements the walk along a text and a type at once, which finds the faults of the text.

package strictjson

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/apportion/apportion"
)

// value reads a value of type t. The order of the cases is that of encoding/json: a type's own methods come
// before its kind. A struct that reads itself is compared field by field nevertheless, because its own
// method knows nothing of unknown and repeated fields.
func (w *walker) value(t reflect.Type, path string) {
	switch {
	case t.Kind() == reflect.Pointer:
		w.value(t.Elem(), path)
	// A struct without fields has a form of its own, which nothing can be compared with.
	case reads[json.Unmarshaler](t) && (t.Kind() != reflect.Struct || len(shapeOf(t).fields) == 0):
		w.judged(t, path)
	case reads[encoding.TextUnmarshaler](t) && !reads[json.Unmarshaler](t):
		w.named(t, path)
	case t.Kind() == reflect.Struct:
		w.object(t, path)
	case t.Kind() == reflect.Map:
		w.entries(t, path)
	// A slice of bytes is a text in JSON.
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8 || t.Kind() == reflect.Array:
		w.list(t, path)
	case t.Kind() == reflect.Interface:
		w.anything(path)
	default:
		w.scalar(t, path)
	}
}

// object reads an object as a struct. Fields that are missing are told behind those that are there, on the line
// on which the object begins. A part that reflection cannot see, because its type is an interface or because a
// word stands for a number, the struct's own UnmarshalJSON judges at the end.
func (w *walker) object(t reflect.Type, path string) {
	from, s := w.offset(), shapeOf(t)
	words, spoken := w.words, w.spoken // of the struct around this one
	// spoken is set by the fields of this struct alone, and put back at its end.
	w.spoken = false
	// places tells judgeFields where a field begins and ends; absent fields have no place.
	places := make(map[string]repair, len(s.fields)) // of the fields that were read, by key
	w.keys(path, func(key string, at int, again bool) {
		i, known := s.byName[key]
		// A key that is there twice is told at its second place; the first value stays.
		if again || !known {
			w.extra(join(path, key), again, at)
			return
		}
		w.words = s.custom
		w.value(s.fields[i].typ, join(path, key))
		places[key] = repair{at, w.passed(), true}
	})
	// In the order of the type, so that a list of missing fields reads like its documentation.
	for _, f := range s.fields {
		if _, there := places[f.name]; f.required && !there && w.opened(from) {
			w.add(join(path, f.name), apportion.ErrMissing, "", from)
		}
	}
	// Everything else has been compared already, and asking the method too could tell a fault twice.
	if (s.opaque || w.spoken) && w.opened(from) {
		w.judgeFields(t, path, from, places)
	}
	w.words, w.spoken = words, spoken
}

// opened reports whether an object begins at an offset.
func (w *walker) opened(from int) bool { return from < len(w.text) && w.text[from] == '{' }

// keys reads an object and calls read at each value, with the offset of its key; again says that the key
// was there before. A value that read drops goes with its key.
func (w *walker) keys(path string, read func(key string, at int, again bool)) {
	if !w.open('{', path, "an object") {
		return
	}
	seen := make(map[string]bool)
	for w.more() {
		at, before := w.offset(), len(w.repairs)
		// Keys of JSON are texts: anything else is an error of the decoder, which the next line looks at.
		key, _ := w.next().(string)
		if w.err != nil {
			break
		}
		// The place of the value is noted before read moves on.
		value := w.offset()
		read(key, at, seen[key])
		w.dropField(at, value, before)
		seen[key] = true
	}
	w.next()
}

// extra reads past the value of a key that is unknown, or there again, and begins at the offset at.
func (w *walker) extra(path string, again bool, at int) {
	// An unknown key that is there twice is told as unknown once and as there twice once.
	sort := apportion.ErrUnknown
	if again {
		sort = apportion.ErrDuplicate
	}
	w.add(path, sort, "", at)
	from := w.offset()
	w.skip(w.next())
	w.drop(from)
}

// entries reads an object with any keys, or with those that Options.Keys wants. Where the keys name items,
// the faults in an entry belong to its item, and their paths leave the key out.
func (w *walker) entries(t reflect.Type, path string) {
	// These are asked once, before the walk below changes what is around.
	from, due, kind := w.offset(), w.due(path), w.itemKind(path)
	seen := make(map[string]bool)
	w.keys(path, func(key string, at int, again bool) {
		before, place := len(w.faults), entryPath(path, key, kind, due)
		if again || due != nil && !slices.Contains(due, key) {
			w.extra(place, again, at)
		} else {
			// Objects within an item are parts of it, whatever their path is called.
			// itemKind has said "" where an item is around already, so that the next line but one undoes
			// just this.
			w.inItem = w.inItem || kind != ""
			w.value(t.Elem(), place)
			w.inItem = w.inItem && kind == ""
		}
		seen[key] = true
		w.belong(before, apportion.Item{Kind: kind, ID: key})
	})
	// Keys that are due are told in the order in which Options.Keys lists them.
	for _, key := range due {
		// A value that is no object at all has its fault, and misses nothing.
		if !seen[key] && w.opened(from) {
			w.add(join(path, key), apportion.ErrMissing, "", from)
		}
	}
}

// due returns the keys that the object with that path must have; nil: it may have any.
func (w *walker) due(path string) []string {
	if w.Keys == nil {
		return nil
	}
	return w.Keys(path)
}

// itemKind returns what the keys of the object with that path name, or "". Within an item there are no items.
func (w *walker) itemKind(path string) string {
	if w.inItem {
		return ""
	}
	return w.Items[path]
}

// entryPath returns the path of the value of a key: that of the object where the key names an item, that of a
// field where keys are due, and otherwise "previous[s1]".
func entryPath(path, key, kind string, due []string) string {
	switch {
	case kind != "":
		return path
	case due != nil:
		return join(path, key)
	}
	return path + "[" + key + "]"
}

// anything reads an object of a type that is not known here, and finds keys that are there twice.
func (w *walker) anything(path string) {
	w.keys(path, func(key string, at int, again bool) {
		if again {
			w.extra(join(path, key), true, at)
			return
		}
		w.skip(w.next())
	})
}

// list reads an array. Elements with an ID are items, whose paths begin anew: who wrote a list of a thousand
// applications looks for a name, not for a number. An element that is a list itself may be null, which is how
// encoding/json writes one that is nil.
func (w *walker) list(t reflect.Type, path string) {
	if !w.open('[', path, "an array") {
		return
	}
	element := t.Elem()
	isItem := element.Kind() == reflect.Struct && shapeOf(element).item != ""
	isList := element.Kind() == reflect.Slice || element.Kind() == reflect.Map
	for i := 0; w.more(); i++ {
		switch {
		// Only here null is let pass; the inner list stays nil, and is as long as an empty one.
		case isList && w.nextIsNull():
			w.next()
		// An item within another has a path in that: its ID alone may be that of others.
		case isItem && !w.within:
			w.within = true
			w.item(element, i)
			w.within = false
		default:
			w.value(element, fmt.Sprintf("%s[%d]", path, i))
		}
	}
	w.next()
}

// item reads the i-th element of a list of items. Its ID is looked for only where there are faults: it may come
// behind them in the text.
func (w *walker) item(t reflect.Type, i int) {
	// The path begins anew at the item: "" and not "applications[3]".
	before, from := len(w.faults), w.offset()
	w.value(t, "")
	if len(w.faults) > before && w.err == nil {
		w.belong(before, apportion.Item{Kind: shapeOf(t).item, ID: idOf(w.text[from:w.passed()]), Index: i})
	}
}

// idOf returns the ID in the text of an item, or "" where it has none that is a text.
func idOf(item []byte) string {
	var object map[string]json.RawMessage
	var id string
	// It is read a second time, which costs something only where there are faults.
	if json.Unmarshal(item, &object) != nil || json.Unmarshal(object["id"], &id) != nil {
		return ""
	}
	return id
}
