// This file tests that a process loads its parts of a checkpoint, and reads no others.

package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/storetest"
	"github.com/apportion/apportion/internal/must"
)

func TestOnly(t *testing.T) {
	from := t.TempDir()
	shards := []string{"rank0/model", "rank0/optimizer", "rank1/model", "rank1/optimizer"}
	for _, name := range shards {
		must.Do(t, errors.Join(os.MkdirAll(filepath.Join(from, filepath.Dir(name)), 0o700), os.WriteFile(filepath.Join(from, name), []byte(name), 0o600)))
	}
	s := &storetest.MemStore{}
	must.Have(store.Save(t.Context(), s, "lr", 1, store.Files{Dir: from, Names: shards}))(t)
	// The shard of the other process is damaged, which is nothing to this one.
	s.Damage(t, "lr", 1, 0, storetest.Flip)
	dir := filepath.Join(t.TempDir(), "restored")
	mine := func(name string) bool { return strings.HasPrefix(name, "rank1/") }
	m := must.Have(store.Load(t.Context(), store.Only(s, mine), "lr", 1, dir))(t)
	must.Equal(t, len(m.Parts), 2, m)
	for _, name := range shards {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if mine(name) && (err != nil || string(text) != name) || !mine(name) && err == nil {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	if m, err := store.Verify(t.Context(), store.Only(s, mine), "lr", 1); err != nil || len(m.Parts) != 2 {
		t.Errorf("%+v, %v", m, err)
	}
	must.Fail(store.Verify(t.Context(), store.Only(s, mine), "lr", 2))(t, store.ErrNotFound, "no such checkpoint")
	s.Damage(t, "lr", 1, 3, storetest.Flip)
	must.Fail(store.Load(t.Context(), store.Only(s, mine), "lr", 1, dir))(t, store.ErrCorrupt, "its own is damaged")
}
