// This file implements the walk over the fields of a protocol buffer, as far as lengths and types go.

package format

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// field is one field of a message. A number of fixed or variable length is in value; for a string, a
// message or a packed list value is its length, and a cursor stands at its beginning.
type field struct {
	// It is 1 or more; 0 is what a file of zeros looks like.
	number protowire.Number
	kind   protowire.Type
	value  uint64
}

// fields calls visit for every field up to the cursor's end. Groups, which none of the formats has, are
// refused.
// O(fields at this level): what visit does not enter is jumped over.
func fields(c *cursor, visit func(field) error) error {
	for c.left() > 0 {
		// The position of the tag is kept for messages: from it the damage can be found in a dump.
		at := c.pos
		tag, err := c.varint()
		if err != nil {
			return err
		}
		var f field
		// Zeros in place of what was not written are refused here.
		if f.number, f.kind = protowire.DecodeTag(tag); f.number < protowire.MinValidNumber {
			return fmt.Errorf("field number %d at %d: %w", f.number, at, errMalformed)
		}
		switch f.kind {
		case protowire.VarintType, protowire.BytesType:
			f.value, err = c.varint()
		case protowire.Fixed32Type:
			var v uint32
			v, err = c.uint32()
			// Numbers of fixed length are bits here; who wants a float converts them.
			f.value = uint64(v)
		case protowire.Fixed64Type:
			f.value, err = c.uint64()
		// Wire types 3 and 4 open and close groups, 6 and 7 do not exist.
		default:
			err = fmt.Errorf("wire type %d at %d: %w", f.kind, at, errMalformed)
		}
		// visit sees the contents only, and may leave them: within skips the rest. So a walk costs time for
		// each field, not for each byte.
		if err == nil && f.kind == protowire.BytesType {
			err = c.within(f.value, func() error { return visit(f) })
		} else if err == nil {
			err = visit(f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *cursor) text(length uint64) (string, error) {
	// The bound lies below windowBytes, which take needs.
	const longest = 4096 // bytes; names of files and layers are shorter
	if length > longest {
		return "", fmt.Errorf("name of %d bytes at %d: %w", length, c.pos, errMalformed)
	}
	bytes, err := c.take(int(length))
	return string(bytes), err
}
