// This file implements Store: reading, listing and deleting checkpoints in a bucket.

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

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/store/medium"
)

// DefaultGrace is how long a writer may take if Options do not say.
//
// A day is longer than any upload of a checkpoint takes, and parts that nobody names cost room for two
// of them.
const DefaultGrace = 24 * time.Hour

// Options are the choices that a Store leaves to its caller.
type Options struct {
	// Grace is how long a writer may take from Begin to Commit; zero is DefaultGrace. All processes that
	// use the bucket must have the same.
	Grace time.Duration
	// BlockBytes is the size of the pieces in which parts are uploaded; zero is the driver's choice. S3
	// takes 10,000 pieces of an object, and its driver chooses 5 MiB: parts above 48 GiB need more.
	BlockBytes int
	// Form is how parts are kept: with a digest, with the manifest. The zero value has sums of chunks and no digest,
	// and keeps small parts with the manifest.
	Form medium.Form
	// Identity is what the bucket must have as its identity, see store.Identity: Open refuses every other one, and
	// one without, with an error that wraps store.ErrIdentity, and so does Store.Identity. Empty takes every bucket.
	Identity store.Identity
}

// Store is a bucket with checkpoints. It implements [store.Store].
type Store struct {
	// The bucket is all that processes share; committing below holds back only writers of this
	// process.
	bucket  *blob.Bucket
	options Options
	close   func() error
	// now is the clock; tests bring their own.
	now func() time.Time

	// mu guards committing and the identity in options.
	mu sync.Mutex
	// committing has a channel for each manifest that is being written, closed when that is done.
	committing map[string]chan struct{}
}

var _ store.Store = (*Store)(nil)

// manifestName is the last element of the key of a manifest.
//
// A part's last element is a number, so no part can be taken for a manifest.
const manifestName = "manifest"

// Open opens the bucket of a URL whose scheme is that of an imported driver, see the package comment. The
// bucket must exist. Nil options are the zero value.
func Open(ctx context.Context, url string, o *Options) (*Store, error) {
	bucket, err := blob.OpenBucket(ctx, url)
	if err != nil {
		return nil, fmt.Errorf("blobstore: %w", err)
	}
	s, err := New(bucket, o)
	if err != nil {
		// Nobody else knows of the bucket, so it is closed here.
		return nil, errors.Join(err, bucket.Close())
	}
	s.close = bucket.Close
	// Without an expectation nothing is asked for: Open makes no request then.
	if s.options.Identity != "" {
		if _, err := s.Identity(ctx); err != nil {
			return nil, errors.Join(err, bucket.Close())
		}
	}
	return s, nil
}

// New returns a store in a bucket, which stays the caller's.
func New(bucket *blob.Bucket, o *Options) (*Store, error) {
	s := &Store{
		bucket: bucket, close: func() error { return nil }, now: time.Now, committing: make(map[string]chan struct{}),
	}
	if o != nil {
		s.options = *o
	}
	var faults apportion.Faults
	if s.options.Grace < 0 {
		faults.Add(apportion.Item{ID: "blobstore"}, "Grace", apportion.ErrNegative, s.options.Grace.String())
	}
	if s.options.BlockBytes < 0 {
		faults.Add(apportion.Item{ID: "blobstore"}, "BlockBytes", apportion.ErrNegative, strconv.Itoa(s.options.BlockBytes))
	}
	// The default comes after the checks, so that a negative Grace is a fault.
	if s.options.Grace == 0 {
		s.options.Grace = DefaultGrace
	}
	return s, faults.Err()
}

// Close releases the bucket that Open has opened. No reader, writer or call may be in use.
func (s *Store) Close() error { return s.close() }

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
func partKey(folder store.Folder, number int64, place medium.Place, index int) string {
	return path.Join(at(folder, number), string(place), strconv.Itoa(index))
}

// enter begins a method: it looks at the context and the names.
func enter(ctx context.Context, job string, number int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return medium.CheckID(job, number)
}

// explain adds to the error of a driver what our callers match: the context's error, if it has ended, or
// ErrNotFound.
func explain(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("%w: %w", ctx.Err(), err)
	case gcerrors.Code(err) == gcerrors.NotFound:
		return fmt.Errorf("%w: %w", store.ErrNotFound, err)
	}
	return err
}

// Open implements store.Store.
func (s *Store) Open(ctx context.Context, job string, number int64) (store.Reader, error) {
	if err := enter(ctx, job, number); err != nil {
		return nil, medium.Wrap(job, number, err)
	}
	// Only the manifest is read here; parts are opened when they are asked for.
	record, err := s.record(ctx, store.FolderOf(job), number)
	if err == nil {
		err = s.visible(ctx, record.Record)
	}
	if err != nil {
		return nil, medium.Wrap(job, number, err)
	}
	return medium.NewReader(ctx, record, func(index int, offset int64) (io.ReadCloser, error) {
		return s.openPart(ctx, record.Record, index, offset)
	}), nil
}

// visible returns ErrNotFound for a manifest that came behind the fence of its job.
func (s *Store) visible(ctx context.Context, r medium.Record) error {
	f, err := s.fence(ctx, store.FolderOf(r.Job))
	if err == nil && f.hides(r.Number, r.Place) {
		err = store.ErrNotFound
	}
	return err
}

// record reads and checks a manifest.
func (s *Store) record(ctx context.Context, folder store.Folder, number int64) (medium.Stored, error) {
	r, err := s.bucket.NewReader(ctx, manifestKey(folder, number), nil)
	if err != nil {
		return medium.Stored{}, explain(ctx, err)
	}
	defer r.Close()
	record, err := medium.Read(r, folder, number)
	// The place is part of the keys of the parts: without it they cannot be found.
	if err == nil && record.Place == "" {
		err = fmt.Errorf("manifest without a place: %w", store.ErrCorrupt)
	}
	return record, explain(ctx, err)
}

// openPart opens a part. One that is missing is damage, unless the checkpoint was deleted meanwhile.
func (s *Store) openPart(ctx context.Context, of medium.Record, index int, offset int64) (io.ReadCloser, error) {
	key := partKey(store.FolderOf(of.Job), of.Number, of.Place, index)
	r, err := s.bucket.NewRangeReader(ctx, key, offset, -1, nil)
	if err == nil {
		return part{ctx, r}, nil
	}
	// Drivers differ in what they say of an offset behind the end; what is there is nothing.
	if a, look := s.bucket.Attributes(ctx, key); offset > 0 && look == nil && a.Size <= offset {
		return io.NopCloser(strings.NewReader("")), nil
	}
	err = explain(ctx, err)
	if errors.Is(err, store.ErrNotFound) {
		// The manifest is read again to tell the two apart: it goes first when a checkpoint is
		// deleted, so one that is still there misses a part.
		if now, look := s.record(ctx, store.FolderOf(of.Job), of.Number); look == nil && now.Place == of.Place {
			err = fmt.Errorf("object %d is missing: %w", index, store.ErrCorrupt)
		}
	}
	return nil, err
}

// part is a part that is being read.
type part struct {
	ctx context.Context
	*blob.Reader
}

// Read implements io.Reader.
func (p part) Read(data []byte) (int, error) {
	n, err := p.Reader.Read(data)
	if err == io.EOF {
		return n, err
	}
	return n, explain(p.ctx, err)
}

// List implements store.Store.
func (s *Store) List(ctx context.Context, job string) ([]store.Manifest, error) {
	manifests, err := s.list(ctx, job)
	if err != nil {
		err = fmt.Errorf("job %.60q: %w", job, err)
	}
	return manifests, err
}

// list is List without the words around its errors.
func (s *Store) list(ctx context.Context, job string) ([]store.Manifest, error) {
	if err := errors.Join(ctx.Err(), store.CheckJob(job)); err != nil {
		return nil, err
	}
	folder := store.FolderOf(job)
	numbers, err := s.numbers(ctx, folder)
	if err != nil {
		return nil, err
	}
	// The fence is read behind the numbers: what it does not know was there before it.
	f, err := s.fence(ctx, folder)
	if err != nil {
		return nil, err
	}
	var manifests []store.Manifest
	// Damaged checkpoints are told of beside those that are whole, so that one does not hide the
	// others. O(checkpoints) requests.
	var faults []error
	for _, number := range numbers {
		record, err := s.record(ctx, folder, number)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err == nil && f.hides(number, record.Place): // it came behind the fence
		case err == nil:
			manifests = append(manifests, record.Manifest)
		case !errors.Is(err, store.ErrNotFound): // otherwise it is not committed
			faults = append(faults, medium.Wrap(job, number, err))
		}
	}
	return manifests, errors.Join(faults...)
}

// numbers returns the numbers of a job that have objects, committed or not, ascending. The driver for
// directories fails if an object vanishes while it looks: that is tried again.
func (s *Store) numbers(ctx context.Context, folder store.Folder) (numbers []int64, err error) {
	const attempts = 10
	// Ten times, because each try may meet another object that vanishes.
	for range attempts {
		numbers, err = s.lookForNumbers(ctx, string(folder)+"/")
		if !errors.Is(err, store.ErrNotFound) {
			break
		}
	}
	slices.Sort(numbers)
	return numbers, err
}

// lookForNumbers lists what lies directly below the keys of a job.
func (s *Store) lookForNumbers(ctx context.Context, prefix string) ([]int64, error) {
	objects := s.bucket.List(&blob.ListOptions{Prefix: prefix, Delimiter: "/"})
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

// Delete implements store.Store. A checkpoint goes with its manifest; parts that cannot be deleted
// then are collected later.
func (s *Store) Delete(ctx context.Context, job string, number int64) error {
	if err := enter(ctx, job, number); err != nil {
		return medium.Wrap(job, number, err)
	}
	return medium.Wrap(job, number, s.delete(ctx, store.FolderOf(job), number))
}

// delete removes the manifest first: from then on the checkpoint is not there, and its parts are leftovers.
func (s *Store) delete(ctx context.Context, folder store.Folder, number int64) error {
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
func (s *Store) deleteParts(ctx context.Context, of medium.Record, n int) error {
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
func (s *Store) deleteKey(ctx context.Context, key string) error {
	return ignoreMissing(explain(ctx, s.bucket.Delete(ctx, key)))
}

// ignoreMissing turns ErrNotFound into success: what is not there is deleted.
func ignoreMissing(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}
