// This file implements what the methods of stores have in common: how they begin, lists, and identities.

package medium

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/apportion/apportion/checkpoint/store"
)

// Enter begins a method of a store: it returns the error of the context, or what [CheckID] says.
func Enter(ctx context.Context, job string, number int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return CheckID(job, number)
}

// List implements store.Store.List: numbers returns those of a job, ascending, and record the manifest of one of them. A
// record that wraps store.ErrNotFound is none: it was deleted a moment ago, or is not visible.
func List(ctx context.Context, job string, numbers func(store.Folder) ([]int64, error),
	record func(store.Folder, int64) (Stored, error)) ([]store.Manifest, error) {
	err := errors.Join(ctx.Err(), store.CheckJob(job))
	folder := store.FolderOf(job)
	var listed []int64
	if err == nil {
		listed, err = numbers(folder)
	}
	var manifests []store.Manifest
	var faults []error
	for _, number := range listed {
		r, fault := record(folder, number)
		if err = ctx.Err(); err != nil {
			break
		}
		switch {
		case fault == nil:
			manifests = append(manifests, r.Manifest)
		case !errors.Is(fault, store.ErrNotFound):
			faults = append(faults, Wrap(job, number, fault))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("job %.60q: %w", job, err)
	}
	return manifests, errors.Join(faults...)
}

// Identify returns the identity of a medium: what read returns or, where that is fs.ErrNotExist or store.ErrNotFound and no
// identity was known until now, what create returns. A medium that had an identity gets no second one: it was replaced, and
// the error wraps store.ErrIdentity.
func Identify(known store.Identity, read, create func() (store.Identity, error)) (store.Identity, error) {
	id, err := read()
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, store.ErrNotFound) {
		id, err = "", nil
		if known == "" {
			id, err = create()
		}
	}
	if err == nil {
		err = known.Same(id)
	}
	if err != nil {
		return "", err
	}
	return id, nil
}

// ReadIdentity reads the line of an identity, of which a longer one is damaged.
func ReadIdentity(from io.Reader) (store.Identity, error) {
	const most = 100 // bytes
	line, err := io.ReadAll(io.LimitReader(from, most))
	if err != nil {
		return "", err
	}
	return store.ParseIdentity(line)
}
