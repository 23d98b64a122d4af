// This file implements the room that a journal keeps for a disk that is full: FORMAT.md "Files".

package journal

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"syscall"

	"github.com/apportion/apportion/checkpoint/vfs"
)

const (
	// spare is the file that takes the room.
	spare = "spare"
	// leastSpare is its least length: hundreds of records.
	leastSpare = 64 << 10
)

// Spare reports whether there is room that the journal falls back on when its disk is full. Where there is none the disk is
// full already: the journal goes on as long as it can, and tries to get the room back whenever it is compacted.
func (j *Journal) Spare() bool { return j.spared }

// reserve makes the file that takes the room, or a longer one: long enough for a snapshot and as many records. It fails
// without a word, for Spare tells.
func (j *Journal) reserve() {
	// Twice what is there now leaves room for the next snapshot, which is written before this one goes.
	need := max(leastSpare, 2*j.bytes)
	entries, err := j.fsys.List(".")
	at := slices.IndexFunc(entries, func(e vfs.Entry) bool { return e.Name == spare })
	if err == nil && at >= 0 && entries[at].Bytes >= need {
		j.spared = true
		return
	}
	j.spared = j.release(at >= 0) && j.fill(need) == nil
}

// release removes the file, and reports whether it is gone.
func (j *Journal) release(there bool) bool {
	j.spared = false
	return !there || absent(j.fsys.Remove(spare)) == nil
}

// fill writes the file. It is not synced: the blocks are taken when they are written.
func (j *Journal) fill(length int64) error {
	file, err := j.fsys.Create(spare)
	if err != nil {
		return err
	}
	// No file system makes a hole of bytes that are not zero.
	block := bytes.Repeat([]byte{0x55}, 64<<10)
	for ; length > 0 && err == nil; length -= int64(len(block)) {
		_, err = file.Write(block)
	}
	if err = errors.Join(err, file.Close()); err != nil {
		j.release(true) // a part of it only takes what others need
	}
	return err
}

// put writes bytes to the file of the journal, at its end. When the disk is full it gives up the room that it has kept, and writes what
// is left.
func (j *Journal) put(data []byte) error {
	for {
		// What was written before the disk was full stays where it is, so the next round goes on behind it and not anew.
		n, err := j.file.Write(data)
		data = data[n:]
		switch {
		case err == nil && len(data) > 0:
			return io.ErrShortWrite
		case err == nil, !full(err), !j.spared, !j.release(true):
			return err
		}
	}
}

// full reports whether an error says that there is no room: on the disk, or for this user on it.
func full(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }
