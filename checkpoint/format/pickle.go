// This file implements the walk over a pickle of Python: far enough to see that it is whole. Nothing in
// it is executed.

package format

import (
	"bytes"
	"fmt"
)

// The opcodes by what follows them, [PEP307] and PEP 3154: nothing; one, two, four or eight bytes;
// two lines; or a length of one, four or eight bytes and as many bytes. Those of protocol 0 are missing:
// nobody writes that for arrays.
var (
	// The letters are opcodes: ( is MARK, R is REDUCE, and so on; only what follows them matters here.
	bare = []byte("(012Rt)]}abdeosuNQ\x81\x85\x86\x87\x88\x89\x8f\x90\x91\x92\x93\x94\x97\x98")
	// LONG4 and its kin are in prefixed, FRAME (0x95) has a length of its own that nobody needs.
	fixed    = map[byte]int{'K': 1, 'h': 1, 'q': 1, 0x80: 1, 0x82: 1, 'M': 2, 0x83: 2, 'J': 4, 'j': 4, 'r': 4, 0x84: 4, 'G': 8, 0x95: 8}
	prefixed = map[byte]int{'U': 1, 'C': 1, 0x8a: 1, 0x8c: 1, 'T': 4, 'X': 4, 'B': 4, 0x8b: 4, 0x8d: 8, 0x8e: 8, 0x96: 8}
)

const (
	// PROTO is the first opcode from protocol 2 on, and appears nowhere else.
	pickleStart  = 0x80
	pickleStop   = '.'
	pickleGlobal = 'c'
)

// pickle walks a pickle from its protocol number to its stop, which is the last byte of the file.
func pickle(c *cursor) error { return watched(c, nil) }

// watched is pickle, and shows every opcode to watch, if that is not nil, before it moves over what follows it.
func watched(c *cursor, watch func(op byte) error) error {
	// The walk looks at opcodes in turn and calls nothing: what a pickle would execute stays data.
	// O(opcodes).
	for first := true; ; first = false {
		at := c.pos
		opcode, err := c.take(1)
		if err != nil {
			return err
		}
		op := opcode[0]
		switch {
		// A file of another kind and one that was overwritten by a second pickle are refused alike.
		case first != (op == pickleStart):
			err = fmt.Errorf("no pickle: %w", errMalformed)
		case op == pickleStop:
			// STOP must be the last byte: what follows belongs to another write into the same file.
			if c.left() > 0 {
				return fmt.Errorf("%d bytes behind the end: %w", c.left(), errMalformed)
			}
			return nil
		case watch != nil:
			err = watch(op)
		}
		if err == nil {
			err = c.skipOperand(op)
		}
		if err != nil {
			return fmt.Errorf("pickle at %d: %w", at, err)
		}
	}
}

func (c *cursor) skipOperand(op byte) error {
	switch {
	// GLOBAL has a module and a name, each with an end of line.
	case op == pickleGlobal:
		return c.lines(2)
	case fixed[op] > 0:
		_, err := c.take(fixed[op])
		return err
	case prefixed[op] > 0:
		// What it moves over may be gigabytes of an array, and is not read.
		return c.counted(prefixed[op])
	// An opcode that nobody writes for arrays is damage, or a pickle that does something else.
	case bytes.IndexByte(bare, op) < 0:
		return fmt.Errorf("opcode %#x: %w", op, errMalformed)
	}
	return nil
}

// counted moves over a length of the given width, little endian, and as many bytes.
func (c *cursor) counted(width int) error {
	bytes, err := c.take(width)
	if err != nil {
		return err
	}
	length := uint64(0)
	for i, b := range bytes {
		// A width of eight gives lengths beyond int64, which skip refuses.
		length |= uint64(b) << (8 * i)
	}
	return c.skip(length)
}

// lines moves over lines, which are names and short.
func (c *cursor) lines(n int) error {
	const longest = 4096
	for range n {
		// peek gives less at the end of the file: a line without an end is refused there too.
		line, err := c.peek(longest)
		if err != nil {
			return err
		}
		end := bytes.IndexByte(line, '\n')
		if end < 0 {
			return fmt.Errorf("no end of line: %w", errMalformed)
		}
		c.pos += int64(end) + 1
	}
	return nil
}
