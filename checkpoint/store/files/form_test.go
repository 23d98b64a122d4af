// This file tests the forms in which checkpoints lie on the disk: those of an earlier version, and those of one file.

package files

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/storetest"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/vfstest"
)

// writeOld writes a checkpoint of one part byte by byte as version 1 did.
func writeOld(t *testing.T, dir, job string, number int64, content string) {
	t.Helper()
	folder := filepath.Join(dir, job, fmt.Sprint(number))
	body := fmt.Sprintf(`{"job":%q,"number":%d,"parts":[{"name":"part","bytes":%d,"sha256":"%x"}],"place":"1700000000-%s"}`+"\n",
		job, number, len(content), sha256.Sum256([]byte(content)), strings.Repeat("A", 26))
	manifest := fmt.Sprintf("apportion-checkpoint 1 %x\n%s", sha256.Sum256([]byte(body)), body)
	must.Do(t, errors.Join(os.MkdirAll(folder, 0o700), os.WriteFile(filepath.Join(folder, "0"), []byte(content), 0o600),
		os.WriteFile(filepath.Join(folder, "manifest"), []byte(manifest), 0o600)))
}

// What an earlier version has written is read, compared, listed, kept apart from new ones, and deleted.
func TestOldCheckpoints(t *testing.T) {
	dir := t.TempDir()
	writeOld(t, dir, "job", 1, "old content")
	writeOld(t, dir, "job", 2, "damaged content")
	damage(t, filepath.Join(dir, "job", "2", "0"), storetest.Flip)
	s := open(t, dir, &Options{Form: store.Form{SHA256: true}})
	must.Equal(t, must.Have(storetest.Read(t.Context(), s, "job", 1))(t), "old content")
	if data, err := storetest.Read(t.Context(), s, "job", 2); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("damage: %q, %v", data, err)
	}
	// The same content is the same checkpoint for a store that has digests, and another content is not.
	if m, err := begin(t, s, "job", 1, "old content").Commit(); err != nil || m.Parts[0].CRC32C != "" {
		t.Errorf("the same content: %+v, %v", m, err)
	}
	must.Fail(begin(t, s, "job", 1, "new content").Commit())(t, store.ErrExists, "another content")
	commit(t, s, "job", 3, "new content")
	if got := numbersOf(t, s, "job"); len(got) != 3 {
		t.Errorf("%d", got)
	}
	for number := range int64(3) {
		must.Do(t, s.Delete(t.Context(), "job", number+1))
	}
	if got := numbersOf(t, s, "job"); len(got) != 0 {
		t.Errorf("%d", got)
	}
}

// A checkpoint whose parts are short is one file; its number is taken for every form, and it goes like any other.
func TestOneFile(t *testing.T) {
	dir := t.TempDir()
	slim, apart := open(t, dir, &Options{}), open(t, dir, nil)
	for number, writers := range [][2]*Store{{slim, apart}, {apart, slim}} {
		number := int64(number + 1)
		commit(t, writers[0], "job", number, "content")
		info := must.Have(os.Stat(filepath.Join(dir, "job", fmt.Sprint(number))))(t)
		must.Equal(t, info.Mode().IsRegular(), (writers[0] == slim), "checkpoint", number, info)
		for _, s := range []*Store{slim, apart} {
			must.Equal(t, must.Have(storetest.Read(t.Context(), s, "job", number))(t), "content")
			commit(t, s, "job", number, "content")
			w := begin(t, s, "job", number, "another")
			must.Fail(w.Commit())(t, store.ErrExists, "another content")
			must.Do(t, w.Abort())
		}
	}
	if left := leftovers(t, dir); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
	must.Do(t, errors.Join(apart.Delete(t.Context(), "job", 1), slim.Delete(t.Context(), "job", 2)))
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("left: %v, %v", entries, err)
	}
}

// On a file system without links a short checkpoint is a directory.
func TestNoLinks(t *testing.T) {
	mem := vfstest.NewMem()
	s := must.Have(New(vfstest.Hooked(mem, func(op vfstest.Op, _ string) error {
		if op == vfstest.Link {
			return errors.ErrUnsupported
		}
		return nil
	}), nil))(t)
	commit(t, s, "job", 1, "content")
	after := must.Have(New(mem.Crash(nil), nil))(t)
	must.Equal(t, must.Have(storetest.Read(t.Context(), after, "job", 1))(t), "content")
}

// A commit of a short checkpoint syncs its file and the directory that has its name; the root has nothing new. One
// with a long part syncs that, the manifest and its directory as well.
func TestSyncs(t *testing.T) {
	for content, want := range map[string]string{
		"short":                       "sync dir dir(.)",
		strings.Repeat("long", 1<<18): "sync dir dir(.)",
		strings.Repeat("long", 1<<19): "sync sync dir dir dir(.)",
	} {
		var syncs []string
		s := must.Have(New(vfstest.Hooked(vfstest.NewMem(), func(op vfstest.Op, name string) error {
			switch {
			case op == vfstest.Sync:
				syncs = append(syncs, "sync")
			case op == vfstest.SyncDir && name == ".":
				syncs = append(syncs, "dir(.)")
			case op == vfstest.SyncDir:
				syncs = append(syncs, "dir")
			}
			return nil
		}), nil))(t)
		commit(t, s, "job", 1, "the first makes the directory of the job")
		syncs = nil
		commit(t, s, "job", 2, content)
		must.Equal(t, strings.Join(syncs, " "), want, len(content), "bytes")
	}
}
