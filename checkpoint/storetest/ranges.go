// This file tests that ranges of parts are what they say, and that damage is found by the chunk.

package storetest

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint/store"
)

// large is a part of two chunks that differ.
// Its edge is the one place at which a range meets two sums; the second chunk is short, so that an offset which is counted in
// whole chunks only is found out.
func large() file { return file{"large", strings.Repeat("a", store.ChunkBytes) + "the rest of it"} }

// readRange reads a range to its end.
// It returns what was read before an error too, which must be right as far as it goes.
func readRange(r store.Reader, name string, offset, bytes int64) (string, error) {
	part, err := r.Range(name, offset, bytes)
	if err != nil {
		return "", err
	}
	data, err := io.ReadAll(part)
	return string(data), errors.Join(err, part.Close())
}

// testRanges: "Range opens the bytes of a part from an offset on, so many of them."
// Each process of a job loads its share, and a large part is verified by many at once.
func testRanges(t *testing.T, s store.Store) {
	// Three lengths: more than a chunk, less than one, and none, where every range but the empty one is outside.
	const chunk = store.ChunkBytes
	files := []file{large(), {"small", "0123456789"}, {"empty", ""}}
	mustCommit(t, s, "job", 1, files)
	r, err := s.Open(t.Context(), "job", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	// The table is the same for all parts; of a short one most ranges do not exist, and are passed over.
	for _, f := range files {
		length := int64(len(f.data))
		// Each begins and ends on one side of an edge or on it: of the part, or of a chunk.
		for _, c := range [][2]int64{
			{0, 0}, {0, 1}, {1, 8}, {9, 1}, {9, 2}, {10, 0}, {0, length}, {length, 0}, {length - 1, 1}, {chunk - 1, 1},
			{chunk - 1, 2}, {chunk, 1}, {chunk - 9, 17}, {chunk + 1, length - chunk - 1}, {chunk, 8},
		} {
			offset, bytes := c[0], c[1]
			// The length is subtracted, as in a store: of ranges that fit, the sum cannot overflow, of those that do not it may.
			if offset < 0 || bytes < 0 || offset > length-bytes {
				continue
			}
			// A length or a content that is off by one shows in the comparison with the slice of what was written.
			got, err := readRange(r, f.name, offset, bytes)
			if err != nil || got != f.data[offset:offset+bytes] {
				t.Fatalf("%d bytes of %s from %d on: %d bytes, %.20q, %v", bytes, f.name, offset, len(got), got, err)
			}
		}
		// The last pair has a sum beyond int64: a store that adds the two would take it for a negative end, and hand out bytes.
		for _, bad := range [][2]int64{{-1, 1}, {0, -1}, {0, length + 1}, {length + 1, 0}, {1 << 62, 1 << 62}} {
			_, err := r.Range(f.name, bad[0], bad[1])
			wantError(t, "a range outside of its part", err, apportion.ErrRange)
		}
	}
	// An empty range of a part that does not exist is no empty range.
	_, err = r.Range("no such part", 0, 0)
	wantError(t, "a range of an unknown part", err, store.ErrNotFound)
	// TestReader reads in odd pieces and past the end: a range ends with EOF like a part, and does not run on into what follows.
	part, err := r.Range("small", 3, 5)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(iotest.TestReader(part, []byte("34567")), part.Close()); err != nil {
		t.Error(err)
	}
}

// testDamagedRange: "No byte is handed out before the chunk in which it lies was compared": damage is seen by the
// ranges that touch its chunk, and what is read before is right.
// A process that loads a tenth of a model must not have to read all of it to trust its tenth; and must not get bytes that were
// not compared either.
func testDamagedRange(t *testing.T, s store.Store) {
	// Each kind of damage has a checkpoint of its own.
	d := damager(t, s)
	const chunk = store.ChunkBytes
	f := large()
	for number, how := range []Damage{Flip, Truncate, Extend, Remove} {
		mustCommit(t, s, "job", int64(number+1), []file{f})
		d.Damage(t, "job", int64(number+1), 0, how)
		r, err := s.Open(t.Context(), "job", int64(number+1))
		if err != nil {
			continue // to refuse the whole is right, too
		}
		// It closes at the end of the test, which is soon enough for four readers.
		defer r.Close()
		// Flip hits the byte in the middle, which is the first chunk's; all else the end.
		hit, intact := [2]int64{chunk, 8}, [2]int64{0, chunk}
		// hit is the range that must fail, and intact one in the other chunk.
		if how == Flip {
			hit, intact = intact, hit
		}
		got, err := readRange(r, f.name, hit[0], hit[1])
		wantError(t, how.String()+" of the range", err, store.ErrCorrupt)
		// The damaged chunk is compared as a whole before its first byte goes out, so not a single byte may arrive.
		if got != "" {
			t.Errorf("after %v %d bytes that were not compared are handed out", how, len(got))
		}
		// All of the part as one range: chunks before the damage may come, the error must, and every byte that came is right.
		got, err = readRange(r, f.name, 0, int64(len(f.data)))
		wantError(t, how.String()+" of a range that is all of the part", err, store.ErrCorrupt)
		if !strings.HasPrefix(f.data, got) {
			t.Errorf("after %v other bytes are handed out", how)
		}
		// Of what is gone nothing is intact.
		if how == Remove {
			continue
		}
		// What follows a range in its chunk is part of the comparison; another chunk is not.
		got, err = readRange(r, f.name, intact[0], intact[1])
		if err != nil || got != f.data[intact[0]:intact[0]+intact[1]] {
			t.Errorf("after %v the other chunk is %d bytes, %v", how, len(got), err)
		}
	}
}
