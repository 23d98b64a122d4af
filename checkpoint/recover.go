// This file implements recovery: from the records of a master that died to a machine that goes on.

package checkpoint

import (
	"errors"
	"fmt"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint/vfs"
	"github.com/apportion/apportion/internal/check"
)

// Recover returns the machine whose records these are: the longest valid prefix of a journal, as
// [Open] reads it. Its first Ready lists again exactly the effects that have no reply on record; it
// writes nothing down. The epoch must be higher than that of any machine before.
//
// The error wraps ErrCorrupt if a record contradicts itself or the Config.
func Recover(config Config, epoch int64, records ...Record) (*Machine, error) {
	m, err := New(config, epoch)
	if err != nil {
		return nil, err
	}
	for _, r := range records {
		m.fold(r)
	}
	for id, capacity := range m.servers {
		if len(capacity) != len(config.Kinds) {
			return nil, fmt.Errorf("checkpoint: server %q: %d quantities for %d kinds: %w", id, len(capacity), len(config.Kinds), ErrCorrupt)
		}
	}
	for _, name := range m.names {
		if err := m.resume(m.jobs[name]); err != nil {
			return nil, err
		}
	}
	m.ready.next = m.next
	return m, nil
}

// resume takes up a job where the records leave it.
func (m *Machine) resume(j *Job) error {
	if drop := len(j.Checkpoints) - m.config.Keep; drop > 0 {
		j.Checkpoints = j.Checkpoints[drop:] // Config.Keep was higher before
	}
	fault := j.foreign(m)
	if fault == "" {
		fault = j.fault(m.config.Keep)
	}
	if fault != "" {
		return fmt.Errorf("checkpoint: job %q, %s: %s: %w", j.Name, j.Phase, fault, ErrCorrupt)
	}
	switch {
	case j.Phase.kind() == "":
	case j.Effect != 0:
		m.send(j)
	default:
		m.due[j.Name] = m.now // its pause is over
	}
	return nil
}

// foreign says what in a job no machine of this Config and with these numbers has written; "": nothing.
func (j *Job) foreign(m *Machine) string {
	highest := max(j.Attempt, j.Effect, j.Order, j.Saving.Number, j.Newest().Number)
	var faults apportion.Faults
	check.Resources(&faults, m.config.Kinds, j.Demand, apportion.Item{}, "demand")
	switch {
	case CheckJob(j.Name) != nil:
		return CheckJob(j.Name).Error()
	case faults != nil:
		return faults.Error()
	case highest > m.next, min(j.Attempt, j.Stopped, j.Effect, j.Order) < 0:
		return "a number that was never given out"
	case j.Min < 1, j.Tries < 0, j.Restarts < 0:
		return "a count that cannot be"
	}
	for _, list := range [][]string{j.Containers, j.Target, j.Fallback, j.Wanted} {
		if !slices.IsSorted(list) || slices.ContainsFunc(list, func(server string) bool { return m.servers[server] == nil }) {
			return "a list of containers that is out of order, or on unknown servers"
		}
	}
	return ""
}

// Open takes over the journal in the root of a file system, or begins one, and returns the machine that
// it tells of. Whoever had it open before gets ErrFenced from then on, and so does this call if another
// takes over meanwhile. An error wraps ErrCorrupt, with file and offset, if a record was damaged after
// it was durable: nothing is dropped silently.
//
// All masters that may open the same journal must see each other's files at once: a local file system,
// not one that caches directories.
func Open(fsys vfs.FS, config Config) (*Machine, *Journal, error) {
	if err := config.Validate(); err != nil {
		return nil, nil, err
	}
	j, err := claimNext(fsys)
	if err != nil {
		return nil, nil, fmt.Errorf("checkpoint: %w", err)
	}
	m, err := j.takeOver(config)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("checkpoint: %w", j.explain(err)), j.Close())
	}
	return m, j, nil
}

// claimNext takes the lowest number above all that were taken.
func claimNext(fsys vfs.FS) (*Journal, error) {
	for {
		files, err := list(fsys)
		if err != nil {
			return nil, err
		}
		number := files.highest + 1
		file, err := claim(fsys, number)
		if err == nil {
			return &Journal{fsys: fsys, file: file, number: number}, nil
		}
		if !errors.Is(err, ErrFenced) {
			return nil, fmt.Errorf("journal %d: %w", number, err)
		}
	}
}

// takeOver reads the newest journal, after the claim, so that nothing can be added to it that its
// writer would act on.
func (j *Journal) takeOver(config Config) (*Machine, error) {
	files, err := list(j.fsys)
	if err != nil {
		return nil, err
	}
	var records []Record
	if files.newest > 0 {
		if records, err = readJournal(j.fsys, name(files.newest, valid)); err != nil {
			return nil, err
		}
	}
	m, err := Recover(config, j.number, records...)
	if err != nil {
		return nil, err
	}
	return m, j.begin(m.Snapshot())
}

// readJournal returns the records of a file. Its first, the snapshot, was durable before the file had
// its name.
func readJournal(fsys vfs.FS, name string) ([]Record, error) {
	data, err := read(fsys, name)
	if err != nil {
		return nil, err
	}
	payloads, end, err := readFrames(data)
	if err == nil && len(payloads) == 0 {
		err = fmt.Errorf("at byte %d: no snapshot: %w", end, ErrCorrupt)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	records := make([]Record, len(payloads))
	for i, payload := range payloads {
		if records[i], err = decode(payload); err != nil {
			return nil, fmt.Errorf("%s: record %d: %w: %w", name, i, err, ErrCorrupt)
		}
	}
	return records, nil
}
