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
const header = "APPORTION JOURNAL 3\n"

const (
	// frameMark opens every frame. Its first byte is in no UTF-8 text, so no payload contains it.
	// It lets a reader find a whole frame behind damage, without lengths that can be trusted.
	frameMark = "\xffREC"
	// frameHead is the length of mark, two checksums, length, index and sequence number.
	frameHead = 4 + 4 + 4 + 4 + 4 + 8
	// maxPiece is the most of a payload that one frame has; what is longer goes into several.
	maxPiece = 1 << 20
	// more is the bit of a length that says that another frame of the same record follows.
	more = 1 << 31
	// sector is the least that a disk writes as a whole.
	sector = 512
)

// maxPayload bounds the payload of a record, so that what is asked for is memory that there is. 1 GiB is far above a
// snapshot of hundreds of jobs with ten thousand containers each. Tests lower it.
var maxPayload = 1 << 30

// Castagnoli's polynomial is the one that processors compute by an instruction.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// frame is a piece of a record.
type frame struct {
	// sequence is the number of the record in the file, index that of the piece in the record.
	sequence uint64
	index    uint32
	// more says that another piece follows.
	more  bool
	piece []byte
}

// appendRecord appends the frames of a record to dst: as many as its payload has pieces of maxPiece bytes, and at least one.
func appendRecord(dst []byte, sequence uint64, payload []byte) []byte {
	// A record without a payload has one frame all the same.
	for index := uint32(0); ; index++ {
		f := frame{sequence, index, len(payload) > maxPiece, payload[:min(len(payload), maxPiece)]}
		dst, payload = f.append(dst), payload[len(f.piece):]
		if !f.more {
			return dst
		}
	}
}

func (f *frame) append(dst []byte) []byte {
	length := uint32(len(f.piece))
	if f.more {
		length |= more
	}
	dst = append(dst, frameMark...)
	// sum is the place of the head's checksum; dst may move while it grows, so a place is kept and no slice.
	sum := len(dst)
	dst = binary.LittleEndian.AppendUint32(dst, 0)
	dst = binary.LittleEndian.AppendUint32(dst, crc32.Checksum(f.piece, castagnoli))
	dst = binary.LittleEndian.AppendUint32(dst, length)
	dst = binary.LittleEndian.AppendUint32(dst, f.index)
	dst = binary.LittleEndian.AppendUint64(dst, f.sequence)
	// The head has a checksum of its own, so that its length is believed though the piece is damaged.
	binary.LittleEndian.PutUint32(dst[sum:], crc32.Checksum(dst[sum+4:], castagnoli))
	return append(dst, f.piece...)
}

// parseHead returns the head of the frame at the beginning of data, and the length that the whole frame has; 0: there is
// no head, or a damaged one.
func parseHead(data []byte) (f frame, length int) {
	if len(data) < frameHead || string(data[:4]) != frameMark ||
		binary.LittleEndian.Uint32(data[4:]) != crc32.Checksum(data[8:frameHead], castagnoli) {
		return frame{}, 0
	}
	// The checksum was right, so these are what was written; a length above the largest is one of another version.
	size := binary.LittleEndian.Uint32(data[12:])
	f = frame{sequence: binary.LittleEndian.Uint64(data[20:]), index: binary.LittleEndian.Uint32(data[16:]), more: size&more != 0}
	if size &^= more; size > maxPiece {
		return frame{}, 0
	}
	return f, frameHead + int(size)
}

// parseFrame returns the frame at the beginning of data and its length; 0: there is none that is whole.
func parseFrame(data []byte) (f frame, length int) {
	f, length = parseHead(data)
	if length == 0 || length > len(data) {
		return frame{}, 0
	}
	f.piece = data[frameHead:length]
	if binary.LittleEndian.Uint32(data[8:]) != crc32.Checksum(f.piece, castagnoli) {
		return frame{}, 0
	}
	return f, length
}

// readRecords returns the payloads of the longest valid prefix of a journal, and its length in bytes. What follows it is
// the record that a crash cut short, and no error, if it looks as such a record does. Otherwise, and where the header is
// damaged, the error wraps ErrCorrupt and names the offset.
//
// O(bytes): each frame is looked at once, and the search behind the prefix meets each mark once.
func readRecords(data []byte) (payloads [][]byte, valid int, err error) {
	// A file without the header is not repaired: it is no journal, or one of another version.
	if !bytes.HasPrefix(data, []byte(header)) {
		return nil, 0, fmt.Errorf("at byte 0: no header of a journal of this version: %w", checkpoint.ErrCorrupt)
	}
	// The records of a valid prefix have the sequence numbers 0, 1, 2 and so on. A frame with another one is
	// from an earlier life of these blocks, or was moved.
	valid = len(header)
	var payload []byte
	at, index := valid, uint32(0)
	for {
		// The first frame that is not whole, or not the next one, ends the prefix. What it is worth is for rest to say.
		f, length := parseFrame(data[at:])
		if length == 0 || f.sequence != uint64(len(payloads)) || f.index != index {
			break
		}
		at, index = at+length, index+1
		// Most records have one frame, which is not copied.
		if f.index == 0 && !f.more {
			payload = f.piece
		} else {
			payload = append(payload, f.piece...)
		}
		if !f.more {
			payloads, valid = append(payloads, payload), at
			payload, index = nil, 0
		}
	}
	return payloads, valid, rest(data, at, uint64(len(payloads)))
}

// rest returns what is wrong with the end of a journal behind its whole frames; nil: it is empty, or looks like what a
// crash has left of record sequence.
func rest(data []byte, at int, sequence uint64) error {
	// Behind the prefix only that record may lie. A whole frame of another is proof that something durable before it was
	// damaged, since each record was durable before the next was begun.
	for next := at; ; next++ {
		found := bytes.Index(data[next:], []byte(frameMark))
		if found < 0 {
			break
		}
		next += found
		if f, length := parseFrame(data[next:]); length > 0 && f.sequence != sequence {
			return fmt.Errorf("at byte %d: damaged, but a whole record follows at byte %d: %w", at, next, checkpoint.ErrCorrupt)
		}
	}
	tail := data[at:]
	if f, length := parseHead(tail); length > 0 {
		if f.sequence != sequence {
			return fmt.Errorf("at byte %d: a frame of record %d, not %d: %w", at, f.sequence, sequence, checkpoint.ErrCorrupt)
		}
		// Another frame of the record may lie behind this one, whole or not.
		tail = tail[:min(length, len(tail))]
		if len(tail) < length {
			return nil // cut short
		}
	}
	if len(tail) >= frameHead && !torn(tail, at) {
		return fmt.Errorf("at byte %d: a frame that is all there and damaged: %w", at, checkpoint.ErrCorrupt)
	}
	return nil
}

// torn reports whether bytes at a place of a file may be a frame of which a disk has not written all before a crash: it
// has zeros then to its end, or in all that it has of a sector. Nothing that was damaged later looks so, but by a disk
// that loses whole sectors; no payload contains a zero.
func torn(frame []byte, at int) bool {
	if frame[len(frame)-1] == 0 {
		return true
	}
	for len(frame) > 0 {
		part := frame[:min(len(frame), sector-at%sector)]
		if len(bytes.Trim(part, "\x00")) == 0 {
			return true
		}
		frame, at = frame[len(part):], at+len(part)
	}
	return false
}
