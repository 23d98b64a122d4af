// This file implements a cursor: bounded reading of a file whose own lengths cannot be trusted.

package format

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"google.golang.org/protobuf/encoding/protowire"
)

// windowBytes is how much of a file a cursor holds: more than any number or name that is read whole.
const windowBytes = 1 << 16

// errMalformed: the bytes cannot be what they should be.
var errMalformed = errors.New("malformed")

// cursor walks a file forward. It holds one window of it, so what a file claims its lengths to be costs
// no memory, and no read goes beyond the end that was set.
type cursor struct {
	// It is read at offsets and never as a stream, so skipping a tensor costs no reading.
	source io.ReaderAt
	size   int64 // of the source
	// 0 <= pos <= end <= size holds after every method: each checks a length against end-pos before it adds.
	pos, end int64
	// It is allocated at the first peek: a cursor that only skips costs nothing.
	window []byte
	start  int64 // of the window
}

func newCursor(source io.ReaderAt, size int64) *cursor {
	return &cursor{source: source, size: size, end: size}
}

// opened is an open file and its length.
type opened struct {
	fs.File
	io.ReaderAt
	size int64
}

// open opens a file that must be regular: opening a pipe would wait for its writer for ever.
func open(fsys fs.FS, name string) (*opened, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, damaged(name, err)
	}
	if !info.Mode().IsRegular() {
		return nil, incomplete(name, "not a regular file")
	}
	file, err := fsys.Open(name)
	if err != nil {
		return nil, damaged(name, err)
	}
	source, ok := file.(io.ReaderAt)
	// The length is that of the file which is open: the name may have got another one since.
	if info, err = file.Stat(); err != nil || !ok {
		_ = file.Close() // the error before says why
		return nil, damaged(name, errors.Join(err, errors.New("cannot be read at an offset")))
	}
	return &opened{file, source, info.Size()}, nil
}

// walk opens a file, hands a cursor over all of it to visit, and names the file in the error.
func walk(fsys fs.FS, name string, visit func(*cursor) error) error {
	file, err := open(fsys, name)
	if err != nil {
		return err
	}
	defer file.Close()
	return damaged(name, visit(newCursor(file, file.size)))
}

// left is the number of bytes up to the end.
func (c *cursor) left() int64 { return c.end - c.pos }

// peek returns the next n bytes, fewer at the end. They are valid until the next call.
func (c *cursor) peek(n int) ([]byte, error) {
	// Clipping at end is what keeps a nested message from reading into its neighbour.
	n = int(min(int64(n), c.left()))
	at := c.pos - c.start
	// The window is refilled from pos: what lies before is not wanted again, since a cursor only moves
	// forward.
	if at < 0 || at+int64(n) > int64(len(c.window)) {
		if c.window == nil {
			c.window = make([]byte, min(windowBytes, c.size))
		}
		// It may reach beyond end, up to the end of the file: the bytes behind a message are wanted next.
		c.window = c.window[:min(int64(cap(c.window)), c.size-c.pos)]
		read, err := c.source.ReadAt(c.window, c.pos)
		// The file has become shorter since its length was asked for. An empty window makes the next peek
		// read again.
		if read < len(c.window) {
			c.window = c.window[:0]
			return nil, fmt.Errorf("reading at %d: %w", c.pos, errors.Join(err, io.ErrUnexpectedEOF))
		}
		c.start, at = c.pos, 0
	}
	return c.window[at : at+int64(n)], nil
}

// take returns the next n bytes and moves behind them; n is at most windowBytes.
func (c *cursor) take(n int) ([]byte, error) {
	bytes, err := c.peek(n)
	if err == nil && len(bytes) < n {
		err = fmt.Errorf("ends at %d: %w", c.end, io.ErrUnexpectedEOF)
	}
	if err != nil {
		return nil, err
	}
	c.pos += int64(n)
	return bytes, nil
}

// skip moves over n bytes, which must be there.
func (c *cursor) skip(n uint64) error {
	// The comparison is unsigned: a length beyond int64 would be negative otherwise, and pass.
	if n > uint64(c.left()) {
		return fmt.Errorf("%d bytes at %d reach beyond the end: %w", n, c.pos, io.ErrUnexpectedEOF)
	}
	c.pos += int64(n)
	return nil
}

// within moves over n bytes and lets visit see nothing else. What visit leaves unread is skipped.
func (c *cursor) within(n uint64, visit func() error) error {
	if n > uint64(c.left()) {
		return c.skip(n)
	}
	outer := c.end
	c.end = c.pos + int64(n)
	err := visit()
	// pos goes to the end of the part also after an error, and the outer end comes back: the cursor stays
	// usable.
	c.pos, c.end = c.end, outer
	return err
}

// uint32 reads four bytes, little endian.
func (c *cursor) uint32() (uint32, error) {
	bytes, err := c.take(4)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(bytes), nil
}

// uint64 reads eight bytes, little endian.
func (c *cursor) uint64() (uint64, error) {
	bytes, err := c.take(8)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(bytes), nil
}

func (c *cursor) varint() (uint64, error) {
	// peek returns fewer bytes at the end. A number that needs more than there are is an error of
	// ConsumeVarint.
	bytes, err := c.peek(binary.MaxVarintLen64)
	if err != nil {
		return 0, err
	}
	// A varint has ten bytes at most, which peek has asked for.
	v, n := protowire.ConsumeVarint(bytes)
	if n < 0 {
		return 0, fmt.Errorf("at %d: %w", c.pos, protowire.ParseError(n))
	}
	c.pos += int64(n)
	return v, nil
}
