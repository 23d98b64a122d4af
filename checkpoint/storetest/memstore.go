// This file implements MemStore: a store in memory that a crash robs of everything not committed.

package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/apportion/apportion/checkpoint/store"
)

// errCrashed is what writers and readers return that were open when [MemStore.Crash] was called.
var errCrashed = errors.New("storetest: the process has crashed")

// MemStore is a [store.Store] in memory, and a [Damager]. Its zero value is empty and ready; it must not be copied. It keeps
// manifests in their written form, and verifies what it reads like a store on a disk. It has no leftovers.
type MemStore struct {
	mu sync.Mutex
	// jobs are the committed checkpoints by job and number.
	jobs map[store.Folder]map[int64]*stored
	// crashes counts the calls of Crash: a writer belongs to the process between two of them.
	crashes int
	// fences are the numbers by job below which nothing is committed any more.
	fences map[store.Folder]int64
	// identity is empty until it is asked for.
	identity store.Identity
}

var (
	_ store.Store = (*MemStore)(nil)
	_ Damager     = (*MemStore)(nil)
)

// stored is a committed checkpoint. A part that was removed is nil. Its slices are never changed, only replaced: readers need
// no lock.
type stored struct {
	manifest []byte
	parts    [][]byte
}

// Crash ends the process that uses the store: what was committed stays, and fences and the identity; every writer and reader
// that is open fails from now on.
func (s *MemStore) Crash() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.crashes++
}

// since returns an error if the process that had seen so many crashes has crashed itself. The caller holds mu.
func (s *MemStore) since(crashes int) error {
	if s.crashes != crashes {
		return errCrashed
	}
	return nil
}

// on returns the store that the process of now has. Every part is an object of its own: Damage finds each by its index.
func (s *MemStore) on() *store.Portable {
	s.mu.Lock()
	defer s.mu.Unlock()
	return store.NewPortable(memory{s, s.crashes}, store.Form{InlineBytes: -1}, "")
}

// Begin implements store.Store.
func (s *MemStore) Begin(ctx context.Context, job string, number int64) (store.Writer, error) {
	return s.on().Begin(ctx, job, number)
}

// Open implements store.Store.
func (s *MemStore) Open(ctx context.Context, job string, number int64) (store.Reader, error) {
	return s.on().Open(ctx, job, number)
}

// List implements store.Store.
func (s *MemStore) List(ctx context.Context, job string) ([]store.Manifest, error) {
	return s.on().List(ctx, job)
}

// Delete implements store.Store.
func (s *MemStore) Delete(ctx context.Context, job string, number int64) error {
	return s.on().Delete(ctx, job, number)
}

// Fence implements store.Store.
func (s *MemStore) Fence(ctx context.Context, job string, number int64) error {
	return s.on().Fence(ctx, job, number)
}

// Identity implements store.Store.
func (s *MemStore) Identity(ctx context.Context) (store.Identity, error) { return s.on().Identity(ctx) }

// memory implements store.Medium, for the process that has seen so many crashes.
type memory struct {
	*MemStore
	seen int
}

func (s memory) Begin(_ context.Context, job string, number int64) (store.Draft, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if number < s.fences[store.FolderOf(job)] {
		return nil, store.ErrFenced
	}
	return &memDraft{s: s}, nil
}

func (s memory) Record(_ context.Context, folder store.Folder, number int64) (store.Stored, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.find(folder, number)
}

// find reads a record. The caller holds mu.
func (s memory) find(folder store.Folder, number int64) (store.Stored, error) {
	found := s.jobs[folder][number]
	if found == nil {
		return store.Stored{}, store.ErrNotFound
	}
	return store.ReadRecord(bytes.NewReader(found.manifest), folder, number)
}

func (s memory) Open(_ context.Context, r store.Record, index int, offset int64) (io.ReadCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.jobs[store.FolderOf(r.Job)][r.Number]
	switch {
	case found == nil:
		return nil, store.ErrNotFound // deleted since its record was read
	case found.parts[index] == nil:
		return nil, fmt.Errorf("object %d is missing: %w", index, store.ErrCorrupt)
	}
	part := found.parts[index]
	return memReader{s, bytes.NewReader(part[min(offset, int64(len(part))):])}, s.since(s.seen)
}

func (s memory) List(ctx context.Context, folder store.Folder) ([]int64, func(int64) (store.Stored, error), error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	read := func(number int64) (store.Stored, error) { return s.Record(ctx, folder, number) }
	return slices.Sorted(maps.Keys(s.jobs[folder])), read, nil
}

func (s memory) Delete(_ context.Context, folder store.Folder, number int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.jobs[folder], number)
	return nil
}

func (s memory) Fence(_ context.Context, folder store.Folder, number int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fences == nil {
		s.fences = make(map[store.Folder]int64)
	}
	s.fences[folder] = max(number, s.fences[folder])
	return nil
}

func (s memory) Identity(context.Context, bool) (store.Identity, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.identity == "" {
		s.identity = store.NewIdentity()
	}
	return s.identity, nil
}

// memReader reads a part until its process crashes.
type memReader struct {
	s    memory
	from *bytes.Reader
}

func (r memReader) Read(p []byte) (int, error) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if err := r.s.since(r.s.seen); err != nil {
		return 0, err
	}
	return r.from.Read(p)
}

func (r memReader) Close() error { return nil }

// Damage implements [Damager].
func (s *MemStore) Damage(t testing.TB, job string, number int64, part int, how Damage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.jobs[store.FolderOf(job)][number]
	if found == nil || part >= len(found.parts) {
		t.Fatalf("%s/%d has no part %d to damage", job, number, part)
	}
	object := &found.manifest
	if part != ManifestPart {
		object = &found.parts[part]
	}
	if how == Remove {
		*object = nil
		return
	}
	*object = how.Apply(*object)
}

// memDraft holds the parts of one writer, in the order of the manifest. It implements store.Draft.
type memDraft struct {
	s     memory
	parts []*bytes.Buffer
}

// memObject takes one part. It implements store.Object.
type memObject struct {
	s memory
	*bytes.Buffer
}

func (d *memDraft) Create(int) (store.Object, error) {
	o := memObject{d.s, new(bytes.Buffer)}
	d.parts = append(d.parts, o.Buffer)
	return o, o.Close()
}

func (o memObject) Write(p []byte) (int, error) {
	if err := o.Close(); err != nil {
		return 0, err
	}
	return o.Buffer.Write(p)
}

// Close implements store.Object. It fails only where its process is dead.
func (o memObject) Close() error {
	o.s.mu.Lock()
	defer o.s.mu.Unlock()
	return o.s.since(o.s.seen)
}

func (o memObject) Discard() error { return nil }

// Commit implements store.Draft. What is committed already is answered for, fence or not.
func (d *memDraft) Commit(r store.Stored) (store.Manifest, error) {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	if err := d.s.since(d.s.seen); err != nil {
		return store.Manifest{}, err
	}
	folder := store.FolderOf(r.Job)
	first, err := d.s.find(folder, r.Number)
	switch {
	case err == nil && store.SameParts(first.Parts, r.Parts):
		return first.Manifest, nil
	case err == nil:
		return store.Manifest{}, store.ErrExists
	case !errors.Is(err, store.ErrNotFound):
		return store.Manifest{}, err
	case r.Number < d.s.fences[folder]:
		return store.Manifest{}, store.ErrFenced
	}
	manifest, err := store.Encode(r)
	if err != nil {
		return store.Manifest{}, err
	}
	parts := make([][]byte, len(d.parts))
	for i, b := range d.parts {
		parts[i] = append([]byte{}, b.Bytes()...) // not nil, even if it is empty
	}
	d.s.put(folder, r.Number, &stored{manifest, parts})
	return r.Manifest, nil
}

// put adds a checkpoint whose number is free. The caller holds mu.
func (s *MemStore) put(folder store.Folder, number int64, c *stored) {
	if s.jobs == nil {
		s.jobs = make(map[store.Folder]map[int64]*stored)
	}
	if s.jobs[folder] == nil {
		s.jobs[folder] = make(map[int64]*stored)
	}
	s.jobs[folder][number] = c
}

func (d *memDraft) Abort() error {
	d.parts = nil
	return nil
}
