// This file implements the walk along a text and a type at once, which finds the faults of the text.

package strictjson

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"

	"github.com/apportion/apportion"
)

// walker reads a text once. After the first error nothing more is read; faults do not stop it.
type walker struct {
	*Options
	text    []byte
	decoder *json.Decoder
	err     error
	faults  []located
	repairs []repair
	// words says that the value is a field of a type that reads itself, which may have words for numbers,
	// and spoken that there was one.
	words, spoken bool
	// inItem says that the value belongs to an item that a key of Options.Items has named.
	inItem bool
}

// located is a fault with its place in the text.
type located struct {
	apportion.FieldError
	offset int
}

// repair is a part of the text that json.Unmarshal must not see: the value of an element of a list, or of
// the whole, counts as null; a field goes with its key.
type repair struct {
	from, to int
	field    bool
}

func newWalker(text []byte, o *Options) *walker {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return &walker{Options: o, text: text, decoder: decoder}
}

// repaired returns a part of the text without what is wrong in it.
func (w *walker) repaired(from, to int) []byte {
	slices.SortStableFunc(w.repairs, func(a, b repair) int { return cmp.Or(a.from-b.from, b.to-a.to) })
	text := slices.Grow([]byte(nil), to-from)
	for _, r := range w.repairs {
		if r.from < from || r.to > to {
			continue // within what was repaired as a whole, or elsewhere
		}
		text = append(text, w.text[from:r.from]...)
		if from = r.to; !r.field {
			text = append(text, "null"...)
			continue
		}
		rest := bytes.TrimLeft(w.text[from:to], " \t\r\n")
		if len(rest) > 0 && rest[0] == ',' {
			from = to - len(rest) + 1
		} else { // the last field: the comma before it goes
			text = bytes.TrimRight(text, " \t\r\n,")
		}
	}
	return append(text, w.text[from:to]...)
}

// next returns the next token, or nil after an error, as for a JSON null: callers that must tell the two
// apart look at w.err.
func (w *walker) next() json.Token {
	if w.err != nil {
		return nil
	}
	token, err := w.decoder.Token()
	switch {
	case err == nil:
		return token
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		w.err = ErrCutOff
	default:
		w.err = fmt.Errorf("the input is not JSON, near byte %d: %w", w.decoder.InputOffset(), err)
	}
	return nil
}

// end makes sure that nothing follows.
func (w *walker) end() {
	if w.err != nil {
		return
	}
	if _, err := w.decoder.Token(); !errors.Is(err, io.EOF) {
		w.err = ErrTrailing
	}
}

// offset returns where the next token begins.
func (w *walker) offset() int {
	at := int(w.decoder.InputOffset())
	for at < len(w.text) && bytes.IndexByte([]byte(" \t\r\n:,"), w.text[at]) >= 0 {
		at++
	}
	return at
}

// add records a fault of the field with that path at a place of the text.
func (w *walker) add(path string, sort error, detail string, offset int) {
	if w.err == nil {
		w.faults = append(w.faults, located{apportion.FieldError{Field: path, Err: sort, Detail: detail}, offset})
	}
}

// drop has the value that begins at from, and has been read, count as null.
func (w *walker) drop(from int) {
	w.repairs = append(w.repairs, repair{from, int(w.decoder.InputOffset()), false})
}

// dropField has a field count as absent, with its key that begins at the offset at, if its value that begins
// at from was dropped.
func (w *walker) dropField(at, from int) {
	if i := slices.IndexFunc(w.repairs, func(r repair) bool { return r.from == from }); i >= 0 {
		w.repairs[i].from, w.repairs[i].field = at, true
	}
}

// value reads a value of type t.
func (w *walker) value(t reflect.Type, path string) {
	switch {
	case t.Kind() == reflect.Pointer:
		w.value(t.Elem(), path)
	case reads[json.Unmarshaler](t) && (t.Kind() != reflect.Struct || len(shapeOf(t).fields) == 0):
		w.judged(t, path)
	case reads[encoding.TextUnmarshaler](t) && !reads[json.Unmarshaler](t):
		w.named(t, path)
	case t.Kind() == reflect.Struct:
		w.object(t, path)
	case t.Kind() == reflect.Map:
		w.entries(t, path)
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8 || t.Kind() == reflect.Array:
		w.list(t, path)
	case t.Kind() == reflect.Interface:
		w.anything(path)
	default:
		w.scalar(t, path)
	}
}

// object reads an object as a struct.
func (w *walker) object(t reflect.Type, path string) {
	from, s := w.offset(), shapeOf(t)
	if !w.open('{', path, "an object") {
		return
	}
	words, spoken := w.words, w.spoken
	w.spoken = false
	seen, places := make(map[string]bool, len(s.fields)), make(map[string]repair)
	for w.more() {
		at := w.offset()
		w.words = s.custom
		key, _ := w.next().(string)
		i, known := s.byName[key]
		value := w.offset()
		switch {
		case w.err != nil:
		case !known || seen[key]:
			w.extra(join(path, key), known, at)
		default:
			w.value(s.fields[i].typ, join(path, key))
			places[join(path, key)] = repair{at, int(w.decoder.InputOffset()), true}
		}
		w.dropField(at, value)
		seen[key] = true
	}
	w.next()
	for _, f := range s.fields {
		if f.required && !seen[f.name] {
			w.add(join(path, f.name), apportion.ErrMissing, "", from)
		}
	}
	if s.opaque || w.spoken {
		w.judgeFields(t, path, from, places)
	}
	w.words, w.spoken = words, spoken
}

// extra reads past the value of a key that is unknown or there already and begins at that offset.
func (w *walker) extra(path string, known bool, at int) {
	sort := apportion.ErrUnknown
	if known {
		sort = apportion.ErrDuplicate
	}
	w.add(path, sort, "", at)
	from := w.offset()
	w.skip(w.next())
	w.drop(from)
}

// entries reads an object with any keys, or with those that Options.Keys wants.
func (w *walker) entries(t reflect.Type, path string) {
	from := w.offset()
	if !w.open('{', path, "an object") {
		return
	}
	var keys []string
	if w.Keys != nil {
		keys = w.Keys(path)
	}
	name := func(key string) string {
		if keys != nil {
			return join(path, key)
		}
		return path + "[" + key + "]"
	}
	seen := make(map[string]bool)
	for w.more() {
		at, before := w.offset(), len(w.faults)
		key, _ := w.next().(string)
		place, kind := name(key), ""
		if !w.inItem && w.Items[path] != "" {
			place, kind = path, w.Items[path] // of the item that the key names
		}
		switch value := w.offset(); {
		case w.err != nil:
		case seen[key] || keys != nil && !slices.Contains(keys, key):
			sort := apportion.ErrUnknown
			if seen[key] {
				sort = apportion.ErrDuplicate
			}
			w.add(place, sort, "", at)
			w.skip(w.next())
			w.drop(value)
			w.dropField(at, value)
		default:
			w.inItem = w.inItem || kind != ""
			w.value(t.Elem(), place)
			w.inItem = w.inItem && kind == ""
			w.dropField(at, value)
		}
		seen[key] = true
		w.belong(before, apportion.Item{Kind: kind, ID: key})
	}
	w.next()
	for _, key := range keys {
		if !seen[key] {
			w.add(name(key), apportion.ErrMissing, "", from)
		}
	}
}

// anything reads an object of a type that is not known here, and finds keys that are there twice.
func (w *walker) anything(path string) {
	if !w.open('{', path, "an object") {
		return
	}
	seen := make(map[string]bool)
	for w.more() {
		at := w.offset()
		key, _ := w.next().(string)
		switch {
		case w.err != nil:
		case seen[key]:
			value := w.offset()
			w.extra(join(path, key), true, at)
			w.dropField(at, value)
		default:
			w.skip(w.next())
		}
		seen[key] = true
	}
	w.next()
}

// list reads an array. Elements with an ID are items, whose paths begin anew.
func (w *walker) list(t reflect.Type, path string) {
	if !w.open('[', path, "an array") {
		return
	}
	element := t.Elem()
	isItem := element.Kind() == reflect.Struct && shapeOf(element).item != ""
	nullable := element.Kind() == reflect.Slice || element.Kind() == reflect.Map
	for i := 0; w.more(); i++ {
		if nullable && bytes.HasPrefix(w.text[w.offset():], []byte("null")) {
			w.next()
			continue
		}
		if !isItem {
			w.value(element, fmt.Sprintf("%s[%d]", path, i))
			continue
		}
		before, from := len(w.faults), w.offset()
		w.value(element, "")
		if len(w.faults) > before && w.err == nil {
			item := apportion.Item{Kind: shapeOf(element).item, Index: i}
			item.ID = idOf(w.text[from:w.decoder.InputOffset()])
			w.belong(before, item)
		}
	}
	w.next()
}

// idOf returns the ID in the text of an item, or "" where it has none that is a text.
func idOf(item []byte) string {
	var object map[string]json.RawMessage
	var id string
	if json.Unmarshal(item, &object) != nil || json.Unmarshal(object["id"], &id) != nil {
		return ""
	}
	return id
}

// belong gives an item to the faults found since there were before of them, unless they have one.
func (w *walker) belong(before int, item apportion.Item) {
	for i := before; i < len(w.faults) && item.Kind != ""; i++ {
		if w.faults[i].Item.IsZero() {
			w.faults[i].Item = item
		}
	}
}

func (w *walker) more() bool { return w.err == nil && w.decoder.More() }

func (w *walker) open(delim json.Delim, path, due string) bool {
	from := w.offset()
	token := w.next()
	if token == delim {
		return true
	}
	w.wrong(token, path, due, from)
	return false
}

// wrong records a value of the wrong type, which begins with token at the offset from, and reads past it.
func (w *walker) wrong(token json.Token, path, due string, from int) {
	if w.err != nil {
		return
	}
	text := ""
	switch t := token.(type) {
	case nil:
		text = "null"
	case json.Delim:
		text = map[json.Delim]string{'{': "an object", '[': "an array"}[t]
	case string:
		text = "a string"
	default:
		text = fmt.Sprint(t)
	}
	w.add(path, apportion.ErrType, text+", not "+due, from)
	w.skip(token)
	w.drop(from)
}

// skip reads the rest of the value that begins with token.
func (w *walker) skip(token json.Token) {
	for depth := 0; w.err == nil; token = w.next() {
		switch token {
		case json.Delim('{'), json.Delim('['):
			if depth++; depth > maxDepth {
				w.err = ErrTooDeep
			}
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return
		}
	}
}

// join names a field of an object.
func join(path, key string) string {
	if key == "" {
		key = strconv.Quote(key)
	}
	if path == "" {
		return key
	}
	return path + "." + key
}
