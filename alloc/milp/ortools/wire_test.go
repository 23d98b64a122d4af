package ortools

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"pgregory.net/rapid"
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

// TestMessageRoundTrip: what is written is what is read, for numbers of every size.
func TestMessageRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		integers := rapid.SliceOf(rapid.Int64()).Draw(t, "integers")
		doubles := rapid.SliceOf(rapid.Float64()).Draw(t, "doubles")
		var m, inner message
		inner.integers(1, integers...)
		inner.doubles(2, doubles)
		m.nested(3, inner)
		var gotIntegers []int64
		var gotDoubles []float64
		err := within(3, m, func(e entry) (err error) {
			if e.field == 1 {
				gotIntegers, err = e.appendIntegers(gotIntegers)
			} else {
				gotDoubles, err = e.appendDoubles(gotDoubles)
			}
			return err
		})
		same := slices.EqualFunc(doubles, gotDoubles, func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) })
		if err != nil || !slices.Equal(integers, gotIntegers) || !same {
			t.Fatalf("%v and %v, %v, want %v and %v", gotIntegers, gotDoubles, err, integers, doubles)
		}
	})
}

// TestDecodeErrors: a tag, a number, a text or a list that ends too early is an error, and so is what
// the visitor says.
func TestDecodeErrors(t *testing.T) {
	number := func(e entry) error { _, err := e.appendIntegers(nil); return err }
	double := func(e entry) error { _, err := e.appendDoubles(nil); return err }
	for name, test := range map[string]struct {
		encoded []byte
		visit   func(entry) error
	}{
		"tag":           {[]byte{0x80}, number},
		"field 0":       {[]byte{0x00, 0x01}, number},
		"varint":        {[]byte{0x08, 0x80}, number},
		"double":        {[]byte{0x09, 1, 2, 3}, double},
		"bytes":         {[]byte{0x0a, 5, 'a'}, number},
		"packed varint": {[]byte{0x0a, 1, 0x80}, number},
		"packed double": {[]byte{0x0a, 3, 1, 2, 3}, double},
		"fixed 32":      {[]byte{0x0d, 1}, number},
		"visitor":       {[]byte{0x08, 1}, func(entry) error { return ErrUnavailable }},
	} {
		if err := decode(test.encoded, test.visit); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
