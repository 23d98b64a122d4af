// This file finds, in one pass over the bytes, the many texts that have no fault which encoding/json would let pass.

package strictjson

import (
	"encoding"
	"encoding/json"
	"math/bits"
	"reflect"
	"sync"
)

// isClean reports that a text, if encoding/json reads it into a value of type t without an error, has no fault: no key that is unknown,
// there twice or of another case, none missing, no null. It never says so of a text with a fault; of some without one, as with keys that
// are not plain, it does not either, and the walk decides. O(text).
func isClean(text []byte, t reflect.Type, o *Options) bool {
	// Which keys are due a caller says by paths, which are the walk's to know.
	if o.Keys != nil {
		return false
	}
	s := scan{text: text}
	return s.value(formOf(t))
}

// form is what the walk would make of a type, worked out once.
type form struct {
	sort formSort
	// element is that of a list or a map; nullable says that elements of the list may be null.
	element  *form
	nullable bool
	// fields has the positions of the fields of an object, with their forms; required has a bit for each that must be there.
	fields   map[string]int
	forms    []*form
	required uint64
}

// formSort says how a value is looked at.
type formSort int

const (
	unsure   formSort = iota // by the walk
	plain                    // by encoding/json alone
	free                     // not at all, and null counts
	listed                   // element by element
	mapped                   // key by key, any keys
	composed                 // key by key, those of a struct
)

var forms sync.Map // of reflect.Type to *form

// formOf returns the form of a type.
func formOf(t reflect.Type) *form {
	if f, ok := forms.Load(t); ok {
		return f.(*form)
	}
	made := make(map[reflect.Type]*form) // types may contain themselves
	f := newForm(t, made)
	forms.Store(t, f)
	return f
}

// newForm has the cases of walker.value, in its order.
func newForm(t reflect.Type, made map[reflect.Type]*form) *form {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if f := made[t]; f != nil {
		return f
	}
	f := &form{}
	made[t] = f
	switch kind := t.Kind(); {
	case reads[json.Unmarshaler](t) && (kind != reflect.Struct || len(shapeOf(t).fields) == 0),
		reads[encoding.TextUnmarshaler](t) && !reads[json.Unmarshaler](t):
		f.sort = plain
	case kind == reflect.Struct:
		f.compose(shapeOf(t), made)
	case kind == reflect.Map && t.Key().Kind() == reflect.String:
		f.sort, f.element = mapped, newForm(t.Elem(), made)
	case kind == reflect.Slice && t.Elem().Kind() != reflect.Uint8 || kind == reflect.Array:
		element := t.Elem().Kind()
		f.sort, f.element, f.nullable = listed, newForm(t.Elem(), made), element == reflect.Slice || element == reflect.Map
	case kind == reflect.Interface:
		f.sort, f.element = mapped, &form{sort: free}
	case kind != reflect.Map:
		f.sort = plain
	}
	return f
}

// compose makes the form of a struct; one with too many fields for the bits of a word is left to the walk.
func (f *form) compose(s *shape, made map[reflect.Type]*form) {
	if len(s.fields) > bits.UintSize {
		return
	}
	f.sort, f.fields = composed, s.byName
	for i := range s.fields {
		f.forms = append(f.forms, newForm(s.fields[i].typ, made))
		if s.fields[i].required {
			f.required |= 1 << i
		}
	}
}

// scan is a place in a text. What is no JSON it may read as it likes: encoding/json refuses that.
type scan struct {
	text []byte
	at   int
}

// peek returns the first byte of the next token; 0 at the end.
func (s *scan) peek() byte {
	for ; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; c {
		case ' ', '\t', '\r', '\n', ',', ':':
		default:
			return c
		}
	}
	return 0
}

// value reads a value, and reports whether it is clean.
func (s *scan) value(f *form) bool {
	c := s.peek()
	switch {
	case f.sort == free:
		return s.skip()
	case c == 0 || c == 'n' || f.sort == unsure:
		return false
	case f.sort == plain:
		return s.skip()
	case f.sort == listed:
		return c == '[' && s.list(f)
	default:
		return c == '{' && s.object(f)
	}
}

func (s *scan) list(f *form) bool {
	for s.at++; ; {
		switch c := s.peek(); {
		case c == ']':
			s.at++
			return true
		case c == 'n' && f.nullable:
			s.at += len("null")
		default:
			if !s.value(f.element) {
				return false
			}
		}
	}
}

func (s *scan) object(f *form) bool {
	seen, keys := uint64(0), keySet{}
	for s.at++; ; {
		c := s.peek()
		if c == '}' {
			s.at++
			return f.required&^seen == 0
		}
		key, ok := s.key()
		if c != '"' || !ok {
			return false
		}
		element := f.element
		if f.sort == composed {
			i, known := f.fields[string(key)]
			if !known || seen&(1<<i) != 0 {
				return false
			}
			seen |= 1 << i
			element = f.forms[i]
		} else if !keys.add(key) {
			return false
		}
		if !s.value(element) {
			return false
		}
	}
}

// key reads a key whose bytes are its text.
func (s *scan) key() ([]byte, bool) {
	from := s.at + 1
	for s.at = from; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; {
		case c == '"':
			s.at++
			return s.text[from : s.at-1], true
		case c == '\\' || c >= 0x80:
			return nil, false
		}
	}
	return nil, false
}

// skip reads past a value in which encoding/json finds all faults by itself.
func (s *scan) skip() bool {
	for depth := 0; s.at < len(s.text); {
		switch s.peek() {
		case '"':
			s.quoted()
		case '[', '{':
			depth++
			s.at++
		case ']', '}':
			depth--
			s.at++
		default:
			s.word()
		}
		if depth <= 0 || depth > maxDepth {
			return depth == 0
		}
	}
	return false
}

// quoted reads past a text.
func (s *scan) quoted() {
	for s.at++; s.at < len(s.text); s.at++ {
		switch s.text[s.at] {
		case '"':
			s.at++
			return
		case '\\':
			s.at++
		}
	}
}

// word reads past a number, true or false.
func (s *scan) word() {
	for s.at++; s.at < len(s.text); s.at++ {
		switch s.text[s.at] {
		case ' ', '\t', '\r', '\n', ',', ':', ']', '}':
			return
		}
	}
}

// keySet finds keys that are there twice. Keys that ascend, as encoding/json writes those of a map, cost nothing but a comparison.
type keySet struct {
	last []byte
	all  [][]byte        // as long as they ascend
	seen map[string]bool // from then on
}

// add reports whether a key is new.
func (k *keySet) add(key []byte) bool {
	if k.seen == nil {
		if len(k.all) == 0 || string(k.last) < string(key) {
			k.last, k.all = key, append(k.all, key)
			return true
		}
		k.seen = make(map[string]bool, 2*len(k.all))
		for _, one := range k.all {
			k.seen[string(one)] = true
		}
	}
	if k.seen[string(key)] {
		return false
	}
	k.seen[string(key)] = true
	return true
}
