// This file implements Journal: the records of a machine on a disk, FORMAT.md.

package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/vfs"
)

// Journal keeps the records of one machine, the one that has opened it last. It is the only thing of
// the protocol that touches a disk. It belongs to one goroutine.
//
// Each journal is a file whose name is a number. Whoever opens or compacts takes the next number for
// itself, which only one can; whoever appends looks for higher numbers afterwards. So when Append has
// returned nil, a master that opens later reads the record; and a master that has been replaced gets
// ErrFenced before it can act on a record that its successor may not have seen.
type Journal struct {
	// fsys is the directory, file the journal in it that is written, number its name and the epoch of its
	// master.
	fsys   vfs.FS
	file   vfs.File
	number int64
	// sequence is that of the next frame, bytes the length of the file so far.
	sequence uint64
	bytes    int64
	// spared says that there is room for a disk that is full.
	spared bool
	// gone says that the file which was claimed is not there any more.
	gone bool
	// own is number for whoever asks Leads; while the next number is being taken it is that one already.
	own atomic.Int64
	err error // of the first call that failed; the journal is of no use from then on
}

// The endings of names: a journal that is being made, and one that is valid.
const (
	claimed = ".new"
	valid   = ".journal"
)

// Append makes a record durable; an empty one costs nothing. After any error the journal takes nothing more, and the machine must
// be thrown away: the record may be durable or not, Open will tell. The error is ErrFenced if another
// has opened the journal.
func (j *Journal) Append(r checkpoint.Record) error {
	if j.err == nil && !r.Empty() {
		j.err = j.append(r)
	}
	return j.err
}

// append writes a record and then looks whether this is still the newest journal. The order is what counts:
// whoever opens takes a higher number first and reads afterwards, so either it reads this record or this
// looks too late to miss its number.
func (j *Journal) append(r checkpoint.Record) error {
	if err := j.write(r); err != nil {
		return fmt.Errorf("journal %d: %w", j.number, err)
	}
	return j.checkNewest()
}

// write writes a record and makes it durable.
func (j *Journal) write(r checkpoint.Record) error {
	// A payload that no reader would take is refused before it is on the disk.
	// It is encoded before anything is written: an error here has changed nothing on the disk, though the journal ends by it.
	payload, err := Encode(r)
	if err != nil {
		return err
	}
	if len(payload) > maxPayload {
		return fmt.Errorf("a record of %d bytes, at most %d are allowed", len(payload), maxPayload)
	}
	frames := appendRecord(nil, j.sequence, payload)
	if err := j.put(frames); err != nil {
		return err
	}
	if err := j.file.Sync(); err != nil {
		return err
	}
	// Only what was synced counts. A record that failed may be on the disk all the same; the next Open reads it
	// or drops it, and this journal takes nothing more.
	j.sequence++
	j.bytes += int64(len(frames))
	return nil
}

// Bytes returns the length of the journal. Compact it when it has grown much longer than after the
// last Compact.
func (j *Journal) Bytes() int64 { return j.bytes }

// Compact replaces the journal by one that begins with a snapshot of the machine. Its errors are those
// of Append.
func (j *Journal) Compact(snapshot checkpoint.Record) error {
	if j.err == nil {
		j.err = j.explain(j.compact(snapshot))
	}
	return j.err
}

// compact begins a journal with the next number, as a successor would, and goes on in it. Where that
// fails the old journal is still the valid one, and a later Open goes on from it.
func (j *Journal) compact(snapshot checkpoint.Record) error {
	// The old file stays open until the new number is taken: a refusal leaves the journal as it was.
	number, old := j.number+1, j.file
	j.own.Store(number)
	file, err := claim(j.fsys, number)
	if err != nil {
		j.own.Store(j.number)
		return fmt.Errorf("journal %d: %w", number, err)
	}
	j.number, j.file, j.gone = number, file, false
	if err := old.Close(); err != nil {
		j.giveUp()
		return fmt.Errorf("journal %d: %w", number-1, err)
	}
	return j.begin(snapshot)
}

// giveUp removes the file that was claimed and did not become the valid one: it would take room on a disk that may be
// full. Its number is free again then, for nobody has acted under it.
func (j *Journal) giveUp() {
	// Once only: the next file of that name is somebody else's.
	if !j.gone {
		j.gone = true
		_ = j.fsys.Remove(name(j.number, claimed))
	}
}

// claim takes a number, or returns ErrFenced if it or a higher one was taken before. It looks after it
// has created the file: one who had the number earlier may have given the file its valid name since.
func claim(fsys vfs.FS, number int64) (vfs.File, error) {
	file, err := fsys.Create(name(number, claimed))
	// Create is exclusive: of all that want a number exactly one gets it.
	if errors.Is(err, fs.ErrExist) {
		return nil, checkpoint.ErrFenced
	}
	if err != nil {
		return nil, err
	}
	files, err := list(fsys)
	// A higher number means that another has taken over since; the same one, valid, that it did so before
	// this Create.
	if err == nil && (files.highest > number || files.newest == number) {
		err = checkpoint.ErrFenced
	}
	if err != nil {
		// A number that was not free leaves no file behind.
		return nil, errors.Join(err, file.Close(), absent(fsys.Remove(name(number, claimed))))
	}
	return file, nil
}

// absent returns an error as it is, or nil where it only says that a file is not there.
func absent(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// begin fills the file that was claimed, makes it the valid one and removes those before it. The order
// is what counts: the new one is durable before the old one goes.
func (j *Journal) begin(snapshot checkpoint.Record) error {
	// Each step is durable before the next one begins; a crash between two of them leaves the old journal
	// valid, or the new one, or both, and then the higher number counts.
	steps := []func() error{
		// 1. The snapshot is written and synced, under a name that nobody reads.
		func() error { return j.writeHead(snapshot) },
		// 2. The name makes it the valid journal.
		func() error { return vfs.Rename(j.fsys, name(j.number, claimed), name(j.number, valid)) },
		// 3. Whoever has taken over meanwhile must not lose its files in the next step.
		j.checkNewest,
		// 4. What the snapshot has replaced goes.
		j.removeOlder,
	}
	for _, step := range steps {
		if err := step(); err != nil {
			j.giveUp()
			return fmt.Errorf("journal %d: %w", j.number, err)
		}
	}
	// 5. Room for the next time that the disk is full. A journal without is as good, until then.
	j.reserve()
	return nil
}

// writeHead writes the header and the snapshot, which is the first record.
func (j *Journal) writeHead(snapshot checkpoint.Record) error {
	j.sequence, j.bytes = 0, int64(len(header))
	if err := j.put([]byte(header)); err != nil {
		return err
	}
	return j.write(snapshot)
}

// checkNewest returns ErrFenced if a higher number is taken.
func (j *Journal) checkNewest() error {
	files, err := list(j.fsys)
	if err != nil {
		return err
	}
	if files.highest > j.number {
		return checkpoint.ErrFenced
	}
	return nil
}

// Leads returns nil if no other has opened the journal since, and ErrFenced if one has. It looks at the directory, writes
// nothing, and may be called by any goroutine at any time: Append finds the same out, but a master that has nothing to
// append may vouch for runs, which its successor takes for ended some time after it has opened the journal.
func (j *Journal) Leads() error {
	files, err := list(j.fsys)
	if err != nil {
		return fmt.Errorf("checkpoint: the journal: %w", err)
	}
	// Compact takes the next number itself, which it has put there before it claims the file.
	if files.highest > j.own.Load() {
		return checkpoint.ErrFenced
	}
	return nil
}

// explain returns ErrFenced for a file that is missing since another has taken over and removed it, and
// every other error as it is.
func (j *Journal) explain(err error) error {
	// A successor removes what is older than its own journal. So a file that is missing is a sign, but only a
	// higher number is proof.
	if errors.Is(err, fs.ErrNotExist) && errors.Is(j.checkNewest(), checkpoint.ErrFenced) {
		return checkpoint.ErrFenced
	}
	return err
}

// removeOlder removes the files that the journal replaces. What is left over the next Open removes.
func (j *Journal) removeOlder() error {
	files, err := list(j.fsys)
	if err != nil {
		return err
	}
	for _, old := range files.names {
		// Newer files belong to a successor, which this journal cannot know yet.
		if files.number[old] >= j.number {
			continue
		}
		if err := absent(j.fsys.Remove(old)); err != nil {
			return err
		}
	}
	return nil
}

// Close closes the journal. What was appended is durable already.
func (j *Journal) Close() error {
	if j.err == nil {
		j.err = fs.ErrClosed
	}
	return j.file.Close()
}

// name is the name of a file of the journal: 20 digits, so that names sort as numbers do.
func name(number int64, ending string) string { return fmt.Sprintf("%020d%s", number, ending) }

// listing is what the directory of a journal holds. Other names than the journal's are left out.
type listing struct {
	names   []string
	number  map[string]int64
	highest int64 // of all numbers
	newest  int64 // of those that are valid; 0: none
}

// list reads the directory of a journal. What is not called exactly as name calls it is somebody else's.
func list(fsys vfs.FS) (listing, error) {
	entries, err := fsys.List(".")
	if err != nil {
		return listing{}, err
	}
	files := listing{number: make(map[string]int64)}
	for _, entry := range entries {
		// A name is read and written again: only what name makes is the journal's.
		digits, ending, _ := strings.Cut(entry.Name, ".")
		number, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || number < 1 || name(number, "."+ending) != entry.Name || "."+ending != claimed && "."+ending != valid {
			continue
		}
		files.names = append(files.names, entry.Name)
		files.number[entry.Name] = number
		files.highest = max(files.highest, number)
		if "."+ending == valid {
			files.newest = max(files.newest, number)
		}
	}
	return files, nil
}

// read reads a whole file. What is read to its end and cannot be closed is an error as well: some file systems say only then that
// they could not read.
func read(fsys vfs.FS, name string) ([]byte, error) {
	file, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(file)
	return data, errors.Join(err, file.Close())
}
