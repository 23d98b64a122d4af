// This file implements the protocol buffer encoding, as far as the messages of OR-Tools need it.

package ortools

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// message is an encoded message that grows by one field a call.
type message []byte

func (m *message) integer(field protowire.Number, value int64) {
	*m = protowire.AppendTag(*m, field, protowire.VarintType)
	*m = protowire.AppendVarint(*m, uint64(value))
}

func (m *message) boolean(field protowire.Number, value bool) {
	m.integer(field, int64(protowire.EncodeBool(value)))
}

func (m *message) double(field protowire.Number, value float64) {
	*m = protowire.AppendTag(*m, field, protowire.Fixed64Type)
	*m = protowire.AppendFixed64(*m, math.Float64bits(value))
}

func (m *message) nested(field protowire.Number, inner message) {
	*m = protowire.AppendTag(*m, field, protowire.BytesType)
	*m = protowire.AppendBytes(*m, inner)
}

// integers appends a packed list; an empty one leaves no trace.
func (m *message) integers(field protowire.Number, values ...int64) {
	var packed message
	for _, value := range values {
		packed = protowire.AppendVarint(packed, uint64(value))
	}
	if len(values) > 0 {
		m.nested(field, packed)
	}
}

// doubles appends a packed list; an empty one leaves no trace.
func (m *message) doubles(field protowire.Number, values []float64) {
	packed := make(message, 0, 8*len(values))
	for _, value := range values {
		packed = protowire.AppendFixed64(packed, math.Float64bits(value))
	}
	if len(values) > 0 {
		m.nested(field, packed)
	}
}

// entry is one field of a received message: a number in bits, or the bytes of a list, a text or a
// nested message.
type entry struct {
	field protowire.Number
	bits  uint64
	bytes []byte
}

func (e entry) double() float64 { return math.Float64frombits(e.bits) }

// decode calls visit with every field of a message, in order, until one fails.
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
		encoded = encoded[n:]
		if err := visit(e); err != nil {
			return err
		}
	}
	return nil
}

// appendIntegers appends the value or the packed values of e, whichever the sender chose.
func (e entry) appendIntegers(values []int64) ([]int64, error) {
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

// appendDoubles is appendIntegers for a list of doubles.
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
