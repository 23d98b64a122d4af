// This file implements fences: an empty directory whose name says below which number nothing is committed any more.

package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/apportion/apportion/checkpoint/store"
)

// fencePrefix begins the name of a fence; its number follows.
// It begins with a dot, as no number does. Two masters that raise the same fence make the same name, and the
// second finds it there.
const fencePrefix = ".fence-"

// Fence implements store.Medium. The fence is there, durably, before the directories of writers below it are renamed
// away; a writer makes its directory before it looks for a fence. So each writer sees the fence or loses its directory,
// without which it cannot commit.
func (s *disk) Fence(_ context.Context, folder store.Folder, number int64) error {
	// A fence only rises. To raise a lower one again does what the highest did, in case its process died halfway.
	highest, err := s.fence(folder)
	if err != nil {
		return err
	}
	number = max(number, highest)
	dir := path.Join(string(folder), fencePrefix+strconv.FormatInt(number, 10))
	if err := s.makeIn(folder, func() error { return s.fs.Mkdir(dir) }); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := errors.Join(s.fs.SyncDir(string(folder)), s.fs.SyncDir(".")); err != nil {
		return err
	}
	// Whoever makes a directory behind this look sees the fence, which is there already.
	entries, err := s.fs.List(string(folder))
	if err != nil {
		return err
	}
	for _, e := range entries {
		dir := path.Join(string(folder), e.Name)
		// A lower fence says nothing any more.
		// It is taken away only when the higher one is durable. What cannot be removed does no harm: the
		// highest counts.
		if lower, ok := parseFence(e.Name); ok && lower < number {
			_ = s.fs.Remove(dir)
		}
		// Only what a writer fills is ended; trash is on its way out already, and from the number on writers
		// belong to the new attempt.
		l, ok := parseLeftover(e.Name)
		if !ok || l.prefix != tmpPrefix || l.number >= number {
			continue
		}
		// A committed checkpoint under its first name cannot be committed again.
		// Where it cannot be told which of the two it is, the fence is not reported as raised.
		twin, err := s.twin(folder, l.number, dir)
		if err == nil && !twin {
			err = s.discard(folder, l.number, dir)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fence returns the highest fence of a job, 0 if there is none.
// A job without a directory has none. One list of the directory of the job.
func (s *disk) fence(folder store.Folder) (int64, error) {
	entries, err := s.fs.List(string(folder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	highest := int64(0)
	for _, e := range entries {
		if number, ok := parseFence(e.Name); ok {
			highest = max(highest, number)
		}
	}
	return highest, nil
}

// parseFence reads the name of a fence, in the one form in which it is written.
// A name that only looks like one, such as .fence-007, is somebody else's, and is neither obeyed nor removed.
func parseFence(name string) (int64, bool) {
	digits, ok := strings.CutPrefix(name, fencePrefix)
	number, err := strconv.ParseInt(digits, 10, 64)
	return number, ok && err == nil && number > 0 && strconv.FormatInt(number, 10) == digits
}

// fenced returns an error that wraps ErrFenced if the number is below the fence of its job, and otherwise the error that
// a writer has met.
// A writer whose directory was taken away meets ErrNotExist somewhere; this turns it into the reason. Called
// with nil, it asks whether the writer may go on. The error met is kept beside ErrFenced.
func (s *disk) fenced(folder store.Folder, number int64, met error) error {
	highest, err := s.fence(folder)
	switch {
	case err != nil:
		return errors.Join(met, err)
	case number >= highest:
		return met
	case met == nil:
		return store.ErrFenced
	}
	return fmt.Errorf("%w: %w", store.ErrFenced, met)
}
