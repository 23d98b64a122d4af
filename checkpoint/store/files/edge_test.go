// This file tests the store against what happens to real directories: links, full and read-only disks,
// foreign files, and time.

package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/storetest"
	"github.com/apportion/apportion/checkpoint/vfs"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/vfstest"
)

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	must.Fail(Open(filepath.Join(dir, "not there"), nil))(t, os.ErrNotExist, "a directory that is not there")
	file := filepath.Join(dir, "file")
	must.Do(t, os.WriteFile(file, nil, 0o600))
	must.Fail(Open(file, nil))(t, must.ErrAny, "a file passes as a directory")
	must.Fail(Open(dir, &Options{Keep: -1}))(t, apportion.ErrNegative, "negative Keep")
}

// TestOpenBesideCommit commits a checkpoint at the worst moment of a reader: after its manifest was looked for, before its
// name is opened as a file.
func TestOpenBesideCommit(t *testing.T) {
	dir := t.TempDir()
	writer, committed := open(t, dir, nil), false
	root := must.Have(vfs.NewOS(dir))(t)
	defer root.Close()
	reader := must.Have(New(vfstest.Hooked(root, func(op vfstest.Op, name string) error {
		if op == vfstest.Open && name == at(store.FolderOf("job"), 1) && !committed {
			committed = true
			commit(t, writer, "job", 1, "whole")
		}
		return nil
	}), nil))(t)
	r, err := reader.Open(t.Context(), "job", 1)
	if err != nil || !committed {
		t.Fatalf("Open while the checkpoint is committed (it was: %t): %v", committed, err)
	}
	must.Do(t, r.Close())
}

func TestKeep(t *testing.T) {
	for name, test := range map[string]struct {
		options Options
		commits []int64
		want    []int64
	}{
		"all":              {Options{}, []int64{1, 2, 3, 4}, []int64{1, 2, 3, 4}},
		"one":              {Options{Keep: 1}, []int64{1, 2, 3}, []int64{3}},
		"two":              {Options{Keep: 2}, []int64{1, 2, 3, 5}, []int64{3, 5}},
		"late ones stay":   {Options{Keep: 2}, []int64{5, 6, 1, 2}, []int64{1, 2, 5, 6}},
		"late ones go":     {Options{Keep: 2}, []int64{5, 6, 1, 7}, []int64{6, 7}},
		"one late":         {Options{Keep: 1}, []int64{5, 6, 3}, []int64{3, 6}},
		"pinned":           {Options{Keep: 1, Pinned: func(_ string, n int64) bool { return n == 2 }}, []int64{1, 2, 3, 4}, []int64{2, 4}},
		"pinned in others": {Options{Keep: 1, Pinned: func(job string, _ int64) bool { return job != "job" }}, []int64{1, 2}, []int64{2}},
	} {
		s := open(t, t.TempDir(), &test.options)
		commit(t, s, "neighbour", 1, "stays")
		for _, n := range test.commits {
			commit(t, s, "job", n, fmt.Sprint(n))
		}
		must.Same(t, numbersOf(t, s, "job"), test.want, name, "were kept")
		must.Equal(t, len(numbersOf(t, s, "neighbour")), 1, name, "another job lost its checkpoint")
	}
}

// TestKeepSkipsDamaged: a checkpoint that cannot be read does not count as one that is kept.
func TestKeepSkipsDamaged(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	for n := range int64(4) {
		commit(t, s, "job", n+1, "x")
	}
	damage(t, filepath.Join(dir, "job", "3", manifestName), storetest.Flip)
	commit(t, open(t, dir, &Options{Keep: 3}), "job", 5, "x")
	list, err := s.List(t.Context(), "job")
	if !errors.Is(err, store.ErrCorrupt) || len(list) != 3 || list[0].Number != 2 {
		t.Errorf("kept %+v, error %v; want 2, 4, 5 and the damaged 3", list, err)
	}
}

// TestLinks plants links that lead out of the store in every place of a path.
func TestLinks(t *testing.T) {
	outside := t.TempDir()
	secret := filepath.Join(outside, "secret")
	must.Do(t, os.WriteFile(secret, []byte("secret"), 0o600))
	for name, test := range map[string]struct{ at, to string }{
		"job":             {"job", outside},
		"number":          {"job/1", outside},
		"manifest":        {"job/1/manifest", secret},
		"part":            {"job/1/0", secret},
		"relative":        {"job/1/0", "../../../" + filepath.Base(outside) + "/secret"},
		"other job":       {"job", "other"},
		"other number":    {"job/1", "2"},
		"itself":          {"job/1", "1"},
		"nowhere":         {"job/1", "nowhere"},
		"manifest, other": {"job/1/manifest", "../2/manifest"},
		"part of another": {"job/1/0", "../2/0"},
	} {
		dir := t.TempDir()
		s := open(t, dir, nil)
		commit(t, s, "job", 1, "content")
		commit(t, s, "job", 2, "another")
		commit(t, s, "other", 1, "other's")
		at := filepath.Join(dir, test.at)
		must.Do(t, errors.Join(os.RemoveAll(at), os.Symlink(test.to, at)))
		if data, err := storetest.Read(t.Context(), s, "job", 1); err == nil {
			t.Errorf("%s: Open followed the link and read %q", name, data)
		} else if test.at != "job" && !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("%s: error %v, want ErrCorrupt", name, err)
		}
		if w, err := storetest.Write(t.Context(), s, "job", 3, "new"); err == nil {
			_, _ = w.Commit() // may succeed: what matters is where
		}
		_ = s.Delete(t.Context(), "job", 1)
		_ = s.Collect(t.Context())
		entries, err := os.ReadDir(outside)
		data, readErr := os.ReadFile(secret)
		if err != nil || len(entries) != 1 || readErr != nil || string(data) != "secret" {
			t.Fatalf("%s: outside of the store there is now %v, %q, %v, %v", name, entries, data, err, readErr)
		}
		if data, err := storetest.Read(t.Context(), s, "other", 1); test.at != "job" && (err != nil || data != "other's") {
			t.Errorf("%s: the other job holds %q, %v", name, data, err)
		}
		if data, err := storetest.Read(t.Context(), s, "job", 2); test.at != "job" && (err != nil || data != "another") {
			t.Errorf("%s: the other number holds %q, %v", name, data, err)
		}
	}
}

// TestForeign leaves alone what the store did not make.
func TestForeign(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	commit(t, s, "job", 1, "content")
	foreign := []string{
		"README", "lost+found/", "job/notes.txt", "job/007/", "job/-3/", "job/+4/", "job/0/", "job/9223372036854775808/",
		"job/.tmp-", "job/.tmp-1-x/", "job/.trash-mine/", "job/1x/", "job/.tmp-1-1700000000-aaaaaaaaaaaaaaaaaaaaaaaaaa/",
	}
	const leftover = ".tmp-1-1700000000-AAAAAAAAAAAAAAAAAAAAAAAAAA/"
	foreign = append(foreign, "100%/"+leftover, "a%%b/"+leftover) // no job has these folders
	for _, name := range foreign {
		at, err := filepath.Join(dir, name), error(nil)
		if strings.HasSuffix(name, "/") {
			err = os.MkdirAll(at, 0o700)
		} else {
			err = os.WriteFile(at, []byte("mine"), 0o600)
		}
		must.Do(t, err)
	}
	all := open(t, dir, &Options{Grace: -1, Keep: 1})
	must.Do(t, all.Collect(t.Context()))
	commit(t, all, "job", 2, "content")
	must.Same(t, numbersOf(t, all, "job"), []int64{2}, "List")
	for _, name := range foreign {
		must.Have(os.Lstat(filepath.Join(dir, name)))(t, name, "is gone")
	}
}

// TestNumberIsFile has a file where a checkpoint should be.
func TestNumberIsFile(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	commit(t, s, "job", 1, "content")
	must.Do(t, os.WriteFile(filepath.Join(dir, "job", "2"), nil, 0o600))
	must.Fail(s.Open(t.Context(), "job", 2))(t, store.ErrCorrupt, "Open", "want ErrCorrupt")
	if list, err := s.List(t.Context(), "job"); !errors.Is(err, store.ErrCorrupt) || len(list) != 1 {
		t.Errorf("List: %v, %v; want number 1 and ErrCorrupt", list, err)
	}
	must.Fail(begin(t, s, "job", 2, "content").Commit())(t, must.ErrAny, "Commit over a file succeeded")
	must.Do(t, s.Delete(t.Context(), "job", 2))
	commit(t, s, "job", 2, "content")
}

func TestGrace(t *testing.T) {
	dir := t.TempDir()
	writer := open(t, dir, nil)
	live := begin(t, writer, "job", 1, "content")
	count := func() int {
		entries, err := os.ReadDir(filepath.Join(dir, "job"))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		return len(entries)
	}
	// Another process: not before the time.
	other := open(t, dir, &Options{Grace: time.Hour})
	for _, after := range []time.Duration{0, 59 * time.Minute, -59 * time.Minute} {
		other.disk.now = func() time.Time { return time.Now().Add(after) }
		if err := other.Collect(t.Context()); err != nil || count() != 1 {
			t.Fatalf("after %v: error %v, %d entries; want the live writer's", after, err, count())
		}
	}
	// The same process: never, however the clock jumps.
	for _, jump := range []time.Duration{100 * 365 * 24 * time.Hour, -100 * 365 * 24 * time.Hour} {
		writer.disk.now = func() time.Time { return time.Now().Add(jump) }
		if err := writer.Collect(t.Context()); err != nil || count() != 1 {
			t.Fatalf("a jump of %v: error %v, %d entries; want the live writer's", jump, err, count())
		}
	}
	// Another process, after the time: the writer has lost, and says so.
	other.disk.now = func() time.Time { return time.Now().Add(61 * time.Minute) }
	if err := other.Collect(t.Context()); err != nil || count() != 0 {
		t.Fatalf("after the time: error %v, %d entries", err, count())
	}
	must.Fail(live.Commit())(t, must.ErrAny, "Commit of what was collected succeeded")
	if got := numbersOf(t, other, "job"); len(got) != 0 {
		t.Errorf("%d are visible", got)
	}
	must.Do(t, live.Abort(), "Abort of what was collected")
}

// TestReadOnly reads from a store that cannot be written to, first by way of the FS, then, where the test
// may mount one, of a real file system.
func TestReadOnly(t *testing.T) {
	check := func(t *testing.T, s *Store) {
		must.Equal(t, must.Have(storetest.Read(t.Context(), s, "job", 1))(t), "content")
		must.Same(t, numbersOf(t, s, "job"), []int64{1}, "List")
		must.Fail(s.Begin(t.Context(), "job", 2))(t, syscall.EROFS, "Begin", "want EROFS")
		must.Err(t, s.Delete(t.Context(), "job", 1), syscall.EROFS, "Delete")
		must.Err(t, s.Collect(t.Context()), syscall.EROFS, "Collect")
	}
	t.Run("FS", func(t *testing.T) {
		mem := vfstest.NewMem()
		s := must.Have(New(mem, nil))(t)
		commit(t, s, "job", 1, "content")
		begin(t, s, "job", 3, "left")
		frozen := vfstest.Hooked(mem, func(op vfstest.Op, _ string) error {
			if slices.Contains([]vfstest.Op{vfstest.Create, vfstest.Mkdir, vfstest.Rename, vfstest.Remove, vfstest.Write}, op) {
				return syscall.EROFS
			}
			return nil
		})
		s = must.Have(New(frozen, &Options{Grace: -1}))(t)
		check(t, s)
	})
	t.Run("tmpfs", func(t *testing.T) {
		dir := mountTmpfs(t, "1m")
		s := open(t, dir, nil)
		commit(t, s, "job", 1, "content")
		// A writer that is dead: one of this process has a file open, and no disk becomes read-only then.
		left := leftover{tmpPrefix, 3, store.NewPlace(time.Now())}
		must.Do(t, os.Mkdir(filepath.Join(dir, "job", left.name()), 0o700))
		mount(t, "-o", "remount,ro", dir)
		check(t, open(t, dir, &Options{Grace: -1}))
	})
}

// TestFullDisk fills a real file system of 1 MiB. What was committed stays, what was not is not visible,
// and after Abort there is room again.
func TestFullDisk(t *testing.T) {
	dir := mountTmpfs(t, "1m")
	s := open(t, dir, &Options{Keep: 1, Form: store.Form{InlineBytes: -1}})
	commit(t, s, "job", 1, strings.Repeat("x", 300<<10))
	for range 3 {
		w, err := storetest.Write(t.Context(), s, "job", 2, strings.Repeat("y", 900<<10))
		must.Err(t, err, syscall.ENOSPC, "writing 900 KiB beside 300 on 1 MiB")
		must.Fail(w.Commit())(t, syscall.ENOSPC, "Commit", "want ENOSPC")
		must.Same(t, numbersOf(t, s, "job"), []int64{1}, "visible")
		must.Do(t, w.Abort())
	}
	commit(t, s, "job", 2, strings.Repeat("y", 500<<10))
	must.Equal(t, len(must.Have(storetest.Read(t.Context(), s, "job", 2))(t)), 500<<10, "bytes")
}

// TestEndsBeforeRename: a context that ends while the manifest, or the names of the parts, are synced ends the commit; the number stays free.
func TestEndsBeforeRename(t *testing.T) {
	for i, at := range []vfstest.Op{vfstest.Sync, vfstest.SyncDir, vfstest.Sync} {
		// The third is a checkpoint that is one file.
		inline := []int{-1, -1, len("content")}[i]
		ctx, cancel := context.WithCancel(t.Context())
		s := must.Have(New(vfstest.Hooked(vfstest.NewMem(), func(op vfstest.Op, name string) error {
			if op == at && strings.Contains(name, tmpPrefix) && filepath.Base(name) != "0" {
				cancel()
			}
			return nil
		}), &Options{Form: store.Form{InlineBytes: inline}}))(t)
		w := must.Have(storetest.Write(ctx, s, "job", 1, "content"))(t)
		must.Fail(w.Commit())(t, context.Canceled, "it ends at", at)
		must.Do(t, w.Abort())
		if got := numbersOf(t, s, "job"); len(got) > 0 {
			t.Errorf("it ends at %s: visible are %d", at, got)
		}
	}
}

// flushed is a file system that counts for each file how often its bytes were sent to the disk before its sync.
type flushed struct {
	vfs.FS
	counts map[string]int
}

type flushedFile struct {
	vfs.File
	of   flushed
	name string
}

func (f flushed) Create(name string) (vfs.File, error) {
	file, err := f.FS.Create(name)
	return flushedFile{file, f, filepath.Base(name)}, err
}

func (f flushedFile) Flush() {
	f.of.counts[f.name]++
	f.File.Flush()
}

// TestFlush: while a long part is written, the disk gets every 8 MiB of it, in however small pieces they come, and nothing of
// a short one. The bytes are durable for the sync behind alone, which is that of the commit for the last part: where it fails
// nothing becomes visible.
func TestFlush(t *testing.T) {
	for _, failing := range []bool{false, true} {
		disk := flushed{vfstest.Hooked(vfstest.NewMem(), func(op vfstest.Op, name string) error {
			if failing && op == vfstest.Sync && filepath.Base(name) == "1" {
				return syscall.EIO
			}
			return nil
		}), map[string]int{}}
		s := must.Have(New(disk, &Options{Form: store.Form{InlineBytes: -1}}))(t)
		w := begin(t, s, "job", 1, strings.Repeat("x", flushBytes-1))
		part := must.Have(w.Part("long"))(t)
		piece := make([]byte, flushBytes/16)
		for range 32 {
			must.Have(part.Write(piece))(t)
		}
		if disk.counts["0"] != 0 || disk.counts["1"] != 2 {
			t.Errorf("sent to the disk: %v, want the second 2 times", disk.counts)
		}
		var want error
		if failing {
			want = syscall.EIO
		}
		must.Do(t, part.Close(), "Close")
		must.Fail(w.Commit())(t, want, "Commit")
		if got := numbersOf(t, s, "job"); (len(got) > 0) == failing {
			t.Errorf("visible are %d", got)
		}
	}
}

// TestOneSync: each part is synced once, behind its last byte, and one whose sync fails is given up without another, which
// would tell nothing: the last part by Commit, one before by the part that follows it.
func TestOneSync(t *testing.T) {
	for index, fails := range []string{"the next part", "Commit", "no more"} {
		syncs := map[string]int{}
		s := must.Have(New(vfstest.Hooked(vfstest.NewMem(), func(op vfstest.Op, name string) error {
			if op != vfstest.Sync {
				return nil
			}
			base := filepath.Base(name)
			if syncs[base]++; base == strconv.Itoa(index) {
				return syscall.EIO
			}
			return nil
		}), &Options{Form: store.Form{InlineBytes: -1}}))(t)
		w := begin(t, s, "job", 1, "first")
		if len(syncs) > 0 {
			t.Errorf("synced by Close: %v", syncs)
		}
		at := "the next part"
		part, err := w.Part("second")
		if err == nil {
			at = "Commit"
			must.Do(t, part.Close())
			if _, err = w.Commit(); err == nil {
				at = "no more"
			}
		}
		if at != fails || (err != nil) != errors.Is(err, syscall.EIO) || syncs["0"] > 1 || syncs["1"] > 1 {
			t.Errorf("the sync of part %d fails %s with %v, want %s, after %v", index, at, err, fails, syncs)
		}
		must.Do(t, w.Abort())
		if got := numbersOf(t, s, "job"); (len(got) > 0) != (fails == "no more") {
			t.Errorf("visible are %d", got)
		}
	}
}

// TestShortNeedsNoFolder: what is kept with the manifest is one file from the beginning, and the folder of a draft is made with the
// first part that has a file of its own. Nothing of either is left.
func TestShortNeedsNoFolder(t *testing.T) {
	for _, c := range []struct {
		lengths []int
		folders int
	}{{nil, 0}, {[]int{0}, 0}, {[]int{5, 10}, 0}, {[]int{5, 11}, 1}, {[]int{11, 11}, 1}} {
		mem, folders := vfstest.NewMem(), 0
		s := must.Have(New(vfstest.Hooked(mem, func(op vfstest.Op, name string) error {
			if op == vfstest.Mkdir && strings.Contains(name, tmpPrefix) {
				folders++
			}
			return nil
		}), &Options{Form: store.Form{InlineBytes: 10}}))(t)
		w := must.Have(s.Begin(t.Context(), "job", 1))(t)
		for i, length := range c.lengths {
			part, err := w.Part(strconv.Itoa(i))
			if err == nil {
				_, err = part.Write(make([]byte, length))
			}
			if err != nil || part.Close() != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.Commit(); err != nil || folders != c.folders {
			t.Errorf("parts of %d bytes make %d folders, want %d: %v", c.lengths, folders, c.folders, err)
		}
		entries, err := mem.List("job")
		if err != nil || len(entries) != 1 || entries[0].Dir != (c.folders > 0) {
			t.Errorf("parts of %d bytes leave %v, %v", c.lengths, entries, err)
		}
	}
}

// TestFenceWhileSpreading raises a fence before each operation of a part that turns the draft into a folder: wherever it
// falls, nothing becomes visible, and nothing is left.
func TestFenceWhileSpreading(t *testing.T) {
	for at := 1; ; at++ {
		mem, operations := vfstest.NewMem(), 0
		other := must.Have(New(mem, nil))(t)
		s := must.Have(New(vfstest.Hooked(mem, func(vfstest.Op, string) error {
			if operations++; operations == at {
				must.Do(t, other.Fence(t.Context(), "job", 2))
			}
			return nil
		}), &Options{Form: store.Form{InlineBytes: -1}}))(t)
		w, err := s.Begin(t.Context(), "job", 1)
		if err == nil {
			var part io.WriteCloser
			if part, err = w.Part("part"); err == nil {
				if err = part.Close(); err == nil {
					_, err = w.Commit()
				}
			}
			err = errors.Join(err, w.Abort())
		}
		if operations < at {
			if at < 12 {
				t.Errorf("a commit has %d operations", operations)
			}
			return
		}
		got := numbersOf(t, other, "job")
		if err != nil && (!errors.Is(err, store.ErrFenced) || len(got) > 0) {
			t.Errorf("a fence before operation %d: %v, visible are %d", at, err, got)
		}
		if entries, err := mem.List("job"); err != nil || len(entries) != 1+len(got) {
			t.Errorf("a fence before operation %d leaves %v, %v", at, entries, err)
		}
	}
}

// mountTmpfs mounts a file system in memory for the time of the test, which must be root's to do so.
func mountTmpfs(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if output, err := exec.Command("mount", "-t", "tmpfs", "-o", "size="+size, "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("tmpfs cannot be mounted: %v: %s", err, output)
	}
	t.Cleanup(func() {
		if output, err := exec.Command("umount", "-l", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, output)
		}
	})
	return dir
}

func mount(t *testing.T, arguments ...string) {
	t.Helper()
	if output, err := exec.Command("mount", arguments...).CombinedOutput(); err != nil {
		t.Fatalf("mount %v: %v: %s", arguments, err, output)
	}
}
