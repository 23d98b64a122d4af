// This file implements the cursor: it reads a text token by token, and keeps what was found wrong with it. It
// declares the walker, too, which the files above it share.

package strictjson

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/apportion/apportion"
)

// maxDepth is how deep a value that is skipped may be nested.
const maxDepth = 100

// The ways in which a text can be no JSON, or too much of it.
var (
	// ErrTooDeep is told of values that are skipped alone.
	ErrTooDeep = fmt.Errorf("the input is nested more than %d deep", maxDepth)
	// ErrCutOff is told of an empty text as well.
	ErrCutOff   = errors.New("the input ends too early")
	ErrTrailing = errors.New("the input goes on after its end")
)

// cursor reads a text once. After the first error nothing more is read; faults do not stop it.
type cursor struct {
	// text is the whole input; offsets count its bytes from 0.
	text []byte
	// decoder yields the tokens of text and knows where it is in it.
	decoder *json.Decoder
	// err says why the text is no JSON; nil: so far it is.
	err error
	// faults are what is wrong with a text that is JSON, in its order.
	faults []located
	// repairs are the parts of the text that json.Unmarshal must not see.
	repairs []repair
}

// located is a fault with its place in the text.
type located struct {
	apportion.FieldError
	// offset is the byte at which the value or the key stands.
	// Places become lines at the end, in one pass.
	offset int
}

// repair is a part of the text that is left out: the value of an element of a list, or of the whole, counts
// as null; a field goes with its key.
type repair struct {
	// The part reaches from from to before to.
	from, to int
	field    bool
}

// walker compares a text with a type.
type walker struct {
	cursor
	*Options
	// words says that the value is a field of a type that reads itself, which may have words for numbers,
	// and spoken that there was one.
	words, spoken bool
	// inItem says that the value belongs to an item that a key of Options.Items has named.
	inItem bool
	// within says that the value belongs to an item of a list.
	within bool
}

// newCursor returns a cursor at the beginning of a text.
func newCursor(text []byte) cursor {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber() // so that no digit of a whole number is lost
	return cursor{text: text, decoder: decoder}
}

// next returns the next token, or nil after an error, as for a JSON null: callers that must tell the two
// apart look at c.err.
func (c *cursor) next() json.Token {
	if c.err != nil {
		return nil
	}
	token, err := c.decoder.Token()
	switch {
	case err == nil:
		return token
	// The decoder tells the end between tokens from one within a token; to a caller it is the same.
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		c.err = ErrCutOff
	default:
		// The byte is that of the decoder, which has read a little further than what it complains of.
		c.err = fmt.Errorf("the input is not JSON, near byte %d: %w", c.decoder.InputOffset(), err)
	}
	return nil
}

// more reports whether the list or object that is open has another element.
func (c *cursor) more() bool { return c.err == nil && c.decoder.More() }

// end makes sure that nothing follows.
func (c *cursor) end() {
	if c.err != nil {
		return
	}
	// Whatever comes, a second value or rubbish, is too much.
	if _, err := c.decoder.Token(); !errors.Is(err, io.EOF) {
		c.err = ErrTrailing
	}
}

// skip reads the rest of the value that begins with token.
func (c *cursor) skip(token json.Token) {
	// A value without brackets ends with its first token, at depth 0.
	for depth := 0; c.err == nil; token = c.next() {
		switch token {
		case json.Delim('{'), json.Delim('['):
			// The walk along a type goes as deep as the type; only here the text alone decides how deep.
			if depth++; depth > maxDepth {
				c.err = ErrTooDeep
			}
		// That brackets match is the decoder's care.
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		// Depth 0 is back outside of the value: the next token belongs to what is around it.
		if depth == 0 {
			return
		}
	}
}

// open reads the bracket that an object or a list begins with. Where there is none it records that due was
// due, and returns false.
func (c *cursor) open(bracket json.Delim, path, due string) bool {
	from := c.offset()
	token := c.next()
	if token == bracket {
		return true
	}
	// The value is read past all the same, so that the walk goes on behind it.
	c.wrong(token, path, due, from)
	return false
}

// offset returns where the next token begins: behind spaces, and behind the colon or comma before it.
func (c *cursor) offset() int {
	at := c.passed()
	// The decoder has passed colons and commas or not, as it pleases; none of them begins a token.
	for at < len(c.text) && bytes.IndexByte([]byte(" \t\r\n:,"), c.text[at]) >= 0 {
		at++
	}
	return at
}

// passed returns where the last token ends.
func (c *cursor) passed() int { return int(c.decoder.InputOffset()) }

// nextIsNull reports whether the next token is null.
func (c *cursor) nextIsNull() bool { return bytes.HasPrefix(c.text[c.offset():], []byte("null")) }

// add records a fault of the field with that path at a place of the text. After an error of the text itself
// there are no faults.
func (c *cursor) add(path string, sort error, detail string, offset int) {
	// What follows a fault of the text itself is guesswork, and is not told.
	if c.err == nil {
		c.faults = append(c.faults, located{apportion.FieldError{Field: path, Err: sort, Detail: detail}, offset})
	}
}

// wrong records a value of the wrong type, which begins with token at the offset from, and reads past it.
func (c *cursor) wrong(token json.Token, path, due string, from int) {
	if c.err != nil {
		return
	}
	// text says what is there in the words of JSON, not in those of Go.
	text := ""
	switch t := token.(type) {
	case nil:
		text = "null"
	case json.Delim:
		// A closing bracket cannot stand here: the decoder would have refused the text.
		text = map[json.Delim]string{'{': "an object", '[': "an array"}[t]
	case string:
		text = "a string"
	default:
		text = fmt.Sprint(t)
	}
	c.add(path, apportion.ErrType, text+", not "+due, from)
	c.skip(token)
	c.drop(from)
}

// belong gives an item to the faults found since there were before of them, unless they have one.
func (c *cursor) belong(before int, item apportion.Item) {
	// An empty kind is no item, so that callers need not ask.
	for i := before; i < len(c.faults) && item.Kind != ""; i++ {
		// The innermost item is told first, and stays.
		if c.faults[i].Item.IsZero() {
			c.faults[i].Item = item
		}
	}
}

// drop has the value that begins at from, and has been read, count as null.
func (c *cursor) drop(from int) {
	c.repairs = append(c.repairs, repair{from, c.passed(), false})
}

// dropField has a field count as absent if its value was dropped. The key begins at the offset key, the value
// at value, and there were before repairs when it did.
func (c *cursor) dropField(key, value, before int) {
	for i := before; i < len(c.repairs); i++ {
		// Repairs within the value keep their places; only one of the whole value takes the key along.
		// Within the value other repairs begin further on, since a value begins with a bracket or is one
		// token.
		if c.repairs[i].from == value {
			c.repairs[i].from, c.repairs[i].field = key, true
		}
	}
}

// repaired returns a part of the text without what was dropped of it.
func (c *cursor) repaired(from, to int) []byte {
	// By place, and the longer first: what lies within it is skipped below, since from has moved past it.
	slices.SortStableFunc(c.repairs, func(a, b repair) int { return cmp.Or(a.from-b.from, b.to-a.to) })
	// The result is never longer than the part but for a null in place of a shorter value.
	text := slices.Grow([]byte(nil), to-from)
	for _, r := range c.repairs {
		if r.from < from || r.to > to {
			continue // within what was dropped as a whole, or elsewhere
		}
		// What lies before the repair is right.
		text = append(text, c.text[from:r.from]...)
		if from = r.to; !r.field {
			text = append(text, "null"...)
			continue
		}
		// An object without a field must not keep two commas, nor one before its brace.
		rest := bytes.TrimLeft(c.text[from:to], " \t\r\n")
		if len(rest) > 0 && rest[0] == ',' {
			from = to - len(rest) + 1 // the comma goes with the field
		} else { // of the last field it is the comma before that goes
			text = bytes.TrimRight(text, " \t\r\n,")
		}
	}
	return append(text, c.text[from:to]...)
}

// join names a field of an object: "options.share".
func join(path, key string) string {
	if key == "" {
		key = strconv.Quote(key)
	}
	if path == "" {
		return key
	}
	return path + "." + key
}
