// This file tests Mem on random operations: against a real directory, and what a crash may leave of it
// against the words of FS.

package vfstest_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/apportion/apportion/checkpoint/vfs"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/vfstest"
)

// kind is what callers can tell errors apart by.
func kind(err error) string {
	switch {
	case err == nil:
		return "done"
	// A file in the place of a directory has nothing below it; only the system tells that apart.
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return "not there"
	case errors.Is(err, fs.ErrExist):
		return "taken"
	default:
		return "refused"
	}
}

// act performs one random operation on a file system and returns what it did and how that ended. Two file
// systems that draw from equal sources do the same.
func act(fsys vfs.FS, rng *rand.Rand) string {
	names := []string{"a", "b", "d", "d/a", "d/b", "d/e", "d/e/a"}
	name, other := names[rng.IntN(len(names))], names[rng.IntN(len(names))]
	text := strings.Repeat("x", rng.IntN(5))
	switch rng.IntN(7) {
	case 0:
		return fmt.Sprintf("mkdir %s: %s", name, kind(fsys.Mkdir(name)))
	case 1:
		return fmt.Sprintf("remove %s: %s", name, kind(fsys.Remove(name)))
	case 2:
		return fmt.Sprintf("rename %s %s: %s", name, other, renamed(fsys, name, other))
	case 3:
		if _, err := fsys.List(name); err != nil {
			return "no directory to sync" // the system would sync a file all the same
		}
		return fmt.Sprintf("syncdir %s: %s", name, kind(fsys.SyncDir(name)))
	case 4:
		if _, err := fsys.List(name); err == nil {
			return "no file to open" // the system opens a directory and fails to read it
		}
		return fmt.Sprintf("open %s: %s", name, vfstest.Content(fsys, name))
	default:
		file, err := fsys.Create(name)
		if err == nil {
			_, err = file.Write([]byte(text))
			err = errors.Join(err, file.Sync(), file.Close())
		}
		return fmt.Sprintf("create %s with %q: %s", name, text, kind(err))
	}
}

// renamed renames where the contract says what happens; an empty directory may replace another by rename(2)
// and not in Mem.
func renamed(fsys vfs.FS, from, to string) string {
	isDir := func(name string) bool { _, err := fsys.List(name); return err == nil }
	if isDir(from) || isDir(to) {
		return "left alone"
	}
	return kind(fsys.Rename(from, to))
}

// Mem does what the operating system does, with errors of the same kinds.
func TestMemLikeOS(t *testing.T) {
	for seed := range uint64(60) {
		real := must.Have(vfs.NewOS(t.TempDir()))(t)
		mem := vfstest.NewMem()
		first, second := rand.New(rand.NewPCG(seed, 7)), rand.New(rand.NewPCG(seed, 7))
		for step := range 80 {
			if want, got := act(real, first), act(mem, second); got != want {
				t.Fatalf("seed %d, step %d: Mem did %q, the system %q", seed, step, got, want)
			}
			if want, got := vfstest.Tree(real, "."), vfstest.Tree(mem, "."); got != want {
				t.Fatalf("seed %d, step %d: Mem holds %q, the system %q", seed, step, got, want)
			}
		}
		must.Do(t, real.Close())
	}
}

// twin is what FS says about one flat directory: by name, the contents that it may have after a crash. It
// never forgets a possibility before a SyncDir rules it out.
type twin struct {
	// now is the content under each name, and durable how much of it is synced.
	now map[string]*written
	// after are the files that a name may show after a crash; nil stands for none.
	after map[string][]*written
}

// written is one file, whatever it is called.
type written struct {
	data   string
	synced int
}

// allowed reports whether a crash may leave a file with this content.
func (w *written) allowed(content string) bool {
	if len(content) < w.synced || len(content) > len(w.data) {
		return false
	}
	if strings.HasPrefix(w.data, content) {
		return true
	}
	// The length arrived, and of the bytes behind some place on only zeros.
	real := len(strings.TrimRight(content, "\x00"))
	return len(content) == len(w.data) && content[:real] == w.data[:real] && real >= w.synced
}

// set says that a name shows another file from now on, or none.
func (w *twin) set(name string, file *written) {
	if _, known := w.after[name]; !known {
		w.after[name] = []*written{w.now[name]} // what the last SyncDir saw
	}
	if w.now[name] = file; file == nil {
		delete(w.now, name)
	}
	w.after[name] = append(w.after[name], file)
}

// check fails unless a crash may leave this directory.
func (w *twin) check(t *testing.T, left vfs.FS) {
	t.Helper()
	for _, name := range []string{"a", "b", "c"} {
		got, may := vfstest.Content(left, name), w.after[name]
		if may == nil {
			may = []*written{w.now[name]} // not touched since the last SyncDir
		}
		if !slices.ContainsFunc(may, func(file *written) bool {
			return file == nil && got == "missing" || file != nil && file.allowed(got)
		}) {
			t.Fatalf("%s is left with %q; now %+v, possible %d", name, got, w.now[name], len(may))
		}
	}
}

// step performs one random operation on the file system and on the twin.
func (w *twin) step(t *testing.T, mem *vfstest.Mem, rng *rand.Rand, open map[string]vfs.File) {
	t.Helper()
	name, other := string(rune('a'+rng.IntN(3))), string(rune('a'+rng.IntN(3)))
	var err error
	switch file := w.now[name]; {
	case rng.IntN(4) == 0:
		err = mem.SyncDir(".")
		clear(w.after)
	case file == nil:
		open[name], err = mem.Create(name)
		w.set(name, &written{})
	case rng.IntN(4) == 0:
		err = mem.Remove(name)
		w.set(name, nil)
	case rng.IntN(4) == 0 && name != other:
		err = mem.Rename(name, other)
		w.set(other, file)
		w.set(name, nil)
		open[other] = open[name]
	case rng.IntN(2) == 0:
		err = open[name].Sync()
		file.synced = len(file.data)
	default:
		text := string(rune('0' + rng.IntN(10)))
		_, err = open[name].Write([]byte(text))
		file.data += text
	}
	must.Do(t, err)
}

// TestCrashKeepsItsWord: after any operations, a crash leaves nothing that FS rules out: what was synced is
// there, what never was is not.
func TestCrashKeepsItsWord(t *testing.T) {
	for seed := range uint64(150) {
		rng := rand.New(rand.NewPCG(seed, 3))
		mem, model := vfstest.NewMem(), &twin{now: map[string]*written{}, after: map[string][]*written{}}
		open := map[string]vfs.File{}
		for range 30 {
			model.step(t, mem, rng, open)
			before := vfstest.Tree(mem, ".")
			model.check(t, mem.Crash(nil))
			for range 5 {
				model.check(t, mem.Crash(rng))
			}
			must.Equal(t, vfstest.Tree(mem, "."), before, "a crash changed the one that goes on from", "to")
		}
	}
}

// What a crash has left is on the disk: a second one, with nothing in between, takes nothing more.
func TestCrashTwice(t *testing.T) {
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 5))
		mem := vfstest.NewMem()
		for range 25 {
			act(mem, rng)
		}
		left := mem.Crash(rng)
		want := vfstest.Tree(left, ".")
		must.Equal(t, vfstest.Tree(left.Crash(nil), "."), want, "seed", seed, "a second crash leaves", "of")
		must.Equal(t, vfstest.Tree(left.Crash(rng), "."), want, "seed", seed, "a second crash with luck leaves", "of")
	}
}

// One source of random numbers leaves one disk, however often: a failure can be looked at again.
func TestCrashDeterministic(t *testing.T) {
	mem := vfstest.NewMem()
	for i := range 8 {
		name := string(rune('a' + i))
		must.Do(t, mem.Mkdir(name))
		vfstest.WriteFile(t, mem, path.Join(name, "f"), "content", i%2 == 0)
	}
	want, others := vfstest.Tree(mem.Crash(rand.New(rand.NewPCG(1, 2))), "."), 0
	for range 50 {
		must.Equal(t, vfstest.Tree(mem.Crash(rand.New(rand.NewPCG(1, 2))), "."), want, "then")
		if vfstest.Tree(mem.Crash(rand.New(rand.NewPCG(rand.Uint64(), 2))), ".") != want {
			others++
		}
	}
	if others == 0 {
		t.Error("every source leaves the same")
	}
}

// A file that was moved and not synced may be left under both names. Both are then one file, as two links
// are: what is written to one is in the other.
func TestCrashLeavesBothNames(t *testing.T) {
	mem := vfstest.NewMem()
	for _, dir := range []string{"x", "y"} {
		must.Do(t, mem.Mkdir(dir))
	}
	vfstest.WriteFile(t, mem, "x/f", "content", true)
	for _, dir := range []string{"x", ".", "y"} {
		must.Do(t, mem.SyncDir(dir))
	}
	must.Do(t, mem.Rename("x/f", "y/f"))
	// The new directory is synced, the old one is not: the order that loses nothing.
	must.Do(t, mem.SyncDir("y"))
	must.Equal(t, vfstest.Tree(mem.Crash(nil), "."), "x/ x/f=content y/ y/f=content ", "left")
	// Synced the other way round, it is lost where both were to be kept.
	mem = mem.Crash(nil)
	must.Do(t, errors.Join(mem.Remove("y/f"), mem.SyncDir("y"), mem.Rename("x/f", "y/f"), mem.SyncDir("x")))
	must.Equal(t, vfstest.Tree(mem.Crash(nil), "."), "x/ y/ ", "left after a sync of the old directory alone")
}

// What is read is the file as it was when it was opened, and what is returned belongs to the caller.
func TestMemKeepsApart(t *testing.T) {
	mem := vfstest.NewMem()
	file := must.Have(mem.Create("a"))(t)
	text := []byte("first")
	must.Have(file.Write(text))(t)
	copy(text, "XXXXX") // the caller's buffer is its own again
	early := must.Have(mem.Open("a"))(t)
	must.Have(file.Write([]byte(" second")))(t)
	var read bytes.Buffer
	if _, err := read.ReadFrom(early); err != nil || read.String() != "first" || vfstest.Content(mem, "a") != "first second" {
		t.Errorf("read %q and %q, %v", read.String(), vfstest.Content(mem, "a"), err)
	}
	entries := must.Have(mem.List("."))(t)
	entries[0].Name = "changed"
	must.Equal(t, vfstest.Tree(mem, "."), "a=first second ", "a list belongs to the caller, and changed")
}
