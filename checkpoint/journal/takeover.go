// This file implements Open: it takes a journal over from the master before, FORMAT.md "Files".

package journal

import (
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/vfs"
)

// Open takes over the journal in the root of a file system, or begins one, and returns the machine that
// it tells of. Whoever had it open before gets ErrFenced from then on, and so does this call if another
// takes over meanwhile. An error wraps ErrCorrupt, with file and offset, if a record was damaged after
// it was durable: nothing is dropped silently.
//
// All masters that may open the same journal must see each other's files at once: a local file system,
// not one that caches directories.
func Open(fsys vfs.FS, config checkpoint.Config) (*checkpoint.Machine, *Journal, error) {
	// A bad configuration, or one that the records do not fit, must not fence the master that runs: all is read and
	// recovered once before anything is claimed.
	if err := config.Validate(); err != nil {
		return nil, nil, err
	}
	if err := rehearse(fsys, config); err != nil {
		return nil, nil, fmt.Errorf("checkpoint: %w", err)
	}
	// The number is taken before anything is read: from here on no other master can have a record made
	// durable and act on it, for it looks for higher numbers after each.
	j, err := claimNext(fsys)
	if err != nil {
		return nil, nil, fmt.Errorf("checkpoint: %w", err)
	}
	m, err := j.takeOver(config)
	if err != nil {
		err = fmt.Errorf("checkpoint: %w", j.explain(err))
		j.giveUp()
		return nil, nil, errors.Join(err, j.Close())
	}
	return m, j, nil
}

// rehearse recovers the machine of the newest journal and forgets it again.
func rehearse(fsys vfs.FS, config checkpoint.Config) error {
	files, err := list(fsys)
	if err != nil || files.newest == 0 {
		return err
	}
	// The epoch is the one that the claim would get. What the machine would do with it is not asked for.
	_, err = recoverNewest(fsys, files, config, files.highest+1)
	// Whoever runs has compacted meanwhile: there is a journal, and what is in it is looked at after the claim.
	return absent(err)
}

// recoverNewest returns the machine of the newest journal, or a new one where there is none.
func recoverNewest(fsys vfs.FS, files listing, config checkpoint.Config, epoch int64) (*checkpoint.Machine, error) {
	// A journal that begins gets a name that no other has.
	records := []checkpoint.Record{{Journal: rand.Text()}}
	if files.newest > 0 {
		var err error
		if records, err = readJournal(fsys, name(files.newest, valid)); err != nil {
			return nil, err
		}
	}
	return checkpoint.Recover(config, epoch, records...)
}

// claimNext takes the lowest number above all that were taken.
func claimNext(fsys vfs.FS) (*Journal, error) {
	for {
		files, err := list(fsys)
		if err != nil {
			return nil, err
		}
		// Where another one was faster, the next number is tried. Each round sees a higher one, and there are only
		// as many rounds as there are rivals.
		number := files.highest + 1
		file, err := claim(fsys, number)
		if err == nil {
			j := &Journal{fsys: fsys, file: file, number: number}
			j.own.Store(number)
			return j, nil
		}
		if !errors.Is(err, checkpoint.ErrFenced) {
			return nil, fmt.Errorf("journal %d: %w", number, err)
		}
	}
}

// takeOver reads the newest journal, after the claim, so that nothing can be added to it that its
// writer would act on. The journal of this master begins with a snapshot, before anything else is recorded: from there on
// the older files are not needed.
func (j *Journal) takeOver(config checkpoint.Config) (*checkpoint.Machine, error) {
	// The listing is read again: between the first one and the claim the last master may have compacted.
	files, err := list(j.fsys)
	if err != nil {
		return nil, err
	}
	m, err := recoverNewest(j.fsys, files, config, j.number)
	if err != nil {
		return nil, err
	}
	return m, j.begin(m.Snapshot())
}

// readJournal returns the records of a file. Its first, the snapshot, was durable before the file had
// its name.
func readJournal(fsys vfs.FS, name string) ([]checkpoint.Record, error) {
	// The whole file is read at once. It is compacted when it has grown, so it is a few megabytes long.
	data, err := read(fsys, name)
	if err != nil {
		return nil, err
	}
	payloads, end, err := readRecords(data)
	if err == nil && len(payloads) == 0 {
		err = fmt.Errorf("at byte %d: no snapshot: %w", end, checkpoint.ErrCorrupt)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	records := make([]checkpoint.Record, len(payloads))
	for i, payload := range payloads {
		if records[i], err = Decode(payload); err != nil {
			return nil, fmt.Errorf("%s: record %d: %w: %w", name, i, err, checkpoint.ErrCorrupt)
		}
	}
	return records, nil
}
