// This file implements the protocol buffer encoding, as far as the messages of OR-Tools need it.

package ortools

import (
	"encoding/binary"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// message is an encoded message that grows by one field a call. The methods write what protobuf's own code would write for
// the same fields; only what the two engines' messages use is there. No method fails.
type message []byte

// integer appends a number, 0 included: a field that is absent would mean the message's own
// default.
func (m *message) integer(field protowire.Number, value int64) {
	*m = protowire.AppendTag(*m, field, protowire.VarintType)
	// int32, int64, bool and enum share this encoding; a negative number takes ten bytes.
	*m = protowire.AppendVarint(*m, uint64(value))
}

// boolean appends 0 or 1.
func (m *message) boolean(field protowire.Number, value bool) {
	m.integer(field, int64(protowire.EncodeBool(value)))
}

// double appends a float64 by its bits, so infinities and NaN pass unchanged.
func (m *message) double(field protowire.Number, value float64) {
	*m = protowire.AppendTag(*m, field, protowire.Fixed64Type)
	*m = protowire.AppendFixed64(*m, math.Float64bits(value))
}

// nested appends a message; an empty one is written, too, since its presence says something.
func (m *message) nested(field protowire.Number, inner message) {
	// A nested message has the form of a list of bytes: its length, then its fields.
	m.list(field, len(inner))
	*m = append(*m, inner...)
}

// list begins a field of that many bytes, and makes room for them.
func (m *message) list(field protowire.Number, size int) {
	// A tag and a length take at most MaxVarintLen64 bytes each, so the appends that follow do not
	// allocate.
	*m = slices.Grow(*m, size+2*binary.MaxVarintLen64)
	*m = protowire.AppendTag(*m, field, protowire.BytesType)
	*m = protowire.AppendVarint(*m, uint64(size))
}

// integers appends a packed list; an empty one leaves no trace.
func (m *message) integers(field protowire.Number, values ...int64) {
	if len(values) == 0 {
		return
	}
	// The length stands before the numbers, so they are measured first.
	size := 0
	for _, value := range values {
		size += protowire.SizeVarint(uint64(value))
	}
	m.list(field, size)
	for _, value := range values {
		*m = protowire.AppendVarint(*m, uint64(value))
	}
}

// doubles appends a packed list; an empty one leaves no trace.
func (m *message) doubles(field protowire.Number, values []float64) {
	if len(values) == 0 {
		return
	}
	m.list(field, 8*len(values))
	for _, value := range values {
		*m = protowire.AppendFixed64(*m, math.Float64bits(value))
	}
}

// entry is one field of a received message: a number in bits, or the bytes of a list, a text or a
// nested message.
type entry struct {
	field protowire.Number
	bits  uint64
	bytes []byte
}

// double is for fields that are sent as fixed 64 bits; of others it makes a number without meaning, and no fault.
func (e entry) double() float64 { return math.Float64frombits(e.bits) }

// decode calls visit with every field of a message, in order, until one fails. encoded may be damaged: then the error is that
// of the first field that cannot be read, and what was visited before stays visited. Nothing is copied; bytes of an entry are
// part of encoded. O(size of encoded).
func decode(encoded []byte, visit func(entry) error) error {
	for len(encoded) > 0 {
		field, kind, n := protowire.ConsumeTag(encoded)
		if n < 0 {
			return protowire.ParseError(n)
		}
		encoded = encoded[n:]
		e := entry{field: field}
		switch kind {
		case protowire.VarintType:
			e.bits, n = protowire.ConsumeVarint(encoded)
		case protowire.Fixed64Type:
			e.bits, n = protowire.ConsumeFixed64(encoded)
		case protowire.BytesType:
			e.bytes, n = protowire.ConsumeBytes(encoded)
		default: // fields of other types are none of ours
			n = protowire.ConsumeFieldValue(field, kind, encoded)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		// The field was consumed whole, so a visitor that ignores it leaves the decoding in step.
		encoded = encoded[n:]
		if err := visit(e); err != nil {
			return err
		}
	}
	return nil
}

// appendIntegers appends the value or the packed values of e, whichever the sender chose.
// Numbers of a type with a sign are sent as their two's complement, so that the conversion gives them
// back.
func (e entry) appendIntegers(values []int64) ([]int64, error) {
	// A sender may write a repeated field one by one or packed; a reader has to take both.
	if e.bytes == nil {
		return append(values, int64(e.bits)), nil
	}
	for rest := e.bytes; len(rest) > 0; {
		value, n := protowire.ConsumeVarint(rest)
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		values, rest = append(values, int64(value)), rest[n:]
	}
	return values, nil
}

func (e entry) appendDoubles(values []float64) ([]float64, error) {
	if e.bytes == nil {
		return append(values, e.double()), nil
	}
	for rest := e.bytes; len(rest) > 0; {
		bits, n := protowire.ConsumeFixed64(rest)
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		values, rest = append(values, math.Float64frombits(bits)), rest[n:]
	}
	return values, nil
}
