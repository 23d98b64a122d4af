// This file implements the verification of a tensor bundle: an index that says where each tensor lies in
// which shard of data and what its checksum is, and the shards.

package format

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// Types of tensors that are stored in a way of their own, and those that can count steps.
const (
	// The values are those of TensorFlow's DataType, which the index stores as they are.
	typeInt32   = 3
	typeString  = 7
	typeInt64   = 9
	typeVariant = 21
)

// objectGraph is the key that only bundles of tf.train.Checkpoint have.
// Checkpoint keeps the graph of its objects as a tensor of strings; Saver has no use for one. The key
// decides what the number in a name counts.
const objectGraph = "_CHECKPOINTABLE_OBJECT_GRAPH"

// stepKeys are the names under which jobs keep the number of steps, the most explicit first.
var stepKeys = []string{
	"global_step",
	"global_step/.ATTRIBUTES/VARIABLE_VALUE",
	"step/.ATTRIBUTES/VARIABLE_VALUE",
	"optimizer/_iterations/.ATTRIBUTES/VARIABLE_VALUE",
	"optimizer/iter/.ATTRIBUTES/VARIABLE_VALUE",
}

// tensor is the place of one tensor in the shards.
type tensor struct {
	// kind and elements decide only how the checksum is made up; a value that is not known is a type whose
	// bytes are covered as they are.
	kind     uint64
	elements uint64
	shard    int32
	offset   int64
	size     int64
	// It is stored masked, as masked returns it.
	crc uint32
	// step is 1 + the place in stepKeys, 0 for every other tensor.
	step int
}

// bundle is what an index says.
type bundle struct {
	// shards is what the header says; the files are counted against it.
	shards int32
	// There is one for each entry that has data, so memory is bounded by the entries that the index really
	// holds.
	tensors []tensor
	// object says that tf.train.Checkpoint wrote it.
	object bool
	// steps is the number of steps that a tensor holds, and rank its place in stepKeys; rank 0: none.
	steps int64
	rank  int
}

// readIndex reads the index file of a bundle: the header under the empty key, and the tensors.
func readIndex(fsys fs.FS, name string) (*bundle, error) {
	b := &bundle{}
	return b, walk(fsys, name, func(c *cursor) error {
		// The header comes first, as the empty key sorts before all others. Nothing here relies on that.
		err := table(c, func(key, value []byte) error {
			message := newCursor(bytes.NewReader(value), int64(len(value)))
			if len(key) == 0 {
				return b.header(message)
			}
			return b.add(string(key), message)
		})
		// An index without a header has read well and describes nothing.
		if err == nil && b.shards <= 0 {
			err = fmt.Errorf("%d shards: %w", b.shards, errMalformed)
		}
		return err
	})
}

// header reads a BundleHeaderProto: field 1 is the number of shards.
func (b *bundle) header(c *cursor) error {
	return fields(c, func(f field) error {
		if f.number == 1 && f.kind == protowire.VarintType {
			// A number beyond int32 cannot be met by files: the first that is missing ends the search for
			// them.
			b.shards = int32(min(f.value, math.MaxInt32))
		}
		return nil
	})
}

// add reads a BundleEntryProto. A tensor that is stored in slices has an entry without data, and one
// entry for each slice.
func (b *bundle) add(key string, c *cursor) error {
	// An entry without a shape is a scalar, of one element: protocol buffers leave out what is empty.
	t := tensor{elements: 1, step: slices.Index(stepKeys, key) + 1}
	sliced := false
	err := fields(c, func(f field) error {
		switch f.number {
		case 1:
			t.kind = f.value
		case 2:
			return t.shape(c)
		// Fields that are absent are zero: the first shard, and the beginning of it.
		case 3:
			t.shard = int32(min(f.value, math.MaxInt32))
		case 4:
			t.offset = int64(f.value)
		case 5:
			t.size = int64(f.value)
		case 6:
			t.crc = uint32(f.value)
		case 7:
			sliced = true
		}
		return nil
	})
	// The place must lie in what an int64 can tell; whether it lies in the file is seen where the file is
	// open.
	if err == nil && (t.offset < 0 || t.size < 0 || t.offset > math.MaxInt64-t.size) {
		err = errMalformed
	}
	if err != nil {
		return fmt.Errorf("tensor %q: %w", key, err)
	}
	b.object = b.object || key == objectGraph
	// The parts of a sliced tensor have entries of their own, each with a checksum; the whole has none.
	if !sliced {
		b.tensors = append(b.tensors, t)
	}
	return nil
}

// shape multiplies the dimensions of a TensorShapeProto. It matters for strings only, of which each
// takes a byte at least: a product that overflows is more than any file holds.
func (t *tensor) shape(c *cursor) error {
	return fields(c, func(dimension field) error {
		if dimension.number != 2 || dimension.kind != protowire.BytesType {
			return nil
		}
		size := uint64(0)
		err := fields(c, func(f field) error {
			if f.number == 1 {
				size = f.value
			}
			return nil
		})
		// The check comes before the product, which would wrap.
		if size != 0 && t.elements > math.MaxUint64/size {
			return errMalformed
		}
		t.elements *= size
		return err
	})
}

// verify reads every tensor in the shards, whose names it is given, and compares its checksum. Tensors
// do not overlap, so each byte is read once.
func (b *bundle) verify(fsys fs.FS, shards []string) error {
	// In the order of the shards each file is opened once and read forward: O(n log n) for n tensors beside
	// the bytes.
	slices.SortFunc(b.tensors, func(x, y tensor) int {
		return cmp.Or(cmp.Compare(x.shard, y.shard), cmp.Compare(x.offset, y.offset), cmp.Compare(x.size, y.size))
	})
	// rest are the tensors that no shard has shown yet.
	rest := b.tensors
	for i, name := range shards {
		err := walk(fsys, name, func(c *cursor) error {
			// rest is sorted by shard, so what remains at its head belongs to this shard or a later one.
			for len(rest) > 0 && int(rest[0].shard) == i {
				if err := b.check(c, &rest[0]); err != nil {
					return fmt.Errorf("tensor at %d: %w", rest[0].offset, err)
				}
				rest = rest[1:]
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	// What is left names a shard that the header does not count, or a negative one, which sorts first and
	// stops all.
	if len(rest) > 0 {
		return fmt.Errorf("tensor in shard %d of %d: %w", rest[0].shard, len(shards), errMalformed)
	}
	return nil
}

// check compares the checksum of one tensor and keeps its value if that is the number of steps.
func (b *bundle) check(c *cursor, t *tensor) error {
	// Two tensors of the same bytes cannot both be what was saved; and reading forward only keeps the time
	// linear in the bytes.
	if t.offset < c.pos {
		return fmt.Errorf("overlaps the one before: %w", errMalformed)
	}
	// Gaps between tensors are let pass: alignment makes some.
	if err := c.skip(uint64(t.offset - c.pos)); err != nil {
		return err
	}
	return c.within(uint64(t.size), func() error {
		if t.kind == typeVariant {
			return nil // its checksum is not known to us
		}
		// The checksum of strings covers their lengths first, in a form that is not the stored one.
		crc := uint32(0)
		if t.kind == typeString {
			var err error
			if crc, err = stringLengths(c, t.elements); err != nil {
				return err
			}
		}
		// The value is looked at before the bytes are consumed. A checksum that differs refuses the whole
		// checkpoint, and the value with it.
		if err := b.step(c, t); err != nil {
			return err
		}
		crc, err := c.checksum(crc)
		if err == nil && masked(crc) != t.crc {
			err = fmt.Errorf("checksum differs: %w", errMalformed)
		}
		return err
	})
}

// step keeps the value of a scalar that counts steps, if no better one was met.
func (b *bundle) step(c *cursor, t *tensor) error {
	// Only these two types count steps, and only as a scalar: its bytes are exactly one number.
	wide := t.kind == typeInt64 && t.size == 8
	if t.step == 0 || b.rank != 0 && b.rank < t.step || !wide && (t.kind != typeInt32 || t.size != 4) {
		return nil
	}
	// peek leaves the bytes where they are, for the checksum.
	value, err := c.peek(int(t.size))
	if err != nil {
		return err
	}
	// Numbers are stored little endian on the machines that training runs on.
	b.rank, b.steps = t.step, int64(binary.LittleEndian.Uint32(value))
	if wide {
		b.steps = int64(binary.LittleEndian.Uint64(value))
	}
	return nil
}

// stringLengths reads what comes before the bytes of strings: the length of each, and the checksum of
// the lengths as fixed-length numbers. It returns the checksum so far.
func stringLengths(c *cursor, elements uint64) (uint32, error) {
	crc, total := uint32(0), uint64(0)
	var fixed [8]byte
	// A claim of billions of elements ends with the bytes: each takes one at least.
	for range elements {
		length, err := c.varint()
		if err != nil {
			return 0, err
		}
		// A sum that wraps has a length beyond int64 in it, since total was within.
		if total += length; length > math.MaxInt64 || total > math.MaxInt64 {
			return 0, fmt.Errorf("string of %d bytes: %w", length, errMalformed)
		}
		// TensorFlow computes the checksum over lengths as uint32, and as uint64 where they do not fit.
		width := 4
		if length > math.MaxUint32 {
			width = 8
		}
		binary.LittleEndian.PutUint64(fixed[:], length)
		crc = crc32.Update(crc, castagnoli, fixed[:width])
	}
	stored, err := c.uint32()
	// The lengths have a checksum of their own, and must fill the rest exactly: else one could borrow bytes
	// from the next.
	if err == nil && (stored != masked(crc) || total != uint64(c.left())) {
		err = fmt.Errorf("lengths of strings: checksum differs: %w", errMalformed)
	}
	// The stored checksum is covered by that of the tensor too, in the bytes in which it stands.
	binary.LittleEndian.PutUint32(fixed[:], stored)
	return crc32.Update(crc, castagnoli, fixed[:4]), err
}

func (c *cursor) checksum(crc uint32) (uint32, error) {
	// The window is reused, so a tensor of any size costs 64 KiB.
	for c.left() > 0 {
		bytes, err := c.take(int(min(c.left(), windowBytes)))
		if err != nil {
			return 0, err
		}
		crc = crc32.Update(crc, castagnoli, bytes)
	}
	return crc, nil
}
