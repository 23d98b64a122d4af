// This file implements the walks over the two messages of a Caffe snapshot: NetParameter and SolverState.

package format

import (
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

type solverState struct {
	// -1 stands for a state that does not tell, which no name equals.
	iter  int64
	model string
	// history is the number of elements of each of the solver's arrays.
	history []int64
}

// read walks a SolverState: iteration (1), model (2), history (3) and the step of the learning rate (4),
// which Caffe writes last.
func (s *solverState) read(c *cursor) error {
	s.iter = -1
	// The field 4 is the end mark: Caffe always writes it, zero or not, so a state that was cut has lost it.
	last := false
	err := fields(c, func(f field) (err error) {
		switch {
		case f.number == 1 && f.kind == protowire.VarintType:
			// A negative int32 is written as ten bytes of varint; the conversion brings its sign back, and
			// no name has one.
			s.iter = int64(int32(f.value))
		case f.number == 2 && f.kind == protowire.BytesType:
			s.model, err = c.text(f.value)
		case f.number == 3 && f.kind == protowire.BytesType:
			s.history, err = appendBlob(c, s.history)
		case f.number == 4 && f.kind == protowire.VarintType:
			last = true
		// The message has no other fields: an unknown one is damage to a tag.
		default:
			err = unexpected(f)
		}
		return err
	})
	if err == nil && !last {
		err = errFields("field at the end")
	}
	return err
}

// unexpected is the error of a field that the message does not have.
func unexpected(f field) error {
	return fmt.Errorf("field %d of type %d: %w", f.number, f.kind, errMalformed)
}

// The fields of a NetParameter that hold layers, and those of a layer that hold its weights, in the
// version of today and the one before.
const (
	netLayer, layerBlobs     = 100, 7
	netLayerV1, layerBlobsV1 = 2, 6
)

// modelBlobs walks a NetParameter and returns the number of elements of every array of weights.
func modelBlobs(c *cursor) ([]int64, error) {
	var sizes []int64
	layers := 0
	err := fields(c, func(f field) error {
		blobs := protowire.Number(layerBlobs)
		switch f.number {
		case netLayer:
		case netLayerV1:
			blobs = layerBlobsV1
		// Names, inputs and settings of the net hold no weights. within has seen that they lie in the file.
		default:
			return nil
		}
		if f.kind != protowire.BytesType {
			return unexpected(f)
		}
		layers++
		return fields(c, func(f field) (err error) {
			if f.number == blobs && f.kind == protowire.BytesType {
				sizes, err = appendBlob(c, sizes)
			}
			return err
		})
	})
	if err == nil && layers == 0 {
		err = errFields("layers")
	}
	return sizes, err
}

// appendBlob walks a BlobProto and appends the number of its elements. Data (5, double precision 8) must be
// as many as the shape (7, or 1 to 4 in old files) says.
func appendBlob(c *cursor, sizes []int64) ([]int64, error) {
	// old is the product of num, channels, height and width, of which an absent one counts as one.
	shape, old, data := int64(1), int64(1), int64(0)
	shaped := false
	err := fields(c, func(f field) (err error) {
		switch f.number {
		case 1, 2, 3, 4:
			old, err = times(old, f)
		// A list may be packed or not, and in pieces: protocol buffers allow both, so lengths are added up.
		case 5:
			data += elements(f, protowire.Fixed32Type, 4)
		case 8:
			data += elements(f, protowire.Fixed64Type, 8)
		case 7:
			shaped = true
			shape, err = shapeOf(c, f)
		}
		return err
	})
	if !shaped {
		shape = old
	}
	// This is what notices a model that was cut inside of an array, or a damaged length.
	if err == nil && shape != data {
		err = fmt.Errorf("array of %d with %d elements: %w", shape, data, errMalformed)
	}
	return append(sizes, data), err
}

// elements returns how many numbers a field of numbers holds: one, or a packed list.
func elements(f field, single protowire.Type, width uint64) int64 {
	switch {
	case f.kind == single:
		return 1
	case f.kind == protowire.BytesType && f.value%width == 0:
		return int64(f.value / width)
	default:
		// Caffe's arrays have at most 2^31-1 elements, so the sum stays negative.
		return math.MinInt32 // fits no shape
	}
}

func shapeOf(c *cursor, f field) (product int64, err error) {
	product = 1
	if f.kind != protowire.BytesType {
		return 0, unexpected(f)
	}
	err = fields(c, func(f field) (err error) {
		if f.kind != protowire.BytesType {
			product, err = times(product, f)
			return err
		}
		// A packed list is varints up to its end. One that the end cuts is an error of varint.
		for c.left() > 0 && err == nil {
			if f.value, err = c.varint(); err == nil {
				f.kind = protowire.VarintType
				product, err = times(product, f)
			}
		}
		return err
	})
	return product, err
}

// times multiplies by a dimension.
func times(product int64, f field) (int64, error) {
	// The check comes before the product: a shape that overflows must not come out as one that fits.
	if f.kind != protowire.VarintType || f.value > math.MaxInt64 || f.value != 0 && product > math.MaxInt64/int64(f.value) {
		return 0, unexpected(f)
	}
	return product * int64(f.value), nil
}

// errFields says that fields which the last step of writing makes are missing.
func errFields(names string) error { return fmt.Errorf("no %s: %w", names, errMalformed) }
