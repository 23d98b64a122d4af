// This file implements Open: what is visible in a directory becomes durable before anyone relies on it.

package files

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/vfs"
)

// Open opens the store in dir and collects leftovers as far as it can. The directory must exist: one
// that is not there may be a disk that is not mounted, and a store that begins anew on it would hide the
// checkpoints. One whose disk is not mounted is there as well, and Options.Identity tells it. Nil options
// are the zero value.
// The error wraps fs.ErrNotExist for such a directory, and store.ErrIdentity for one that is another store's; a
// negative Keep is a *apportion.FieldError. It costs a sync of each job's directory, and of the root, and a
// look at every name.
func Open(dir string, o *Options) (*Store, error) {
	root, err := vfs.NewOS(dir)
	if err != nil {
		return nil, fmt.Errorf("files: %w", err)
	}
	s, err := New(root, o)
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	s.close = root.Close
	return s, nil
}

// New is [Open] on any file system.
// The file system stays the caller's: Close does not close it.
func New(fsys vfs.FS, o *Options) (*Store, error) {
	s := &disk{fs: fsys, now: time.Now, live: make(map[store.Place]bool)}
	if o != nil {
		s.options = *o
	}
	if s.options.Keep < 0 {
		return nil, &apportion.FieldError{Item: apportion.Item{ID: "files"}, Field: "Keep", Err: apportion.ErrNegative, Detail: strconv.Itoa(s.options.Keep)}
	}
	s.options.Form.InlineBytes = cmp.Or(s.options.Form.InlineBytes, defaultInlineBytes)
	s.options.Grace = cmp.Or(s.options.Grace, defaultGrace)
	opened := &Store{Portable: store.NewPortable(s, s.options.Form, s.options.Identity), disk: s, close: func() error { return nil }}
	// A directory without an identity is refused like one of another: this is what an empty mount point looks like.
	if s.options.Identity != "" {
		if _, err := opened.Identity(context.Background()); err != nil {
			return nil, err
		}
	}
	if err := s.settle(); err != nil {
		return nil, fmt.Errorf("files: %w", err)
	}
	_ = s.collect(context.Background()) // a store that cannot be written to can be read
	return opened, nil
}

// Close releases the directory. No reader, writer or call may be in use.
func (s *Store) Close() error { return s.close() }

// settle makes durable what can be seen: a process may have died between renaming a checkpoint and
// syncing the directory.
func (s *disk) settle() error {
	folders, err := s.folders()
	if err != nil {
		return err
	}
	// A directory may vanish meanwhile: its last checkpoint was deleted.
	for _, folder := range folders {
		if err := s.fs.SyncDir(string(folder)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return s.fs.SyncDir(".")
}
