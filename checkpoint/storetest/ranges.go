// This file checks that ranges of parts are what they say, and that damage is found by the chunk.

package storetest

import (
	"strings"
	"testing/iotest"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint/store"
)

// chunked is a part of two chunks that differ, of which the second is short.
var chunked = file{"large", strings.Repeat("a", store.ChunkBytes) + "the rest of it"}

// testRanges: "Range opens the bytes of a part from an offset on, so many of them."
func testRanges(c check) {
	const chunk = store.ChunkBytes
	files := []file{chunked, {"small", "0123456789"}, {"empty", ""}}
	c.save("job", 1, files...)
	r := c.open("job", 1)
	for _, f := range files {
		length := int64(len(f.data))
		// Each begins and ends on one side of an edge or on it, of the part or of a chunk.
		for _, at := range [][2]int64{
			{0, 0}, {0, 1}, {1, 8}, {9, 1}, {9, 2}, {10, 0}, {0, length}, {length, 0}, {length - 1, 1}, {chunk - 1, 1},
			{chunk - 1, 2}, {chunk, 1}, {chunk - 9, 17}, {chunk + 1, length - chunk - 1}, {chunk, 8},
		} {
			offset, bytes := at[0], at[1]
			if offset < 0 || bytes < 0 || offset > length-bytes {
				continue
			}
			got, err := readPart(r.Range(f.name, offset, bytes))
			if err != nil || got != f.data[offset:offset+bytes] {
				c.Fatalf("%d bytes of %s from %d on: %d bytes, %.20q, %v", bytes, f.name, offset, len(got), got, err)
			}
		}
		// The sum of the last pair overflows.
		for _, bad := range [][2]int64{{-1, 1}, {0, -1}, {0, length + 1}, {length + 1, 0}, {1 << 62, 1 << 62}} {
			_, err := r.Range(f.name, bad[0], bad[1])
			c.is("a range outside of its part", err, apportion.ErrRange)
		}
	}
	_, err := r.Range("no such part", 0, 0)
	c.is("a range of an unknown part", err, store.ErrNotFound)
	part, err := r.Range("small", 3, 5)
	c.ok(err)
	c.ok(iotest.TestReader(part, []byte("34567")))
	c.ok(part.Close())
}

// testDamagedRange: "No byte is handed out before the chunk in which it lies was compared": damage is seen by the ranges that
// touch its chunk, and what is read before is right.
func testDamagedRange(c check) {
	d := c.damager()
	for i, how := range damages {
		number := int64(i + 1)
		c.save("job", number, chunked)
		d.Damage(c, "job", number, 0, how)
		r, err := c.Open(c.Context(), "job", number)
		if err != nil {
			continue // to refuse the whole is right, too
		}
		c.Cleanup(func() { _ = r.Close() })
		// A flip hits the middle, which is the first chunk's, all else the end.
		hit, intact := [2]int64{store.ChunkBytes, 8}, [2]int64{0, store.ChunkBytes}
		if how == Flip {
			hit, intact = intact, hit
		}
		got, err := readPart(r.Range(chunked.name, hit[0], hit[1]))
		c.is(string(how)+" of the range", err, store.ErrCorrupt)
		if got != "" {
			c.Errorf("after %s %d bytes that were not compared are handed out", how, len(got))
		}
		got, err = readPart(r.Range(chunked.name, 0, int64(len(chunked.data))))
		c.is(string(how)+" of a range that is all of the part", err, store.ErrCorrupt)
		if !strings.HasPrefix(chunked.data, got) {
			c.Errorf("after %s other bytes are handed out", how)
		}
		if how == Remove {
			continue
		}
		got, err = readPart(r.Range(chunked.name, intact[0], intact[1]))
		if err != nil || got != chunked.data[intact[0]:intact[0]+intact[1]] {
			c.Errorf("after %s the other chunk is %d bytes, %v", how, len(got), err)
		}
	}
}
