// This file implements what deletes: Delete, retention and the collection of leftovers.

package files

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/apportion/apportion/checkpoint/store"
)

// The names of directories that are not checkpoints begin with these.
const (
	// tmpPrefix: a writer fills it.
	tmpPrefix = ".tmp-"
	// trashPrefix: it was a checkpoint or a writer's directory and is being deleted.
	trashPrefix = ".trash-"
)

// leftover is the name of a directory that is not a checkpoint: a prefix, the number of the checkpoint,
// "-", and the place of the writer or of the deletion.
type leftover struct {
	// The prefix begins with a dot, which no number does.
	prefix string
	number int64
	place  store.Place
}

func (l leftover) name() string {
	return l.prefix + strconv.FormatInt(l.number, 10) + "-" + string(l.place)
}

// parseLeftover reads what name has written, and nothing else.
// Everything that deletes goes by it: what it does not know is never touched, so that a user's own files in the
// directory are safe.
func parseLeftover(name string) (l leftover, ok bool) {
	for _, l.prefix = range []string{tmpPrefix, trashPrefix} {
		if rest, ok := strings.CutPrefix(name, l.prefix); ok {
			number, place, _ := strings.Cut(rest, "-")
			var err error
			l.number, err = strconv.ParseInt(number, 10, 64)
			l.place = store.Place(place)
			return l, err == nil && l.number > 0 && l.place.Valid() && l.name() == name
		}
	}
	return leftover{}, false
}

// Delete implements store.Medium. A checkpoint goes by one rename; if what follows fails, it is not
// visible any more and its files are collected later.
// It costs a rename, a sync of the directory and the removal of each file. A part that is being read is read to
// its end; a reader finds no further ones.
func (s *disk) Delete(_ context.Context, folder store.Folder, number int64) error {
	return s.discard(folder, number, at(folder, number))
}

// discard renames a directory of a job away and deletes it. The rename is durable before the first file
// goes, otherwise a crash could leave the directory under its old name with files missing.
func (s *disk) discard(folder store.Folder, number int64, dir string) error {
	trash := path.Join(string(folder), leftover{trashPrefix, number, store.NewPlace(s.now())}.name())
	if err := s.fs.Rename(dir, trash); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// Nothing of the checkpoint may go before its name is gone for good.
	if err := s.fs.SyncDir(string(folder)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return s.remove(folder, trash)
}

// remove deletes a directory of a job with all that it holds, and the job's directory if that is empty
// then.
func (s *disk) remove(folder store.Folder, dir string) error {
	if err := s.removeAll(dir); err != nil {
		return err
	}
	_ = s.fs.Remove(string(folder)) // fails unless it is empty
	return nil
}

// Collect deletes what dead writers and interrupted deletions have left, see Options.Grace. It goes on
// after an error and returns all of them. O(files of the store).
// New calls it; a process that runs for months calls it now and then. It may run beside writers, readers and
// collectors of other processes.
func (s *Store) Collect(ctx context.Context) error { return s.disk.collect(ctx) }

func (s *disk) collect(ctx context.Context) error {
	folders, err := s.folders()
	if err != nil {
		return err
	}
	faults := []error{s.collectIdentities()}
	for _, folder := range folders {
		if err := ctx.Err(); err != nil {
			return errors.Join(append(faults, err)...)
		}
		faults = append(faults, s.collectFolder(folder))
	}
	return errors.Join(faults...)
}

// collectFolder collects in the directory of one job. A directory that a writer may still be filling is
// renamed first: then the writer's own rename fails, and it cannot commit what is half deleted.
func (s *disk) collectFolder(folder store.Folder) error {
	entries, err := s.fs.List(string(folder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	faults := []error{err}
	for _, e := range entries {
		l, ok := parseLeftover(e.Name)
		dir := path.Join(string(folder), e.Name)
		switch {
		// What has another name is not the store's. What may be a committed checkpoint stays.
		case !ok || s.isTwin(folder, l.number, dir):
		case l.prefix == trashPrefix:
			faults = append(faults, s.remove(folder, dir))
		// A writer of this process is alive, whatever its age; of another one only its age tells.
		case !s.isLive(l.place) && l.place.Abandoned(s.now(), s.options.Grace):
			faults = append(faults, s.discard(folder, l.number, dir))
		}
	}
	return errors.Join(faults...)
}

// isTwin reports whether a leftover is, or may be, a committed checkpoint under a second name. After a
// crash in the middle of a rename a file system may show the directory under both names; to empty one
// would empty the other. The second name stays until the checkpoint is deleted.
func (s *disk) isTwin(folder store.Folder, number int64, dir string) bool {
	// If it cannot be told, the leftover stays: keeping too much costs space, deleting too much a
	// checkpoint.
	twin, err := s.twin(folder, number, dir)
	return twin || err != nil
}

// twin is isTwin where it can be told.
func (s *disk) twin(folder store.Folder, number int64, dir string) (bool, error) {
	committed, err := s.record(folder, number, at(folder, number))
	switch {
	case errors.Is(err, store.ErrNotFound):
		return false, nil
	// Which directory it is cannot be told, and the number is taken.
	case errors.Is(err, store.ErrCorrupt):
		return true, nil
	case err != nil:
		return false, err
	}
	// A leftover without a whole manifest cannot be the committed one, whose manifest has just been read.
	second, err := s.record(folder, number, dir)
	switch {
	case errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrCorrupt):
		return false, nil
	case err != nil || second.Place != committed.Place:
		return false, err
	}
	// The number of a checkpoint that is one file is a name of its own: to remove another one takes nothing from it.
	e, err := s.entry(string(folder), strconv.FormatInt(number, 10))
	return !e.Regular, err
}
