// This file tests that a store with shares is a store like every other, and what is special to it: shares that nobody needs
// are not opened, and none is believed that is not what was joined.

package store_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/store/files"
	"github.com/apportion/apportion/checkpoint/storetest"
	"github.com/apportion/apportion/internal/must"
)

// inMemory shows the suite what it may damage.
type inMemory struct {
	*store.Shards
	storetest.Damager
}

func (inMemory) InMemory() {}

func TestInMemory(t *testing.T) {
	under := func() inMemory {
		mem := &storetest.MemStore{}
		return inMemory{store.NewShards(mem), mem}
	}
	storetest.Run(t, func(*testing.T) store.Store { return under() })
	storetest.RunSharded(t, func(*testing.T) store.Sharded { return under() })
}

// onDisk is a directory that another process can open.
type onDisk struct {
	*store.Shards
	dir string
}

func open(t testing.TB, dir string) onDisk {
	t.Helper()
	s := must.Have(files.Open(dir, &files.Options{Grace: -1, Form: store.Form{InlineBytes: -1}}))(t)
	t.Cleanup(func() { s.Close() })
	return onDisk{store.NewShards(s), dir}
}

// reopened is onDisk for the tests that begin another process.
type reopened struct{ onDisk }

func (r reopened) Restart(t testing.TB) store.Store { return reopened{open(t, r.dir)} }
func (reopened) Leftovers(testing.TB) int           { return 0 } // its own tests count them

func TestOnDisk(t *testing.T) {
	storetest.RunSharded(t, func(t *testing.T) store.Sharded { return reopened{open(t, t.TempDir())} })
	if !testing.Short() {
		storetest.Run(t, func(t *testing.T) store.Store { return open(t, t.TempDir()) })
	}
}

// counting notes what is opened.
type counting struct {
	*storetest.MemStore
	mu     sync.Mutex
	opened []string
}

func (c *counting) Open(ctx context.Context, job string, number int64) (store.Reader, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.opened = append(c.opened, job)
	return c.MemStore.Open(ctx, job, number)
}

func save(t testing.TB, s *store.Shards, number int64) {
	t.Helper()
	for i, name := range []string{"a", "b", "c"} {
		w := must.Have(s.BeginShard(t.Context(), "lr", number, store.Share{Index: i, Of: 3}))(t)
		part, err := w.Part(name)
		if err == nil {
			_, err = io.WriteString(part, "content of "+name)
			err = errors.Join(err, part.Close())
		}
		if err == nil {
			_, err = w.Commit()
		}
		must.Do(t, err)
	}
	must.Have(s.Join(t.Context(), "lr", number, 3))(t)
}

// Who needs one share opens that and the list, and no damage elsewhere is in the way.
func TestOthersAreNotOpened(t *testing.T) {
	under := &counting{MemStore: &storetest.MemStore{}}
	s := store.NewShards(under)
	save(t, s, 1)
	under.Damage(t, "apportion-shard-0/lr", 1, storetest.ManifestPart, storetest.Remove)
	under.Damage(t, "apportion-shard-2/lr", 1, 0, storetest.Flip)
	under.opened = nil
	only := store.Only(s, func(name string) bool { return name == "b" })
	if m, err := store.Verify(t.Context(), only, "lr", 1); err != nil || len(m.Parts) != 1 {
		t.Fatalf("%+v, %v", m, err)
	}
	must.Same(t, under.opened, []string{"lr", "apportion-shard-1/lr"}, "opened")
	must.Fail(store.Verify(t.Context(), s, "lr", 1))(t, store.ErrCorrupt, "with the others")
}

// A share that is gone, or another than was joined, is damage, whatever it has become.
func TestOtherShares(t *testing.T) {
	under := &storetest.MemStore{}
	s := store.NewShards(under)
	replace := func(content string) {
		t.Helper()
		must.Do(t, under.Delete(t.Context(), "apportion-shard-1/lr", 1))
		if content == "" {
			return
		}
		w := must.Have(under.Begin(t.Context(), "apportion-shard-1/lr", 1))(t)
		part, err := w.Part("b")
		if err == nil {
			_, err = io.WriteString(part, content)
			err = errors.Join(err, part.Close())
		}
		if err == nil {
			_, err = w.Commit()
		}
		must.Do(t, err)
	}
	save(t, s, 1)
	for _, c := range []struct {
		content, says string
		right         bool
	}{{"content of b", "", true}, {"content of x", "other parts", false}, {"", "missing", false}} {
		replace(c.content)
		_, err := store.Verify(t.Context(), s, "lr", 1)
		if c.right && err != nil {
			t.Errorf("the same content: %v", err)
		}
		if !c.right && (!errors.Is(err, store.ErrCorrupt) || errors.Is(err, store.ErrNotFound) || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("content %q: %v", c.content, err)
		}
	}
	r := must.Have(s.Open(t.Context(), "lr", 1))(t)
	must.Fail(r.Part("d"))(t, store.ErrNotFound, "a part that is not listed")
	must.Do(t, r.Close())
	must.Fail(r.Part("a"))(t, must.ErrAny, "a reader that is closed opens a part")
}

// The names of shares are nobody else's.
func TestReservedNames(t *testing.T) {
	s := store.NewShards(&storetest.MemStore{})
	for _, job := range []string{"apportion-shard-0/lr", "apportion-shards/lr", "apportion-shard"} {
		_, err := s.Begin(t.Context(), job, 1)
		_, share := s.BeginShard(t.Context(), job, 1, store.Share{Of: 1})
		_, opened := s.Open(t.Context(), job, 1)
		_, joined := s.Join(t.Context(), job, 1, 1)
		_, listed := s.List(t.Context(), job)
		for _, err := range []error{err, share, opened, joined, listed, s.Delete(t.Context(), job, 1), s.Fence(t.Context(), job, 1), s.Prune(t.Context(), job, 1)} {
			must.Err(t, err, store.ErrName, "job", job)
		}
	}
	w := must.Have(s.Begin(t.Context(), "lr", 1))(t)
	defer w.Abort()
	must.Fail(w.Part("apportion-shards"))(t, store.ErrName, "a part called like the list")
}

// deleting deletes a checkpoint between its being listed and its being opened.
type deleting struct{ *storetest.MemStore }

func (d deleting) Open(ctx context.Context, job string, number int64) (store.Reader, error) {
	if err := d.Delete(ctx, job, number); err != nil {
		return nil, err
	}
	return d.MemStore.Open(ctx, job, number)
}

// A checkpoint that is deleted while others are listed is not in the list, and no reason for an error.
func TestListBesideDelete(t *testing.T) {
	under := &storetest.MemStore{}
	save(t, store.NewShards(under), 1)
	if list, err := store.NewShards(deleting{under}).List(t.Context(), "lr"); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
}
