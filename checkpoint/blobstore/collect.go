// This file implements the collection of parts that no manifest names.

package blobstore

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/apportion/apportion/checkpoint/store"
)

// Collect deletes the parts of writers that began more than twice Options.Grace ago and that no manifest
// names. It goes on after an error and returns all of them. One request for a thousand objects of the
// bucket, one for each writer that it doubts, one for each object that it deletes.
func (s *Store) Collect(ctx context.Context) error { return s.on.collect(ctx) }

func (s *bucket) collect(ctx context.Context) error {
	// Objects come ascending by key, so the parts of one writer follow each other, and one that is
	// remembered is enough.
	objects := s.Bucket.List(nil)
	var faults []error
	var last place
	var dead bool // the writer called last is
	for {
		object, err := objects.Next(ctx)
		if err == io.EOF {
			return errors.Join(faults...)
		}
		if err != nil {
			return errors.Join(append(faults, explain(ctx, err))...)
		}
		p, ok := parsePart(object.Key)
		if !ok {
			continue
		}
		if p != last {
			last = p
			dead, err = s.isDead(ctx, p)
			faults = append(faults, store.Wrap(string(p.folder), p.number, err))
		}
		if dead {
			faults = append(faults, store.Wrap(string(p.folder), p.number, s.deleteKey(ctx, object.Key)))
		}
	}
}

// place is what the keys of one writer's parts have in common.
type place struct {
	folder store.Folder
	number int64
	place  store.Place
}

func parsePart(key string) (p place, ok bool) {
	elements := strings.Split(key, "/")
	// folder / number / place / index; a manifest has three elements.
	if len(elements) != 4 {
		return place{}, false
	}
	number, ok := parseNumber(elements[1])
	p = place{store.Folder(elements[0]), number, store.Place(elements[2])}
	return p, ok && p.folder.Valid() && p.place.Valid()
}

// isDead reports whether a writer can commit no more and has not committed. Parts of a checkpoint whose
// manifest is damaged may be those that it names: they stay until that is deleted.
func (s *bucket) isDead(ctx context.Context, p place) (bool, error) {
	if !p.place.Abandoned(s.now(), 2*s.options.Grace) {
		return false, nil
	}
	committed, err := s.record(ctx, p.folder, p.number)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return true, nil
	case errors.Is(err, store.ErrCorrupt):
		return false, nil
	}
	// Another writer has committed the number, so this one can do so no more. An error of the bucket
	// is no reason to delete.
	return err == nil && committed.Place != p.place, err
}
