// This file implements the reading of a sorted table, the form of a TensorFlow index: blocks of
// ascending keys with values, an index block over them, and a footer. Each block has a masked CRC-32C.

package format

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"

	"google.golang.org/protobuf/encoding/protowire"
)

const (
	// It holds two handles of at most 20 bytes each, padding, and the magic number.
	footerBytes = 48
	tableMagic  = 0xdb4775248b80fb57
	// trailerBytes follow each block: the kind of compression and the checksum.
	trailerBytes = 5
	// blockLimit bounds what is read at once. Frameworks write blocks of 256 KiB and exceed that by one
	// entry.
	// The bound holds for what a claimed length may cost in memory, before any checksum is known.
	blockLimit = 1 << 26
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// masked is how a checksum is stored, so that the checksum of data with checksums in it is sound.
// It is a rotation by 15 bits and a constant, as LevelDB does it.
func masked(crc uint32) uint32 { return (crc>>15 | crc<<17) + 0xa282ead8 }

// table calls visit for every key and value of a sorted table, in ascending order. It verifies every
// checksum. Key and value are valid during the call only.
func table(c *cursor, visit func(key, value []byte) error) error {
	if c.left() < footerBytes {
		return fmt.Errorf("%d bytes hold no footer: %w", c.left(), io.ErrUnexpectedEOF)
	}
	footer := make([]byte, footerBytes)
	// Everything else is found from the end, so an index that was cut has no footer where one should be.
	if _, err := c.source.ReadAt(footer, c.end-footerBytes); err != nil {
		return fmt.Errorf("footer: %w", err)
	}
	if binary.LittleEndian.Uint64(footer[footerBytes-8:]) != tableMagic {
		return fmt.Errorf("footer without its magic number: %w", errMalformed)
	}
	handles := footer[:footerBytes-8]
	_, used, err := c.block(handles) // of the table's own properties: empty here, but checked
	if err != nil {
		return fmt.Errorf("properties: %w", err)
	}
	// The handles stand one behind the other, so that the length of the first is where the second begins.
	index, _, err := c.block(handles[used:])
	if err != nil {
		return fmt.Errorf("index: %w", err)
	}
	// A value of the index block is the handle of a data block; its key is a separator, which only a search
	// needs.
	return entries(index, func(_, handle []byte) error {
		block, _, err := c.block(handle)
		if err != nil {
			return err
		}
		return entries(block, visit)
	})
}

// block reads the block of a handle, its offset and length, and returns the bytes of the handle too.
func (c *cursor) block(handle []byte) (block []byte, used int, err error) {
	// Both numbers are varints, in the form of protocol buffers.
	offset, n := protowire.ConsumeVarint(handle)
	if n < 0 {
		return nil, 0, protowire.ParseError(n)
	}
	length, m := protowire.ConsumeVarint(handle[n:])
	if m < 0 {
		return nil, 0, protowire.ParseError(m)
	}
	// No block reaches into the footer. The subtractions are ordered such that none of them wraps.
	room := uint64(c.end) - footerBytes
	if offset > room || length > room-offset || room-offset-length < trailerBytes || length > blockLimit {
		return nil, 0, fmt.Errorf("block of %d bytes at %d: %w", length, offset, io.ErrUnexpectedEOF)
	}
	// A block is read whole: its checksum comes at its end. At most blockLimit bytes are held at a time.
	block = make([]byte, length+trailerBytes)
	if _, err := c.source.ReadAt(block, int64(offset)); err != nil {
		return nil, 0, fmt.Errorf("block at %d: %w", offset, err)
	}
	// The checksum covers the contents and the kind of compression, not itself.
	if crc := crc32.Checksum(block[:length+1], castagnoli); masked(crc) != binary.LittleEndian.Uint32(block[length+1:]) {
		return nil, 0, fmt.Errorf("block at %d: checksum differs: %w", offset, errMalformed)
	}
	if block[length] != 0 {
		return nil, 0, fmt.Errorf("block at %d is compressed, which TensorFlow does no more: %w", offset, errMalformed)
	}
	return block[:length], n + m, nil
}

// entries calls visit for every entry of a block. A key is stored as what it adds to the key before; the
// places where keys start anew are listed at the end and not needed to walk.
func entries(block []byte, visit func(key, value []byte) error) error {
	// The last four bytes are the number of restarts, the places themselves lie before them.
	if len(block) < 4 {
		return fmt.Errorf("block of %d bytes: %w", len(block), errMalformed)
	}
	restarts := binary.LittleEndian.Uint32(block[len(block)-4:])
	if uint64(restarts)*4 > uint64(len(block)-4) {
		return fmt.Errorf("block with %d restarts: %w", restarts, errMalformed)
	}
	// What is left are the entries, one behind the other, to the last byte.
	rest := block[:len(block)-4-int(restarts)*4]
	var key []byte
	for len(rest) > 0 {
		var lengths [3]uint64 // shared with the key before, own, value
		for i := range lengths {
			n := 0
			if lengths[i], n = protowire.ConsumeVarint(rest); n < 0 {
				return fmt.Errorf("block entry: %w", protowire.ParseError(n))
			}
			rest = rest[n:]
		}
		shared, own, value := lengths[0], lengths[1], lengths[2]
		// The three comparisons are ordered so that no sum is formed that could wrap.
		if shared > uint64(len(key)) || own > uint64(len(rest)) || value > uint64(len(rest))-own {
			return fmt.Errorf("block entry: %w", io.ErrUnexpectedEOF)
		}
		// The key is built in place: visit must not keep it.
		key = append(key[:shared], rest[:own]...)
		if err := visit(key, rest[own:own+value]); err != nil {
			return err
		}
		rest = rest[own+value:]
	}
	return nil
}
