// This file implements the sums of a part: those of its chunks, and the digest where one is asked for.

package store

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"hash/crc32"
)

// castagnoli is the polynomial that processors compute by themselves.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// summer computes the sums of a part while its bytes go by.
// Its zero value is ready and has no digest. The bytes for the digest are the caller's to write, who may do so
// at the same time.
type summer struct {
	// bytes went by; crc is the sum of those of the chunk that is not complete.
	bytes int64
	crc   uint32
	// sums are those of the complete chunks, as text.
	sums []byte
	// digest is nil where nobody has asked for it.
	digest hash.Hash
}

// newSummer returns a summer; digest says that a digest is asked for.
// A digest takes most of the time of writing, so it is computed only where somebody has asked for it or will
// compare it.
func newSummer(digest bool) *summer {
	s := &summer{}
	if digest {
		s.digest = sha256.New()
	}
	return s
}

// add takes bytes for the sums of chunks, not for the digest.
// It is called by one goroutine, with the bytes of the part in their order. O(len(data)), without memory of its
// own but for the text of the sums: eight bytes for each chunk.
func (s *summer) add(data []byte) {
	for len(data) > 0 {
		// A piece ends where its chunk does, however the bytes come: the sums do not tell how a part was written.
		inChunk := s.bytes % ChunkBytes
		piece := data[:min(int64(len(data)), ChunkBytes-inChunk)]
		s.crc = crc32.Update(s.crc, castagnoli, piece)
		s.bytes += int64(len(piece))
		data = data[len(piece):]
		if s.bytes%ChunkBytes == 0 {
			s.end()
		}
	}
}

// end ends a chunk.
// A chunk without bytes has no sum: add and part call it only where there are some.
func (s *summer) end() {
	// Eight hexadecimal digits, the highest first, as a number is written.
	var sum [crc32.Size]byte
	for i := range sum {
		sum[i] = byte(s.crc >> (8 * (crc32.Size - 1 - i)))
	}
	s.sums = hex.AppendEncode(s.sums, sum[:])
	s.crc = 0
}

// part returns what went by as a part. It is called once, at the end.
func (s *summer) part(name string) Part {
	if s.bytes%ChunkBytes > 0 {
		s.end()
	}
	p := Part{Name: name, Bytes: s.bytes, CRC32C: Sums(s.sums)}
	if s.digest != nil {
		p.SHA256 = Digest(s.digest.Sum(nil))
	}
	return p
}
