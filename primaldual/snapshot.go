// This file implements the byte format of snapshots: a header, varints, a checksum.

package primaldual

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"hash/fnv"
	"maps"
	"math"
	"slices"

	"github.com/apportion/apportion"
)

// ErrCorrupt reports bytes that are no snapshot, or a damaged one.
var ErrCorrupt = errors.New("is no snapshot, or a damaged one")

// A snapshot is: the magic, a letter for what it is of, the version, the fingerprint of cluster and
// bounds (8 bytes), the contents, and the CRC-32C of all that (4 bytes, as all fixed-size numbers
// little-endian). Integers of the contents are varints.
const (
	snapshotMagic   = "oasis"
	snapshotVersion = 3
	headerBytes     = len(snapshotMagic) + 2 + 8
	trailerBytes    = 4
)

// The letters of the header.
const (
	ledgerSnapshot    = 'L'
	schedulerSnapshot = 'S'
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// writer appends the contents of a snapshot.
type writer struct{ data []byte }

// newWriter returns a writer that has written the header.
func newWriter(letter byte, p *park) *writer {
	w := &writer{data: append([]byte(snapshotMagic), letter, snapshotVersion)}
	w.data = binary.LittleEndian.AppendUint64(w.data, p.fingerprint())
	return w
}

// int appends a varint.
func (w *writer) int(x int64) { w.data = binary.AppendVarint(w.data, x) }

// float appends the bits of x, so that reading gives the same number.
func (w *writer) float(x float64) {
	w.data = binary.LittleEndian.AppendUint64(w.data, math.Float64bits(x))
}

// string appends length and bytes.
func (w *writer) string(s string) { w.bytes([]byte(s)) }

// bytes appends length and bytes.
func (w *writer) bytes(b []byte) {
	w.int(int64(len(b)))
	w.data = append(w.data, b...)
}

// seal appends the checksum and returns the snapshot.
func (w *writer) seal() []byte {
	return binary.LittleEndian.AppendUint32(w.data, crc32.Checksum(w.data, castagnoli))
}

// reader reads the contents of a snapshot. After the first fault it returns zeros.
type reader struct {
	data   []byte
	failed bool
}

// newReader checks the frame of a snapshot and returns a reader of its contents.
func newReader(data []byte, letter byte, p *park) (*reader, error) {
	fault := func(field string, sort error, detail string) (*reader, error) {
		return nil, &apportion.FieldError{Item: apportion.Item{ID: "snapshot"}, Field: field, Err: sort, Detail: detail}
	}
	if len(data) < headerBytes+trailerBytes || string(data[:len(snapshotMagic)]) != snapshotMagic {
		return fault("header", ErrCorrupt, "")
	}
	body, trailer := data[:len(data)-trailerBytes], data[len(data)-trailerBytes:]
	if crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(trailer) {
		return fault("checksum", ErrCorrupt, "")
	}
	rest := body[len(snapshotMagic):]
	switch {
	case rest[0] != letter:
		return fault("header", ErrCorrupt, "it is of something else")
	case rest[1] != snapshotVersion:
		return fault("version", apportion.ErrUnknown, "")
	case binary.LittleEndian.Uint64(rest[2:]) != p.fingerprint():
		return fault("cluster", apportion.ErrConflict, "it was made with another cluster or other bounds")
	}
	return &reader{data: body[headerBytes:]}, nil
}

// fail notes a fault; nothing more is read.
func (r *reader) fail() { r.failed, r.data = true, nil }

// int reads a varint.
func (r *reader) int() int64 {
	x, n := binary.Varint(r.data)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.data = r.data[n:]
	return x
}

// intIn reads an integer and fails where it is outside [low, high].
func (r *reader) intIn(low, high int64) int64 {
	x := r.int()
	if x < low || x > high {
		r.fail()
		return max(low, 0)
	}
	return x
}

// count reads the length of a list whose elements take a byte or more each.
func (r *reader) count() int { return int(r.intIn(0, int64(len(r.data)))) }

// float reads the bits of a float64.
func (r *reader) float() float64 {
	if len(r.data) < 8 {
		r.fail()
		return 0
	}
	x := math.Float64frombits(binary.LittleEndian.Uint64(r.data))
	r.data = r.data[8:]
	return x
}

// bytes reads what writer.bytes wrote; it is part of the snapshot, not a copy.
func (r *reader) bytes() []byte {
	n := r.count()
	if n > len(r.data) {
		r.fail()
		return nil
	}
	b := r.data[:n]
	r.data = r.data[n:]
	return b
}

// err returns the fault of the contents, if any; all of them must have been read.
func (r *reader) err() error {
	if r.failed || len(r.data) > 0 {
		return &apportion.FieldError{Item: apportion.Item{ID: "snapshot"}, Field: "contents", Err: ErrCorrupt}
	}
	return nil
}

// fingerprint returns a hash of the cluster and the price functions.
func (p *park) fingerprint() uint64 {
	h := fnv.New64a()
	var w writer
	w.int(int64(p.cluster.Slots))
	for _, kind := range p.cluster.Kinds {
		w.string(kind)
	}
	for _, side := range []Side{Workers, ParameterServers} {
		w.int(int64(len(p.cluster.servers(side))))
		for _, server := range p.cluster.servers(side) {
			w.string(server.ID)
			w.int(int64(len(server.Labels)))
			for _, key := range slices.Sorted(maps.Keys(server.Labels)) {
				w.string(key)
				w.string(server.Labels[key])
			}
		}
	}
	for _, c := range p.capacity {
		w.int(c)
	}
	for _, c := range p.curves {
		w.float(c.lower)
		w.float(c.logGap)
	}
	h.Write(w.data)
	return h.Sum64()
}
