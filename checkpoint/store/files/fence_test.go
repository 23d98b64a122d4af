// This file tests fences against writers at every moment, disks that fail and machines that crash.

package files

import (
	"context"
	"errors"
	"testing"

	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/storetest"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/vfstest"
)

// A writer of another process begins, writes and commits before each operation of a fence: it has committed and stays,
// or is refused and absent, be its checkpoint a directory or one file.
func TestFenceBesideEveryStep(t *testing.T) {
	for number := int64(1); number <= 2; number++ {
		for _, begun := range []bool{true, false} {
			won, lost := 0, 0
			for k := 1; ; k++ {
				mem := vfstest.NewMem()
				s := must.Have(New(mem, &Options{Form: scriptOptions.Form}))(t)
				var w store.Writer
				if begun {
					w = begin(t, s, "job", number, contentOf(number))
				}
				operations, counting := 0, false
				var commit error
				other := must.Have(New(vfstest.Hooked(mem, func(vfstest.Op, string) error {
					if !counting {
						return nil
					}
					if operations++; operations == k {
						commit = commitLate(t.Context(), s, w, number)
					}
					return nil
				}), nil))(t)
				counting = true
				must.Do(t, other.Fence(t.Context(), "job", 3), "operation", k)
				if operations < k {
					break
				}
				known := there
				if won++; commit != nil {
					won, lost, known = won-1, lost+1, absent
				}
				if commit != nil && !errors.Is(commit, store.ErrFenced) {
					t.Errorf("commit before operation %d: %v", k, commit)
				}
				must.Do(t, (model{fates: map[int64]fate{number: known}}).compare(t, other), "commit before operation", k, "of the fence")
				if err := commitLate(t.Context(), s, nil, 1); known == absent && number == 1 && !errors.Is(err, store.ErrFenced) {
					t.Errorf("behind the fence: %v", err)
				}
			}
			if won == 0 || lost == 0 {
				t.Errorf("begun %v: the writer won %d times and lost %d times", begun, won, lost)
			}
		}
	}
}

// commitLate commits a checkpoint, and writes it first if there is no writer.
func commitLate(ctx context.Context, s *Store, w store.Writer, number int64) (err error) {
	if w == nil {
		if w, err = storetest.Write(ctx, s, "job", number, contentOf(number)); err != nil {
			return err
		}
	}
	_, err = w.Commit()
	return err
}

// Whatever operation of a fence fails: if it returned nil, it holds, also after a crash that loses all that was not
// synced; if not, the next call raises it.
func TestFenceFails(t *testing.T) {
	for _, applied := range []bool{false, true} {
		for k := 1; ; k++ {
			mem, operations := vfstest.NewMem(), 0
			first := must.Have(New(mem, &Options{Form: scriptOptions.Form}))(t)
			late := begin(t, first, "job", 1, contentOf(1))
			if err := first.Fence(t.Context(), "job", 1); err != nil { // which ends nothing, and is lower than the next
				t.Fatal(err)
			}
			s := must.Have(New(mem, nil))(t)
			s.disk.fs = vfstest.Hooked(mem, func(op vfstest.Op, _ string) error {
				if operations++; operations == k && !applied {
					return vfstest.ErrInjected
				}
				return nil
			})
			if applied {
				s.disk.fs = &lostAnswer{FS: s.disk.fs, k: k, err: vfstest.ErrInjected}
			}
			raised := s.Fence(t.Context(), "job", 3)
			if raised == nil {
				_, err := late.Commit()
				must.Err(t, err, store.ErrFenced, "operation", k, "failed, and the late writer says")
			}
			after := must.Have(New(mem.Crash(nil), nil))(t)
			if raised != nil {
				must.Do(t, after.Fence(t.Context(), "job", 3))
			}
			must.Err(t, commitLate(t.Context(), after, nil, 2), store.ErrFenced, "operation", k, "failed", raised, "and behind the crash")
			must.Do(t, commitLate(t.Context(), after, nil, 3), "operation", k, "failed")
			if operations < k {
				break
			}
		}
	}
}

// A fence of a job that has nothing else survives a crash that loses all that was not synced.
func TestFenceSurvives(t *testing.T) {
	mem := vfstest.NewMem()
	s := must.Have(New(mem, nil))(t)
	must.Do(t, s.Fence(t.Context(), "job", 3))
	after := must.Have(New(mem.Crash(nil), nil))(t)
	must.Err(t, commitLate(t.Context(), after, nil, 2), store.ErrFenced, "behind the crash")
}

// Of two fences that a crash has left the higher counts, whichever a disk lists last.
func TestHigherFenceCounts(t *testing.T) {
	mem := vfstest.NewMem()
	s := must.Have(New(mem, nil))(t)
	must.Do(t, errors.Join(mem.Mkdir("job"), mem.Mkdir("job/.fence-10"), mem.Mkdir("job/.fence-9")))
	must.Err(t, commitLate(t.Context(), s, nil, 9), store.ErrFenced)
}
