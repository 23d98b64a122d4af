// This file implements the framing of the journal: FORMAT.md.

package journal

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/apportion/apportion/checkpoint"
)

// header opens every journal: magic and version.
const header = "APPORTION JOURNAL 2\n"

const (
	// frameMark opens every frame. Its first byte is in no UTF-8 text, so no payload contains it.
	// It lets a reader find a whole frame behind damage, without lengths that can be trusted.
	frameMark = "\xffREC"
	// frameHead is the length of mark, checksum, length and sequence number.
	frameHead = 4 + 4 + 4 + 8
	// maxPayload bounds a payload, so that a damaged length is not believed.
	// 64 MiB is far above a record of thousands of containers.
	maxPayload = 1 << 26
)

// Castagnoli's polynomial is the one that processors compute by an instruction.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendFrame appends the frame of a payload to dst.
func appendFrame(dst []byte, sequence uint64, payload []byte) []byte {
	// The checksum covers all that follows it: length, sequence number and payload. It is filled in last.
	dst = append(dst, frameMark...)
	// sum is the place of the checksum; dst may move while it grows, so a place is kept and no slice.
	sum := len(dst)
	dst = binary.LittleEndian.AppendUint32(dst, 0)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(payload)))
	dst = binary.LittleEndian.AppendUint64(dst, sequence)
	dst = append(dst, payload...)
	binary.LittleEndian.PutUint32(dst[sum:], crc32.Checksum(dst[sum+4:], castagnoli))
	return dst
}

// parseFrame returns the frame at the beginning of data: its sequence number, payload and length. The
// length is 0 if there is none.
func parseFrame(data []byte) (sequence uint64, payload []byte, length int) {
	// Whatever is not a whole frame has length 0: the caller tells a frame that was cut short from damage.
	if len(data) < frameHead || string(data[:4]) != frameMark {
		return 0, nil, 0
	}
	// Mark, checksum and length have four bytes each, the sequence number eight: FORMAT.md has the table.
	size := binary.LittleEndian.Uint32(data[8:])
	// The length is compared before it is used, so that a damaged one asks for no memory.
	if size > maxPayload || int(size) > len(data)-frameHead {
		return 0, nil, 0
	}
	length = frameHead + int(size)
	if binary.LittleEndian.Uint32(data[4:]) != crc32.Checksum(data[8:length], castagnoli) {
		return 0, nil, 0
	}
	return binary.LittleEndian.Uint64(data[12:]), data[frameHead:length], length
}

// readFrames returns the payloads of the longest valid prefix of a journal, and its length in bytes.
// What follows it is the frame that a crash cut short, and no error, if no whole frame is behind it:
// each frame was durable before the next was begun, so a frame behind a bad one means damage.
// Then, and where the header is damaged, the error wraps ErrCorrupt and names the offset.
func readFrames(data []byte) (payloads [][]byte, valid int, err error) {
	if !bytes.HasPrefix(data, []byte(header)) {
		return nil, 0, fmt.Errorf("at byte 0: no header of a journal of this version: %w", checkpoint.ErrCorrupt)
	}
	// The frames of a valid prefix have the sequence numbers 0, 1, 2 and so on. A frame with another one is
	// from an earlier life of these blocks, or was moved.
	valid = len(header)
	for {
		sequence, payload, length := parseFrame(data[valid:])
		// O(bytes): each frame is looked at once, and the search behind the prefix meets each mark once.
		if length == 0 || sequence != uint64(len(payloads)) {
			break
		}
		payloads, valid = append(payloads, payload), valid+length
	}
	// Behind the prefix only a frame may lie that a crash cut short. A mark that opens a whole frame there is
	// proof that something durable before it was damaged.
	for rest := valid; ; rest++ {
		next := bytes.Index(data[rest:], []byte(frameMark))
		if next < 0 {
			return payloads, valid, nil
		}
		rest += next
		if _, _, length := parseFrame(data[rest:]); length > 0 {
			return payloads, valid, fmt.Errorf("at byte %d: damaged, but a whole record follows at byte %d: %w", valid, rest, checkpoint.ErrCorrupt)
		}
	}
}
