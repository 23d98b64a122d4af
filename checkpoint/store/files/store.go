// This file implements Store: a directory for each job, in it one for each checkpoint.

package files

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/vfs"
)

// defaultInlineBytes is the length up to which a part is kept in the file of the manifest. A file and its syncs less make up
// for what List reads more, see BenchmarkCommit.
const defaultInlineBytes = 1 << 20

// defaultGrace is how old a writer of another process must be before it is taken for dead.
const defaultGrace = 24 * time.Hour

// Options are the choices that a Store leaves to its caller. The zero value keeps everything.
type Options struct {
	// Keep is how many checkpoints of a job are kept: after a Commit of number n these are n itself and
	// the Keep-1 highest below n whose manifest can be read; those below go. Zero keeps all, which is
	// right where the caller deletes: a count knows nothing of which checkpoints are confirmed. If
	// saving fails Keep times in a row, the last confirmed checkpoint is deleted unless Pinned says no.
	Keep int
	// Pinned reports whether a checkpoint must stay whatever Keep says, for instance because it is the
	// newest from which a job has been resumed. Nil pins none. It is called by Commit, and must be safe
	// for concurrent use if the store is used so.
	Pinned func(job string, number int64) bool
	// Grace is the age at which what a writer of another process has left is deleted; zero is
	// 24 hours. A negative one says that no other process writes here: all of it is deleted at once.
	Grace time.Duration
	// Form is how parts are kept: with a digest, with the manifest. The zero value has sums of chunks and no digest,
	// and keeps parts of up to a MiB with the manifest.
	Form store.Form
	// Identity is what the directory must have as its identity, see store.Identity: Open and New refuse every other
	// one, and one without, with an error that wraps store.ErrIdentity. Empty takes every directory.
	Identity store.Identity
}

// Store is a directory with checkpoints. It implements [store.Store].
// It is safe for concurrent use, by many goroutines and by several processes on one directory: what they share
// is on the disk, and every step of it that others can see is one rename, link or Mkdir.
type Store struct {
	*store.Portable
	disk *disk
	// It is that of the directory where Open has opened it, and does nothing after New.
	close func() error
}

type disk struct {
	fs      vfs.FS
	options Options
	// now is the clock; tests bring their own.
	now func() time.Time

	// mu guards live: the file system takes care of itself.
	mu sync.Mutex
	// live are the places of the store's own writers.
	// It grows with the writers that are at work: Commit and Abort take them out.
	live map[store.Place]bool
}

// manifestName is the file of a checkpoint that says what it consists of. The parts beside it are called
// by their index: 0, 1, 2.
const manifestName = "manifest"

func (s *disk) folders() ([]store.Folder, error) {
	entries, err := s.fs.List(".")
	if err != nil {
		return nil, err
	}
	var folders []store.Folder
	for _, e := range entries {
		// What has no name that FolderOf gives is somebody else's, and neither listed nor collected.
		if folder := store.Folder(e.Name); e.Dir && folder.Valid() {
			folders = append(folders, folder)
		}
	}
	return folders, nil
}

// at returns the directory of a checkpoint.
// Of a checkpoint that is one file it is that file.
func at(folder store.Folder, number int64) string {
	return path.Join(string(folder), strconv.FormatInt(number, 10))
}

func (s *disk) Record(_ context.Context, folder store.Folder, number int64) (store.Stored, error) {
	return s.record(folder, number, at(folder, number))
}

// Open implements store.Medium. A checkpoint that is deleted meanwhile is missing parts from then on, which the reader calls
// damaged or not found.
func (s *disk) Open(_ context.Context, r store.Record, index int, offset int64) (io.ReadCloser, error) {
	// Parts are called by their index in the manifest, so that no name of a job's is ever part of a path.
	f, err := s.openFile(at(store.FolderOf(r.Job), r.Number), strconv.Itoa(index))
	if err != nil {
		return nil, err
	}
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (s *disk) openFile(dir, file string) (io.ReadSeekCloser, error) {
	f, err := s.fs.Open(path.Join(dir, file))
	if err != nil {
		return nil, s.explain(dir, file, err)
	}
	return f, nil
}

// record reads and checks the manifest of what is to be a checkpoint: the file of that name in the directory dir, or,
// of a checkpoint all of whose parts are kept with the manifest, the file dir itself.
func (s *disk) record(folder store.Folder, number int64, dir string) (r store.Stored, err error) {
	// What is not there and is, when it is looked for again, has been committed in between.
	// The number of attempts bounds a race, and not a wait: each further one needs another change at the same
	// moment.
	const attempts = 3
	for range attempts {
		r, err = s.read(folder, number, dir)
		if !errors.Is(err, fs.ErrNotExist) || errors.Is(err, store.ErrCorrupt) {
			break
		}
	}
	return r, err
}

// read is record, once.
// The two forms are tried one after the other: a directory's manifest, and then the name itself as a file.
func (s *disk) read(folder store.Folder, number int64, dir string) (store.Stored, error) {
	f, failed := s.fs.Open(path.Join(dir, manifestName))
	if failed != nil {
		var err error
		if f, err = s.fs.Open(dir); err != nil {
			if e, look := s.entry(path.Dir(dir), path.Base(dir)); look == nil && !e.Regular {
				err = s.explain(dir, manifestName, failed)
			}
			return store.Stored{}, err
		}
	}
	defer f.Close()
	r, err := store.ReadRecord(f, folder, number)
	// A directory can be opened like a file, and not be read. It had no manifest when that was looked for: if it has one
	// now, it has been committed in between, and what was met then counts.
	if err != nil && !errors.Is(err, store.ErrCorrupt) {
		if e, look := s.entry(path.Dir(dir), path.Base(dir)); look == nil && e.Dir {
			err = s.explain(dir, manifestName, cmp.Or(failed, err))
		}
	}
	return r, err
}

// explain says why a file of a checkpoint could not be opened: ErrNotFound if there is no checkpoint,
// ErrCorrupt if there is one without that file, or with something else in the place of either, such as a
// link that leads out of the store; otherwise what the file system said.
func (s *disk) explain(dir, file string, err error) error {
	// The error alone is not enough: systems report a missing directory, a file in its place and a link out
	// of the store in different ways.
	d, look := s.entry(path.Dir(dir), path.Base(dir))
	switch {
	case look != nil:
		return err
	case d.Name == "":
		return store.ErrNotFound
	case d.Dir:
		// The file is there and regular, so the fault is the file system's own.
		if f, look := s.entry(dir, file); look != nil || f.Regular {
			return err
		}
	}
	return fmt.Errorf("%w: %w", err, store.ErrCorrupt)
}

// entry returns what a directory has under a name; nothing, or no such directory, is the zero Entry.
// It goes by the list of the directory and not by Stat, which would follow a link. O(entries).
func (s *disk) entry(dir, name string) (vfs.Entry, error) {
	entries, err := s.fs.List(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return vfs.Entry{}, err
	}
	i := slices.IndexFunc(entries, func(e vfs.Entry) bool { return e.Name == name })
	if i < 0 {
		return vfs.Entry{}, nil
	}
	return entries[i], nil
}

func (s *disk) List(ctx context.Context, folder store.Folder) ([]int64, func(int64) (store.Stored, error), error) {
	numbers, err := s.numbers(folder)
	return numbers, func(number int64) (store.Stored, error) { return s.Record(ctx, folder, number) }, err
}

// numbers returns the checkpoints of a job, ascending, damaged ones among them.
func (s *disk) numbers(folder store.Folder) ([]int64, error) {
	entries, err := s.fs.List(string(folder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var numbers []int64
	for _, e := range entries {
		// Only the form that at writes is a checkpoint: 007 and +7 are not, or one number would have two
		// directories.
		if number, err := strconv.ParseInt(e.Name, 10, 64); err == nil && number > 0 && at("", number) == e.Name {
			numbers = append(numbers, number)
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

// makeIn makes the directory of a job, and calls entry, which makes something in it. It tries again if another one deletes the
// job's last checkpoint between the two, and with it the directory.
// An error of entry that is not ErrNotExist ends it, ErrExist among them.
func (s *disk) makeIn(folder store.Folder, entry func() error) error {
	// Each further attempt needs another deletion at the same moment; ten in a row are a fault and not bad
	// luck.
	const attempts = 10
	var err error
	for range attempts {
		if err = s.fs.Mkdir(string(folder)); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err = entry(); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return err
}

// removeAll tries Remove before it looks into a directory: that takes a symbolic link away instead of
// following it.
func (s *disk) removeAll(name string) error {
	// A file, a link and an empty directory go at once; only a directory with entries needs a look.
	err := s.fs.Remove(name)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	entries, listErr := s.fs.List(name)
	if listErr != nil {
		return errors.Join(err, listErr)
	}
	for _, e := range entries {
		if err := s.removeAll(path.Join(name, e.Name)); err != nil {
			return err
		}
	}
	if err := s.fs.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// setLive notes whether a writer of this store is at work, isLive asks it.
func (s *disk) setLive(place store.Place, live bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if live {
		s.live[place] = true
	} else {
		delete(s.live, place)
	}
}

func (s *disk) isLive(place store.Place) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live[place]
}
