//go:build linux

// This file tests that nothing stays open: a process that stores checkpoints for months has few descriptors.

package files

import (
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/internal/must"
)

func descriptors(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	var open []string
	for _, e := range entries {
		// What has ended since the folder was listed is the listing itself.
		if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil {
			open = append(open, to)
		}
	}
	slices.Sort(open)
	return open
}

// TestDescriptors goes through everything that opens something, with success and without.
func TestDescriptors(t *testing.T) {
	dir := t.TempDir()
	uses := map[string]func(s *Store) error{
		"identity": func(s *Store) error { _, err := s.Identity(t.Context()); return err },
		"commit and delete": func(s *Store) error {
			commit(t, s, "job", 1, strings.Repeat("x", defaultInlineBytes+1))
			commit(t, s, "job", 2, "short")
			return errors.Join(s.Delete(t.Context(), "job", 1), s.Collect(t.Context()))
		},
		"abort": func(s *Store) error { return begin(t, s, "job", 3, strings.Repeat("x", defaultInlineBytes+1)).Abort() },
		"abort of a part": func(s *Store) error {
			w, err := s.Begin(t.Context(), "job", 3)
			if err != nil {
				return err
			}
			part, err := w.Part("part")
			if err == nil {
				_, err = part.Write(make([]byte, defaultInlineBytes+1))
			}
			return errors.Join(err, w.Abort())
		},
		"read": func(s *Store) error {
			commit(t, s, "job", 4, strings.Repeat("x", defaultInlineBytes+1))
			r, err := s.Open(t.Context(), "job", 4)
			if err != nil {
				return err
			}
			part, err := r.Part("part")
			if err != nil {
				return err
			}
			piece, err := r.Range("part", 5, 5)
			if err != nil {
				return err
			}
			_, err = io.CopyN(io.Discard, part, 9)
			_, again := s.List(t.Context(), "job")
			return errors.Join(err, again, part.Close(), piece.Close(), r.Close())
		},
		"take": func(s *Store) error {
			file := outside(t, strings.Repeat("x", defaultInlineBytes+1))
			w := taker(t, s, 5)
			_, err := w.Take("part", file, true)
			if errors.Is(err, errors.ErrUnsupported) {
				err = nil
			}
			return errors.Join(err, w.Abort(), file.Close())
		},
		"not found": func(s *Store) error {
			if _, err := s.Open(t.Context(), "job", 99); !errors.Is(err, store.ErrNotFound) {
				return err
			}
			return nil
		},
	}
	for what, use := range uses {
		before := descriptors(t)
		s, err := Open(dir, nil)
		if err == nil {
			err = errors.Join(use(s), s.Close())
		}
		must.Do(t, err, what)
		must.Same(t, before, descriptors(t), what, "leaves open", "before it")
	}
}
