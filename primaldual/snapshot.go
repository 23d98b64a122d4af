// This file implements the byte format of snapshots: a header, varints, a checksum.
// The format is our own and not JSON or gob: a service may write it after every change, so that size
// counts, and equal states must have equal bytes. What a snapshot says is trusted only after the
// checks of who reads it: the checksum finds damage, not intent.

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

// CRC-32C is computed by an instruction on most processors, and finds every burst of up to 32 wrong
// bits.
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
// Small numbers, also negative ones, take one byte: most counts and distances do.
func (w *writer) int(x int64) { w.data = binary.AppendVarint(w.data, x) }

// float appends the bits of x, so that reading gives the same number.
func (w *writer) float(x float64) {
	w.data = binary.LittleEndian.AppendUint64(w.data, math.Float64bits(x))
}

// string appends length and bytes.
// The length comes first, so that no text needs a mark for its end.
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
// Callers may thus read a whole list and ask once at its end, instead of after every number.
type reader struct {
	data   []byte
	failed bool
}

// newReader checks the frame of a snapshot and returns a reader of its contents.
// Every fault is told before the contents are read, so that contents are only read with the cluster
// that they are of.
func newReader(data []byte, letter byte, p *park) (*reader, error) {
	fault := func(field string, sort error, detail string) (*reader, error) {
		return nil, &apportion.FieldError{Item: apportion.Item{ID: "snapshot"}, Field: field, Err: sort, Detail: detail}
	}
	if len(data) < headerBytes+trailerBytes || string(data[:len(snapshotMagic)]) != snapshotMagic {
		return fault("header", ErrCorrupt, "")
	}
	body, trailer := data[:len(data)-trailerBytes], data[len(data)-trailerBytes:]
	// The checksum comes before letter, version and fingerprint: read from damaged bytes these
	// would name a wrong cause.
	if crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(trailer) {
		return fault("checksum", ErrCorrupt, "")
	}
	rest := body[len(snapshotMagic):]
	switch {
	// A ledger restored as a scheduler would be a fault of the caller's, which ErrCorrupt tells as
	// well as damage.
	case rest[0] != letter:
		return fault("header", ErrCorrupt, "it is of something else")
	case rest[1] != snapshotVersion:
		return fault("version", apportion.ErrUnknown, "")
	// Cells have no names in a snapshot: with another cluster they would silently be of other
	// servers.
	case binary.LittleEndian.Uint64(rest[2:]) != p.fingerprint():
		return fault("cluster", apportion.ErrConflict, "it was made with another cluster or other bounds")
	}
	return &reader{data: body[headerBytes:]}, nil
}

// fail notes a fault; nothing more is read.
// Without data every later read fails too, and count is 0, so that loops over lists end.
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
		// A caller may go on with what it gets until it asks err: the number must be one that does
		// no harm as a count or an index.
		return max(low, 0)
	}
	return x
}

// count reads the length of a list whose elements take a byte or more each.
// A forged length thus never makes a list that is longer than the snapshot: no allocation exceeds a
// multiple of what was given.
func (r *reader) count() int { return int(r.intIn(0, int64(len(r.data)))) }

// float reads the bits of a float64.
func (r *reader) float() float64 {
	if len(r.data) < 8 {
		r.fail()
		return 0
	}
	// Any bits are a number here, infinite ones and NaN too; who reads a worth refuses what is not
	// >= 0.
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
// Bytes that nobody asked for mean that writer and reader do not agree on the format.
func (r *reader) err() error {
	if r.failed || len(r.data) > 0 {
		return &apportion.FieldError{Item: apportion.Item{ID: "snapshot"}, Field: "contents", Err: ErrCorrupt}
	}
	return nil
}

// fingerprint returns a hash of the cluster and the price functions.
// It covers all that the contents refer to by position: slots, kinds, servers of either side,
// capacities and prices. Eta is left out, as it takes no part in prices.
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
			// Sorted, as maps are walked in another order each time.
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
		// lower and logGap make a curve: logL follows from lower.
		w.float(c.lower)
		w.float(c.logGap)
	}
	h.Write(w.data)
	return h.Sum64()
}
