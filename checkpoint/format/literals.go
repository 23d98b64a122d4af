// This file implements the literals of a pickle: the texts and numbers in it, in their order. Nothing is executed.

package format

import (
	"encoding/binary"
	"fmt"
)

// What is remembered of a pickle is bounded, whatever it claims.
const (
	// longestText is the length of the longest text that is a literal here, in bytes. Keys and the names of files are
	// shorter by far.
	longestText = 4096
	// mostRemembered bounds all texts that are remembered for a later place, in bytes.
	// It is what a hostile file may cost, since each few bytes of it could ask for one more place.
	mostRemembered = 64 << 20
)

// null is the literal None.
// It is a type of its own, since nil says in this file that there is no literal.
type null struct{}

// literals walks a pickle to its end and shows each text, each whole number and each None to visit, in their order, also
// where a pickle refers to an earlier one. Longer texts and other objects are not shown.
// A text is a string, a number an int64, None a null. Tables of tensors and settings of trainings are read by
// it: their keys and values stand one behind the other in the pickle, whatever objects Python would make of
// them. O(opcodes), since what is long is jumped over; memory is at most mostRemembered and a window.
func literals(c *cursor, visit func(value any)) error {
	m := &memo{c: c, values: map[uint32]any{}, visit: visit}
	return watched(c, m.watch)
}

// memo is what a pickle remembers: Python numbers the objects that it may refer to again.
// It is not what an interpreter has: objects are nil here, and there is no stack.
type memo struct {
	c      *cursor
	values map[uint32]any
	// next is the number that MEMOIZE gives; last is the literal just shown, nil for another object.
	next  uint32
	last  any
	held  int
	visit func(value any)
}

// watch looks at one opcode and what follows it.
// The cursor stands behind op, and watch leaves it there: the walk moves over the operand itself. An opcode
// that makes no literal clears last, so that a number which is remembered next stands for an object.
func (m *memo) watch(op byte) error {
	switch op {
	case 0x94: // MEMOIZE
		m.next++
		return m.remember(m.next-1, m.last)
	case 'q', 'r': // BINPUT, LONG_BINPUT
		at, err := m.number(fixed[op])
		if err != nil {
			return err
		}
		return m.remember(uint32(at), m.last)
	case 'h', 'j': // BINGET, LONG_BINGET
		at, err := m.number(fixed[op])
		m.show(m.values[uint32(at)])
		return err
	case 'X', 0x8c, 'U': // BINUNICODE, SHORT_BINUNICODE, SHORT_BINSTRING
		return m.text(prefixed[op])
	case 'K', 'M': // BININT1, BININT2
		n, err := m.number(fixed[op])
		m.show(n)
		return err
	case 'J': // BININT, which has a sign
		n, err := m.number(fixed[op])
		m.show(int64(int32(n)))
		return err
	case 0x8a: // LONG1
		return m.long()
	case 'N': // NONE
		m.show(null{})
		return nil
	}
	m.last = nil
	return nil
}

// show hands a literal out; nil stands for another object.
func (m *memo) show(value any) {
	if m.last = value; value != nil {
		m.visit(value)
	}
}

// remember keeps a literal under a number.
// The bytes of a place that is given anew are not taken off again: a file that does this without end is refused
// like any other that wants too much.
func (m *memo) remember(at uint32, value any) error {
	delete(m.values, at)
	if value == nil {
		return nil
	}
	const each = 64 // what an entry costs beside its text
	m.held += each
	if text, ok := value.(string); ok {
		m.held += len(text)
	}
	if m.held > mostRemembered {
		return fmt.Errorf("remembers more than %d bytes: %w", mostRemembered, errMalformed)
	}
	m.values[at] = value
	return nil
}

// number returns the number of a few bytes that comes next, and stays before it.
// The width is 1, 2, 4 or 8 bytes, little endian.
func (m *memo) number(width int) (int64, error) {
	data, err := m.c.peek(width)
	if err != nil {
		return 0, err
	}
	var whole [8]byte
	// Of a pickle that ends here the walk itself will tell.
	copy(whole[:], data)
	return int64(binary.LittleEndian.Uint64(whole[:])), nil
}

// text shows the text that comes next behind its length.
// The text is looked at in the window, and the walk moves over it. One that is too long, or cut by the end of
// the file, is no literal.
func (m *memo) text(width int) error {
	length, err := m.number(width)
	if err != nil || length > longestText {
		m.last = nil
		return err
	}
	data, err := m.c.peek(width + int(length))
	if err == nil && len(data) == width+int(length) {
		m.show(string(data[width:]))
	}
	return err
}

// long shows a number of up to eight bytes behind their count, the highest bit being its sign.
// Python writes whole numbers beyond four bytes so; one of more than eight fits no int64 and is not shown.
func (m *memo) long() error {
	m.last = nil
	data, err := m.c.peek(9)
	if err != nil || len(data) == 0 || data[0] == 0 || data[0] > 8 || len(data) < 1+int(data[0]) {
		return err
	}
	var whole [8]byte
	count := int(data[0])
	// The bytes that are not there repeat the sign.
	if data[count]&0x80 != 0 {
		whole = [8]byte{255, 255, 255, 255, 255, 255, 255, 255}
	}
	copy(whole[:], data[1:1+count])
	m.show(int64(binary.LittleEndian.Uint64(whole[:])))
	return nil
}
