// This file reads JSON without mercy: it names everything that is unknown, repeated, missing or of
// the wrong type, all of it in one pass, and holds neither the text nor a tree of it.

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/apportion/apportion"
)

const (
	// maxInput is the largest input in bytes: some hundred thousand applications.
	maxInput = 64 << 20
	// maxDepth is how deep a value that is skipped may be nested.
	maxDepth = 100
)

// The sorts of fault that only a text can have.
var (
	errMissing = errors.New("is missing")
	errType    = errors.New("has the wrong type")
)

// The ways in which a text can be no JSON, or not ours.
var (
	errTooLong  = fmt.Errorf("the input is longer than %d bytes", maxInput)
	errTooDeep  = fmt.Errorf("the input is nested more than %d deep", maxDepth)
	errCutOff   = errors.New("the input ends too early")
	errTrailing = errors.New("the input goes on after its end")
)

// reader reads one JSON value. After the first error nothing more is read; faults do not stop it.
type reader struct {
	decoder *json.Decoder
	err     error
	faults  apportion.Faults
}

// field is a field of a JSON object: what reads it is told its name in messages.
type field struct {
	name     string
	required bool
	read     func(path string)
}

func newReader(in io.Reader) *reader {
	decoder := json.NewDecoder(&limited{in, maxInput})
	decoder.UseNumber()
	return &reader{decoder: decoder}
}

// limited gives an error when more than left bytes have been read.
type limited struct {
	in   io.Reader
	left int
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.in.Read(p)
	if l.left -= n; l.left < 0 {
		return 0, errTooLong
	}
	return n, err
}

// next returns the next token, or nil after an error, as for a JSON null: callers that must tell
// the two apart look at r.err.
func (r *reader) next() json.Token {
	if r.err != nil {
		return nil
	}
	token, err := r.decoder.Token()
	switch {
	case err == nil:
		return token
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		r.err = errCutOff
	case errors.Is(err, errTooLong):
		r.err = err
	default:
		r.err = fmt.Errorf("the input is not JSON, near byte %d: %w", r.decoder.InputOffset(), err)
	}
	return nil
}

// end makes sure that nothing follows.
func (r *reader) end() {
	if r.err != nil {
		return
	}
	if _, err := r.decoder.Token(); !errors.Is(err, io.EOF) {
		r.err = errTrailing
	}
}

// object reads an object with the given fields.
func (r *reader) object(path string, fields []field) {
	seen := make([]bool, len(fields))
	name := func(key string) string { return join(path, key) }
	if !r.entries(path, name, func(key string) {
		f := slices.IndexFunc(fields, func(f field) bool { return f.name == key })
		if f < 0 {
			r.faults.Add(apportion.Item{}, name(key), apportion.ErrUnknown, "")
			r.skip(r.next())
			return
		}
		seen[f] = true
		fields[f].read(name(key))
	}) {
		return
	}
	for f := range fields {
		if fields[f].required && !seen[f] && r.err == nil {
			r.faults.Add(apportion.Item{}, name(fields[f].name), errMissing, "")
		}
	}
}

// entries reads an object with any keys and calls read at each value, once for every key; name is
// what a key is called in a message. It returns false where there is no object.
func (r *reader) entries(path string, name func(key string) string, read func(key string)) bool {
	if !r.open('{', path, "an object") {
		return false
	}
	seen := make(map[string]bool)
	for r.more() {
		key, _ := r.next().(string)
		switch {
		case r.err != nil:
		case seen[key]:
			r.faults.Add(apportion.Item{}, name(key), apportion.ErrDuplicate, "")
			r.skip(r.next())
		default:
			seen[key] = true
			read(key)
		}
	}
	r.next()
	return true
}

// array reads an array and calls read at each element.
func (r *reader) array(path string, read func(path string, i int)) {
	if !r.open('[', path, "an array") {
		return
	}
	for i := 0; r.more(); i++ {
		read(fmt.Sprintf("%s[%d]", path, i), i)
	}
	r.next()
}

func (r *reader) more() bool { return r.err == nil && r.decoder.More() }

func (r *reader) open(delim json.Delim, path, due string) bool {
	token := r.next()
	if token == delim {
		return true
	}
	r.wrong(token, path, due)
	return false
}

// wrong records a value of the wrong type, beginning with token, and reads past it.
func (r *reader) wrong(token json.Token, path, due string) {
	if r.err != nil {
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
	r.faults.Add(apportion.Item{}, path, errType, text+", not "+due)
	r.skip(token)
}

// skip reads the rest of the value that begins with token.
func (r *reader) skip(token json.Token) {
	for depth := 0; r.err == nil; token = r.next() {
		switch token {
		case json.Delim('{'), json.Delim('['):
			if depth++; depth > maxDepth {
				r.err = errTooDeep
			}
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return
		}
	}
}

func (r *reader) str(path string) string {
	token := r.next()
	text, ok := token.(string)
	if !ok {
		r.wrong(token, path, "a string")
	}
	return text
}

func (r *reader) boolean(path string) bool {
	token := r.next()
	value, ok := token.(bool)
	if !ok {
		r.wrong(token, path, "true or false")
	}
	return value
}

// integer reads an int64, written without a fraction or an exponent. What is none counts as
// otherwise, a value without faults of its own, so that the rest can still be checked.
func (r *reader) integer(path string, otherwise int64) int64 {
	token := r.next()
	number, ok := token.(json.Number)
	if !ok {
		r.wrong(token, path, "a whole number")
		return otherwise
	}
	value, err := strconv.ParseInt(number.String(), 10, 64)
	if err != nil {
		r.faults.Add(apportion.Item{}, path, apportion.ErrRange, number.String()+" is no whole number that fits 64 bits")
		return otherwise
	}
	return value
}

// number reads a float64; see integer for otherwise.
func (r *reader) number(path string, otherwise float64) float64 {
	return r.numberOf(r.next(), path, otherwise)
}

// numberOf reads the float64 that a token is.
func (r *reader) numberOf(token json.Token, path string, otherwise float64) float64 {
	number, ok := token.(json.Number)
	if !ok {
		r.wrong(token, path, "a number")
		return otherwise
	}
	value, err := number.Float64()
	if err != nil {
		r.faults.Add(apportion.Item{}, path, apportion.ErrRange, number.String()+" does not fit a 64-bit floating-point number")
		return otherwise
	}
	return value
}

func (r *reader) numbers(path string) []float64 {
	list := []float64{}
	r.array(path, func(path string, _ int) { list = append(list, r.number(path, 0)) })
	return list
}

func (r *reader) strs(path string) []string {
	list := []string{}
	r.array(path, func(path string, _ int) { list = append(list, r.str(path)) })
	return list
}

func (r *reader) resources(path string) apportion.Resources {
	list := apportion.Resources{}
	r.array(path, func(path string, _ int) { list = append(list, r.integer(path, 0)) })
	return list
}

// named gives an item to the faults found since there were before of them.
func (r *reader) named(before int, item apportion.Item) {
	for _, fault := range r.faults[before:] {
		fault.Item = item
	}
}

// finish returns the error, or every fault: those of the text, and those that validate finds in
// what was read and that do not merely repeat them.
func (r *reader) finish(kinds apportion.Kinds, validate func() error) error {
	r.end()
	if r.err != nil {
		return r.err
	}
	for _, fault := range r.faults {
		fault.Field = nameKind(fault.Field, kinds)
	}
	var found apportion.Faults
	if err := validate(); err != nil && !errors.As(err, &found) {
		return err
	}
	all := r.faults
	for _, fault := range found {
		fault := &apportion.FieldError{Item: fault.Item, Field: jsonField(fault.Field), Detail: fault.Detail, Err: fault.Err}
		if !slices.ContainsFunc(r.faults, func(f *apportion.FieldError) bool { return repeats(fault, f) }) {
			all = append(all, fault)
		}
	}
	return all.Err()
}

// repeats reports whether a concerns the same item and field as b, or the whole of which b is a
// part. A b without a field concerns the whole item.
func repeats(a, b *apportion.FieldError) bool {
	whole, _, _ := strings.Cut(b.Field, "[")
	return a.Item.String() == b.Item.String() &&
		(b.Field == "" || a.Field == b.Field || a.Field == whole)
}

// jsonField turns the name of a Go field in a fault into that of the JSON field: "Demand[GPU]"
// into "demand[GPU]", "PSServers" into "ps_servers". Names that begin with a small letter are JSON's.
func jsonField(field string) string {
	if field == "" || !isUpper(field[0]) {
		return field
	}
	name, _, _ := strings.Cut(field, "[")
	var text strings.Builder
	for i := range len(name) {
		wordEnds := i > 0 && isLower(name[i-1]) || i > 0 && i+1 < len(name) && isUpper(name[i-1]) && isLower(name[i+1])
		if wordEnds && isUpper(name[i]) {
			text.WriteByte('_')
		}
		text.WriteByte(name[i])
	}
	return strings.ToLower(text.String()) + field[len(name):]
}

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }

// nameKind turns the position of a quantity in a message, as in "demand[1]", into the name of its
// kind, where there is one.
func nameKind(field string, kinds apportion.Kinds) string {
	for _, name := range []string{"demand", "capacity", "worker", "ps"} {
		position, ok := strings.CutPrefix(field, name+"[")
		k, err := strconv.Atoi(strings.TrimSuffix(position, "]"))
		if ok && err == nil && k < len(kinds) {
			return name + "[" + kinds.Name(k) + "]"
		}
	}
	return field
}

// join names a field of an object, and entry an entry of a map.
func join(path, key string) string {
	if key == "" {
		key = `""`
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

func entry(path, key string) string { return path + "[" + key + "]" }
