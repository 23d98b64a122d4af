// This file implements the walk over a list of arrays, the form of a MXNet params file.

package format

import (
	"fmt"
	"math"
)

const (
	// listMagic opens a list of arrays.
	listMagic = 0x112
	// arrayMagic opens each array, in three versions: without storage type, with it, and with shapes in
	// which zero is a size.
	arrayMagicV1 = 0xF993FAC8
	arrayMagicV2 = 0xF993FAC9
	arrayMagicV3 = 0xF993FACA
	// maxDimensions is far above what MXNet computes with.
	maxDimensions = 64
)

// elementBytes is the size of an element by type flag: float32, float64, float16, uint8, int32, int8,
// int64, bool, int16, uint16, uint32, uint64, bfloat16.
var elementBytes = []int64{4, 8, 2, 1, 4, 1, 8, 1, 2, 2, 4, 8, 2}

// widest is the largest of elementBytes.
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
	if c.left() > 0 {
		return fmt.Errorf("%d bytes behind the end: %w", c.left(), errMalformed)
	}
	return nil
}

// array walks one array.
func (c *cursor) array() error {
	magic, err := c.uint32()
	if err != nil {
		return err
	}
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
	if aux > 0 {
		if stored, storedDimensions, err = c.shape(); err != nil {
			return err
		}
	}
	elements, dimensions, err := c.shape()
	if err == nil && aux == compressedRows && (storedDimensions != 1 || dimensions != 2) {
		err = fmt.Errorf("compressed rows in %d dimensions: %w", dimensions, errMalformed)
	}
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
		if elements > math.MaxInt64/widest {
			return fmt.Errorf("%d elements: %w", elements, errMalformed)
		}
		counts[i], widths[i] = elements, elementBytes[kind]
	}
	counts[0] = stored
	for i, count := range counts {
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
	if dimensions = int32(n); dimensions < -1 || dimensions > maxDimensions {
		return 0, 0, fmt.Errorf("%d dimensions: %w", dimensions, errMalformed)
	}
	elements = 1
	for range dimensions {
		size, err := c.uint64()
		if err != nil {
			return 0, 0, err
		}
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
