// This file implements the walk over a list of arrays, the form of a MXNet params file.

package format

import (
	"fmt"
	"math"
)

const (
	// listMagic opens a list of arrays.
	// It takes eight bytes and is followed by eight reserved ones, which are zero.
	listMagic = 0x112
	// arrayMagic opens each array, in three versions: without storage type, with it, and with shapes in
	// which zero is a size.
	// The versions count up; older arrays begin with their number of dimensions and are refused.
	arrayMagicV1 = 0xF993FAC8
	arrayMagicV2 = 0xF993FAC9
	arrayMagicV3 = 0xF993FACA
	// maxDimensions is far above what MXNet computes with.
	// The bound refuses a damaged number early, before as many sizes are read.
	maxDimensions = 64
)

// elementBytes is the size of an element by type flag: float32, float64, float16, uint8, int32, int8,
// int64, bool, int16, uint16, uint32, uint64, bfloat16.
// Types of the same size cannot be told apart by lengths: such damage is not noticed.
var elementBytes = []int64{4, 8, 2, 1, 4, 1, 8, 1, 2, 2, 4, 8, 2}

// widest is the largest of elementBytes.
// A number of elements times widest must fit into int64, so that contents can multiply without looking.
const widest = 8

// auxiliaries is the number of index arrays by storage type: dense, sparse by row, compressed rows. Of
// compressed rows the second has an element for each one stored.
var auxiliaries = []int{0, 1, compressedRows}

const compressedRows = 2

// arrays walks a list of arrays and the list of their names up to the last byte of the file. Data has no
// checksum and is not looked at.
func arrays(c *cursor) error {
	head, err := c.take(16)
	if err != nil {
		return err
	}
	if [16]byte(head) != [16]byte{0: listMagic & 0xff, 1: listMagic >> 8} {
		return fmt.Errorf("no list of arrays: %w", errMalformed)
	}
	// A claim of 2^63 arrays costs nothing: the first that is not there ends the walk.
	count, err := c.uint64()
	if err != nil {
		return err
	}
	for i := range count {
		if err := c.array(); err != nil {
			return fmt.Errorf("array %d of %d: %w", i, count, err)
		}
	}
	named, err := c.uint64()
	if err != nil {
		return err
	}
	// A list without names is what a Python list becomes; else there is one for each array.
	if named != 0 && named != count {
		return fmt.Errorf("%d names for %d arrays: %w", named, count, errMalformed)
	}
	for range named {
		length, err := c.uint64()
		if err == nil {
			_, err = c.text(length)
		}
		if err != nil {
			return fmt.Errorf("name: %w", err)
		}
	}
	// A length that was damaged to be smaller leaves bytes behind.
	if c.left() > 0 {
		return fmt.Errorf("%d bytes behind the end: %w", c.left(), errMalformed)
	}
	return nil
}

func (c *cursor) array() error {
	magic, err := c.uint32()
	if err != nil {
		return err
	}
	// Dense arrays have no index arrays, and version 1 knows dense ones only.
	aux := 0
	switch magic {
	case arrayMagicV1:
	case arrayMagicV2, arrayMagicV3:
		storage, err := c.index(len(auxiliaries))
		if err != nil {
			return fmt.Errorf("storage type: %w", err)
		}
		aux = auxiliaries[storage]
	default:
		return fmt.Errorf("magic number %#x: %w", magic, errMalformed)
	}
	stored, storedDimensions := int64(-1), int32(0) // if not as many elements as the shape says
	// The shape of what is stored comes before that of the array: of a sparse one only some rows are there.
	if aux > 0 {
		if stored, storedDimensions, err = c.shape(); err != nil {
			return err
		}
	}
	elements, dimensions, err := c.shape()
	// Compressed rows are matrices: MXNet has no other, and reads the index arrays on that ground.
	if err == nil && aux == compressedRows && (storedDimensions != 1 || dimensions != 2) {
		err = fmt.Errorf("compressed rows in %d dimensions: %w", dimensions, errMalformed)
	}
	// In versions 1 and 2 zero dimensions mean no shape, in version 3 a scalar and -1 means none.
	if err != nil || dimensions < 0 || dimensions == 0 && magic != arrayMagicV3 {
		return err // an array without a shape ends here
	}
	if stored < 0 {
		stored = elements
	}
	return c.contents(stored, aux)
}

// contents walks what follows the shape of an array: where it was, type, types and shapes of the index
// arrays, and the data of all.
func (c *cursor) contents(stored int64, aux int) error {
	if _, err := c.take(8); err != nil { // the device, which has no bearing on the contents
		return err
	}
	// Index 0 is the data, the others are the index arrays; the types and shapes of all come before the
	// bytes of any.
	counts, widths := make([]int64, 1+aux), make([]int64, 1+aux)
	for i := range counts {
		kind, err := c.index(len(elementBytes))
		if err != nil {
			return fmt.Errorf("element type: %w", err)
		}
		elements := stored
		if i > 0 {
			if elements, _, err = c.shape(); err != nil {
				return err
			}
		}
		if i == compressedRows {
			// The stored shape is zero if the array was saved while it was computed; MXNet goes by this one.
			stored = elements
		}
		// The bound makes count*width below safe. A stored count has passed it in the round of its own
		// array.
		if elements > math.MaxInt64/widest {
			return fmt.Errorf("%d elements: %w", elements, errMalformed)
		}
		counts[i], widths[i] = elements, elementBytes[kind]
	}
	// The number of stored elements may have been corrected by the index array, so it is set last.
	counts[0] = stored
	for i, count := range counts {
		// The bytes are skipped and not read: they have no checksum, so only their number can be wrong.
		if err := c.skip(uint64(count * widths[i])); err != nil {
			return err
		}
	}
	return nil
}

// shape reads a shape and returns the number of elements; dimensions are -1 where they are unknown.
func (c *cursor) shape() (elements int64, dimensions int32, err error) {
	n, err := c.uint32()
	if err != nil {
		return 0, 0, err
	}
	// -1 is stored as the uint32 of all ones.
	if dimensions = int32(n); dimensions < -1 || dimensions > maxDimensions {
		return 0, 0, fmt.Errorf("%d dimensions: %w", dimensions, errMalformed)
	}
	elements = 1
	for range dimensions {
		size, err := c.uint64()
		if err != nil {
			return 0, 0, err
		}
		// The check comes before the product. A size of zero makes all of it zero, which is an array without
		// elements.
		if size > math.MaxInt64 || size != 0 && elements > math.MaxInt64/int64(size) {
			return 0, 0, fmt.Errorf("dimension of %d: %w", size, errMalformed)
		}
		elements *= int64(size)
	}
	return elements, dimensions, nil
}

// index reads a number below n.
func (c *cursor) index(n int) (int, error) {
	v, err := c.uint32()
	if err == nil && uint64(v) >= uint64(n) {
		err = fmt.Errorf("%d is not below %d: %w", v, n, errMalformed)
	}
	return int(v), err
}
