// This file tests that a directory is known again, and that another one, or none at all, is refused.

package files

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/vfstest"
)

// A folder whose disk is not mounted is no empty store: it is refused, and left as it is.
func TestNotMounted(t *testing.T) {
	disk, folder := t.TempDir(), t.TempDir()
	s := open(t, disk, nil)
	commit(t, s, "job", 1, "content")
	id := must.Have(s.Identity(t.Context()))(t)
	again := open(t, disk, &Options{Identity: id})
	if got := numbersOf(t, again, "job"); len(got) != 1 {
		t.Fatalf("%d", got)
	}
	another := t.TempDir()
	must.Have(open(t, another, nil).Identity(t.Context()))(t)
	leftover := filepath.Join(folder, "job", ".trash-1-1-AAAAAAAAAAAAAAAAAAAAAAAAAA")
	must.Do(t, os.MkdirAll(leftover, 0o700))
	for what, dir := range map[string]string{"not mounted": folder, "another": another} {
		must.Fail(Open(dir, &Options{Identity: id}))(t, store.ErrIdentity, what)
	}
	must.Fail(os.Stat(filepath.Join(folder, identityName)))(t, must.ErrAny, "a folder that was refused has an identity now")
	must.Have(os.Stat(leftover))(t, "a folder that was refused was collected")
	// The identity goes while the store is open: whatever is asked then, it is not answered by a new one.
	must.Do(t, os.RemoveAll(filepath.Join(disk, identityName)))
	for _, s := range []*Store{s, again} {
		if got, err := s.Identity(t.Context()); !errors.Is(err, store.ErrIdentity) {
			t.Errorf("a lost identity is %q, %v", got, err)
		}
		must.Fail(os.Stat(filepath.Join(disk, identityName)))(t, must.ErrAny, "a store that has lost its identity got another one")
	}
}

// A damaged identity is damage, not another store and not none.
func TestIdentityDamaged(t *testing.T) {
	dir := t.TempDir()
	id := must.Have(open(t, dir, nil).Identity(t.Context()))(t)
	must.Do(t, os.WriteFile(filepath.Join(dir, identityName, identityFile), []byte(strings.ToLower(string(id.Line()))), 0o600))
	must.Fail(open(t, dir, nil).Identity(t.Context()))(t, store.ErrCorrupt, "Identity")
	must.Fail(Open(dir, &Options{Identity: id}))(t, store.ErrCorrupt, "Open")
}

func TestIdentityAtOnce(t *testing.T) {
	dir := t.TempDir()
	var asked sync.WaitGroup
	ids := make([]store.Identity, 20)
	for i := range ids {
		s := open(t, dir, nil)
		asked.Go(func() { ids[i], _ = s.Identity(t.Context()) })
	}
	asked.Wait()
	for _, id := range ids {
		if !id.Valid() || id != ids[0] {
			t.Fatalf("one directory has the identities %q", ids)
		}
	}
}

// Whatever operation fails or whenever the machine crashes while an identity is made, one that was told stays, and
// the next who asks gets one.
func TestIdentityCrash(t *testing.T) {
	for k := 1; ; k++ {
		disk, calls := vfstest.NewMem(), 0
		var crashed []*vfstest.Mem // at the moment of the operation, before anybody was told
		s, err := New(vfstest.Hooked(disk, func(vfstest.Op, string) error {
			if calls++; calls == k {
				for seed := range uint64(20) {
					crashed = append(crashed, disk.Crash(rand.New(rand.NewPCG(seed, 2))))
				}
				return vfstest.ErrInjected
			}
			return nil
		}), nil)
		if err != nil {
			continue
		}
		told, err := s.Identity(t.Context())
		done := calls < k
		for seed := range uint64(20) {
			crashed = append(crashed, disk.Crash(rand.New(rand.NewPCG(seed, 1))))
		}
		for i, disk := range crashed {
			next := must.Have(New(disk, nil))(t)
			id, idErr := next.Identity(t.Context())
			if idErr != nil || err == nil && i >= len(crashed)-20 && id != told {
				t.Fatalf("operation %d failed, %q was told (%v), and after a crash %q, %v", k, told, err, id, idErr)
			}
			next.disk.now = func() time.Time { return time.Now().Add(2 * defaultGrace) }
			must.Do(t, next.Collect(t.Context()))
			if entries, err := next.disk.fs.List("."); err != nil || len(entries) != 1 {
				t.Fatalf("after a collection there are %v, %v", entries, err)
			}
		}
		if done {
			break
		}
	}
}
