// This file implements the identity of a store: a directory in the root that is made once.

package files

import (
	"context"
	"errors"
	"io/fs"
	"path"

	"github.com/apportion/apportion/checkpoint/store"
)

// The identity is the only file of a directory, because the rename of a directory replaces nothing: of several
// who make an identity at once exactly one wins.
const (
	// identityName is no folder of a job, in which a percent sign stands before two digits.
	identityName = "%identity"
	identityFile = "id"
)

// Identity implements store.Medium. The disk is read at each call: that is how one is noticed which was unmounted, or
// replaced by another, while the store is open.
func (s *disk) Identity(_ context.Context, make bool) (store.Identity, error) {
	id, err := s.readIdentity()
	if !errors.Is(err, fs.ErrNotExist) {
		return id, err
	}
	if make {
		return s.makeIdentity()
	}
	return "", nil
}

// readIdentity returns the identity in the root; an error that wraps fs.ErrNotExist if there is none.
// Of a damaged file ReadIdentity says so: a store must not take a new identity because the old one cannot be
// read.
func (s *disk) readIdentity() (store.Identity, error) {
	f, err := s.fs.Open(path.Join(identityName, identityFile))
	if err != nil {
		return "", err
	}
	defer f.Close()
	return store.ReadIdentity(f)
}

// makeIdentity gives the store an identity, unless somebody else does meanwhile, and returns the one that it has.
func (s *disk) makeIdentity() (store.Identity, error) {
	draft := identityName + "-" + string(store.NewPlace(s.now()))
	made := s.fillIdentity(draft)
	if made == nil {
		made = s.fs.Rename(draft, identityName)
	}
	// Somebody else was first, or the disk does not let us; which of the two readIdentity tells.
	if made != nil {
		_ = s.removeAll(draft) // what is left of it will be collected
	}
	// Whoever was first is durable before anybody relies on it.
	if err := s.fs.SyncDir("."); err != nil {
		return "", errors.Join(made, err)
	}
	id, err := s.readIdentity()
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.Join(made, err)
	}
	return id, err
}

// fillIdentity makes a directory with a new identity, durable but for its own name.
func (s *disk) fillIdentity(dir string) error {
	if err := s.fs.Mkdir(dir); err != nil {
		return err
	}
	f, err := s.fs.Create(path.Join(dir, identityFile))
	if err != nil {
		return err
	}
	_, err = f.Write(store.NewIdentity().Line())
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return s.fs.SyncDir(dir)
}

// collectIdentities removes what those have left who died while they made an identity.
func (s *disk) collectIdentities() error {
	entries, err := s.fs.List(".")
	faults := []error{err}
	for _, e := range entries {
		place, ok := cutPlace(e.Name)
		if ok && place.Abandoned(s.now(), s.options.Grace) {
			faults = append(faults, s.removeAll(e.Name))
		}
	}
	return errors.Join(faults...)
}

// cutPlace returns the place of who made an identity under that name.
func cutPlace(name string) (store.Place, bool) {
	const prefix = identityName + "-"
	if len(name) <= len(prefix) || name[:len(prefix)] != prefix {
		return "", false
	}
	place := store.Place(name[len(prefix):])
	return place, place.Valid()
}
