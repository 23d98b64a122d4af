// This file implements Save: files get into a store, as a copy or, on its disk, as they are.

package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/apportion/apportion/internal/regular"
)

// Files are files of one directory that make a checkpoint.
type Files struct {
	// Dir is where the files are; Names are relative to it, with forward slashes, ascending.
	Dir   string
	Names []string
	// Given says that the job has given the files away: it neither opens them any more nor needs their names.
	Given bool
}

// maxMoved bounds how many files of a checkpoint are taken as they are, for each stays open until the commit. The others are
// copied.
const maxMoved = 256

// Save puts the files of a saved state into the store as checkpoint number of job and commits it. Each
// file becomes the part of its name. O(bytes).
//
// Where the store is on the disk of the files, and its writer is a Taker, their bytes are read for the sums and not
// written again: they are shared if the file system can, and otherwise, of files that the job has given away, the file
// itself becomes the part. Its name in files.Dir goes with the commit; a Save that fails leaves it. What a store cannot take
// is copied.
func Save(ctx context.Context, s Store, job string, number int64, files Files) (Manifest, error) {
	manifest, err := save(ctx, s, job, number, files)
	if err != nil {
		return Manifest{}, fmt.Errorf("save job %q, checkpoint %d: %w", job, number, err)
	}
	return manifest, nil
}

// save writes part after part, each file as it is found, and commits them together. What goes wrong before
// the commit leaves nothing visible.
func save(ctx context.Context, s Store, job string, number int64, files Files) (Manifest, error) {
	// The root keeps the names, which a job may have chosen, inside of its directory.
	root, err := os.OpenRoot(files.Dir)
	if err != nil {
		return Manifest{}, err
	}
	defer root.Close()
	writer, err := s.Begin(ctx, job, number)
	if err != nil {
		return Manifest{}, err
	}
	from := source{root: root, given: files.Given}
	// While they are open nobody writes to the files that were taken: they are closed behind all else.
	defer from.close()
	for _, name := range files.Names {
		if err := from.save(ctx, writer, name); err != nil {
			return Manifest{}, errors.Join(err, writer.Abort())
		}
	}
	manifest, err := writer.Commit()
	if err != nil {
		return Manifest{}, errors.Join(err, writer.Abort())
	}
	from.forget()
	return manifest, nil
}

// source is where the files of one Save are.
type source struct {
	root *os.Root
	// given says that the job has given them away.
	given bool
	// moved are those that the store has taken as they are, open, by their names.
	moved []moved
}

// moved is a file that is a part now.
type moved struct {
	name string
	file *os.File
}

func (s *source) save(ctx context.Context, writer Writer, name string) error {
	// The job may have swapped it since it was acknowledged, for a pipe that is never written to.
	file, err := regular.OpenIn(s.root, filepath.FromSlash(name))
	if err != nil {
		return err
	}
	taken, err := s.take(writer, name, file)
	if taken {
		s.moved = append(s.moved, moved{name, file})
		return nil
	}
	defer file.Close()
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	part, err := writer.Part(name)
	if err != nil {
		return err
	}
	if err := copyTo(ctx, part, file); err != nil {
		return fmt.Errorf("part %q: %w", name, errors.Join(err, part.Close()))
	}
	return part.Close()
}

// take lets the store take a file, and reports whether it is the store's now, by this name. An error that wraps
// errors.ErrUnsupported says that it must be copied.
func (s *source) take(writer Writer, name string, file *os.File) (bool, error) {
	taker, ok := writer.(Taker)
	if !ok {
		return false, errors.ErrUnsupported
	}
	return taker.Take(name, file, s.given && len(s.moved) < maxMoved && s.isAt(name, file))
}

// isAt reports whether a file has that name itself: of one that was reached by a link the name that counts is not known.
func (s *source) isAt(name string, file *os.File) bool {
	there, err := s.root.Lstat(filepath.FromSlash(name))
	opened, failed := file.Stat()
	return err == nil && failed == nil && os.SameFile(there, opened)
}

// forget takes the names of the files away that are the store's now. One that stays does no harm as long as the job keeps its
// word, and goes with the folder of its attempt.
func (s *source) forget() {
	for _, m := range s.moved {
		// The job may have put another file there, which it has not given away.
		if s.isAt(m.name, m.file) {
			_ = s.root.Remove(filepath.FromSlash(m.name))
		}
	}
}

func (s *source) close() {
	for _, m := range s.moved {
		_ = m.file.Close() // it was read only
	}
}
