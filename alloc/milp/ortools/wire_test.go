package ortools

import (
	"math"
	"reflect"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

func TestMessage(t *testing.T) {
	var inner, m message
	inner.boolean(1, true)
	m.integer(1, -5)
	m.double(2, math.Inf(-1))
	m.nested(3, inner)
	m.integers(4, 1, -2, math.MaxInt64)
	m.integers(5)
	m.doubles(6, []float64{0.5, -1})
	m = protowire.AppendFixed32(protowire.AppendTag(m, 9, protowire.Fixed32Type), 7)
	m.integers(7, 3)

	var fields []protowire.Number
	var integers []int64
	var doubles []float64
	err := decode(m, func(e entry) (err error) {
		fields = append(fields, e.field)
		switch e.field {
		case 1, 4:
			integers, err = e.appendIntegers(integers)
		case 2, 6:
			doubles, err = e.appendDoubles(doubles)
		case 3:
			err = decode(e.bytes, func(e entry) (err error) {
				integers, err = e.appendIntegers(integers)
				return err
			})
		}
		return err
	})
	if err != nil || !reflect.DeepEqual(fields, []protowire.Number{1, 2, 3, 4, 6, 9, 7}) ||
		!reflect.DeepEqual(integers, []int64{-5, 1, 1, -2, math.MaxInt64}) ||
		!reflect.DeepEqual(doubles, []float64{math.Inf(-1), 0.5, -1}) {
		t.Errorf("fields %v, integers %v, doubles %v, %v", fields, integers, doubles, err)
	}
}

// FuzzResponses: whatever comes back, reading it ends with an answer or an error.
func FuzzResponses(f *testing.F) {
	var solution, response message
	solution.integers(cpResponseSolution, 1, 0)
	response.integer(cpResponseStatus, cpOptimal)
	f.Add([]byte(append(response, solution...)))
	f.Add([]byte{0x12, 0x80})
	f.Add([]byte{0x12, 0x03, 0x80, 0x80, 0x80})
	f.Fuzz(func(t *testing.T, encoded []byte) {
		r, err := readCPResponse(encoded)
		if err == nil && len(r.values) > len(encoded) {
			t.Errorf("%d values out of %d bytes", len(r.values), len(encoded))
		}
		if result, err := readMathOptResult(encoded); err == nil && len(result.values) > len(encoded) {
			t.Errorf("%d values out of %d bytes", len(result.values), len(encoded))
		}
	})
}
