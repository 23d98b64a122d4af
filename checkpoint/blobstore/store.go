// This file declares Store, its keys and its manifests, and implements what all methods share, and Delete.

package blobstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/apportion/apportion/checkpoint/store"
)

// defaultGrace is how long a writer may take if Options do not say.
const defaultGrace = 24 * time.Hour

// Options are the choices that a Store leaves to its caller.
type Options struct {
	// Grace is how long a writer may take from Begin to Commit; zero is 24 hours. All processes that
	// use the bucket must have the same.
	Grace time.Duration
	// BlockBytes is the size of the pieces in which parts are uploaded; zero is the driver's choice. S3
	// takes 10,000 pieces of an object, and its driver chooses 5 MiB: parts above 48 GiB need more.
	BlockBytes int
	// Form is how parts are kept: with a digest, with the manifest. The zero value has sums of chunks and no digest,
	// and keeps small parts with the manifest.
	Form store.Form
	// Identity is what the bucket must have as its identity, see store.Identity: Open refuses every other one, and
	// one without, with an error that wraps store.ErrIdentity, and so does Store.Identity. Empty takes every bucket.
	Identity store.Identity
}

// Store is a bucket with checkpoints. It implements [store.Store].
type Store struct {
	*store.Portable
	on    *bucket
	close func() error
}

// bucket implements store.Medium. The bucket is all that processes share; committing below holds back only writers of this
// process.
type bucket struct {
	*blob.Bucket
	options Options
	// now is the clock; tests bring their own.
	now func() time.Time

	mu sync.Mutex
	// committing has a channel for each manifest that is being written, closed when that is done.
	committing map[string]chan struct{}
}

// manifestName is the last element of the key of a manifest.
const manifestName = "manifest"

// lock waits until no other writer of this store writes the manifest with that key.
//
// A channel and not a mutex, because a waiter must be able to leave when its context ends.
func (s *bucket) lock(ctx context.Context, key string) (unlock func(), err error) {
	for {
		s.mu.Lock()
		wait, taken := s.committing[key]
		if !taken {
			done := make(chan struct{})
			s.committing[key] = done
			s.mu.Unlock()
			return func() {
				s.mu.Lock()
				defer s.mu.Unlock()
				delete(s.committing, key)
				close(done)
			}, nil
		}
		s.mu.Unlock()
		select {
		// All waiters wake up and try again; one of them gets the key.
		case <-wait:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// at returns what the keys of a checkpoint begin with.
//
// The folder is the escaped name of the job, which has no slash: each key has a known number of
// elements.
func at(folder store.Folder, number int64) string {
	return path.Join(string(folder), strconv.FormatInt(number, 10))
}

// manifestKey returns the key of a manifest, partKey that of a part.
func manifestKey(folder store.Folder, number int64) string {
	return path.Join(at(folder, number), manifestName)
}

// partKey returns the key of a part. The place is in it, so that two writers of one number never touch each
// other's objects.
func partKey(folder store.Folder, number int64, place store.Place, index int) string {
	return path.Join(at(folder, number), string(place), strconv.Itoa(index))
}

// explain adds to the error of a driver what our callers match: the context's error, if it has ended, or
// ErrNotFound.
func explain(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	// Drivers say of a context that has ended what they like.
	case ctx.Err() != nil:
		return fmt.Errorf("%w: %w", ctx.Err(), err)
	case gcerrors.Code(err) == gcerrors.NotFound:
		return fmt.Errorf("%w: %w", store.ErrNotFound, err)
	}
	return err
}

func (s *bucket) record(ctx context.Context, folder store.Folder, number int64) (store.Stored, error) {
	r, err := s.NewReader(ctx, manifestKey(folder, number), nil)
	if err != nil {
		return store.Stored{}, explain(ctx, err)
	}
	defer r.Close()
	record, err := store.ReadRecord(r, folder, number)
	// The place is part of the keys of the parts: without it they cannot be found.
	if err == nil && record.Place == "" {
		err = fmt.Errorf("manifest without a place: %w", store.ErrCorrupt)
	}
	return record, explain(ctx, err)
}

// numbers returns the numbers of a job that have objects, committed or not, ascending. The driver for
// directories fails if an object vanishes while it looks: that is tried again.
func (s *bucket) numbers(ctx context.Context, folder store.Folder) (numbers []int64, err error) {
	const attempts = 10
	for range attempts {
		numbers, err = s.lookForNumbers(ctx, string(folder)+"/")
		if !errors.Is(err, store.ErrNotFound) {
			break
		}
	}
	slices.Sort(numbers)
	return numbers, err
}

func (s *bucket) lookForNumbers(ctx context.Context, prefix string) ([]int64, error) {
	objects := s.Bucket.List(&blob.ListOptions{Prefix: prefix, Delimiter: "/"})
	var numbers []int64
	for {
		object, err := objects.Next(ctx)
		if err == io.EOF {
			return numbers, nil
		}
		if err != nil {
			return nil, explain(ctx, err)
		}
		// A key that this package has not written is passed over: buckets have other users.
		if number, ok := parseNumber(strings.TrimSuffix(strings.TrimPrefix(object.Key, prefix), "/")); ok && object.IsDir {
			numbers = append(numbers, number)
		}
	}
}

// parseNumber reads the one form in which numbers are part of keys.
func parseNumber(text string) (int64, bool) {
	number, err := strconv.ParseInt(text, 10, 64)
	// "007" and "+7" would be the same number under another key.
	return number, err == nil && number > 0 && strconv.FormatInt(number, 10) == text
}

// Delete implements store.Medium. The manifest goes first: from then on the checkpoint is not there, and parts that cannot be
// deleted are collected later.
func (s *bucket) Delete(ctx context.Context, folder store.Folder, number int64) error {
	record, err := s.record(ctx, folder, number)
	// A checkpoint whose manifest is damaged can be deleted as well; its parts are left to Collect,
	// since nothing names them.
	if err != nil && !errors.Is(err, store.ErrCorrupt) {
		return ignoreMissing(err)
	}
	if err := s.deleteKey(ctx, manifestKey(folder, number)); err != nil {
		return err
	}
	return s.deleteParts(ctx, record.Record, len(record.Parts))
}

// deleteParts deletes the first n parts of a writer, as far as they have objects.
func (s *bucket) deleteParts(ctx context.Context, of store.Record, n int) error {
	for i := range n {
		if _, inline := slices.BinarySearch(of.Inline, i); inline {
			continue
		}
		if err := s.deleteKey(ctx, partKey(store.FolderOf(of.Job), of.Number, of.Place, i)); err != nil {
			return err
		}
	}
	return nil
}

// deleteKey deletes one object, if it is there.
func (s *bucket) deleteKey(ctx context.Context, key string) error {
	return ignoreMissing(explain(ctx, s.Bucket.Delete(ctx, key)))
}

// ignoreMissing turns ErrNotFound into success: what is not there is deleted.
func ignoreMissing(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}
