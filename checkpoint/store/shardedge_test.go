// This file tests shares on a store that fails: every error is told, nothing is hidden by it, and what can be done is done.

package store_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/storetest"
	"github.com/apportion/apportion/internal/must"
)

var errBroken = errors.New("the medium is broken")

// broken is a store of which calls fail that a test names: the method, and the job.
type broken struct {
	*storetest.MemStore
	fails func(method, job string, number int64) bool
	calls []string
}

// ask returns the error of a call.
func (b *broken) ask(method, job string, number int64) error {
	b.calls = append(b.calls, method+" "+job)
	if b.fails != nil && b.fails(method, job, number) {
		return errBroken
	}
	return nil
}

func (b *broken) Begin(ctx context.Context, job string, number int64) (store.Writer, error) {
	if err := b.ask("begin", job, number); err != nil {
		return nil, err
	}
	return b.MemStore.Begin(ctx, job, number)
}

func (b *broken) Open(ctx context.Context, job string, number int64) (store.Reader, error) {
	if err := b.ask("open", job, number); err != nil {
		return nil, err
	}
	return b.MemStore.Open(ctx, job, number)
}

func (b *broken) List(ctx context.Context, job string) ([]store.Manifest, error) {
	list, err := b.MemStore.List(ctx, job)
	return list, errors.Join(err, b.ask("list", job, 0))
}

func (b *broken) Delete(ctx context.Context, job string, number int64) error {
	return errors.Join(b.ask("delete", job, number), b.MemStore.Delete(ctx, job, number))
}

func (b *broken) Fence(ctx context.Context, job string, number int64) error {
	return errors.Join(b.ask("fence", job, number), b.MemStore.Fence(ctx, job, number))
}

// failing returns a store with the checkpoints 1 and 2 of three shares, and one share of 3, whose named calls fail from
// then on.
func failing(t *testing.T, calls ...string) (*broken, *store.Shards) {
	t.Helper()
	b := &broken{MemStore: &storetest.MemStore{}}
	s := store.NewShards(b)
	save(t, s, 1)
	save(t, s, 2)
	w, err := s.BeginShard(t.Context(), "lr", 3, store.Share{Index: 1, Of: 3})
	if err == nil {
		_, err = w.Commit()
	}
	must.Do(t, err)
	b.calls = nil
	b.fails = func(method, job string, _ int64) bool { return slices.Contains(calls, method+" "+job) }
	return b, s
}

// use is one call of a store.
type use func(t *testing.T, s *store.Shards) error

var (
	shard use = func(t *testing.T, s *store.Shards) error {
		_, err := s.BeginShard(t.Context(), "lr", 9, store.Share{Index: 0, Of: 4})
		return err
	}
	join    use = func(t *testing.T, s *store.Shards) error { _, err := s.Join(t.Context(), "lr", 2, 3); return err }
	remove  use = func(t *testing.T, s *store.Shards) error { return s.Delete(t.Context(), "lr", 2) }
	prune   use = func(t *testing.T, s *store.Shards) error { return s.Prune(t.Context(), "lr", 9) }
	raise   use = func(t *testing.T, s *store.Shards) error { return s.Fence(t.Context(), "lr", 2) }
	listing use = func(t *testing.T, s *store.Shards) error { _, err := s.List(t.Context(), "lr"); return err }
	opening use = func(t *testing.T, s *store.Shards) error {
		r, err := s.Open(t.Context(), "lr", 2)
		if err != nil {
			return err
		}
		defer r.Close()
		_, err = r.Part("b")
		return err
	}
)

// TestFailures: whichever call of the store behind fails, whoever needs it is told so, and it is not taken for damage or for
// absence.
func TestFailures(t *testing.T) {
	for _, c := range []struct {
		what, call string
		use        use
	}{
		{"the record of a width is not read", "list apportion-shards/lr", shard},
		{"the record of a width is not begun", "begin apportion-shards/lr", shard},
		{"a share is not begun", "begin apportion-shard-0/lr", shard},
		{"a share is not opened", "open apportion-shard-2/lr", join},
		{"the list is not begun", "begin lr", join},
		{"the checkpoint is not deleted", "delete lr", remove},
		{"a share is not deleted", "delete apportion-shard-1/lr", remove},
		{"the widths are not listed", "list apportion-shards/lr", remove},
		{"the checkpoints are not listed", "list lr", prune},
		{"the shares are not listed", "list apportion-shard-0/lr", prune},
		{"what is left is not deleted", "delete apportion-shard-1/lr", prune},
		{"the job is not fenced", "fence lr", raise},
		{"a share is not fenced", "fence apportion-shard-2/lr", raise},
		{"the widths are not listed for a fence", "list apportion-shards/lr", raise},
		{"the checkpoints are not listed for all", "list lr", listing},
		{"the list is not opened", "open lr", listing},
		{"the checkpoint is not opened", "open lr", opening},
		{"the share of a part is not opened", "open apportion-shard-1/lr", opening},
	} {
		_, s := failing(t, c.call)
		err := c.use(t, s)
		if !errors.Is(err, errBroken) || errors.Is(err, store.ErrCorrupt) || errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: %v", c.what, err)
		}
	}
}

// TestGetsOn: where one share fails, the others are fenced, deleted and pruned all the same; a checkpoint that cannot be deleted
// keeps its shares, and one that is not listed keeps them too.
func TestGetsOn(t *testing.T) {
	for _, c := range []struct {
		what, call string
		use        use
		also, not  string
	}{
		{"fence", "fence apportion-shard-0/lr", raise, "fence apportion-shard-2/lr", ""},
		{"delete", "delete apportion-shard-0/lr", remove, "delete apportion-shard-2/lr", ""},
		{"prune", "list apportion-shard-0/lr", prune, "delete apportion-shard-1/lr", "delete apportion-shard-0/lr"},
		{"delete of what stays", "delete lr", remove, "delete lr", "delete apportion-shard-0/lr"},
		{"prune without a list", "list lr", prune, "list lr", "delete apportion-shard-1/lr"},
	} {
		b, s := failing(t, c.call)
		_ = c.use(t, s) // see TestFailures
		if !slices.Contains(b.calls, c.also) || slices.Contains(b.calls, c.not) {
			t.Errorf("%s: %q", c.what, b.calls)
		}
	}
}

// TestShareIsOpenedOnce: however many parts of a share are read, it is opened once, and is closed with the reader.
func TestShareIsOpenedOnce(t *testing.T) {
	b, s := failing(t)
	r := must.Have(s.Open(t.Context(), "lr", 1))(t)
	for range 3 {
		part := must.Have(r.Part("b"))(t)
		if text, err := io.ReadAll(part); err != nil || string(text) != "content of b" {
			t.Errorf("%q, %v", text, err)
		}
		piece := must.Have(r.Range("b", 11, 1))(t)
		if text, err := io.ReadAll(piece); err != nil || string(text) != "b" {
			t.Errorf("%q, %v", text, err)
		}
		must.Do(t, errors.Join(part.Close(), piece.Close()))
	}
	must.Same(t, b.calls, []string{"open lr", "open apportion-shard-1/lr"}, "calls")
	must.Do(t, errors.Join(r.Close(), r.Close()))
	if _, err := r.Part("b"); err == nil || errors.Is(err, store.ErrNotFound) {
		t.Errorf("a part of a reader that is closed: %v", err)
	}
	must.Fail(r.Range("a", 0, 1))(t, must.ErrAny, "a range of a reader that is closed")
}

// TestNamesOfShares: no job may be called as shares are kept, in any method, and no part as the list is, copied or taken.
func TestNamesOfShares(t *testing.T) {
	_, s := failing(t)
	for _, job := range []string{"apportion-shard-0/lr", "apportion-shards/lr", "apportion-shard"} {
		_, begun := s.Begin(t.Context(), job, 1)
		_, opened := s.Open(t.Context(), job, 1)
		_, listed := s.List(t.Context(), job)
		_, joined := s.Join(t.Context(), job, 1, 3)
		_, share := s.BeginShard(t.Context(), job, 1, store.Share{Of: 3})
		for i, err := range []error{begun, opened, listed, joined, share, s.Delete(t.Context(), job, 1), s.Prune(t.Context(), job, 1), s.Fence(t.Context(), job, 1)} {
			must.Err(t, err, store.ErrName, "method", i, "of", job)
		}
	}
	w := must.Have(s.Begin(t.Context(), "lr", 5))(t)
	must.Fail(w.Part("apportion-shards"))(t, store.ErrName, "a part called like the list")
	must.Fail(w.(store.Taker).Take("apportion-shards", nil, true))(t, store.ErrName, "a file called like the list")
	for _, share := range []store.Share{{Index: -1, Of: 3}, {Index: 3, Of: 3}, {}} {
		must.Fail(s.BeginShard(t.Context(), "lr", 5, share))(t, apportion.ErrRange, "share", share)
	}
	must.Fail(s.Join(t.Context(), "lr", 5, 0))(t, apportion.ErrRange, "no shares")
}

// TestTakenShares: a share takes files where the store behind does, and says so where it does not.
func TestTakenShares(t *testing.T) {
	name := filepath.Join(t.TempDir(), "weights")
	content := strings.Repeat("x", 2<<20)
	must.Do(t, os.WriteFile(name, []byte(content), 0o600))
	file := must.Have(os.Open(name))(t)
	defer file.Close()
	share := store.Share{Index: 0, Of: 1}
	for _, s := range []*store.Shards{open(t, t.TempDir()).Shards, store.NewShards(&storetest.MemStore{})} {
		w := must.Have(s.BeginShard(t.Context(), "lr", 1, share))(t)
		if _, err := w.(store.Taker).Take("part", file, true); err == nil {
			_, err = w.Commit()
			if err == nil {
				_, err = s.Join(t.Context(), "lr", 1, 1)
			}
			must.Do(t, err)
			if text, err := storetest.Read(t.Context(), s, "lr", 1); err != nil || text != content {
				t.Errorf("%d bytes, %v", len(text), err)
			}
		} else if !errors.Is(err, errors.ErrUnsupported) {
			t.Error(err)
		}
		must.Do(t, w.Abort())
	}
}

// A list of shares with a part twice is damage, whoever has written it.
func TestListWithAPartTwice(t *testing.T) {
	b := &broken{MemStore: &storetest.MemStore{}}
	w := must.Have(b.MemStore.Begin(t.Context(), "lr", 5))(t)
	part := must.Have(w.Part("apportion-shards"))(t)
	must.Have(io.WriteString(part, `{"shares":[[{"name":"a","bytes":0}],[{"name":"a","bytes":0}]]}`))(t)
	must.Do(t, part.Close())
	must.Have(w.Commit())(t)
	must.Fail(store.NewShards(b).Open(t.Context(), "lr", 5))(t, store.ErrCorrupt, "a part twice")
}
