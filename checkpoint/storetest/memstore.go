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

// ErrCrashed is what writers and readers return that were open when [MemStore.Crash] was called.
// It is wrapped with the job and the number; a test tells by it a call of the dead process from a fault of the code.
var ErrCrashed = errors.New("storetest: the process has crashed")

// MemStore is a [store.Store] in memory. Its zero value is empty and ready. It implements [Damager].
// A test of the protocol wants a store that is fast and whose crash takes what a real one takes: every draft, no commit, no
// fence. It verifies what it reads like a store on a disk, since it keeps manifests in their written form. It has no
// leftovers: drafts live in memory only. A MemStore must not be copied.
type MemStore struct {
	// mu guards everything below: a MemStore may be used by many, like any store.
	mu sync.Mutex
	// jobs are the committed checkpoints by job and number.
	jobs map[store.Folder]map[int64]*stored
	// crashes counts the calls of Crash: a writer belongs to the process between two of them.
	crashes int
	// fences are the numbers by job below which nothing is committed any more.
	fences map[store.Folder]int64
	// identity is empty until somebody asks for it.
	identity store.Identity
}

var (
	_ store.Store = (*MemStore)(nil)
	_ Damager     = (*MemStore)(nil)
)

// stored is a committed checkpoint. A part that was removed is nil. Its slices are never changed, only
// replaced, so that readers need no lock.
// manifest is in the form that media write, so that damage to it is like damage on a disk.
type stored struct {
	manifest []byte
	parts    [][]byte
}

// Crash ends the process that uses the store: what was committed stays, every writer and reader that is
// open fails from now on with ErrCrashed.
// A call that is under way is before the crash or behind it; no commit is half of each.
func (s *MemStore) Crash() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.crashes++
}

// since returns an error if the process that had seen so many crashes has crashed itself.
// The caller holds mu.
func (s *MemStore) since(crashes int) error {
	if s.crashes != crashes {
		return ErrCrashed
	}
	return nil
}

// on returns the store that these checkpoints make.
func (s *MemStore) on() *store.Portable {
	// A negative length has every part go through the draft, none beside the manifest: Damage finds each by its index.
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

// Fence implements store.Store. A crash leaves it, as it leaves what is committed.
func (s *MemStore) Fence(ctx context.Context, job string, number int64) error {
	return s.on().Fence(ctx, job, number)
}

// Identity implements store.Store. A crash leaves it, as it leaves what is committed.
func (s *MemStore) Identity(ctx context.Context) (store.Identity, error) { return s.on().Identity(ctx) }

// memory implements store.Medium, for the process that has seen so many crashes.
type memory struct {
	*MemStore
	seen int
}

// Begin implements store.Medium.
func (s memory) Begin(_ context.Context, job string, number int64) (store.Draft, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	// Refusing here saves a writer its work. What decides is the look in Commit, behind which no fence can slip.
	if number < s.fences[store.FolderOf(job)] {
		return nil, store.ErrFenced
	}
	return &memDraft{s: s.MemStore, crashes: s.seen}, nil
}

// Record implements store.Medium.
func (s memory) Record(_ context.Context, folder store.Folder, number int64) (store.Stored, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, r, err := s.find(folder, number)
	return r, err
}

// Open implements store.Medium. The part is looked up when it is opened: damage is met as on a disk, where the file is gone
// then.
func (s memory) Open(_ context.Context, r store.Record, index int, offset int64) (io.ReadCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.jobs[store.FolderOf(r.Job)][r.Number]
	if found == nil {
		return nil, store.ErrNotFound // deleted since its record was read
	}
	if found.parts[index] == nil {
		return nil, fmt.Errorf("object %d is missing: %w", index, store.ErrCorrupt)
	}
	part := found.parts[index]
	return memReader{s.MemStore, s.seen, bytes.NewReader(part[min(offset, int64(len(part))):])}, s.since(s.seen)
}

// List implements store.Medium.
func (s memory) List(ctx context.Context, folder store.Folder) ([]int64, func(int64) (store.Stored, error), error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	read := func(number int64) (store.Stored, error) { return s.Record(ctx, folder, number) }
	return slices.Sorted(maps.Keys(s.jobs[folder])), read, nil
}

// Delete implements store.Medium.
func (s memory) Delete(_ context.Context, folder store.Folder, number int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.jobs[folder], number)
	return nil
}

// Fence implements store.Medium. Commit refuses lower numbers under the same lock, so that none lies astride of it.
func (s memory) Fence(_ context.Context, folder store.Folder, number int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fences == nil {
		s.fences = make(map[store.Folder]int64)
	}
	// An older master that comes late changes nothing.
	s.fences[folder] = max(number, s.fences[folder])
	return nil
}

// Identity implements store.Medium.
func (s memory) Identity(context.Context, bool) (store.Identity, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.identity == "" {
		s.identity = store.NewIdentity()
	}
	return s.identity, nil
}

// memReader reads a part until its process crashes.
// It is of the generation that opened it: what a process has opened dies with the process.
type memReader struct {
	s       *MemStore
	crashes int
	from    *bytes.Reader
}

// Read implements io.Reader.
func (r memReader) Read(p []byte) (int, error) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	// The bytes would still be there. A process that is dead does not get them all the same.
	if err := r.s.since(r.crashes); err != nil {
		return 0, err
	}
	return r.from.Read(p)
}

// Close implements io.Closer.
func (r memReader) Close() error { return nil }

// find returns a committed checkpoint and its record, which is decoded on every call: damage is noticed as on a disk. The
// caller holds the lock.
func (s *MemStore) find(folder store.Folder, number int64) (*stored, store.Stored, error) {
	found := s.jobs[folder][number]
	if found == nil {
		return nil, store.Stored{}, store.ErrNotFound
	}
	r, err := store.ReadRecord(bytes.NewReader(found.manifest), folder, number)
	return found, r, err
}

// Damage implements [Damager]. It fails t if there is nothing to damage.
// It is for one test at a time, but may run beside readers.
// Its parts are indexed in the order of writing.
func (s *MemStore) Damage(t testing.TB, job string, number int64, part int, how Damage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.jobs[store.FolderOf(job)][number]
	if found == nil || part >= len(found.parts) {
		t.Fatalf("%s/%d has no part %d to damage", job, number, part)
	}
	// The pointer reaches into the stored checkpoint, whose slice is then replaced by a damaged copy: open
	// readers go on with the old bytes.
	object := &found.manifest
	if part != ManifestPart {
		object = &found.parts[part]
	}
	if how == Remove {
		// nil is what Open takes for missing; an empty part is never nil, see put.
		*object = nil
		return
	}
	*object = how.Apply(*object)
}

// memDraft holds the parts of one writer. It implements store.Draft.
// s is the store to commit to, and crashes the generation in which the writer began.
// It is the writer's alone until Commit: only since and Commit look at the store, under its lock.
type memDraft struct {
	s       *MemStore
	crashes int
	// parts are the bytes of each part in the order of creation; only Commit shows them.
	parts []*bytes.Buffer
}

// memObject takes one part. It implements store.Object.
// Its Buffer is also in the draft, by which Commit finds the bytes.
type memObject struct {
	d *memDraft
	*bytes.Buffer
}

// Create implements store.Draft.
func (d *memDraft) Create(int) (store.Object, error) {
	// The part's place in parts is its index: Create is called in the order of the manifest.
	o := memObject{d, new(bytes.Buffer)}
	d.parts = append(d.parts, o.Buffer)
	return o, o.Close()
}

// Write implements io.Writer.
func (o memObject) Write(p []byte) (int, error) {
	if err := o.Close(); err != nil {
		return 0, err
	}
	return o.Buffer.Write(p)
}

// Close implements store.Object.
// Close has nothing to flush. It fails only where its process is dead, and Write asks the same question.
func (o memObject) Close() error {
	o.d.s.mu.Lock()
	defer o.d.s.mu.Unlock()
	return o.d.s.since(o.d.crashes)
}

// Discard implements store.Object.
// The draft's Abort drops the bytes of all parts, so one alone needs no care.
func (o memObject) Discard() error { return nil }

// Commit implements store.Draft.
// The order of the looks is that of the contract: what is committed already is answered for, fence or not, and only what is
// new can be refused by a fence.
func (d *memDraft) Commit(r store.Stored) (store.Manifest, error) {
	m := r.Manifest
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	// A dead process commits nothing: this is the line between what Crash takes and what it leaves.
	if err := d.s.since(d.crashes); err != nil {
		return store.Manifest{}, err
	}
	// Looking and putting happen under one lock, so of two writers of one number one sees the other.
	folder := store.FolderOf(m.Job)
	_, first, err := d.s.find(folder, m.Number)
	switch {
	case err == nil && store.SameParts(first.Parts, m.Parts):
		return first.Manifest, nil
	case err == nil:
		return store.Manifest{}, store.ErrExists
	// A damaged manifest under the number refuses the commit: whether the content is the same cannot be
	// told.
	case !errors.Is(err, store.ErrNotFound):
		return store.Manifest{}, err
	case m.Number < d.s.fences[folder]:
		return store.Manifest{}, store.ErrFenced
	}
	return m, d.s.put(m, d.parts)
}

// put adds a checkpoint.
// The caller holds mu and has seen that the number is free. The manifest is encoded first: one that cannot be read again is an
// error, and nothing was changed by then.
func (s *MemStore) put(m store.Manifest, buffers []*bytes.Buffer) error {
	data, err := store.Encode(store.Stored{Record: store.Record{Manifest: m}})
	if err != nil {
		return err
	}
	parts := make([][]byte, len(buffers))
	for i, b := range buffers {
		// The bytes are copied, since a writer's buffer may grow behind a committed checkpoint.
		parts[i] = append([]byte{}, b.Bytes()...) // not nil, even if it is empty
	}
	// The maps are made here, so that the zero MemStore is ready.
	if s.jobs == nil {
		s.jobs = make(map[store.Folder]map[int64]*stored)
	}
	folder := store.FolderOf(m.Job)
	if s.jobs[folder] == nil {
		s.jobs[folder] = make(map[int64]*stored)
	}
	s.jobs[folder][m.Number] = &stored{data, parts}
	return nil
}

// Abort implements store.Draft.
func (d *memDraft) Abort() error {
	// The buffers are garbage from here; nothing of them was visible.
	d.parts = nil
	return nil
}
