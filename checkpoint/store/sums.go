// This file implements Sums: the checksums of a part, one for each chunk.

package store

import (
	"hash/crc32"
	"strconv"
	"strings"
)

// ChunkBytes is the length of the chunks of a part that have checksums of their own; the last may be shorter. So a
// range of a part can be verified without the rest of it, and several at the same time.
const ChunkBytes = 1 << 20

// Sums are the CRC-32C sums of the chunks of a part, in their order: eight hexadecimal digits each, lower case. A
// part without bytes has no chunks. Sums tell accidents: a chunk that was damaged keeps its sum once in four billion.
// A change on purpose can keep them; a Digest tells that too.
type Sums string

const sumDigits = 2 * crc32.Size

// Of reports whether these can be the sums of a part of that length.
func (s Sums) Of(bytes int64) bool {
	// The number of chunks is compared without rounding up, which could overflow.
	chunks := bytes / ChunkBytes
	if bytes%ChunkBytes > 0 {
		chunks++
	}
	return int64(len(s)/sumDigits) == chunks && len(s)%sumDigits == 0 && strings.Trim(string(s), "0123456789abcdef") == ""
}

// At returns the sum of the chunk with that index. It panics if there is none, as a slice does.
func (s Sums) At(chunk int64) uint32 {
	digits := s[chunk*sumDigits : (chunk+1)*sumDigits]
	// What is no number was not made by a Writer: it is the sum of nothing that has bytes, but for one in four billion.
	sum, err := strconv.ParseUint(string(digits), 16, 32)
	if err != nil {
		return 0
	}
	return uint32(sum)
}
