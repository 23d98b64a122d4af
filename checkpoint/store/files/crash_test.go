// This file lets every operation on the disk fail, and the machine crash before every one, on a file
// system that forgets what was not synced. Whatever happens, each checkpoint is afterwards wholly there
// or not at all, and those whose Commit returned nil are there.

package files

import (
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"syscall"
	"testing"

	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/vfs"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/vfstest"
)

// crashes are the generators for what a crash leaves: nil loses everything that was not synced.
func crashes(seed uint64) []*rand.Rand {
	rngs := []*rand.Rand{nil}
	count := uint64(40)
	if testing.Short() {
		count = 2
	}
	for i := range count {
		rngs = append(rngs, rand.New(rand.NewPCG(seed, i)))
	}
	return rngs
}

// TestCrashEverywhere crashes before every operation of the script, in many ways each.
func TestCrashEverywhere(t *testing.T) {
	mem, m := vfstest.NewMem(), newModel()
	cases, operations, unknowns := 0, uint64(0), 0
	hook := func(op vfstest.Op, name string) error {
		operations++
		for _, rng := range crashes(operations) {
			must.Do(t, m.clone().verify(t, mem.Crash(rng)), "crash before operation", operations, op, "of", name)
			cases++
		}
		for _, fate := range m.fates {
			if fate == unknown {
				unknowns++
			}
		}
		return nil
	}
	must.Do(t, run(t, vfstest.Hooked(mem, hook), m, script))
	if m.fates[1] != there || m.fates[9] != there || m.fates[2] != absent || len(m.replaced) == 0 || unknowns == 0 {
		t.Errorf("the script ends with %v, %d times something was open", m, unknowns)
	}
	t.Logf("%d operations, %d crashes", operations, cases)
}

// unclonable is a disk that shares no bytes, as ext4: files are adopted there.
type unclonable struct{ *vfstest.Mem }

func (unclonable) Clone(*os.File, string) (vfs.File, error) { return nil, errors.ErrUnsupported }

// TestCrashWhileTaking crashes before every operation while files are taken: a reflink and an adopted file are at the mercy
// of a crash until they are synced, as what was written.
func TestCrashWhileTaking(t *testing.T) {
	for adopted, disk := range map[int]func(*vfstest.Mem) vfs.FS{
		0: func(m *vfstest.Mem) vfs.FS { return m }, 5: func(m *vfstest.Mem) vfs.FS { return unclonable{m} },
	} {
		mem, m := vfstest.NewMem(), newModel()
		seen, operations := map[vfstest.Op]int{}, uint64(0)
		hook := func(op vfstest.Op, name string) error {
			operations++
			seen[op]++
			for _, rng := range crashes(operations) {
				must.Do(t, m.clone().verify(t, mem.Crash(rng)), "crash before operation", operations, op, "of", name)
			}
			return nil
		}
		must.Do(t, run(t, vfstest.Hooked(disk(mem), hook), m, takeScript))
		if m.fates[7] != there || m.fates[3] != absent || seen[vfstest.Clone] != 5 || seen[vfstest.Adopt] != adopted {
			t.Errorf("the script ends with %v after %v, want 5 clones tried and %d files adopted", m, seen, adopted)
		}
	}
}

// TestCrashWhileRecovering crashes twice: the second time before each operation of a New that finds what
// the first crash has left.
func TestCrashWhileRecovering(t *testing.T) {
	mem, m := vfstest.NewMem(), newModel()
	cases, operations := 0, uint64(0)
	hook := func(vfstest.Op, string) error {
		operations++
		if testing.Short() && operations%8 != 0 {
			return nil
		}
		for _, rng := range []*rand.Rand{nil, rand.New(rand.NewPCG(operations, 1))} {
			left := mem.Crash(rng)
			inner := uint64(0)
			recovery := vfstest.Hooked(left, func(op vfstest.Op, name string) error {
				inner++
				for _, again := range []*rand.Rand{nil, rand.New(rand.NewPCG(operations, inner))} {
					must.Do(t, m.clone().verify(t, left.Crash(again)), "crash before operation", operations, "then before", inner, "of recovery", op, name)
					cases++
				}
				return nil
			})
			must.Have(New(recovery, &scriptOptions))(t)
		}
		return nil
	}
	must.Do(t, run(t, vfstest.Hooked(mem, hook), m, script))
	t.Logf("%d operations, %d double crashes", operations, cases)
}

// TestFailEverywhere lets each operation of each script fail, before it does anything or after it has
// done all. The process goes on; in the end it stops, or the machine crashes.
func TestFailEverywhere(t *testing.T) {
	cases, operations := 0, 0
	for _, script := range scripts {
		length := 0
		count := func(vfstest.Op, string) error { length++; return nil }
		must.Do(t, run(t, vfstest.Hooked(vfstest.NewMem(), count), newModel(), script))
		operations += length
		for k := 1; k <= length; k++ {
			for _, fault := range faults() {
				for _, applied := range []bool{false, true} {
					cases += fail(t, script, k, fault, applied)
				}
			}
		}
	}
	t.Logf("%d operations, %d cases of a failure", operations, cases)
}

// faults are the errors with which an operation fails.
func faults() []error {
	if testing.Short() {
		return []error{syscall.ENOSPC}
	}
	return []error{vfstest.ErrInjected, syscall.ENOSPC, syscall.EROFS}
}

// fail lets the k-th operation of a script fail, or, if applied, its answer get lost, and returns how
// many outcomes it has looked at.
func fail(t *testing.T, script []step, k int, fault error, applied bool) (cases int) {
	mem, m := vfstest.NewMem(), newModel()
	fsys := vfstest.Hooked(mem, vfstest.FailAt(k, fault))
	if applied {
		fsys = &lostAnswer{FS: mem, k: k, err: fault}
	}
	if err := run(t, fsys, m, script); err != nil && !errors.Is(err, fault) {
		t.Fatalf("operation %d: error %v, want %v", k, err, fault)
	}
	left := []*vfstest.Mem{mem} // verify changes it: last
	for _, rng := range crashes(uint64(k))[:2] {
		left = append(left, mem.Crash(rng))
	}
	for _, mem := range slices.Backward(left) {
		must.Do(t, m.clone().verify(t, mem), script, "operation", k, "failed (applied", applied)
		cases++
	}
	return cases
}

// TestTwin finds crashes that leave a checkpoint under two names, and lets the disk fail while New looks
// at them: neither name is emptied.
func TestTwin(t *testing.T) {
	mem, m := vfstest.NewMem(), newModel()
	twins := 0
	hook := func(vfstest.Op, string) error {
		for seed := range uint64(10) {
			left := mem.Crash(rand.New(rand.NewPCG(seed, 0)))
			two, err := left.List("job")
			if err != nil || len(two) != 2 {
				continue
			}
			twins++
			for k := range 12 {
				broken := vfstest.Hooked(left, vfstest.FailAt(k+1, syscall.EIO))
				_, _ = New(broken, &scriptOptions)
				must.Do(t, m.compare(t, visible(left)), "operation", k+1, "of New failed")
			}
		}
		return nil
	}
	must.Do(t, run(t, vfstest.Hooked(mem, hook), m, []step{{"commit", 1}, {"delete", 1}}))
	if twins == 0 {
		t.Error("no crash left two names")
	}
}

// TestCollectBesideCommit lets a writer commit before each operation of another process that takes it for
// dead and collects it: what becomes visible is whole, be it a directory or one file.
func TestCollectBesideCommit(t *testing.T) {
	for number := range int64(2) {
		collectBesideCommit(t, number+1)
	}
}

func collectBesideCommit(t *testing.T, number int64) {
	won, lost := 0, 0
	for k := 1; ; k++ {
		mem := vfstest.NewMem()
		s := must.Have(New(mem, &Options{Form: scriptOptions.Form}))(t)
		w := begin(t, s, "job", number, contentOf(number))
		operations := 0
		var commit error
		other := must.Have(New(vfstest.Hooked(mem, func(vfstest.Op, string) error {
			if operations++; operations == k {
				_, commit = w.Commit()
			}
			return nil
		}), &Options{Grace: -1}))(t)
		if operations < k {
			break
		}
		known := absent
		if commit == nil {
			known = there
			won++
		} else {
			lost++
		}
		must.Do(t, (model{fates: map[int64]fate{number: known}}).compare(t, other), "commit before operation", k, "of the collection")
	}
	if won == 0 || lost == 0 {
		t.Errorf("the writer won %d times and lost %d times", won, lost)
	}
}

// lostAnswer is a file system that does the k-th rename, removal, mkdir or sync of a directory and
// answers with an error.
type lostAnswer struct {
	vfs.FS
	k   int
	err error
}

func (l *lostAnswer) answer(err error) error {
	l.k--
	if l.k == 0 && err == nil {
		return l.err
	}
	return err
}

func (l *lostAnswer) Rename(from, to string) error { return l.answer(l.FS.Rename(from, to)) }
func (l *lostAnswer) Link(from, to string) error   { return l.answer(l.FS.Link(from, to)) }
func (l *lostAnswer) Remove(name string) error     { return l.answer(l.FS.Remove(name)) }
func (l *lostAnswer) Mkdir(name string) error      { return l.answer(l.FS.Mkdir(name)) }
func (l *lostAnswer) SyncDir(dir string) error     { return l.answer(l.FS.SyncDir(dir)) }

// visible is a store as the disk shows it, before anything is settled.
func visible(fsys vfs.FS) *Store {
	d := &disk{fs: fsys}
	return &Store{Portable: store.NewPortable(d, store.Form{}, ""), disk: d}
}
