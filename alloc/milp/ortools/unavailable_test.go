package ortools

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/internal/must"
)

// one is a model that every engine can state but one, and that one never gets to it here.
func one(t *testing.T, integer bool) *milp.Model {
	t.Helper()
	b := milp.NewBuilder("")
	if integer {
		b.Binary("")
	} else {
		b.Continuous(0, 1, "")
	}
	model := must.Have(b.Build())(t)
	return model
}

// TestUnavailable: where there is no library, a wrong file, or another copy than the one in the
// process, every engine says what is missing, where it looked, and what to do.
func TestUnavailable(t *testing.T) {
	broken := t.TempDir()
	for _, name := range []string{"libortools.so.9", "libhighs.so.1", "libortools.9.dylib", "libhighs.1.dylib"} {
		must.Do(t, os.WriteFile(filepath.Join(broken, name), []byte("not a library"), 0o600))
	}
	missing := filepath.Join(t.TempDir(), "missing")
	for _, folder := range []string{missing, broken, filepath.Join(broken, "libortools.so.9")} {
		for name, solver := range map[string]milp.Solver{
			"cp-sat": CPSAT{Library: folder}, "highs": HiGHS{folder}, "scip": SCIP{folder}, "glop": GLOP{folder},
		} {
			_, err := milp.Solve(context.Background(), solver, one(t, name != "glop"), nil)
			if !errors.Is(err, ErrUnavailable) {
				t.Errorf("%s in %s: %v", name, folder, err)
				continue
			}
			if text := err.Error(); !strings.Contains(text, EnvLibrary) ||
				!strings.Contains(text, filepath.Dir(missing)) && !strings.Contains(text, broken) && !strings.Contains(text, "cgo") {
				t.Errorf("%s in %s: the message does not help: %s", name, folder, text)
			}
		}
	}
}

// TestPlace: the back-end's own folder, then the environment, then the loader's places; a file stands
// for its folder, and the folder of a Python package for the libraries in it.
func TestPlace(t *testing.T) {
	wheel, plain := t.TempDir(), t.TempDir()
	inside := filepath.Join(wheel, wheelFolder)
	must.Do(t, os.MkdirAll(inside, 0o700))
	file := filepath.Join(plain, "libortools.so.9")
	must.Do(t, os.WriteFile(file, nil, 0o600))
	for _, test := range []struct{ own, environment, want string }{
		{"", "", ""}, {"", plain, plain}, {plain, wheel, plain}, {wheel, plain, inside}, {file, "", plain},
		{inside, "", inside}, {plain + "/missing", "", plain + "/missing"},
	} {
		t.Setenv(EnvLibrary, test.environment)
		if got := place(test.own); got != test.want {
			t.Errorf("own %q, environment %q: %q, want %q", test.own, test.environment, got, test.want)
		}
	}
}

// TestStopOn: stop runs if the context ends in time, finish waits until it is through, and it never runs
// afterwards.
func TestStopOn(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var through atomic.Bool
	started := make(chan struct{})
	finish := stopOn(ctx, func() {
		close(started)
		time.Sleep(50 * time.Millisecond)
		through.Store(true)
	})
	cancel()
	<-started
	finish()
	if !through.Load() {
		t.Error("finish has not waited for stop")
	}

	ctx, cancel = context.WithCancel(context.Background())
	stopOn(ctx, func() { t.Error("stop ran late") })()
	cancel()
}
