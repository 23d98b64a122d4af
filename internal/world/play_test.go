// This file plays seeds: the library must survive all of them, every bug of the surroundings must be found, and a seed must be a run.

package world_test

import (
	"bytes"
	"context"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/world"
	"github.com/apportion/apportion/internal/world/summary"
)

func open(t testing.TB) *world.World {
	t.Helper()
	if !strings.HasPrefix(runtime.Version(), world.GoVersion) {
		t.Skipf("the changes of overlay.go are to %s, and this is %s", world.GoVersion, runtime.Version())
	}
	w := must.Have(world.New(context.Background()))(t)
	t.Cleanup(func() { _ = w.Close() })
	return w
}

func play(t testing.TB, w *world.World, seed uint64, out io.Writer, flags ...string) summary.Summary {
	t.Helper()
	return must.Have(w.Play(context.Background(), seed, out, flags...))(t)
}

// One world for all tests: to build it takes longer than a seed.
func TestWorld(t *testing.T) {
	w, seeds := open(t), uint64(30)
	if testing.Short() {
		seeds = 3
	}
	for seed := uint64(1); seed <= seeds; seed++ {
		s := play(t, w, seed, io.Discard)
		if len(s.Violations) > 0 || s.Completed == 0 || s.Calls < 100 || s.Attempts <= s.Completed || len(s.Faults) < 5 {
			t.Errorf("seed %d, repeat: go run -C internal/world ./world -seed %d -- -trace\n%+v", seed, seed, s)
		}
	}
	t.Run("a seed is a run", func(t *testing.T) {
		var once, again bytes.Buffer
		play(t, w, 1, &once, "-for", "3m", "-trace")
		play(t, w, 1, &again, "-for", "3m", "-trace")
		if once.Len() == 0 || !bytes.Equal(once.Bytes(), again.Bytes()) {
			t.Errorf("two runs of one seed differ: %d and %d bytes", once.Len(), again.Len())
		}
	})
	t.Run("shrink", func(t *testing.T) {
		flags := []string{"-bug", "old-journal", "-servers", "2", "-jobs", "2", "-every", "4s", "-for", "1m"}
		for seed := uint64(1); seed <= 24; seed++ {
			all := play(t, w, seed, io.Discard, flags...)
			if len(all.Violations) == 0 {
				continue
			}
			needed, err := w.Shrink(context.Background(), seed, func(int) {}, flags...)
			if err != nil || len(needed) == 0 || len(needed) > 3 {
				t.Errorf("seed %d: %v, %v are enough of %v", seed, err, needed, all.Faults)
			}
			return
		}
		t.Error("no seed finds the bug")
	})
	for _, bug := range []string{"no-lease", "no-stop", "old-journal"} {
		t.Run(bug, func(t *testing.T) {
			for seed := uint64(1); seed <= 12; seed++ {
				if s := play(t, w, seed, io.Discard, "-bug", bug); len(s.Violations) > 0 {
					t.Logf("seed %d: %s", seed, s.Violations[0])
					return
				}
			}
			t.Error("a bug of the surroundings is not found")
		})
	}
}
